"""How is a task of one's own run on the node in sight, watched, and compared with a run that is known to be good?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.task import SourceKind, TaskProgress, TaskRun, TaskSpec
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.drafts import DraftKeeper
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.forms.record_form import Invalid
from gpulease_gui.gui.forms.task_form import BUILTINS, TaskForm
from gpulease_gui.gui.pages.verification_task_result import TaskResult, size_words
from gpulease_gui.gui.pages.verification_task_runs import TaskComparePane, TaskRunsPane
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import heavy_dialog
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.gui.widgets.panes import Pane, Sideways, ThinSplitter
from gpulease_gui.services.events import Event, RecordsChanged, TaskEnded, TaskProgressed
from gpulease_gui.store.task_runs import list_task_specs, remove_task_spec

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database

    from gpulease_gui.gui.pages.nodes_work import NodeWork
    from gpulease_gui.gui.pages.page import Frame
    from gpulease_gui.services.run_view import NodeRuns
    from gpulease_gui.services.task_history import OpenedTask, TaskLine

DRAFT = "task"
_KINDS = frozenset(["task", "task_spec", "task_reference"])


class TaskPane(Pane):
    """The task at the left, its curves in the middle above the runs of before, how it went at the right."""

    closed = Signal()

    def __init__(self, frame: Frame, work: NodeWork) -> None:
        super().__init__(2)
        from gpulease_gui.gui.pages.verification_task_chart import TaskChart

        self._frame, self._work = frame, work
        self._node: NodeRuns | None = None
        self._running: dict[str, TaskProgress | None] = {}  # None: begun, and nothing told yet
        self._names: dict[str, str] = {}
        self._shown = ""
        self._asked = 0
        self._specs: tuple[TaskSpec, ...] = ()
        self.form, self.result, self.runs = TaskForm(), TaskResult(frame.services.catalogue.terms), TaskRunsPane()
        self.chart, self.comparison = TaskChart(frame), TaskComparePane(frame)
        self.run = Button(Text("Run on the node", "在节点上运行"), icon="nav-verify", kind="primary")
        self._drafts = DraftKeeper(frame, self.form, DRAFT)
        self._build()
        self._connect()
        self._drafts.open(DRAFT)

    def _build(self) -> None:
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head())
        column.addWidget(self.form, 1)
        left.setMinimumWidth(300)
        middle = ThinSplitter(Qt.Orientation.Vertical)
        middle.addWidget(self.chart)
        middle.addWidget(self.runs)
        middle.setStretchFactor(0, 1)
        middle.setSizes([520, 220])
        self.result.setMinimumWidth(292)
        splitter = self._splitter = ThinSplitter()  # kept: its handles alone would not hold it
        for part in (left, middle, self.result):
            splitter.addWidget(part)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([330, 700, 352])
        self._middle = middle
        self._stack = QStackedWidget()
        self._stack.addWidget(Sideways(splitter))
        self._stack.addWidget(self.comparison)
        self.column.addWidget(self._stack, 1)

    def _head(self) -> QWidget:
        head = QWidget()
        row = QHBoxLayout(head)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(8)
        back = Button(Text("Back to the run", "返回验收"), icon="chevron-left", small=True)
        back.clicked.connect(self.closed)
        row.addWidget(back)
        row.addStretch()
        row.addWidget(self.run)
        return head

    def _connect(self) -> None:
        self.run.clicked.connect(self.start)
        self.form.saved.connect(self._save)
        self.form.chosen.connect(self._choose)
        self.form.removed.connect(self._forget)
        self.form.tried.connect(self._try_pattern)
        self.result.stopped.connect(self._stop)
        self.result.referred.connect(self._refer)
        self.runs.picked.connect(self.open_run)
        self.runs.compared.connect(self._compare)
        self.comparison.closed.connect(lambda: self._stack.setCurrentIndex(0))
        self._work.changed.connect(self._work_changed)

    # -- the node in sight ----------------------------------------------------------------------------------------------

    def show_node(self, node: NodeRuns) -> None:
        """Speak of this node from now on; a task that runs on it is shown."""
        same = self._node is not None and self._node.node.id == node.node.id
        self._node = node
        self._name_button()
        if not same:
            self._shown = ""
            self.chart.clear()
            self.result.clear()
            running = self._running.get(node.node.id)
            if running is not None:
                self._take_progress(running)
            self.refresh()

    def refresh(self) -> None:
        """Read the saved tasks and the runs anew."""
        self._asked += 1
        asked = self._asked
        self._frame.bridge.when_done(self._frame.services.query(_load), lambda found: self._show(asked, *found))

    def _show(self, asked: int, specs: Sequence[TaskSpec], lines: Sequence[TaskLine]) -> None:
        if asked != self._asked or self._node is None:
            return
        self._specs = tuple(specs)
        self.form.offer(specs)
        own = next((line.run.id for line in lines if line.run.node_id == self._node.node.id), "")
        busy = self._node.node.id in self._running
        shown = self._shown or ("" if busy else own)
        self.runs.show_lines(lines, shown)
        if shown and not busy:
            self.open_run(shown)

    def _work_changed(self, node_id: str) -> None:
        if self._work.job_of(node_id) is None and self._running.pop(node_id, self) is not self and self._node is not None:
            self.refresh()  # it ended without a word, such as on a node that was not reached
        self._name_button()

    def _name_button(self) -> None:
        node = self._node.node if self._node else None
        name = node.name if node else ""
        busy = node is not None and self._work.job_of(node.id) is not None
        words = Text(f"Busy: {name}", f"{name} 忙") if busy else Text(f"Run on {name}", f"在 {name} 上运行")
        self.run.set_words(words)
        self.run.setEnabled(node is not None and not busy)

    # -- running ----------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Measure what would be sent, ask by name, run."""
        if self._node is None:
            return
        try:
            spec = self.form.build()
        except Invalid as wrong:
            wrong.field.complain(wrong.words)
            wrong.field.editor.setFocus()
            return
        node, tasks = self._node, self._frame.services.tasks
        measured = self._frame.services.jobs.local(lambda: tasks.measured(spec))
        self._frame.bridge.when_done(measured, lambda sized: self._confirm(node, sized), self.form.refuse)

    def _confirm(self, node: NodeRuns, spec: TaskSpec) -> None:
        if spec.source.kind is SourceKind.LOG:  # it loads nothing
            self._go(node, spec)
            return
        headline = Text(f"Run {spec.name} on {node.node.name}", f"在 {node.node.name} 上运行 {spec.name}")
        dialog = heavy_dialog(headline, _facts(node.node, spec), Text(f"Run on {node.node.name}", f"在 {node.node.name} 上运行"), parent=self.window())
        dialog.accepted.connect(lambda: self._go(node, spec))
        open_dialog(dialog)

    def _go(self, node: NodeRuns, spec: TaskSpec) -> None:
        self._names[node.node.id] = spec.name
        contract = node.contract
        self._shown = ""
        self.chart.begin(node.node.id, node.terms, dict(spec.serves))
        self._running[node.node.id] = None
        self._work.run_task(node.node, spec, node.terms, (contract.id, contract.number) if contract else None)

    def _stop(self) -> None:
        if self._node is not None:
            self.result.stopping()
            self._work.cancel(self._node.node.id)

    def handle(self, event: Event) -> None:
        """Tasks as they go, also on nodes that are not in sight."""
        if isinstance(event, TaskProgressed):
            self._running[event.progress.node_id] = event.progress
            if self._node is not None and event.progress.node_id == self._node.node.id:
                self._take_progress(event.progress)
        elif isinstance(event, TaskEnded):
            self._ended(event.task)
        elif isinstance(event, RecordsChanged) and event.kinds & _KINDS and self._node is not None:
            self.refresh()

    def _take_progress(self, told: TaskProgress) -> None:
        if self._shown:  # the user looks at another run meanwhile
            return
        self.chart.progress(told)
        self.result.progress(self._names.get(told.node_id, ""), told)

    def _ended(self, task: TaskRun) -> None:
        self._running.pop(task.node_id, None)
        if self._node is not None and task.node_id == self._node.node.id:
            if not self._shown:
                self._shown = task.id
            self.refresh()

    # -- runs of before -----------------------------------------------------------------------------------------------------

    def open_run(self, run_id: str) -> None:
        """Show a run that is over."""
        from gpulease_gui.services.task_history import open_task

        self._shown = run_id
        opened = self._frame.services.query(lambda connection: open_task(connection, run_id))
        self._frame.bridge.when_done(opened, self._opened, self._gone)

    def _opened(self, opened: OpenedTask) -> None:
        if opened.run.id == self._shown and self._node is not None:
            self.result.show_run(opened)
            self.chart.show_run(opened.run, self._node.terms if opened.run.node_id == self._node.node.id else {})

    def _gone(self, trouble: UserFacing) -> None:
        self._shown = ""
        self._frame.trouble(trouble.headline_text, trouble.rest_text)

    def _refer(self, run_id: str, reference: bool) -> None:
        from gpulease_gui.services.task_history import mark_reference, unmark_reference

        task = next((line.run.spec.name for line in self.runs.model.rows if line.run.id == run_id), "")
        now = utc_now()
        said = Text(f"Other runs of {task} are compared with this one", f"{task} 的其他运行将与本次比较")
        if not reference:
            said = Text(f"{task} has no reference now", f"{task} 已没有参考运行")

        def work(db: Database) -> None:
            if reference:
                mark_reference(db, run_id, at=now)
            else:
                unmark_reference(db, task, at=now)

        done = self._frame.services.change(work, "task_reference")
        self._frame.bridge.when_done(done, lambda _: self._frame.note(said))

    def _compare(self, run_id: str) -> None:
        self.comparison.show_run(run_id)
        self._stack.setCurrentIndex(1)

    # -- saved tasks ----------------------------------------------------------------------------------------------------------

    def _save(self, spec: TaskSpec) -> None:
        from gpulease_gui.services.task_history import save_task

        now = utc_now()
        done = self._frame.services.change(lambda db: save_task(db, spec, at=now), "task_spec")
        self._frame.bridge.when_done(done, lambda _: self._kept(spec), self.form.refuse)

    def _kept(self, spec: TaskSpec) -> None:
        self.form.done()
        self._frame.note(Text(f"{spec.name} saved", f"已保存 {spec.name}"))

    def _choose(self, name: str) -> None:
        spec = next((one for one in self._specs if one.name == name), None)
        if spec is not None:
            self.form.show_task(spec)

    def _forget(self, name: str) -> None:
        self._frame.services.change(lambda db: remove_task_spec(db, name), "task_spec")

    def _try_pattern(self) -> None:
        from gpulease_gui.gui.forms.pattern_dialog import PatternDialog

        dialog = PatternDialog(self._frame, self.form.pattern.text().strip(), parent=self.window())
        dialog.taken.connect(self.form.pattern.setText)
        open_dialog(dialog)


def _load(connection: sqlite3.Connection) -> tuple[tuple[TaskSpec, ...], tuple[TaskLine, ...]]:
    from gpulease_gui.services.task_history import task_lines

    return list_task_specs(connection), task_lines(connection)


def _facts(node: Node, spec: TaskSpec) -> list[tuple[Words, Words]]:
    """What will be done, before anything is sent."""
    facts: list[tuple[Words, Words]] = [(Text("Node", "节点"), foreign(f"{node.name} ({node.target})"))]
    if spec.source.kind is SourceKind.BUILTIN:
        facts.append((Text("Task", "任务"), dict(BUILTINS).get(spec.source.place, spec.source.place)))
    else:
        facts += [(Text("Sent", "发送"), foreign(spec.source.place)), (Text("Command", "命令"), foreign(spec.command))]
    if spec.size is not None:
        size = size_words(spec.size.size_bytes)
        facts.append((Text("Size", "大小"), Text(f"{size} in {spec.size.entries} files and folders", f"{size}，{spec.size.entries} 个文件和文件夹")))
    if spec.container is not None:
        facts.append((Text("Container", "容器"), foreign(spec.container.image)))
    minutes = f"{spec.time_limit_s / 60:g}"
    return [
        *facts, (Text("Takes at most", "最长用时"), Text(f"{minutes} min", f"{minutes} 分钟")),
        (Text("Writes", "写入"), Text(f"at most {spec.scratch_gib:g} GiB in a private folder", f"私有文件夹内最多 {spec.scratch_gib:g} GiB")),
        (Text("Afterwards", "结束后"), Text("the folder is kept on the node", "文件夹保留在节点上") if spec.keep_folder
         else Text("the folder and all its processes are removed", "删除文件夹并结束全部进程")),
        (Text("Whoever else works there", "节点上的其他任务"), Text("will feel it", "会受到影响")),
    ]  # fmt: skip
