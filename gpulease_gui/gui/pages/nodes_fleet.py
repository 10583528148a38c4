"""How are many nodes watched while they are verified, and what is asked of those without an answer?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QWidget

from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.pages.nodes_fleet_table import fleet_table, totals_words, why_words
from gpulease_gui.gui.widgets.buttons import Button, Chip
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.panes import Pane
from gpulease_gui.gui.widgets.progress import show_progress
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.fleet_run import FleetLine, totals_of

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.nodes_work import NodeWork
    from gpulease_gui.gui.pages.page import Frame

TITLE = Text("Verification of many nodes", "批量验收")
# Twice a second all rows are looked at, a tenth of them at a time: a hundred rows at once would be felt.
LOOK_MS, PARTS = 50, 10
_KEEP: Mapping[str, Callable[[FleetLine], bool]] = {
    "bad": lambda line: line.failed > 0 or line.warned > 0,
    "left": lambda line: line.is_over and not line.is_done,
}


class FleetPane(Pane):
    """A table that fills in while nodes answer. `closed`: back to the nodes; `changed`: the page's buttons say something else.

    It asks twice a second how far each is, while it is in sight; no event of a node reaches a widget by itself.
    """

    closed = Signal()
    changed = Signal()

    def __init__(self, frame: Frame, work: NodeWork) -> None:
        super().__init__(2)
        self._frame, self._work = frame, work
        self._told: tuple[object, ...] = ()
        self._clock = QTimer(self)
        self._clock.setInterval(LOOK_MS)
        self._clock.timeout.connect(self._look_at_a_part)
        self._part = 0
        self._seen: tuple[FleetLine, ...] = ()
        self.opener = Button(TITLE, icon="nav-verify", small=True)
        self.opener.hide()
        self.rest = Button(Text("Verify what is not done", "验收未完成的部分"), icon="refresh", kind="primary")
        self.rest.clicked.connect(lambda: self._again(None))
        self.cancel_all = Button(Text("Cancel all", "全部取消"), icon="stop")
        self.cancel_all.clicked.connect(self._cancel_all)
        self.column.addWidget(self._head())
        self.column.addWidget(self._filters())
        self.model = fleet_table(self._has_question)
        self.table = TableView(self.model, TITLE, many=True)
        self.table.opened.connect(self._open)
        self.table.acted.connect(lambda line, _: self._work.ask_kept(line.node.id))
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._selected())
        self.column.addWidget(self.table, 1)
        self.why = PlainLabel("", size="dense", level="2", wrap=True, select=True)
        self.why.setContentsMargins(16, 8, 16, 8)
        self.column.addWidget(self.why)

    def _head(self) -> QWidget:
        head = QWidget()
        row = QHBoxLayout(head)
        row.setContentsMargins(16, 8, 16, 0)
        row.setSpacing(10)
        self.back = Button(Text("All nodes", "全部节点"), icon="chevron-left", small=True)
        self.back.clicked.connect(self.closed)
        self.said = PlainLabel("", weight=600)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(160)
        row.addWidget(self.back)
        row.addWidget(self.said)
        row.addStretch()
        row.addWidget(self.bar)
        return head

    def _filters(self) -> QWidget:
        bar = QWidget()
        row = QHBoxLayout(bar)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(8)
        self.chips = {
            "": Chip(Text("All", "全部")), "bad": Chip(Text("Fail or warning", "不符或警告")), "left": Chip(Text("Not done", "未完成")),
        }  # fmt: skip
        for key, chip in self.chips.items():
            chip.setAutoExclusive(True)
            chip.setChecked(not key)
            chip.clicked.connect(lambda _=False, wanted=key: self.model.only(_KEEP.get(wanted)))
            row.addWidget(chip)
        row.addStretch()
        self.keys = Button(Text("Host keys…", "主机密钥…"), icon="key", small=True)
        self.keys.clicked.connect(self._ask_for_keys)
        self.cancel = Button(Text("Cancel selected", "取消所选"), icon="stop", small=True)
        self.cancel.clicked.connect(self._cancel_selected)
        self.findings = Button(Text("Findings", "检查结果"), icon="nav-verify", small=True)
        self.findings.clicked.connect(lambda: self._open(self.table.current_row))
        self.heavy = Button(Text("Measure under load…", "带负载测量…"), icon="heavy", small=True)
        self.heavy.clicked.connect(self._ask_for_load)
        for button in (self.keys, self.heavy, self.findings, self.cancel):
            row.addWidget(button)
        return bar

    # -- what the page asks -------------------------------------------------------------------------------------------

    def start(self, nodes: Sequence[Node]) -> None:
        """Verify these nodes, unless a fleet is under way: then that one is shown."""
        if self._work.fleet is None or not self._work.fleet.running:
            self.table.way = self._frame.services.workspace.way
            self._work.verify_many(nodes)
            self.model.only(None)
            self.chips[""].setChecked(True)
        self._clock.start()
        self.look()
        self.table.choose_first()

    def buttons(self) -> tuple[Button, ...]:
        """While nodes are under way they can be ended, then what is left can be asked."""
        fleet = self._work.fleet
        return (self.cancel_all,) if fleet is not None and fleet.running else (self.rest,)

    def look(self, part: int | None = None) -> None:
        """Show how far all are now, or those of one part."""
        fleet = self._work.fleet
        if fleet is None:
            self._clock.stop()
            return
        lines = fleet.lines() if part is None else fleet.lines(part, PARTS)
        if part:
            self._show(lines)
            return
        totals = totals_of(lines)
        self._tell_opener(totals.over, totals.nodes)
        self._show(lines)
        if self.isVisible():
            self.said.set_words(totals_words(totals))
            show_progress(self.bar, totals.over, totals.nodes)
            self._count(lines)
            self.heavy.setVisible(totals.over == totals.nodes and any(line.is_done for line in lines))
            self._selected()
        self._tell(totals.left, over=totals.over == totals.nodes)

    def _look_at_a_part(self) -> None:
        """Show how far some are; when all are over, or in an order of the user's, all at once but twice a second."""
        with self.table.way.held():
            self._look_at_next()

    def _look_at_next(self) -> None:
        fleet = self._work.fleet
        self._part = (self._part + 1) % PARTS
        whole = fleet is None or not fleet.running or self.model.is_sorted or not self._seen
        if self._part == 0 or (fleet is not None and not whole):
            self.look(None if whole else self._part)

    def _show(self, lines: tuple[FleetLine, ...]) -> None:
        if self.isVisible():
            self._seen = lines
            self.model.renew_rows(lines)

    def _tell_opener(self, over: int, nodes: int) -> None:
        self.opener.setVisible(True)
        self.opener.set_words(Text(f"Verified {over} of {nodes}", f"已验收 {over} / {nodes}"))

    def _count(self, lines: Sequence[FleetLine]) -> None:
        self.chips[""].set_count(len(lines))
        for key, keep in _KEEP.items():
            self.chips[key].set_count(sum(map(keep, lines)))
        asked = len(self._work.kept_questions)
        self.keys.setVisible(asked > 0)
        self.keys.set_words(Text(f"Host keys to decide: {asked}…", f"待决定的主机密钥：{asked}…"))

    def _tell(self, left: int, *, over: bool) -> None:
        """The window builds its header anew at each notice, so it is told of true changes only."""
        if over:
            self._clock.stop()
        now = (left, over)
        if now != self._told:
            self._told = now
            self.rest.set_words(Text(f"Verify what is not done: {left}", f"验收未完成的部分：{left}"))
            self.rest.setEnabled(over and left > 0)
            self.cancel_all.setEnabled(not over)
            self.changed.emit()

    def _has_question(self, node_id: str) -> bool:
        return any(question.node.id == node_id for question in self._work.kept_questions)

    # -- what is done -------------------------------------------------------------------------------------------------

    def _selected(self) -> None:
        line: FleetLine | None = self.table.current_row
        self.why.set_words(why_words(line) if line is not None else "")
        self.findings.setEnabled(line is not None and line.run_id is not None)
        self.cancel.setEnabled(any(not chosen.is_over for chosen in self.table.selected_rows))

    def _open(self, line: FleetLine | None) -> None:
        if line is not None:
            self._frame.go("verification", line.node.id)

    def _again(self, node_ids: Sequence[str] | None) -> None:
        self._work.verify_again(node_ids)
        self._go_on()

    def _go_on(self) -> None:
        self._clock.start()
        self.look()

    def _cancel_selected(self) -> None:
        for line in self.table.selected_rows:
            self._work.cancel(line.node.id)
        self.look()

    def _cancel_all(self) -> None:
        if self._work.fleet is not None:
            self._work.fleet.cancel_all()
        self.look()

    def _ask_for_keys(self) -> None:
        from gpulease_gui.gui.forms.host_keys_dialog import HostKeysDialog

        dialog = HostKeysDialog(self._work.kept_questions, parent=self.window())
        dialog.decided.connect(self._trust)
        open_dialog(dialog)

    def _ask_for_load(self) -> None:
        """The heavy checks come after all the others, each on its own: named and confirmed for all nodes at once."""
        from gpulease_gui.gui.forms.heavy_dialog import heavy_dialog_of_many
        from gpulease_gui.services.plan import heavy_rules

        rules = heavy_rules()
        nodes = tuple(line.node for line in self._seen if line.is_done)
        dialog = heavy_dialog_of_many([rule.check for rule in rules], nodes, parent=self.window())
        dialog.accepted.connect(lambda: self._load(nodes, tuple(rule.check.id for rule in rules)))
        open_dialog(dialog)

    def _load(self, nodes: Sequence[Node], checks: tuple[str, ...]) -> None:
        self._work.measure_many(nodes, checks)
        self._go_on()

    def _trust(self, decided: object) -> None:
        self._work.trust_kept(decided)  # type: ignore[arg-type]  # a signal carries object
        self._clock.start()


def may_verify(nodes: Sequence[Node], *, busy: bool) -> Text:
    """What the primary button says for a selection."""
    if len(nodes) > 1:
        return Text(f"Verify {len(nodes)} nodes", f"验收 {len(nodes)} 个节点")
    name = nodes[0].name if nodes else ""
    if busy:
        return Text(f"Working on {name}…", f"正在处理 {name}…")
    return Text(f"Verify {name}".strip(), f"验收 {name}".strip())


