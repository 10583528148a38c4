"""How is a workload written down: as hours a day, or session by session?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Protocol

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.workload import Session, Workload
from gpulease_gui.economics.workload_pattern import MONTH_HOURS, Pattern, workload_of
from gpulease_gui.gui.forms.fields import Field, LineField
from gpulease_gui.gui.forms.number_field import NumberField, number, whole_number
from gpulease_gui.gui.forms.record_form import Invalid
from gpulease_gui.gui.widgets.bands import UnsavedBand
from gpulease_gui.gui.widgets.buttons import Segment, Switch
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import Section
from gpulease_gui.services.commerce_cost import SavedWorkload
from gpulease_gui.services.workload_plan import ModelPlan
from gpulease_gui.services.workload_text import WrongLine, read_sessions, write_sessions

PATTERN, LISTED = "pattern", "listed"
_WAIT_MS = 60


class PlanSide(Protocol):
    """The side of the model: its fields belong to the record, too."""

    def read_plan(self) -> ModelPlan | None:
        """The plan as it stands in its fields. Raises Invalid."""

    def plan_words(self) -> str:
        """What stands in its fields, nothing while nobody touched them."""

    def bring_plan_back(self, words: str) -> None:
        """Put back what `plan_words` gave."""


class WorkloadForm(QWidget):
    """The editor of one workload. `edited` comes a moment after each change that can be read; `saved` carries the record.

    `typed` comes with every change, `closed` when nothing is unsaved any more, `refused` carries a field that can't be read.
    """

    edited = Signal()
    saved = Signal(object)
    left = Signal()
    opened = Signal()
    typed = Signal()
    closed = Signal()
    refused = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._record = SavedWorkload("", "", Workload())
        self._dirty = False
        self._listed_text = ""
        self.side: PlanSide | None = None
        self.name = LineField(Text("Name", "名称"), Text("such as fine-tuning, 20 runs a month", "例如：微调，每月 20 次"))
        self._name = Field(Text("Name", "名称"), self.name)
        self.way = Segment(((PATTERN, Text("Hours a day", "按每日小时")), (LISTED, Text("Listed sessions", "逐次列出"))), current=PATTERN)
        self.gpus = whole_number(Text("GPUs", "GPU 数"), 1, 65536)
        self.hours = number(Text("Hours a day", "每日小时"), 24)
        self.starts = whole_number(Text("Starts a day", "每日启动次数"), 1, 96)
        self.days = whole_number(Text("Days a month", "每月天数"), 0, 31)
        self.months = whole_number(Text("Months", "月数"), 1, 60)
        self.storage = number(Text("Storage, GB", "存储，GB"), 10**9)
        self.egress = number(Text("Traffic out, GB a month", "出流量，GB/月"), 10**9)
        self.idle = number(Text("Idle share, %", "空闲占比，%"), 100)
        self.sessions = QPlainTextEdit()
        self.sessions.setTabChangesFocus(True)
        self.sessions.setMinimumHeight(92)
        label = Text("Sessions, one a line: 20 x 6 h, or 2026-03-02T10:50+08:00 20 min", "每行一次：20 x 6 h，或 2026-03-02T10:50+08:00 20 min")
        self._sessions = Field(label, self.sessions)
        self.sessions.setAccessibleName(label.en)
        self.kept = Switch(Text("Stays rented, stopped, between sessions", "两次使用之间保持关机但不退租"))
        self.tax = Switch(Text("Tax comes back (special VAT invoice)", "税款可抵扣（专用发票）"))
        self.band = UnsavedBand()
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_WAIT_MS)
        self._soon.timeout.connect(self._told)
        self._arrange()
        self._connect()

    def _arrange(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        section = Section(Text("What will run", "运行计划"), parent=self)
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(self._name, 1)
        head.addWidget(self.way, 0, Qt.AlignmentFlag.AlignBottom)
        section.column.addLayout(head)
        self._pattern_row = _row(self.hours, self.starts, self.days)
        section.column.addLayout(_grid((self.gpus, self.months, self.idle)))
        section.column.addWidget(self._pattern_row)
        section.column.addWidget(self._sessions)
        section.column.addLayout(_grid((self.storage, self.egress)))
        self.total = PlainLabel("", size="caption", level="3", wrap=True)
        for part in (self.kept, self.tax, self.total):
            section.column.addWidget(part)
        column.addWidget(section)

    @property
    def _numbers(self) -> tuple[NumberField, ...]:
        return (self.gpus, self.hours, self.starts, self.days, self.months, self.storage, self.egress, self.idle)

    def _connect(self) -> None:
        for field in self._numbers:
            field.line.textEdited.connect(self.touch)
            field.line.returnPressed.connect(self.save)
        self.name.textEdited.connect(self.touch)
        self.name.returnPressed.connect(self.save)
        self.sessions.textChanged.connect(self.touch)
        self.kept.clicked.connect(self.touch)
        self.tax.clicked.connect(self.touch)
        self.way.chosen.connect(self._turn_way)
        self.band.save.clicked.connect(self.save)
        self.band.discard.clicked.connect(self.discard)

    # -- a record ------------------------------------------------------------------------------------------------------------

    def open_record(self, saved: SavedWorkload, *, is_new: bool = False) -> None:
        """Edit a workload; a new one is unsaved from the start."""
        self._record = saved
        self.name.setText(saved.name)
        self._show_numbers(saved.pattern or _outline(saved.workload))
        self._list_sessions(saved.workload)
        self.tax.setChecked(saved.tax_recoverable)
        self._show_way(PATTERN if saved.pattern is not None else LISTED)
        self._sessions.complain("")
        self._name.complain("")
        self._dirty = False
        self.band.setVisible(is_new)
        if is_new:
            self.band.tell(Text("New workload, not saved yet", "新负载，尚未保存"))
        self._tell_total(saved.workload)
        self.opened.emit()

    def _show_numbers(self, shown: Pattern) -> None:
        self.gpus.show_number(shown.gpus)
        self.hours.show_number(shown.hours_per_day, 2)
        self.starts.show_number(shown.starts_per_day)
        self.days.show_number(shown.days_per_month)
        self.months.show_number(shown.months)
        self.storage.show_number(shown.storage_gb)
        self.egress.show_number(shown.egress_gb_per_month, 3)
        self.idle.show_number((1 - shown.busy_fraction) * 100, 3)
        self.kept.setChecked(shown.kept_stopped)

    def _list_sessions(self, workload: Workload) -> None:
        self._listed_text = write_sessions(workload.sessions)
        self.sessions.blockSignals(True)
        self.sessions.setPlainText(self._listed_text)
        self.sessions.blockSignals(False)

    @property
    def record(self) -> SavedWorkload:
        """The workload as it was opened."""
        return self._record

    @property
    def record_id(self) -> str:
        """The id of the workload that is edited."""
        return self._record.id

    @property
    def plan(self) -> ModelPlan | None:
        """Which model the opened workload runs."""
        return self._record.model

    @property
    def dirty(self) -> bool:
        """Whether something was changed since it was opened."""
        return self._dirty

    def read(self) -> SavedWorkload:
        """The workload as it stands in the fields; what nobody touched is as it was stored. Raises Invalid."""
        if not self._dirty:
            return self._record
        before, pattern = self._record, self._pattern() if self.is_pattern else None
        if pattern is None:
            workload = self._listed() if before.pattern is None else self._of_list(workload_of(self._pattern()))
        else:
            workload = before.workload if pattern == before.pattern else workload_of(pattern)
        return SavedWorkload(before.id, self.name.text().strip(), workload, pattern, self.tax.isChecked(), before.model)

    def _pattern(self) -> Pattern:
        repeats = self.is_pattern
        return Pattern(
            self.gpus.whole(), self.hours.number() if repeats else Decimal(0), self.starts.whole() if repeats else 1,
            self.days.whole() if repeats else 0, self.months.whole(), self.storage.number(), self.egress.number(),
            self._busy(), self.kept.isChecked(),
        )  # fmt: skip

    def _busy(self) -> Decimal:
        before = self._record.pattern.busy_fraction if self._record.pattern is not None else self._record.workload.busy_fraction
        return 1 - self.idle.number() / 100 if self.idle.changed else before

    def _read_sessions(self) -> tuple[Session, ...]:
        try:
            return read_sessions(self.sessions.toPlainText())
        except WrongLine as wrong:
            raise Invalid(self._sessions, wrong.words) from None

    def _of_list(self, frame: Workload) -> Workload:
        """A repeating workload that becomes a list of sessions."""
        return self._stopped(replace(frame, sessions=self._read_sessions()))

    def _stopped(self, workload: Workload) -> Workload:
        span_s = int((workload.span_hours or Decimal(MONTH_HOURS)) * 3600)
        rest = max(span_s - sum(s.duration_s for s in workload.sessions), 0)
        return replace(workload, stopped_s=rest if self.kept.isChecked() else 0)

    def _listed(self) -> Workload:
        """A stored list of sessions with what was changed of it; the rest stays, such as hours that no field shows."""
        before, months = self._record.workload, self.months.whole()
        made = replace(before, gpus=self.gpus.whole(), storage_gb=self.storage.number(), busy_fraction=self._busy())
        if self.months.changed:
            made = replace(made, span_hours=Decimal(months * MONTH_HOURS), storage_hours=Decimal(months * MONTH_HOURS))
        if self.months.changed or self.egress.changed:
            made = replace(made, egress_gb=self.egress.number() * months)
        listed_anew = self.sessions.toPlainText() != self._listed_text
        if listed_anew:
            made = replace(made, sessions=self._read_sessions())
        if self.kept.isChecked() != (before.stopped_s > 0) or (self.kept.isChecked() and (listed_anew or self.months.changed)):
            made = self._stopped(made)
        return made

    @property
    def is_pattern(self) -> bool:
        """Whether it is said as hours a day."""
        return self.way.current == PATTERN

    def _turn_way(self, way: str) -> None:
        """The sessions of the pattern are listed, so that nothing typed is lost on the way there; a list that was typed stays."""
        listed = self.sessions.toPlainText()
        ours = self._record.pattern is not None and listed == self._listed_text
        if way == LISTED and (ours or not listed.strip()):
            self._guarded(lambda: self._list_sessions(self._of_pattern()))
        self._show_way(way)
        self.touch()

    def _of_pattern(self) -> Workload:
        return workload_of(Pattern(1, self.hours.number(), self.starts.whole(), self.days.whole(), self.months.whole()))

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Invalid as wrong:
            wrong.field.complain(wrong.words)

    def _show_way(self, way: str) -> None:
        self.way.choose(way)
        self._pattern_row.setVisible(way == PATTERN)
        self._sessions.setVisible(way == LISTED)

    def touch(self) -> None:
        """Something was changed that is not kept yet."""
        if not self._dirty:
            self._dirty = True
            self.band.tell(Text("Unsaved changes", "有未保存的修改"), self.name.text())
        self._soon.start()
        self.typed.emit()

    def _told(self) -> None:
        for field in (*self._numbers, self._sessions):
            field.complain("")
        try:
            workload = self.read().workload
        except Invalid as wrong:
            wrong.field.complain(wrong.words)
            return
        self._tell_total(workload)
        self.edited.emit()

    def _tell_total(self, workload: Workload) -> None:
        used = float(workload.ready_gpu_hours)
        count = len(workload.sessions)
        self.total.set_words(Text(f"{count} sessions, {used:,.1f} GPU-hours in all", f"共 {count} 次使用，{used:,.1f} 卡时"))

    # -- saving --------------------------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Send the workload, or say under its field what is wrong."""
        self._name.complain("")
        try:
            record = replace(self.read(), name=self.name.text().strip())
            if not record.name:
                raise Invalid(self._name, Text("Write a name", "请填写名称"))
            record = replace(record, model=self.side.read_plan() if self.side is not None else record.model)
        except Invalid as wrong:
            self.refused.emit(wrong.field)
            wrong.field.complain(wrong.words)
            wrong.field.editor.setFocus()
            return
        self.saved.emit(record)

    def discard(self) -> None:
        """Throw away what was typed."""
        self.done()
        self.left.emit()

    def done(self) -> None:
        """What stands in the fields is kept."""
        self._dirty = False
        self.band.hide()
        self.closed.emit()

    # -- a draft -------------------------------------------------------------------------------------------------------------

    def words_now(self) -> tuple[str, ...]:
        """What stands in all fields, those of the model too."""
        numbers = (field.line.text() for field in self._numbers)
        switches = (str(switch.isChecked()) for switch in (self.kept, self.tax))
        plan = self.side.plan_words() if self.side is not None else ""
        return (self.name.text(), self.way.current, *numbers, self.sessions.toPlainText(), *switches, plan)

    def bring_back(self, words: Sequence[str], told: Words) -> None:
        """Put words back that were typed before, and say so; a draft of another shape is left."""
        if len(words) != len(self.words_now()) or tuple(words) == self.words_now():
            return
        (name, way, *numbers), (sessions, kept, tax, plan) = words[:-4], words[-4:]
        self.name.setText(name)
        for field, said in zip(self._numbers, numbers, strict=True):
            field.line.setText(said)
        self.sessions.setPlainText(sessions)
        self.kept.setChecked(kept == str(True))
        self.tax.setChecked(tax == str(True))
        self._show_way(way if way in (PATTERN, LISTED) else PATTERN)
        if self.side is not None and plan:
            self.side.bring_plan_back(plan)
        self._dirty = True
        self.band.tell(told, name)
        self._soon.start()


def _outline(workload: Workload) -> Pattern:
    """What the fields beside the list of sessions show of a workload that follows no pattern."""
    span = workload.span_hours or workload.storage_hours or Decimal(MONTH_HOURS)
    months = max(1, int(span / MONTH_HOURS))
    return Pattern(
        workload.gpus, Decimal(8), 1, 22, months, workload.storage_gb, workload.egress_gb / months, workload.busy_fraction,
        workload.stopped_s > 0,
    )  # fmt: skip


def _grid(fields: tuple[QWidget, ...]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(12)
    for place, field in enumerate(fields):
        grid.addWidget(field, 0, place, Qt.AlignmentFlag.AlignTop)
        grid.setColumnStretch(place, 1)
    return grid


def _row(*fields: QWidget) -> QWidget:
    made = QWidget()
    grid = _grid(fields)
    grid.setContentsMargins(0, 0, 0, 0)
    made.setLayout(grid)
    return made
