"""How did a task end, how fast was it, and what did its log say?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gpulease_gui.domain.finding import Finding
from gpulease_gui.domain.task import TaskEnd, TaskPhase, TaskProgress, TaskReading, TaskRun
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.train_faults import FaultKind
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import KeyValues, Section
from gpulease_gui.gui.widgets.raw import RawOutput
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.reports.wording import finding_name
from gpulease_gui.services.log_words import waiting_words

if TYPE_CHECKING:
    from gpulease_gui.domain.term import Term
    from gpulease_gui.services.task_history import OpenedTask

PHASES: Mapping[TaskPhase, Text] = {
    TaskPhase.QUEUED: Text("waiting", "等待中"), TaskPhase.SENDING: Text("sending", "发送中"), TaskPhase.RUNNING: Text("running", "运行中"),
    TaskPhase.STOPPING: Text("stopping", "停止中"), TaskPhase.COLLECTING: Text("collecting", "收集结果"), TaskPhase.ENDED: Text("ended", "已结束"),
}  # fmt: skip
ENDS: Mapping[TaskEnd, Text] = {
    TaskEnd.FINISHED: Text("finished", "已完成"), TaskEnd.FAILED: Text("failed", "失败"), TaskEnd.TIME_LIMIT: Text("stopped at its time limit", "到时停止"),
    TaskEnd.CANCELLED: Text("cancelled", "已取消"), TaskEnd.CUT: Text("cut off", "中断"), TaskEnd.REFUSED: Text("refused", "未予运行"),
    TaskEnd.NO_TOOL: Text("a program is missing", "缺少程序"), TaskEnd.OUT_OF_SPACE: Text("wrote too much", "写入超限"), TaskEnd.ERROR: Text("our own error", "本程序出错"),
}  # fmt: skip
_FAULTS: Mapping[str, Text] = {
    FaultKind.NAN_LOSS: Text("loss is no number", "损失不是数"), FaultKind.OUT_OF_MEMORY: Text("out of memory", "内存或显存不足"),
    FaultKind.CUDA: Text("CUDA error", "CUDA 错误"), FaultKind.NCCL: Text("NCCL error", "NCCL 错误"),
    FaultKind.STALL: Text("data loader stall", "数据加载停顿"), FaultKind.KILLED: Text("killed", "被终止"),
}  # fmt: skip
_MOST_FAULTS, _MOST_FINDINGS = 6, 12


def seconds_words(seconds: float | None) -> Text:
    """Such as 3 min 05 s."""
    if seconds is None:
        return Text("not known", "未知")
    minutes, rest = divmod(round(seconds), 60)
    return Text(f"{minutes} min {rest:02} s", f"{minutes} 分 {rest:02} 秒") if minutes else Text(f"{rest} s", f"{rest} 秒")


def size_words(size_bytes: int) -> str:
    """Such as 1.4 MiB."""
    if size_bytes < 1024:
        return f"{size_bytes} B"
    return f"{number_text(size_bytes / 1024, 1)} KiB" if size_bytes < 1 << 20 else f"{number_text(size_bytes / (1 << 20), 1)} MiB"


def speed_text(value: float) -> str:
    """A speed with the digits that mean something."""
    size = abs(value)
    return f"{value:,.{0 if size >= 1000 else 1 if size >= 100 else 2 if size >= 10 else 3}f}"


def rate_lines(reading: TaskReading | None) -> list[tuple[Words, Words]]:
    """What the log tells of speed and loss."""
    if reading is None:
        return []
    pairs: list[tuple[Words, Words]] = [(Text("Read as", "日志格式"), foreign(reading.form))] if reading.form else []
    for rate in reading.rates:
        value = f"{speed_text(rate.median)} {rate.unit}"
        pairs.append((Text("Median", "中位数"), value))
        pairs.append((Text("p5 to p95", "p5 到 p95"), f"{speed_text(rate.p5)} – {speed_text(rate.p95)} (n = {rate.n})"))
        if rate.drift is not None:
            pairs.append((Text("Over the run", "全程变化"), f"{number_text(rate.drift * 100, 1)} %"))
    if reading.first_loss is not None and reading.last_loss is not None:
        pairs.append((Text("Loss", "损失"), f"{reading.first_loss:.4f} → {reading.last_loss:.4f}"))
    return pairs


def fault_lines(reading: TaskReading | None) -> list[tuple[Words, Words]]:
    """Trouble that the log reports, with the number of its line."""
    faults = reading.faults[:_MOST_FAULTS] if reading else ()
    return [(_numbered(fault.kind, fault.number), foreign(fault.line[:200])) for fault in faults]


def _numbered(kind: str, number: int) -> Text:
    words = _FAULTS.get(kind, Text(kind, kind))
    return Text(f"{words.en}, line {number}", f"{words.zh}，第 {number} 行")


class TaskResult(QWidget):
    """While it runs: how far it is and its last words. Afterwards: how it ended, figures, findings, trouble, cost, log."""

    stopped = Signal()
    referred = Signal(str, bool)

    def __init__(self, terms: Mapping[str, Term]) -> None:
        super().__init__()
        self._terms = terms
        self._opened: OpenedTask | None = None
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._head())
        self.figures, self.found = KeyValues((), label_width=110), KeyValues((), label_width=110)
        self.faults, self.more = KeyValues((), label_width=110), KeyValues((), label_width=110)
        self._sections = {
            "figures": _section(Text("Figures", "数值"), self.figures), "found": _section(Text("Findings", "检查结果"), self.found),
            "faults": _section(Text("Trouble in the log", "日志中的问题"), self.faults), "more": _section(Text("How it ran", "运行情况"), self.more),
        }  # fmt: skip
        for section in self._sections.values():
            column.addWidget(section)
        self.log = RawOutput()
        self.log.setMinimumHeight(160)
        column.addWidget(_section(Text("Log", "日志"), self.log), 1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setWidget(inside)
        outside = QVBoxLayout(self)
        outside.setContentsMargins(0, 0, 0, 0)
        outside.addWidget(area)
        self.clear()

    def _head(self) -> QWidget:
        head = QWidget()
        column = QVBoxLayout(head)
        column.setContentsMargins(16, 12, 16, 4)
        column.setSpacing(6)
        row = QHBoxLayout()
        self.title = PlainLabel("", size="section", weight=600, wrap=True)
        self.badge = BadgeLabel(None)
        row.addWidget(self.title, 1)
        row.addWidget(self.badge)
        column.addLayout(row)
        self.said = PlainLabel("", level="2", wrap=True, select=True)
        column.addWidget(self.said)
        buttons = QHBoxLayout()
        self.stop = Button(Text("Stop the task", "停止任务"), kind="danger", small=True)
        self.stop.clicked.connect(self.stopped)
        self.refer = Button(Text("Keep as the reference", "设为参考运行"), small=True)
        self.refer.clicked.connect(self._refer)
        for button in (self.stop, self.refer):
            buttons.addWidget(button)
        buttons.addStretch()
        column.addLayout(buttons)
        return head

    def _refer(self) -> None:
        if self._opened is not None:
            self.referred.emit(self._opened.run.id, not self._opened.line.is_reference)

    def clear(self) -> None:
        """Nothing ran yet."""
        self._opened = None
        self.title.set_words(Text("No task ran yet", "还没有运行任务"))
        self.said.set_words(Text("Choose at the left what is to run; its log and curves appear here.", "在左侧选择要运行的内容，日志与曲线会显示在这里。"))
        self.badge.set_state(None)
        self._buttons(stop=False, refer=False)
        self._fill({})
        self.log.show_text("")

    def _buttons(self, *, stop: bool, refer: bool) -> None:
        self.stop.setVisible(stop)
        self.stop.setEnabled(stop)
        self.refer.setVisible(refer)

    def _fill(self, pairs: Mapping[str, Sequence[tuple[Words, Words]]]) -> None:
        for name, values in (("figures", self.figures), ("found", self.found), ("faults", self.faults), ("more", self.more)):
            values.set_pairs(list(pairs.get(name, ())))
            self._sections[name].setVisible(bool(pairs.get(name)))

    def progress(self, name: str, told: TaskProgress) -> None:
        """The task goes on."""
        self._opened = None
        self.title.set_words(foreign(name))
        self.badge.set_state(None)
        self._buttons(stop=told.phase in (TaskPhase.QUEUED, TaskPhase.SENDING, TaskPhase.RUNNING), refer=False)
        self.said.set_words(_progress_words(told))
        self._fill({})
        if told.last_words:
            self.log.show_text(told.last_words)
            self.log.verticalScrollBar().setValue(self.log.verticalScrollBar().maximum())

    def stopping(self) -> None:
        """The user asked it to end."""
        self.stop.setEnabled(False)

    def show_run(self, opened: OpenedTask) -> None:
        """A run that is over."""
        self._opened, run = opened, opened.run
        self.title.set_words(foreign(run.spec.name))
        self.badge.set_state(opened.line.verdict)
        self.said.set_words(end_words(run))
        self._buttons(stop=False, refer=run.reading is not None)
        self.refer.set_words(Text("No longer the reference", "不再作为参考运行") if opened.line.is_reference else Text("Keep as the reference", "设为参考运行"))
        self._fill({
            "figures": [*rate_lines(run.reading), *_cost_lines(opened)], "faults": fault_lines(run.reading),
            "found": [(finding_name(finding, self._terms), _found_words(finding)) for finding in opened.findings[:_MOST_FINDINGS]],
            "more": _how_lines(run),
        })  # fmt: skip
        self.log.show_bytes(opened.log)


def _section(title: Text, inside: QWidget) -> Section:
    section = Section(title)
    section.column.addWidget(inside)
    return section


def _progress_words(told: TaskProgress) -> Text:
    word = PHASES[told.phase]
    if told.phase is TaskPhase.SENDING:
        sent = f"{size_words(told.sent_bytes)} / {size_words(told.total_bytes)}"
        return Text(f"{word.en}: {sent}", f"{word.zh}：{sent}")
    if told.waits:
        return waiting_words(told.waits)
    since, log = seconds_words(told.seconds), size_words(told.log_bytes)
    return Text(f"{word.en} for {since.en}; {told.log_lines} lines, {log} of log", f"{word.zh}，已 {since.zh}；日志 {told.log_lines} 行，{log}")


def end_words(run: TaskRun) -> Text:
    """How it ended, why, and what to do."""
    end = ENDS[run.end] if run.end else Text("under way", "进行中")
    code = Text(f", exit code {run.exit_code}", f"，退出码 {run.exit_code}") if run.exit_code else Text("", "")
    since = seconds_words(run.seconds)
    parts = [Text(f"{end.en} after {since.en}{code.en}", f"{end.zh}，用时 {since.zh}{code.zh}"), run.reason, run.next_step]
    kept = [part for part in parts if say(part)]
    return Text(". ".join(part.en for part in kept), "。".join(part.zh for part in kept))


def _found_words(finding: Finding) -> Text:
    word = badge_of(finding.verdict).word
    return Text(f"{word.en}: {finding.reason.en}", f"{word.zh}：{finding.reason.zh}") if finding.reason.en else word


def _cost_lines(opened: OpenedTask) -> list[tuple[Words, Words]]:
    cost = opened.cost
    pairs: list[tuple[Words, Words]] = []
    if cost.per_million_tokens is not None:
        pairs.append((Text("A million tokens", "每百万 token"), f"{cost.currency} {cost.per_million_tokens:,}"))
    if cost.per_job is not None:
        pairs.append((Text("This job", "本次任务"), f"{cost.currency} {cost.per_job:,}"))
    for words in cost.missing if not pairs else ():
        pairs.append((Text("Cost", "成本"), Text(f"not counted: {words.en}", f"未计算：{words.zh}")))
    pairs += [(Text("Assumed", "假设"), words) for words in cost.assumed] if pairs and not cost.missing else []
    return pairs


def _how_lines(run: TaskRun) -> list[tuple[Words, Words]]:
    told = run.environment
    known = (("driver", told.driver), ("CUDA", told.cuda), ("PyTorch", told.torch), ("Python", told.python))
    pairs: list[tuple[Words, Words]] = []
    versions = ", ".join(f"{name} {value}" for name, value in known if value)
    if versions:
        pairs.append((Text("With", "环境"), foreign(versions)))
    if told.container:
        pairs.append((Text("Container", "容器"), foreign(told.container)))
    if run.log_left_out:
        pairs.append((Text("Log", "日志"), Text(f"{size_words(run.log_left_out)} in its middle were not kept", f"中间 {size_words(run.log_left_out)} 未保存")))
    if run.kept_folder:
        pairs.append((Text("Kept on the node", "节点上保留"), foreign(f"{run.kept_folder} ({size_words(run.kept_bytes)})")))
        pairs.append((Text("Remove it by", "删除命令"), foreign(run.remove_command)))
    if run.left_processes:
        pairs.append((Text("Left behind", "残留进程"), Text(f"{run.left_processes} processes were ended", f"已结束 {run.left_processes} 个进程")))
    if run.clean is False:
        pairs.append((Text("Clean-up", "清理"), Text("something of it may still be on the node", "节点上可能仍有残留")))
    if run.repeat_command:
        pairs.append((Text("Run it again by", "重复运行"), foreign(run.repeat_command)))
    return pairs
