"""What does a pattern, or what do the known trainers' forms, read in a log that is pasted here?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from gpulease_gui.domain.errors import Unreadable, UsageError
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.gui.forms.fields import Field, LineField
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import KeyValues

if TYPE_CHECKING:
    from gpulease_gui.facts.train_log import TrainLog
    from gpulease_gui.gui.pages.page import Frame

TITLE = Text("Try a pattern on a log", "用日志试读模式")
MOST_CHARACTERS = 2_000_000
_WAIT_MS = 250
_GROUPS = Text(
    "Named groups: step, loss, tokens_s, samples_s, step_s, step_ms, tflops. Without a pattern the forms of the known trainers are tried.",
    "命名分组：step、loss、tokens_s、samples_s、step_s、step_ms、tflops。不填模式时，按常见训练框架的日志格式读取。",
)


class PatternDialog(QDialog):
    """A log at the top, a pattern below, and what it reads; `taken` carries the pattern. Reading is done by a worker."""

    taken = Signal(str)

    def __init__(self, frame: Frame, pattern: str, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._frame, self._asked = frame, 0
        self.setModal(True)
        self.setMinimumSize(640, 520)
        self.log = QPlainTextEdit()
        self.log.setProperty("code", "true")
        self.log.setTabChangesFocus(True)
        self.pattern = LineField(Text("Pattern", "模式"), r"step (?P<step>\d+) loss (?P<loss>[\d.]+)", code=True)
        self.pattern.setText(pattern)
        self._pattern_row = Field(Text("Pattern", "模式"), self.pattern)
        self.found = KeyValues((), label_width=120)
        self.said = PlainLabel(Text("Paste a log above.", "请在上方粘贴日志。"), size="dense", level="2", wrap=True)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 16, 20, 16)
        column.setSpacing(10)
        column.addWidget(Field(Text("A part of the log, as the task prints it", "任务打印的一段日志"), self.log), 1)
        column.addWidget(self._pattern_row)
        column.addWidget(PlainLabel(_GROUPS, size="dense", level="3", wrap=True))
        column.addWidget(self.said)
        column.addWidget(self.found)
        column.addLayout(self._foot())
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_WAIT_MS)
        self._soon.timeout.connect(self._read)
        self.log.textChanged.connect(self._soon.start)
        self.pattern.textEdited.connect(lambda _: self._soon.start())
        self.log.setAccessibleName(say(Text("Log", "日志")))
        self.setWindowTitle(say(TITLE))
        self.setAccessibleName(say(TITLE))

    def _foot(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addStretch()
        cancel = Button(CANCEL)
        cancel.clicked.connect(self.reject)
        self.take = Button(Text("Use this pattern", "使用此模式"), kind="primary")
        self.take.clicked.connect(self._take)
        row.addWidget(cancel)
        row.addWidget(self.take)
        return row

    def _take(self) -> None:
        self.taken.emit(self.pattern.text().strip())
        self.accept()

    def _read(self) -> None:
        self._asked += 1
        asked, log, pattern = self._asked, self.log.toPlainText()[:MOST_CHARACTERS], self.pattern.text().strip()
        if not log.strip():
            return
        done = self._frame.services.jobs.local(lambda: read(log, pattern))
        self._frame.bridge.when_done(done, lambda answer: self._show(asked, answer))

    def _show(self, asked: int, answer: TrainLog | Text) -> None:
        if asked != self._asked:
            return
        self._pattern_row.complain("")
        if isinstance(answer, Text):
            self.found.set_pairs(())
            (self._pattern_row.complain if self.pattern.text().strip() else self.said.set_words)(answer)
            self.said.setVisible(not self.pattern.text().strip())
            return
        self.said.set_words(Text(f"{answer.steps} lines of progress", f"读到 {answer.steps} 行进度"))
        self.said.show()
        self.found.set_pairs(found_in(answer))


def read(log: str, pattern: str) -> TrainLog | Text:
    """What a log says, or in words why nothing is read."""
    from gpulease_gui.facts.train_log import read_log

    try:
        return read_log([log if log.endswith("\n") else log + "\n"], pattern)
    except UsageError as error:
        return error.whole_text
    except Unreadable:
        return Text("No line of progress was read: write a pattern that names loss or a speed.", "没有读到进度行：请编写能读取 loss 或速度的模式。")


def found_in(log: TrainLog) -> list[tuple[Words, Words]]:
    """Label and value of everything that was read."""
    pairs: list[tuple[Words, Words]] = [(Text("Read as", "格式"), foreign(log.form))]
    if log.last_step is not None:
        pairs.append((Text("Last step", "最后一步"), number_text(log.last_step)))
    if log.first_loss is not None and log.last_loss is not None:
        pairs.append((Text("Loss", "损失"), f"{log.first_loss:.4f} → {log.last_loss:.4f}"))
    for rate in log.rates:
        words = f"{number_text(rate.median, 3)} (p5 {number_text(rate.p5, 3)}, p95 {number_text(rate.p95, 3)}; n = {rate.n})"
        pairs.append((foreign(str(rate.unit)), words))
    for fault in log.faults[:4]:
        pairs.append((Text(f"Line {fault.number}", f"第 {fault.number} 行"), foreign(fault.line[:200])))
    return pairs
