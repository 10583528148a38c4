"""How fast is the line between every two of the chosen nodes, and who is the slow one?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import Icon, KeyValues
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.events import Event, PairMeasured
from gpulease_gui.services.pair_runs import PairReport, PairRequest, PairRuns, usual_seconds
from gpulease_gui.services.pairs import Pair, rounds

if TYPE_CHECKING:
    from gpulease_gui.domain.cancel import CancelToken
    from gpulease_gui.gui.pages.page import Frame
    from gpulease_gui.services.jobs import Job

TITLE = Text("Measure between nodes", "节点间测量")
DEMO_SECONDS = 5
_WAITING = Cell("…", tone="3")
_NOT_READ = Cell(Text("not measured", "未测量"), missing=True)


class PairsDialog(QDialog):
    """First what will be loaded and for how long, with Cancel as the default; then a matrix that fills as pairs end.

    What was measured before a cancel stays, here and in the runs of the nodes.
    """

    def __init__(self, frame: Frame, nodes: Sequence[Node], promised: float | None, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModal(True)
        self._frame, self._nodes, self._promised = frame, tuple(nodes), promised
        self._seconds = DEMO_SECONDS if nodes[0].reach is Reach.DEMO else None
        self._rates: dict[Pair, float | None] = {}
        self.report: PairReport | None = None
        self._job: Job | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(12)
        column.addLayout(self._head())
        self.facts = KeyValues(self._facts(), label_width=120)
        column.addWidget(self.facts)
        self.model = TableModel[int](self._columns(), lambda place: place)
        self.table = TableView(self.model, TITLE)
        self.table.setMinimumHeight(min(14, len(nodes) + 2) * 30)
        column.addWidget(self.table, 1)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        column.addWidget(self.bar)
        self.said = PlainLabel("", size="dense", wrap=True, select=True)
        column.addWidget(self.said)
        column.addLayout(self._foot())
        for widget in (self.table, self.bar, self.said):
            widget.hide()
        self.setMinimumWidth(min(1200, max(560, 300 + 96 * len(nodes))))
        self._name()

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(10)
        count = len(self._nodes)
        row.addWidget(Icon("load", "warn", 20))
        headline = Text(f"Fill the lines between {count} nodes", f"占满 {count} 个节点之间的链路")
        row.addWidget(PlainLabel(headline, size="headline", weight=600, wrap=True), 1)
        self.badge = BadgeLabel(None)
        row.addWidget(self.badge)
        return row

    def _facts(self) -> list[tuple[Words, Words]]:
        plan, about = rounds(len(self._nodes)), round(usual_seconds(len(self._nodes), self._seconds))
        pairs = sum(len(one) for one in plan)
        names = foreign(", ".join(node.name for node in self._nodes))
        promised = Text("not stated: the pairs are compared with each other", "未约定：各节点对相互比较")
        if self._promised is not None:
            promised = foreign(f"{number_text(self._promised)} Gbit/s")
        return [
            (Text("Nodes", "节点"), names),
            (Text("Pairs", "节点对"), Text(f"{pairs} in {len(plan)} rounds; pairs of a round share no node", f"{pairs} 对，分 {len(plan)} 轮；同轮互不重叠")),
            (Text("Usually takes", "通常用时"), Text(f"{about} s", f"{about} 秒")),
            (Text("Writes", "写入"), Text("nothing; both directions of each line are full meanwhile", "不写入；期间每条链路双向先后占满")),
            (Text("Promised", "承诺"), promised),
        ]  # fmt: skip

    def _foot(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch()
        self.cancel = Button(CANCEL)
        self.cancel.clicked.connect(self._cancel)
        self.cancel.setDefault(True)
        self.start = Button(Text(f"Measure between {len(self._nodes)} nodes", f"在 {len(self._nodes)} 个节点间测量"), kind="danger_filled")
        self.start.clicked.connect(self._start)
        row.addWidget(self.cancel)
        row.addWidget(self.start)
        return row

    # -- measuring ----------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        services = self._frame.services
        request, nodes = PairRequest(self._seconds, self._promised), self._nodes

        def work(cancel: CancelToken) -> PairReport:
            return PairRuns(services.verification, services.bus).run(nodes, request, cancel)

        self.start.hide()
        for widget in (self.table, self.bar):
            widget.show()
        self.bar.setRange(0, 0)
        self.model.set_rows(range(len(nodes)))
        self._frame.bridge.arrived.connect(self._heard)
        self._job = services.jobs.start(TITLE, work, remote=True)
        self._frame.bridge.when_done(self._job.done, self._take, lambda _: self.reject())

    def _heard(self, event: Event) -> None:
        if isinstance(event, PairMeasured):
            self._rates[event.pair] = event.rate
            self.bar.setRange(0, event.total)
            self.bar.setValue(event.done)
            self.model.set_rows(range(len(self._nodes)))

    def _take(self, done: object) -> None:
        assert isinstance(done, PairReport)
        self._job, self.report = None, done
        self._rates = {result.pair: result.rate for result in done.results}
        self.bar.hide()
        self.badge.set_state(done.verdict)
        self.said.set_words(Text("\n".join(s.en for s in done.sentences), "\n".join(s.zh for s in done.sentences)))
        self.said.show()
        self.cancel.set_words(Text("Close", "关闭"))
        self.cancel.setEnabled(True)
        self.model.set_rows(range(len(self._nodes)))

    def _cancel(self) -> None:
        if self._job is None:
            self.reject()
            return
        self.cancel.setEnabled(False)
        self._job.cancel.cancel()

    def reject(self) -> None:
        """Escape ends what is measured first; the second one closes."""
        if self._job is not None:
            self._cancel()
        else:
            super().reject()

    # -- the matrix ---------------------------------------------------------------------------------------------------

    def _columns(self) -> tuple[Column[int], ...]:
        name = Column[int](Text("Gbit/s, slower way", "Gbit/s，较慢方向"), self._node_cell, width=150, stretch=True)
        others = (
            Column[int](foreign(node.name), self._cell_of(place), width=96, number=True) for place, node in enumerate(self._nodes)
        )
        return (name, *others)

    def _node_cell(self, place: int) -> Cell:
        slow = self.report is not None and place in self.report.blame.nodes
        name = foreign(self._nodes[place].name)
        return Cell(name, weight=600 if slow else 500, tone="fail" if slow else "1", tag=Text("slow", "偏慢") if slow else "")

    def _cell_of(self, other: int) -> Callable[[int], Cell]:
        def cell(place: int) -> Cell:
            pair = (min(place, other), max(place, other))
            if place == other:
                return NOTHING
            if pair not in self._rates:
                return _WAITING
            rate = self._rates[pair]
            if rate is None:
                result = self.report.result(*pair) if self.report else None
                return Cell(_NOT_READ.text, missing=True, tip=result.reason) if result else _NOT_READ
            slow = self.report is not None and (pair in self.report.blame.pairs or set(pair) & set(self.report.blame.nodes))
            return Cell(number_text(rate, 2), tone="fail" if slow else "1", weight=600 if slow else 400)

        return cell

    def _name(self) -> None:
        self.setWindowTitle(say(TITLE))
        self.setAccessibleName(say(TITLE))
