"""How is a workload written down: as hours a day, or session by session?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.workload import Workload
from gpulease_gui.economics.workload_pattern import MONTH_HOURS, Pattern, workload_of
from gpulease_gui.gui.forms.fields import Field, LineField
from gpulease_gui.gui.forms.record_form import Invalid
from gpulease_gui.gui.widgets.bands import UnsavedBand
from gpulease_gui.gui.widgets.buttons import Segment, Switch
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.panes import Section
from gpulease_gui.services.commerce_cost import SavedWorkload
from gpulease_gui.services.commercial_words import plain
from gpulease_gui.services.workload_text import read_sessions, write_sessions

PATTERN, LISTED = "pattern", "listed"
_WAIT_MS = 60
_NO_NUMBER = Text("Write a number", "请填写数字")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a number may be; `whole` takes no fraction."""

    least: Decimal
    most: Decimal
    whole: bool = False


class NumberField(Field):
    """A number within bounds under a label that names its unit."""

    def __init__(self, label: Text, bounds: Bounds) -> None:
        self.line = LineField(label)
        self.bounds = bounds
        super().__init__(label, self.line)

    def show_number(self, value: Decimal | int) -> None:
        """Put a number in."""
        self.line.setText(plain(Decimal(value)))
        self.complain("")

    def number(self) -> Decimal:
        """The number. Raises Invalid."""
        try:
            value = Decimal(self.line.text().strip().replace(",", ""))
        except InvalidOperation:
            raise Invalid(self, _NO_NUMBER) from None
        least, most = self.bounds.least, self.bounds.most
        if not value.is_finite() or not least <= value <= most or (self.bounds.whole and value != value.to_integral_value()):
            kind_en, kind_zh = ("a whole number", "整数") if self.bounds.whole else ("a number", "数字")
            raise Invalid(self, Text(f"Write {kind_en} from {plain(least)} to {plain(most)}", f"请填写 {plain(least)} 到 {plain(most)} 的{kind_zh}"))
        return value

    def whole(self) -> int:
        """The number as a whole one. Raises Invalid."""
        return int(self.number())


def _whole(label: Text, least: int, most: int) -> NumberField:
    return NumberField(label, Bounds(Decimal(least), Decimal(most), whole=True))


def _number(label: Text, most: int) -> NumberField:
    return NumberField(label, Bounds(Decimal(0), Decimal(most)))


class WorkloadForm(QWidget):
    """The editor of one workload. `edited` comes a moment after each change that can be read; `saved` carries the record."""

    edited = Signal()
    saved = Signal(object)
    left = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._record = SavedWorkload("", "", Workload())
        self._dirty = False
        self.name = LineField(Text("Name", "名称"), Text("such as fine-tuning, 20 runs a month", "例如：微调，每月 20 次"))
        self._name = Field(Text("Name", "名称"), self.name)
        self.way = Segment(((PATTERN, Text("Hours a day", "按每日小时")), (LISTED, Text("Listed sessions", "逐次列出"))), current=PATTERN)
        self.gpus = _whole(Text("GPUs", "GPU 数"), 1, 65536)
        self.hours = _number(Text("Hours a day", "每日小时"), 24)
        self.starts = _whole(Text("Starts a day", "每日启动次数"), 1, 96)
        self.days = _whole(Text("Days a month", "每月天数"), 0, 31)
        self.months = _whole(Text("Months", "月数"), 1, 60)
        self.storage = _number(Text("Storage, GB", "存储，GB"), 10**9)
        self.egress = _number(Text("Traffic out, GB a month", "出流量，GB/月"), 10**9)
        self.idle = _number(Text("Idle share, %", "空闲占比，%"), 100)
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
        workload, pattern = saved.workload, saved.pattern
        shown = pattern or _outline(workload)
        self.gpus.show_number(shown.gpus)
        self.hours.show_number(shown.hours_per_day.quantize(Decimal("0.01")))
        self.starts.show_number(shown.starts_per_day)
        self.days.show_number(shown.days_per_month)
        self.months.show_number(shown.months)
        self.storage.show_number(shown.storage_gb)
        self.egress.show_number(shown.egress_gb_per_month)
        self.idle.show_number((1 - shown.busy_fraction) * 100)
        self.sessions.blockSignals(True)
        self.sessions.setPlainText(write_sessions(workload.sessions))
        self.sessions.blockSignals(False)
        self.kept.setChecked(shown.kept_stopped)
        self.tax.setChecked(saved.tax_recoverable)
        self._show_way(PATTERN if pattern is not None else LISTED)
        self._sessions.complain("")
        self._name.complain("")
        self._dirty = False
        self.band.setVisible(is_new)
        if is_new:
            self.band.tell(Text("New workload, not saved yet", "新负载，尚未保存"))
        self._tell_total(workload)

    @property
    def record_id(self) -> str:
        """The id of the workload that is edited."""
        return self._record.id

    @property
    def dirty(self) -> bool:
        """Whether something was changed since it was opened."""
        return self._dirty

    def read(self) -> SavedWorkload:
        """The workload as it stands in the fields. Raises Invalid."""
        pattern = Pattern(
            self.gpus.whole(), self.hours.number() if self.is_pattern else Decimal(0), self.starts.whole() if self.is_pattern else 1,
            self.days.whole() if self.is_pattern else 0, self.months.whole(), self.storage.number(), self.egress.number(),
            1 - self.idle.number() / 100, self.kept.isChecked(),
        )  # fmt: skip
        if self.is_pattern:
            return replace(self._made(workload_of(pattern)), pattern=pattern)
        return self._made(self._listed(workload_of(pattern), kept=pattern.kept_stopped))

    def _made(self, workload: Workload) -> SavedWorkload:
        return SavedWorkload(self._record.id, self.name.text().strip(), workload, None, self.tax.isChecked())

    def _listed(self, frame: Workload, *, kept: bool) -> Workload:
        try:
            sessions = read_sessions(self.sessions.toPlainText())
        except UsageError as wrong:
            raise Invalid(self._sessions, Text(wrong.what, wrong.what)) from None
        span_s = int((frame.span_hours or Decimal(MONTH_HOURS)) * 3600)
        stopped = max(span_s - sum(s.duration_s for s in sessions), 0) if kept else 0
        return replace(frame, sessions=sessions, stopped_s=stopped)

    @property
    def is_pattern(self) -> bool:
        """Whether it is said as hours a day."""
        return self.way.current == PATTERN

    def _turn_way(self, way: str) -> None:
        """The sessions of the pattern are listed, so that nothing typed is lost on the way there."""
        if way == LISTED and not self.sessions.toPlainText().strip():
            self._guarded(lambda: self.sessions.setPlainText(write_sessions(self._of_pattern().sessions)))
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
            record = self.read()
            if not record.name:
                raise Invalid(self._name, Text("Write a name", "请填写名称"))
        except Invalid as wrong:
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
