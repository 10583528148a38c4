"""What will run on the node, what runs now, and how is it stopped?"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QProgressBar, QScrollArea, QVBoxLayout, QWidget

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import CheckState, Verdict, worst
from gpulease_gui.domain.text import Text, foreign, visible
from gpulease_gui.gui.forms.fields import Chooser, Field
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import Cell, Column
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.nodes_table import local_time, run_badge
from gpulease_gui.gui.pages.verification_choice import ChoiceBox
from gpulease_gui.gui.pages.verification_state import FindingRow, Picture
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.buttons import Button, IconButton
from gpulease_gui.gui.widgets.cells import CHECK
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel, Words
from gpulease_gui.gui.widgets.panes import Icon, Pane, hairline
from gpulease_gui.gui.widgets.progress import show_progress
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.pdf.badges import Badge, badge_of
from gpulease_gui.services.run_view import CheckInfo, NodeRuns
from gpulease_gui.store.records import Run


@dataclass(frozen=True, slots=True)
class PlanRow:
    """A group of read-only checks, or one check that loads the node."""

    key: str
    title: Text
    badge: Badge | None = None
    tally: str = ""
    checked: bool | None = None


def group_rows(rows: Iterable[FindingRow], infos: Mapping[str, CheckInfo], left_out: Collection[str] = ()) -> list[PlanRow]:
    """The groups of the passive checks with their worst verdict and how many of the planned ones are done."""
    shown = list(rows)
    made: list[PlanRow] = []
    for key, title in {i.group.en: i.group for i in infos.values() if i.impact is Impact.PASSIVE}.items():
        checks = {i.id for i in infos.values() if i.group.en == key and i.impact is Impact.PASSIVE and i.id not in left_out}
        mine = [row for row in shown if row.info.id in checks]
        done = {row.info.id for row in mine if row.finding is not None or row.state is CheckState.ERROR}
        if checks or done:
            made.append(PlanRow(key, title, _badge(mine), f"{len(done)} / {len(checks | done)}"))
    return made


def _badge(mine: list[FindingRow]) -> Badge:
    found = [row.verdict for row in mine if row.verdict is not None]
    if not found:
        return badge_of(mine[0].state if mine else CheckState.PLANNED)
    return badge_of(worst(verdict for verdict in found if verdict is not Verdict.NOT_APPLICABLE))


def heavy_rows(rows: Iterable[FindingRow], infos: Mapping[str, CheckInfo], ticked: Collection[str], *, running: bool) -> list[PlanRow]:
    """The checks that load the node: ticked ones run after a confirmation."""
    by_check: dict[str, list[FindingRow]] = {}
    for row in rows:
        by_check.setdefault(row.info.id, []).append(row)
    made = []
    for info in infos.values():
        if info.impact is not Impact.PASSIVE:
            badge = _badge(by_check[info.id]) if info.id in by_check else badge_of(CheckState.NOT_RUN)
            checked = None if running else info.id in ticked
            made.append(PlanRow(info.id, info.title, badge if running else None, f"{info.usual_s} s", checked))
    return made


def _title(row: PlanRow) -> Cell:
    if row.badge is None:
        return Cell(row.title, checked=row.checked)
    return Cell(row.title, icon=row.badge.icon, icon_tone=row.badge.token, checked=row.checked)


def _plan_table(name: Words) -> tuple[TableModel[PlanRow], TableView]:
    columns = (
        Column[PlanRow](name, _title, stretch=True),
        Column[PlanRow]("", lambda row: Cell(foreign(row.tally), tone="3"), width=84, number=True),
    )
    model = TableModel[PlanRow](columns, lambda row: row.key)
    view = TableView(model, name)
    view.set_pane()
    view.horizontalHeader().hide()
    return model, view


class PlanPane(Pane):
    """The left pane.

    `node_picked`, `run_picked`, `contract_picked` carry ids, `group_picked` the key of a group, `ticked` is told when
    a heavy check was ticked; `cancelled` when the user wants the run to end.
    """

    node_picked = Signal(str)
    run_picked = Signal(str)
    contract_picked = Signal(str)
    group_picked = Signal(str)
    ticked = Signal()
    cancelled = Signal()

    def __init__(self, catalogue: Catalogue, *, parent: QWidget | None = None) -> None:
        super().__init__(1, parent=parent)
        self._catalogue = catalogue
        self._infos: Mapping[str, CheckInfo] = {}
        self._picture = Picture()
        self.column.addWidget(self._choosers())
        self.column.addWidget(hairline())
        self.column.addWidget(self._progress())
        self.column.addWidget(hairline())
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(self._plan())
        self.column.addWidget(area, 1)
        self.column.addWidget(hairline())
        self.column.addWidget(self._command())
        self.column.addWidget(hairline())
        self.column.addWidget(self._foot())

    # -- parts ------------------------------------------------------------------------------------------------------

    def _choosers(self) -> QWidget:
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(16, 10, 16, 10)
        column.setSpacing(8)
        self.node = Chooser(Text("Node", "节点"))
        self.node.picked.connect(self.node_picked)
        self.run = Chooser(Text("Run", "验收记录"))
        self.run.picked.connect(self.run_picked)
        self.contract = Chooser(Text("Contract", "合同"))
        self.contract.picked.connect(self.contract_picked)
        column.addWidget(self.node)
        column.addWidget(self.run)
        label = Text("No contract yet: pick one to have promises", "尚无合同：选择合同后才有承诺可对照")
        self.contract_field = Field(label, self.contract)
        column.addWidget(self.contract_field)
        return box

    def _progress(self) -> QWidget:
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(16, 10, 16, 10)
        column.setSpacing(6)
        row = QHBoxLayout()
        self.now = ElidedLabel("", size="dense", weight=600)
        self.count = PlainLabel("", size="dense", level="3")
        self.ended = BadgeLabel(None, filled=False)
        row.addWidget(self.now, 1)
        row.addWidget(self.count)
        row.addWidget(self.ended)
        column.addLayout(row)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(say(Text("Progress", "进度")))
        column.addWidget(self.bar)
        self.broken_off = PlainLabel("", size="dense", level="2", wrap=True)
        column.addWidget(self.broken_off)
        return box

    def _plan(self) -> QWidget:
        box = Pane(1)
        column = box.column
        column.setContentsMargins(0, 10, 0, 8)
        self.choice = ChoiceBox()
        self.choice.changed.connect(self._chosen)
        column.addWidget(self.choice)
        self.read_only = PlainLabel("", size="caption", level="2")
        column.addLayout(_caption("shield", "pass", self.read_only))
        self.groups, self.groups_view = _plan_table(Text("Read-only checks", "只读检查"))
        self.groups_view.chosen.connect(lambda row: self.group_picked.emit(row.key) if row else None)
        column.addWidget(self.groups_view)
        column.addSpacing(10)
        self.loads = PlainLabel(Text("Loads the node, asks first", "有负载，执行前确认"), size="caption", level="2")
        column.addLayout(_caption("load", "warn", self.loads))
        self.heavy, self.heavy_view = _plan_table(Text("Checks that load the node", "有负载的检查"))
        self.heavy_view.acted.connect(self._tick)
        self.heavy_view.opened.connect(lambda row: self._tick(row, CHECK))
        column.addWidget(self.heavy_view)
        peer = Text("Peer of the network check", "网络检查的对端")
        self.peer = Chooser(peer)
        self.peer_field = Field(peer, self.peer)
        self.peer_field.setContentsMargins(16, 4, 16, 8)
        column.addWidget(self.peer_field)
        column.addStretch(1)
        return box

    def _command(self) -> QWidget:
        box = QWidget()
        column = QVBoxLayout(box)
        column.setContentsMargins(16, 8, 16, 10)
        column.setSpacing(4)
        row = QHBoxLayout()
        self.command_name = ElidedLabel("", size="caption", level="2")
        copy = IconButton("copy", Text("Copy the command", "复制命令"), size=14)
        row.addWidget(self.command_name, 1)
        row.addWidget(copy)
        column.addLayout(row)
        self.command = QPlainTextEdit()
        copy.clicked.connect(self._copy_command)
        self.command.setReadOnly(True)
        self.command.setProperty("raw", "true")
        self.command.setFixedHeight(84)
        self.command.setAccessibleName(say(Text("Command", "命令")))
        column.addWidget(self.command)
        return box

    def _copy_command(self) -> None:
        QGuiApplication.clipboard().setText(self.command.toPlainText())

    def _foot(self) -> QWidget:
        self.foot = QWidget()
        row = QHBoxLayout(self.foot)
        row.setContentsMargins(16, 8, 16, 8)
        self.cancel = Button(Text("Cancel now", "立即取消"), kind="danger", icon="stop", small=True)
        self.cancel.clicked.connect(self._cancel)
        self.kept = ElidedLabel(Text("findings so far are kept", "已有结果会保留"), size="caption", level="3")
        row.addWidget(self.cancel)
        row.addWidget(self.kept, 1)
        return self.foot

    # -- what the page calls --------------------------------------------------------------------------------------------

    def show_node(self, node: NodeRuns, run_id: str) -> None:
        """Offer the nodes, and the runs of this one."""
        self.node.set_choices([(other.id, foreign(other.name)) for other in node.nodes], node.node.id)
        runs: list[tuple[str, Words]] = [(run.id, _run_words(node.number(run.id), run)) for run in node.runs]
        self.run.set_choices(runs or [("", Text("not verified yet", "尚未验收"))], run_id)
        self.run.setEnabled(bool(runs))
        self.contract_field.setVisible(node.contract is None and bool(node.contracts))
        choices: list[tuple[str, Words]] = [("", Text("choose…", "选择…"))]
        self.contract.set_choices([*choices, *((c.id, foreign(c.number)) for c in node.contracts)], "")
        others: list[tuple[str, Words]] = [(o.id, foreign(o.name)) for o in node.nodes if o.id != node.node.id]
        self.peer.set_choices(others, node.peer_id or "")
        self.choice.show_node(Promise(self._catalogue, node.terms), peer=bool(node.peer_id))
        self._fit_peer()

    def show_picture(self, picture: Picture, infos: Mapping[str, CheckInfo]) -> None:
        """Draw the plan and how far it is."""
        self._infos, self._picture = infos, picture
        planned = self._planned(picture)
        passive = [info for info in infos.values() if info.impact is Impact.PASSIVE and info.id in planned]
        self.read_only.set_words(Text(f"Read-only, {len(passive)} checks", f"只读，{len(passive)} 项"))
        self.groups.set_rows(group_rows(picture.rows, infos, set(infos) - planned))
        self.heavy.set_rows(heavy_rows(picture.rows, infos, planned, running=picture.is_running))
        self.choice.setEnabled(not picture.is_running)
        for model, view in ((self.groups, self.groups_view), (self.heavy, self.heavy_view)):
            view.setFixedHeight(model.rowCount() * view.verticalHeader().defaultSectionSize() + 1)
        self._show_progress(picture)

    def _planned(self, picture: Picture) -> frozenset[str]:
        """The checks of the run under way, else of the next one."""
        live = picture.live
        return frozenset(live.checks if live is not None and picture.is_running else self.choice.plan.checks)

    def _show_progress(self, picture: Picture) -> None:
        live, running = picture.live, picture.is_running
        self.bar.setVisible(running)
        self.count.setVisible(running)
        self.foot.setVisible(running)
        self.ended.setVisible(not running)
        broken_off = picture.state_words
        self.broken_off.setVisible(broken_off is not None and not running)
        self.broken_off.set_words(broken_off or "")
        if live is not None and running:
            info = self._infos.get(live.running)
            self.now.set_words(info.title if info else Text("Reading the node", "正在读取节点"))
            self.count.set_words(f"{live.done} / {len(live.checks)}")
            self._advance(live.done, len(live.checks))
            return
        self.cancel.setEnabled(True)
        number = picture.number
        self.now.set_words(Text(f"Run {number}", f"第 {number} 次验收") if picture.run else Text("Not verified yet", "尚未验收"))
        self.ended.set_state(run_badge(picture.run))

    def _advance(self, done: int, total: int) -> None:
        """Qt's bar draws the whole window at once at each new value; without updates it waits its turn."""
        show_progress(self.bar, done, total)

    def show_command(self, info: CheckInfo | None) -> None:
        """The exact text that a check sends to the node."""
        title = info.title if info else Text("", "")
        self.command_name.set_words(Text(f"Command of {title.en}", f"“{title.zh}”的命令") if info else Text("Command", "命令"))
        lines = "\n\n".join(command.line for command in info.commands) if info else ""
        if self.command.toPlainText() != lines:
            self.command.setPlainText(visible(lines))

    @property
    def heavy_wanted(self) -> tuple[str, ...]:
        """The planned checks that load the node."""
        return tuple(rule.check.id for rule in self.choice.plan.active)

    def untick(self) -> None:
        """Nothing heavy is wanted any more."""
        self.choice.reset()

    def _chosen(self) -> None:
        self.show_picture(self._picture, self._infos)
        self._fit_peer()
        self.ticked.emit()

    def _tick(self, row: PlanRow, action: str) -> None:
        if action == CHECK and row.checked is not None:
            self.choice.toggle(row.key)
            self.show_command(self._infos.get(row.key))

    def _fit_peer(self) -> None:
        pair = any(self._infos[id_].needs_peer for id_ in self.heavy_wanted if id_ in self._infos)
        self.peer_field.setVisible(pair and self.peer.count() > 0)

    def _cancel(self) -> None:
        self.cancel.setEnabled(False)
        self.now.set_words(Text("Cancelling…", "正在取消…"))
        self.cancelled.emit()


def _caption(icon: str, token: str, label: PlainLabel) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setContentsMargins(16, 0, 16, 4)
    row.setSpacing(6)
    row.addWidget(Icon(icon, token, 14))
    row.addWidget(label, 1)
    return row


def _run_words(number: int, run: Run) -> Text:
    word, at = run_badge(run).word, local_time(run)
    part = Text(" · part", " · 部分") if run.is_part else Text("", "")
    return Text(f"{number} · {at} · {word.en}{part.en}", f"{number} · {at} · {word.zh}{part.zh}")
