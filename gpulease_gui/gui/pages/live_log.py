"""How does the user follow a log on the node in sight, beside the curves of its hardware, and let go of it again?"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.task import (
    SourceKind,
    TaskEnd,
    TaskPhase,
    TaskPoint,
    TaskProgress,
    TaskRun,
    TaskSource,
    TaskSpec,
)
from gpulease_gui.domain.text import Text, foreign, visible
from gpulease_gui.domain.units import number_text
from gpulease_gui.gui.forms.fields import Field, LineField, open_dialog
from gpulease_gui.gui.pages.live_words import WATCH_A_LOG
from gpulease_gui.gui.widgets.bands import Band
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.services.events import Event, TaskEnded, TaskProgressed
from gpulease_gui.services.log_words import WAITS
from gpulease_gui.telemetry.task_log import values_of

if TYPE_CHECKING:
    from gpulease_gui.domain.node import Node
    from gpulease_gui.gui.pages.live import LivePage
    from gpulease_gui.gui.pages.nodes_work import NodeWork
    from gpulease_gui.gui.pages.page import Frame

FOLLOW = Text("Follow a log…", "跟踪日志…")
LONGEST_S = 7 * 24 * 3600
_NO_PATH = Text("Write the log's path on the node, such as /workspace/train.log", "请填写日志在节点上的路径，例如 /workspace/train.log")
_BUSY = Text("Something else runs on this node; a log can be followed when that is over.", "此节点上有其他作业在运行，结束后才能跟踪日志。")
_KEPT = Text(
    "The log is only read, and waited for where it is not there yet. Its curves stand among the lanes, and its run is kept under Verification, own task.",
    "只读取日志；文件尚不存在时会等待。其曲线显示在各通道中，运行记录保存在“验收 > 自有任务”。",
)
# Metric -> (decimals, unit).
_SAID = {
    "task.tokens_s": (0, "tokens/s"), "task.samples_s": (1, "samples/s"), "task.tokens_s_gpu": (0, "tokens/s per GPU"),
    "task.step_s": (3, "s/step"), "task.tflops_gpu": (1, "TFLOP/s per GPU"),
}  # fmt: skip


class LogDialog(FactDialog):
    """Path and pattern; "Follow" asks by `wanted` for a task that was found to be possible."""

    wanted = Signal(object)

    def __init__(self, frame: Frame, work: NodeWork, node: Node, *, parent: QWidget | None = None) -> None:
        headline = Text(f"Follow a log on {visible(node.name)}", f"跟踪 {visible(node.name)} 上的日志")
        super().__init__(FOLLOW, headline, ((Text("Node", "节点"), foreign(f"{node.name} ({node.target})")),),
                         icon="nav-live", consequence=_KEPT, parent=parent)  # fmt: skip
        self._frame, self._work, self._node = frame, work, node
        self.path = LineField(Text("Path on the node", "节点上的路径"), "/workspace/train.log", code=True)
        self.pattern = LineField(Text("Pattern", "模式"), r"step (?P<step>\d+) loss (?P<loss>[\d.]+)", code=True)
        self.try_it = Button(Text("Try…", "试读…"), small=True)
        self.path_row = Field(Text("Path on the node", "节点上的路径"), self.path)
        self.pattern_row = Field(Text("Pattern for its lines (known trainers need none)", "日志模式（常见训练框架无需填写）"), self.pattern, self.try_it)
        self.column.addWidget(self.path_row)
        self.column.addWidget(self.pattern_row)
        self.add_button(Button(CANCEL), rejects=True)
        self.follow = self.add_button(Button(Text("Follow the log", "跟踪日志"), kind="primary"), default=True)
        self.follow.clicked.connect(self._check)
        self.try_it.clicked.connect(self._try_pattern)
        work.changed.connect(self._look)
        self._look(node.id)
        self.path.setFocus()

    def _look(self, node_id: str) -> None:
        if node_id == self._node.id:
            busy = self._work.job_of(node_id) is not None
            self.follow.setEnabled(not busy)
            self.path_row.complain(_BUSY if busy else "")

    def _check(self) -> None:
        place = self.path.text().strip()
        self.pattern_row.complain("")
        self.path_row.complain("" if place else _NO_PATH)
        if not place:
            self.path.setFocus()
            return
        name, tasks = PurePosixPath(place).name or place, self._frame.services.tasks
        spec = TaskSpec(name, TaskSource(SourceKind.LOG, place), time_limit_s=LONGEST_S, pattern=self.pattern.text().strip())
        self._frame.bridge.when_done(self._frame.services.jobs.local(lambda: tasks.measured(spec)), self._possible, self._refuse)

    def _possible(self, spec: TaskSpec) -> None:
        self.wanted.emit(spec)
        self.accept()

    def _refuse(self, trouble: UserFacing) -> None:
        row = self.path_row if "path" in trouble.what else self.pattern_row
        row.complain(trouble.whole_text)

    def _try_pattern(self) -> None:
        from gpulease_gui.gui.forms.pattern_dialog import PatternDialog

        dialog = PatternDialog(self._frame, self.pattern.text().strip(), parent=self)
        dialog.taken.connect(self.pattern.setText)
        open_dialog(dialog)


class LogFollow(QObject):
    """The log that is followed on the node in sight: a band says what it told last, and lets go of it."""

    def __init__(self, page: LivePage) -> None:
        super().__init__(page)
        from gpulease_gui.gui.pages.nodes_work import work_of

        self._page, self._frame, self._work = page, page.frame, work_of(page.frame)
        self._paths: dict[str, str] = {}
        self._told: dict[str, TaskProgress] = {}
        self._last: dict[str, TaskPoint] = {}
        self.details, self.detach_button = Button(Text("Details", "详情"), small=True), Button(Text("Detach", "停止跟踪"), small=True)
        self.band = Band("accent", "", "", self.details, self.detach_button)
        self.band.hide()
        self.details.clicked.connect(self._open)
        self.detach_button.clicked.connect(self.detach)
        self._work.changed.connect(self._changed)

    def ask(self) -> None:
        """Which log, and how its lines are to be read?"""
        current = self._page.node
        if current is not None:
            dialog = LogDialog(self._frame, self._work, current.node, parent=self._page)
            dialog.wanted.connect(lambda spec: self.begin(current.node.id, spec))
            open_dialog(dialog)

    def begin(self, node_id: str, spec: TaskSpec) -> None:
        """Follow it from now on, beside the hardware; a node that is not watched is watched from now on, too."""
        current = self._page.node
        if current is None or current.node.id != node_id or self._work.job_of(node_id) is not None:
            return
        if not self._page.running:
            self._page.watch()
        self._paths[node_id] = spec.source.place
        self._forget(node_id)
        contract = (current.node.contract_id, current.contract) if current.node.contract_id else None
        self._work.run_task(current.node, spec, current.terms, contract)
        self.show_node()

    def detach(self) -> None:
        """Read it no more; what it told stays."""
        if self._page.node is not None:
            self.detach_button.setEnabled(False)
            self._work.cancel(self._page.node.node.id)

    def handle(self, event: Event) -> None:
        """What logs of any node tell, and how following them ends."""
        if isinstance(event, TaskProgressed):
            told, before = event.progress, self._told.get(event.progress.node_id)
            self._told[told.node_id] = told
            node = self._page.node
            if before is not None and before.waits != told.waits and node is not None and node.node.id == told.node_id:
                self._page.history.refresh()  # it left a mark in the chart
            if told.points:
                self._last[told.node_id] = told.points[-1]
            self.show_node()
        elif isinstance(event, TaskEnded):
            self._ended(event.task)

    def _ended(self, task: TaskRun) -> None:
        path = self._paths.pop(task.node_id, None)
        self._forget(task.node_id)
        self.show_node()
        if path is not None and task.end is TaskEnd.CANCELLED:
            self._frame.note(Text(f"{visible(path)} is followed no more", f"已停止跟踪 {visible(path)}"))
        elif path is not None:
            headline = Text(f"{visible(path)} is followed no more", f"{visible(path)} 的跟踪已结束")
            reason, step = task.reason, task.next_step
            self._frame.trouble(headline, Text(f"{reason.en}. {step.en}", f"{reason.zh}。{step.zh}") if step.en else reason)

    def _changed(self, node_id: str) -> None:
        if self._work.job_of(node_id) is None:  # it ended, perhaps without a word, such as on a node that was not reached
            self._paths.pop(node_id, None)
            self._forget(node_id)
        self.show_node()

    def _forget(self, node_id: str) -> None:
        self._told.pop(node_id, None)
        self._last.pop(node_id, None)

    def show_node(self) -> None:
        """Speak of the node in sight."""
        node = self._page.node
        id_ = node.node.id if node is not None and not self._page.whole else ""
        path = self._paths.get(id_)
        if path is None and id_ not in self._told:
            self.band.hide()
            return
        waits = self._told[id_].waits if id_ in self._told else ""
        headline = Text("A task runs on this node", "此节点上有任务在运行")
        if path:
            name = visible(path)
            headline = Text(f"Waiting for {name}", f"正在等待 {name}") if waits else Text(f"Following {name}", f"正在跟踪 {name}")
        self.band.show_mark("clock" if waits else "check")
        self.detach_button.setVisible(path is not None)
        told = self._told.get(id_)
        self.detach_button.setEnabled(told is None or told.phase is not TaskPhase.STOPPING)
        self.band.tell(headline, said_of(told, self._last.get(id_)))

    def _open(self) -> None:
        if self._page.node is not None:
            self._frame.go("verification", self._page.node.node.id, WATCH_A_LOG)


def said_of(told: TaskProgress | None, last: TaskPoint | None) -> Text:
    """The last line of progress in figures, or that none was read so far."""
    if told is None or told.phase in (TaskPhase.QUEUED, TaskPhase.SENDING):
        return Text("opening…", "正在打开…")
    if told.waits:
        why = WAITS.get(told.waits, WAITS["missing"])
        return Text(f"{why.en}; it is read as soon as it can be", f"{why.zh}；一旦可读即开始读取")
    if last is None:
        lines = told.log_lines
        return Text(f"{lines:,} lines, none of progress so far; a pattern can tell how to read them", f"已读 {lines:,} 行，尚无进度行；可填写模式说明如何读取")
    figures = [f"{number_text(value, _SAID[metric][0])} {_SAID[metric][1]}" for metric, value in values_of(last).items() if metric in _SAID]
    loss = [] if last.loss is None else [(f"loss {last.loss:.4g}", f"损失 {last.loss:.4g}")]
    step = [] if last.step is None else [(f"step {last.step:,}", f"第 {last.step:,} 步")]
    parts = [*step, *((one, one) for one in figures), *loss]
    return Text(" · ".join(en for en, _ in parts), " · ".join(zh for _, zh in parts))
