"""What did the node print, by which command, and what did it say of the same question before?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPlainTextEdit, QScrollArea, QVBoxLayout, QWidget

from gpulease_gui.domain.finding import Finding, SubjectFinding, Verdict
from gpulease_gui.domain.term import Term
from gpulease_gui.domain.text import Text, foreign, visible
from gpulease_gui.domain.units import number_text
from gpulease_gui.gui.forms.fields import Chooser
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import NOT_READABLE, Cell, Column, state_cell
from gpulease_gui.gui.models.local_times import zone
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.nodes_table import local_time
from gpulease_gui.gui.widgets.buttons import Button, IconButton
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import KeyValues, Pane
from gpulease_gui.gui.widgets.raw import RawOutput
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.reports.wording import grouped_hash, value_text, with_unit
from gpulease_gui.services.evaluate import write_whole
from gpulease_gui.services.run_view import CheckInfo, OutputView, PastFinding, content_of

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.page import Frame

_MARKS = 12
_TAB_PX = 14.0
_CHUNK = 16_000
_LOUD = {Verdict.FAIL: "fail", Verdict.WARN: "warn"}


def _value(subject: SubjectFinding) -> Cell:
    if subject.measured is None:
        return NOT_READABLE
    loud = _LOUD.get(subject.verdict, "1")
    return Cell(value_text(subject.measured), tone=loud, weight=600 if loud != "1" else 400, tip=subject.reason)


def _subject_name(subject: SubjectFinding) -> Cell:
    index = "" if subject.index is None else f"{subject.index}  "
    short = subject.id if len(subject.id) <= 20 else f"{subject.id[:12]}…{subject.id[-5:]}"
    return Cell(foreign(f"{index}{short}"), code=True, tip=Text(f"{subject.id}\n{subject.reason.en}", f"{subject.id}\n{subject.reason.zh}"))


def subjects_table() -> tuple[TableModel[SubjectFinding], TableView]:
    """One line per GPU, interface or direction, worst first."""
    columns = (
        Column[SubjectFinding](Text("Device", "设备"), _subject_name, stretch=True),
        Column[SubjectFinding](Text("Measured", "实测"), _value, width=116, number=True),
        Column[SubjectFinding](Text("Verdict", "判定"), lambda s: state_cell(badge_of(s.verdict)), width=116),
    )
    model = TableModel[SubjectFinding](columns, lambda subject: (subject.id, subject.index))
    view = TableView(model, Text("Devices", "设备"))
    view.set_pane()
    return model, view


class RawTab(QWidget):
    """The raw outputs of a check as plain text, with where they came from."""

    def __init__(self, frame: Frame, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._frame = frame
        self._outputs: tuple[OutputView, ...] = ()
        self._finding: Finding | None = None
        self._rest: list[str] = []
        self._more = QTimer(self)
        self._more.setInterval(0)
        self._more.timeout.connect(self._add_more)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 10, 16, 10)
        column.setSpacing(8)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.which = Chooser(Text("Output", "输出"))
        self.which.picked.connect(lambda _: self._show())
        self.save = IconButton("download", Text("Save the whole output…", "保存完整输出…"), outlined=True)
        self.save.clicked.connect(self._save)
        row.addWidget(self.which, 1)
        row.addWidget(self.save)
        column.addLayout(row)
        self.raw = RawOutput()
        self.raw.setTabStopDistance(_TAB_PX)
        column.addWidget(self.raw, 1)
        self.note = PlainLabel("", size="caption", level="warn", wrap=True)
        column.addWidget(self.note)
        self.facts = KeyValues(label_width=76)
        column.addWidget(self.facts)
        self.show_outputs((), None)

    def show_outputs(self, outputs: tuple[OutputView, ...], finding: Finding | None) -> None:
        """Show what one check read; the measured words are tinted."""
        self._outputs, self._finding = outputs, finding
        self.which.set_choices([(o.evidence.fact_id, o.title) for o in outputs])
        self.which.setVisible(len(outputs) > 0)
        self.save.setEnabled(bool(outputs))
        self._show()

    def _current(self) -> OutputView | None:
        return next((o for o in self._outputs if o.evidence.fact_id == self.which.current), None)

    def _show(self) -> None:
        output = self._current()
        words = _whole_text(output) if output else ""
        self._rest = [words[start : start + _CHUNK] for start in range(_CHUNK, len(words), _CHUNK)]
        self.raw.show_text(words[:_CHUNK])
        self._more.start()
        self.note.set_words(_note(output))
        self.note.setVisible(bool(say(_note(output))))
        self.facts.set_pairs(_origin(output) if output else [], code=frozenset([0, 3]))

    def _add_more(self) -> None:
        """A long text comes in parts, so that the window stays awake; then the measured words are tinted."""
        if self._rest:
            end = QTextCursor(self.raw.document())
            end.movePosition(QTextCursor.MoveOperation.End)
            end.insertText(self._rest.pop(0))
            return
        self._more.stop()
        output = self._current()
        if output is not None and self._finding is not None:
            tint = "fail_bg" if self._finding.verdict is Verdict.FAIL else "accent_bg"
            self.raw.mark_lines([(words, tint) for words in marks(self._finding) if words in output.text])

    def _save(self) -> None:
        output = self._current()
        if output is None:
            return
        name = f"{output.evidence.fact_id}-{output.evidence.stdout_sha256[:12]}.txt"
        path, _ = QFileDialog.getSaveFileName(self, say(Text("Save the whole output", "保存完整输出")), name)
        if path:
            sha256 = output.evidence.stdout_sha256
            written = self._frame.services.query(lambda connection: write_whole(Path(path), content_of(connection, sha256)))
            self._frame.bridge.when_done(written, lambda _: self._frame.note(Text("Output saved", "输出已保存")))


def marks(finding: Finding) -> list[str]:
    """Words of the finding that may stand in the output as they are."""
    values = [finding.measured, *(subject.measured for subject in finding.subjects)]
    words = [value for value in values if isinstance(value, str) and len(value) > 3]
    words += [f"{value:.2f}" for value in values if isinstance(value, float)]
    return list(dict.fromkeys(words))[:_MARKS]


def _whole_text(output: OutputView) -> str:
    if output.trouble:
        return output.trouble
    said = f"\n--- stderr ---\n{output.error_text}" if output.error_text else ""
    return output.text + said


def _note(output: OutputView | None) -> Text:
    if output is None or not output.is_head:
        return Text("", "")
    size = number_text(output.size)
    cut = Text(" The node sent more than is kept.", "节点输出超出保存上限。") if output.evidence.stdout_cut else Text("", "")
    return Text(
        f"Only the beginning is shown; {size} bytes are kept as evidence.{cut.en}", f"仅显示开头，证据中保存了 {size} 字节。{cut.zh}"
    )


def _origin(output: OutputView) -> list[tuple[Words, Words]]:
    line = output.evidence
    code: Words = Text("not seen", "未见结束") if line.exit_code is None else str(line.exit_code)
    ended = f"{say(code)} · {number_text(line.seconds)} s · {number_text(output.size)} B"
    command = next(iter(line.command.splitlines()), "")
    more = " …" if "\n" in line.command else ""
    return [
        (Text("Command", "命令"), foreign(command[:120] + more)),
        (Text("Exit · time", "退出码 · 用时"), foreign(ended)),
        (Text("Collected", "采集时间"), _local(line.collected_at)),
        ("SHA-256", foreign(grouped_hash(line.stdout_sha256[:16]) + " …")),
    ]


def _local(at: datetime) -> str:
    """On the user's clock, with its zone."""
    own = at.astimezone()
    return f"{own:%Y-%m-%d %H:%M:%S} {zone(own)}"


class CommandTab(QWidget):
    """Every command of a check, whole, as it is sent."""

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 10, 16, 10)
        column.setSpacing(8)
        self.facts = KeyValues()
        column.addWidget(self.facts)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setProperty("raw", "true")
        self.text.setAccessibleName(say(Text("Commands", "命令")))
        column.addWidget(self.text, 1)

    def show_check(self, info: CheckInfo | None) -> None:
        """Show the commands of another check."""
        lines = [f"# {command.fact}, ≤ {command.seconds} s\n{command.line}" for command in info.commands] if info else []
        self.text.setPlainText(visible("\n\n".join(lines)))
        self.facts.set_pairs([(Text("Load", "负载"), _IMPACTS[info.impact])] if info else [])


_IMPACTS = {
    "passive": Text("read-only", "只读"), "active": Text("light load, asks first", "轻负载，执行前确认"),
    "disruptive": Text("heavy load, asks first", "重负载，执行前确认"),
}  # fmt: skip


class RuleTab(QScrollArea):
    """Why the check exists, how it judges, which terms it looks at."""

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        inside = Pane(1)
        column = inside.column
        column.setContentsMargins(16, 10, 16, 10)
        column.setSpacing(10)
        self.why = PlainLabel("", wrap=True)
        self.facts = KeyValues(label_width=84)
        column.addWidget(self.why)
        column.addWidget(self.facts)
        column.addStretch(1)
        self.setWidget(inside)

    def show_check(self, info: CheckInfo | None, finding: Finding | None, terms: Mapping[str, Term], source: str) -> None:
        """Show the rule of another check."""
        self.why.set_words(info.why if info else "")
        if info is None:
            self.facts.set_pairs([])
            return
        labels = [terms[term].label if term in terms else foreign(term) for term in info.terms]
        joined = Text(", ".join(label.en for label in labels) or "none", "、".join(label.zh for label in labels) or "无")
        pairs: list[tuple[Words, Words]] = [
            (Text("Check", "检查项"), foreign(info.id)), (Text("Terms", "条款"), joined),
            (Text("Source", "出处"), foreign(source) if source else Text("not stated", "未注明")),
            (Text("Version", "规则版本"), str(finding.rule_version if finding else info.rule_version)),
        ]  # fmt: skip
        if finding is not None:
            pairs.append((Text("Reason code", "原因码"), foreign(str(finding.reason_code) or "–")))
            pairs.append((Text("Required", "计入结论"), Text("yes", "是") if finding.required else Text("no", "否")))
        self.facts.set_pairs(pairs)


def _past_value(past: PastFinding) -> Cell:
    if past.finding.measured is None:
        return NOT_READABLE
    return Cell(with_unit(past.finding.measured, past.finding.unit), tip=past.finding.reason)


def history_table() -> tuple[TableModel[PastFinding], TableView]:
    """The same question in earlier runs of the node."""
    columns = (
        Column[PastFinding](Text("Run", "验收"), lambda p: Cell(f"{p.number} · {local_time(p.run)}"), width=120),
        Column[PastFinding](Text("Measured", "实测"), _past_value, stretch=True, number=True),
        Column[PastFinding](Text("Verdict", "判定"), lambda p: state_cell(badge_of(p.finding.verdict)), width=120),
    )
    model = TableModel[PastFinding](columns, lambda past: past.run.id)
    view = TableView(model, Text("Earlier runs", "历次验收"))
    view.set_pane()
    return model, view


def copy_button(words: Words) -> Button:
    """A small button that copies."""
    return Button(words, icon="copy", small=True)
