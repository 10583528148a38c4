"""How are many nodes watched while they are verified, and what is asked of those without an answer?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.pages.nodes_fleet_table import FleetTable, fleet_table, totals_words, who_words, why_words
from gpulease_gui.gui.widgets.buttons import Button, Chip
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel
from gpulease_gui.gui.widgets.panes import Pane, hairline
from gpulease_gui.gui.widgets.progress import show_progress
from gpulease_gui.services.fleet_run import FleetLine, Phase, totals_of

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.nodes_work import NodeWork
    from gpulease_gui.gui.pages.page import Frame

TITLE = Text("Verification of many nodes", "批量验收")
# Twice a second all rows are looked at, a tenth of them at a time: a hundred rows at once would be felt.
LOOK_MS, PARTS = 50, 10
_SELECT = Text("Select a node: its reason and the next step stand here", "选择一个节点，这里显示原因和下一步")
_NO_ROW = Text("No node matches the filter or the search", "没有符合筛选或搜索的节点")
_KEEP: Mapping[str, Callable[[FleetLine], bool]] = {
    "bad": lambda line: line.failed > 0 or line.warned > 0,
    "left": lambda line: line.is_over and not line.is_done,
    "going": lambda line: not line.is_over,
}


class FleetPane(Pane):
    """A table that fills in while nodes answer; the foot says the current row's reason, or its worst finding, in full.

    `closed`: back to the nodes; `changed`: the page's buttons say something else; `edited`: the Node is to be corrected.

    It asks twice a second how far each is, while it is in sight; no event of a node reaches a widget by itself.
    """

    closed = Signal()
    changed = Signal()
    edited = Signal(object)

    def __init__(self, frame: Frame, work: NodeWork) -> None:
        super().__init__(2)
        self._frame, self._work = frame, work
        self._told: tuple[object, ...] = ()
        self._clock = QTimer(self)
        self._clock.setInterval(LOOK_MS)
        self._clock.timeout.connect(self._look_at_a_part)
        self._work.fleet_goes_on.connect(self._go_on)
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
        self.table = FleetTable(self.model, TITLE, many=True)
        self.table.opened.connect(self._open)
        self.table.acted.connect(lambda line, _: self._work.ask_kept(line.node.id))
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._selected())
        self.table.chosen.connect(lambda _: self._selected())
        self.column.addWidget(self.table, 1)
        self.column.addWidget(hairline())
        self.column.addWidget(self._foot())
        self.model.layoutChanged.connect(lambda *_: self._selected())  # a search or a filter can take the current row away

    def _head(self) -> QWidget:
        head = QWidget()
        row = QHBoxLayout(head)
        row.setContentsMargins(16, 8, 16, 0)
        row.setSpacing(10)
        self.back = Button(Text("All nodes", "全部节点"), icon="chevron-left", small=True)
        self.back.clicked.connect(self.closed)
        self.said = ElidedLabel("", weight=600)
        self.keys = Button(Text("Host keys…", "主机密钥…"), icon="key", small=True)
        self.keys.clicked.connect(self._ask_for_keys)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(160)
        row.addWidget(self.back)
        row.addWidget(self.said, 1)
        row.addWidget(self.keys)
        row.addWidget(self.bar)
        return head

    def _foot(self) -> QWidget:
        """Always there, two lines high at least: rows do not jump from node to node."""
        foot = QWidget()
        row = QHBoxLayout(foot)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(16)
        words = QVBoxLayout()
        words.setSpacing(2)
        self.who = ElidedLabel("", size="dense", weight=600)
        self.why = PlainLabel("", size="dense", level="2", wrap=True, select=True)
        self.why.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        words.addWidget(self.who)
        words.addWidget(self.why)
        row.addLayout(words, 1)
        self.edit = Button(Text("Edit node…", "编辑节点…"), icon="edit", small=True)
        self.edit.clicked.connect(self._edit)
        self.decide = Button(Text("Decide on its key…", "决定其密钥…"), icon="key", small=True)
        self.decide.clicked.connect(lambda: self._work.ask_kept(self.table.current_row.node.id))
        self.findings = Button(Text("Findings", "检查结果"), icon="nav-verify", small=True)
        self.findings.clicked.connect(lambda: self._open(self.table.current_row))
        for button in (self.edit, self.decide, self.findings):
            row.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        return foot

    def _filters(self) -> QWidget:
        bar = QWidget()
        row = QHBoxLayout(bar)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(8)
        self.chips = {
            "": Chip(Text("All", "全部")), "bad": Chip(Text("Fail or warning", "不符或警告")), "left": Chip(Text("Not done", "未完成")),
            "going": Chip(Text("Under way", "进行中")),
        }  # fmt: skip
        for key, chip in self.chips.items():
            chip.setAutoExclusive(True)
            chip.setChecked(not key)
            chip.clicked.connect(lambda _=False, wanted=key: self._only(wanted))
            row.addWidget(chip)
        row.addStretch()
        self.cancel = Button(Text("Cancel selected", "取消所选"), icon="stop", small=True)
        self.cancel.clicked.connect(self._cancel_selected)
        self.again = Button(Text("Verify selected", "验收所选"), icon="refresh", small=True)
        self.again.clicked.connect(lambda: self._again(self._selected_left()))
        self.heavy = Button(Text("Measure under load…", "带负载测量…"), icon="heavy", small=True)
        self.heavy.clicked.connect(self._ask_for_load)
        for button in (self.heavy, self.again, self.cancel):
            row.addWidget(button)
        return bar

    # -- what the page asks -------------------------------------------------------------------------------------------

    def start(self, nodes: Sequence[Node]) -> None:
        """Verify these nodes, unless a fleet is under way: then that one is shown, and that the others wait is said."""
        fleet = self._work.fleet
        if fleet is None or not fleet.running:
            self.table.way = self._frame.services.workspace.way
            taken = len(self._work.verify_many(nodes).lines())
            self._tell_left_out(len(nodes) - taken)
            self._only("")
        else:
            self._tell_under_way(len(fleet.lines()))
        self._clock.start()
        self.look()
        self.table.choose_first()
        self.table.setFocus()

    def _tell_under_way(self, nodes: int) -> None:
        self._frame.note(Text(f"Nothing was started: the verification of {nodes} nodes is still under way",
                              f"未启动新的验收：{nodes} 个节点的验收仍在进行"))  # fmt: skip

    def _tell_left_out(self, count: int) -> None:
        if count:
            nodes = "1 node that is" if count == 1 else f"{count} nodes that are"
            self._frame.note(Text(f"Without {nodes} busy with other work", f"{count} 个节点正在处理其他工作，未纳入"))

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
            self._offer(is_over=totals.over == totals.nodes, is_any_done=any(line.is_done for line in lines))
            self._selected()
        self._tell(totals.left, over=totals.over == totals.nodes)

    def _offer(self, *, is_over: bool, is_any_done: bool) -> None:
        """What can be done while nodes are under way, and what when all are over."""
        self.bar.setVisible(not is_over)
        self.heavy.setVisible(is_over and is_any_done)
        self.again.setVisible(is_over)
        self.cancel.setVisible(not is_over)
        self.chips["going"].setVisible(not is_over)
        if is_over and self.chips["going"].isChecked():
            self._only("")

    def _only(self, wanted: str) -> None:
        self.chips[wanted].setChecked(True)
        self.model.only(_KEEP.get(wanted))
        if self.table.current_row is None:
            self.table.choose_first()

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
        self.who.set_words(who_words(line) if line is not None else _SELECT if self.model.rowCount() else _NO_ROW)
        self.why.set_words(why_words(line) if line is not None else "")
        self.why.setMinimumHeight(2 * self.why.fontMetrics().lineSpacing())
        is_shut_out = line is not None and line.phase is Phase.NOT_REACHED
        asks = line is not None and is_shut_out and self._has_question(line.node.id)
        self.decide.setVisible(asks)
        self.edit.setVisible(is_shut_out and not asks)
        self.findings.setVisible(line is not None and line.run_id is not None)
        self.cancel.setEnabled(any(not chosen.is_over for chosen in self.table.selected_rows))
        self.again.setEnabled(bool(self._selected_left()))

    def _selected_left(self) -> list[str]:
        return [line.node.id for line in self.table.selected_rows if _KEEP["left"](line)]

    def _edit(self) -> None:
        line: FleetLine | None = self.table.current_row
        if line is not None:
            self.edited.emit(line.node)

    def _open(self, line: FleetLine | None) -> None:
        if line is not None:
            self._frame.go("verification", line.node.id)

    def _again(self, node_ids: Sequence[str] | None) -> None:
        self._work.verify_again(node_ids)

    def _go_on(self) -> None:
        self._clock.start()
        self.look()

    def _cancel_selected(self) -> None:
        if self._work.fleet is not None:
            self._work.fleet.cancel(*(line.node.id for line in self.table.selected_rows))
        self.look()

    def _cancel_all(self) -> None:
        if self._work.fleet is not None:
            self._work.fleet.cancel_all()
        self.look()

    def _ask_for_keys(self) -> None:
        """New keys of several nodes are one question; a changed key is only ever decided in its own dialog."""
        from gpulease_gui.gui.forms.host_key_dialog import is_changed
        from gpulease_gui.gui.forms.host_keys_dialog import HostKeysDialog

        asked = self._work.kept_questions
        if sum(not is_changed(question) for question in asked) < 2:
            for question in asked:
                self._work.ask_kept(question.node.id)
            return
        dialog = HostKeysDialog(asked, parent=self.window())
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


def may_verify(nodes: Sequence[Node], *, busy: bool) -> Text:
    """What the primary button says for a selection."""
    if len(nodes) > 1:
        return Text(f"Verify {len(nodes)} nodes", f"验收 {len(nodes)} 个节点")
    name = nodes[0].name if nodes else ""
    if busy:
        return Text(f"Working on {name}…", f"正在处理 {name}…")
    return Text(f"Verify {name}".strip(), f"验收 {name}".strip())


