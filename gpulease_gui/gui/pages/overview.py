"""What needs a decision today, and how do the contracts stand?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget

from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.overview_aside import Aside
from gpulease_gui.gui.pages.overview_parts import FigureRow, HeadLine, figures_of
from gpulease_gui.gui.pages.overview_tables import contract_columns, decision_columns, decision_words
from gpulease_gui.gui.pages.page import Frame, NavGroup, Page, PageSpec
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.panes import EmptyState, Pane, hairline
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.events import Event, NodeState, NodeStateChanged, RecordsChanged, RunEnded
from gpulease_gui.services.overview import ContractLine, Decision, Overview, local_day, overview_in

if TYPE_CHECKING:
    import sqlite3

_MOST_ROWS = 11  # then it scrolls, so that the contracts stay in sight
_WAIT_MS = 150  # a storm of events is one look
_UNSEEN_MS = 2000  # only the count beside its name is seen then: a fleet would have everything read anew for it all the time


class OverviewPage(Page):
    """Key figures, decisions worst first, contracts; at the right what happened and what to try in the demo."""

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        self._states: dict[str, NodeState] = dict(frame.services.links.states)
        self._seen: Overview | None = None
        self._asked = self._told = 0
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self.refresh)
        self.figures = FigureRow()
        self.decisions_head = HeadLine(Text("Needs a decision", "需要决定"), Text("worst first", "最严重的在前"))
        self._decision_rows: TableModel[Decision] = TableModel(
            decision_columns(), lambda row: row.key, search=decision_words
        )
        self.decisions = TableView(self._decision_rows, Text("Needs a decision", "需要决定"))
        self.calm = PlainLabel(Text("Nothing: no promise is broken, no required check is open.",
                                    "没有：没有承诺被打破，也没有悬而未决的必查项。"), level="2")  # fmt: skip
        self.contracts_head = HeadLine(Text("Contracts", "合同"), Text("", ""))
        self._contract_rows: TableModel[ContractLine] = TableModel(
            contract_columns(), lambda row: row.contract.id,
            search=lambda row: f"{row.contract.number} {row.supplier} {row.model or ''}",
        )  # fmt: skip
        self.contracts = TableView(self._contract_rows, Text("Contracts", "合同"))
        self.aside = Aside(frame)
        self._build()

    def _build(self) -> None:
        self._stack = QStackedWidget()
        full = Pane(2)
        row = QHBoxLayout()
        row.setSpacing(0)
        main = Pane(2)
        self.calm.setContentsMargins(16, 8, 16, 12)
        self.decisions.horizontalHeader().hide()
        for part in (self.figures, hairline(), self.decisions_head, hairline(), self.calm):
            main.column.addWidget(part)
        main.column.addWidget(self.decisions, 3)
        for below in (hairline(), self.contracts_head, hairline()):
            main.column.addWidget(below)
        main.column.addWidget(self.contracts, 2)
        self.contracts.setMinimumHeight(28 * 4)
        row.addWidget(main, 1)
        row.addWidget(hairline(vertical=True))
        row.addWidget(self.aside)
        full.column.addLayout(row)
        self._stack.addWidget(full)
        self._stack.addWidget(self._empty())
        self.column.addWidget(self._stack)
        self.decisions.acted.connect(lambda decision, _: self._open(decision))
        self.decisions.opened.connect(self._open)
        self.contracts.acted.connect(lambda line, _: self.frame.go("suppliers", "contract", line.contract.id))
        self.contracts.opened.connect(lambda line: self.frame.go("suppliers", "contract", line.contract.id))

    def _empty(self) -> EmptyState:
        supplier = Button(Text("Add a supplier", "添加供应商"), icon="add", kind="primary")
        supplier.clicked.connect(lambda: self.frame.go("suppliers", "new"))
        node = Button(Text("Add a node", "添加节点"))
        node.clicked.connect(lambda: self.frame.go("nodes"))
        return EmptyState(
            "nav-overview", Text("No contract yet", "还没有合同"),
            Text("Write down what a supplier promised; then point at the rented node and compare.",
                 "先记下供应商的承诺，再对准租来的节点逐项核对。"),
            primary=supplier, secondary=node,
        )  # fmt: skip

    # -- reading ------------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read everything anew on a worker."""
        self._soon.stop()
        if not self.frame.is_open:
            return
        services, states = self.frame.services, dict(self._states)
        self._asked += 1
        asked = self._asked

        def work(connection: sqlite3.Connection) -> Overview:
            return overview_in(connection, services.catalogue, local_day(utc_now()), states)

        self.frame.bridge.when_done(services.query(work), lambda seen: self._show(asked, seen))

    def _show(self, asked: int, seen: Overview) -> None:
        """Of two readings the one that was begun first may come last."""
        if asked < self._told:
            return
        self._told = asked
        self.frame.set_count("overview", str(seen.broken) if seen.broken else "", alarm=bool(seen.broken))
        if not self.isVisible():  # it is read anew when it comes into sight
            return
        self.figures.show_figures(figures_of(seen, self._states))
        QTimer.singleShot(0, self, self._show_aside)
        if seen == self._seen:
            return
        self._seen = seen
        something = bool(seen.contracts or seen.node_names or seen.decisions)
        self._stack.setCurrentIndex(0 if something else 1)
        self._decision_rows.set_rows(seen.decisions)
        self.decisions_head.set_count(len(seen.decisions))
        self.calm.setVisible(not seen.decisions)
        self.decisions.setVisible(bool(seen.decisions))
        self._fit_decisions()
        self._contract_rows.set_rows(seen.contracts)
        self.contracts_head.set_count(len(seen.contracts))

    def _show_aside(self) -> None:
        if self._seen is not None and self.frame.is_open:
            connected = NodeState.CONNECTED in self._states.values()
            self.aside.show_overview(self._seen, demo=self.frame.services.demo, connected=connected)

    def _fit_decisions(self) -> None:
        """As high as its rows, so that the contracts follow at once; long lists scroll."""
        rows = self._decision_rows.rowCount()
        self.decisions.setMaximumHeight(max(1, min(rows, _MOST_ROWS)) * self.decisions.verticalHeader().defaultSectionSize() + 1)

    def retheme(self) -> None:
        """The height follows the font."""
        if self._seen is not None:
            self._fit_decisions()

    def _open(self, decision: Decision) -> None:
        page, *path = decision.place
        self.frame.go(page, *path)

    # -- what the window asks --------------------------------------------------------------------------------------------

    def visit(self, path: tuple[str, ...]) -> None:
        """Read anew whenever the page comes into sight."""
        self.refresh()

    def search(self, words: str) -> None:
        """Narrow both tables."""
        self._decision_rows.find(words)
        self._contract_rows.find(words)
        self._fit_decisions()

    def handle(self, event: Event) -> None:
        """A run ended, a record or a connection changed."""
        if isinstance(event, NodeStateChanged):
            self._states[event.node_id] = event.state
        if isinstance(event, NodeStateChanged | RecordsChanged | RunEnded) and not self._soon.isActive():
            self._soon.start(_WAIT_MS if self.isVisible() else _UNSEEN_MS)


PAGE = PageSpec("overview", Text("Overview", "总览"), "nav-overview", NavGroup.TOP, 10, OverviewPage)
