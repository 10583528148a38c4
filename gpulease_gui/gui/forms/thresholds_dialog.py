"""By which figures are nodes judged, where do they come from, and how does the user move one?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.domain.threshold import ORIGIN_WORDS, Origin
from gpulease_gui.gui.forms.fields import Field, LineField
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import Cell, Column, Group
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.search import SearchBox
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.thresholds import (
    ThresholdRow,
    list_thresholds,
    parse_amount,
    reset_threshold,
    search_words,
    set_threshold,
)

if TYPE_CHECKING:
    from concurrent.futures import Future

    from gpulease_gui.gui.pages.page import Frame
    from gpulease_gui.store.thresholds import ThresholdChange

TITLE = Text("Figures that nodes are judged by", "判定阈值")
KIND = "thresholds"
_VALUE, _WHY = Text("Value", "取值"), Text("Why", "理由")
_TONES = {Origin.SET: "accent", Origin.ASSUMPTION: "warn"}


def _now(row: ThresholdRow) -> Cell:
    moved = row.moved is not None
    return Cell(row.now.shown, weight=600 if moved else 400, struck=row.shipped if moved else "")


def _origin(row: ThresholdRow) -> Cell:
    return Cell(ORIGIN_WORDS[row.now.origin], tone=_TONES.get(row.now.origin, "2"))


def _columns() -> tuple[Column[ThresholdRow], ...]:
    return (
        Column[ThresholdRow](Text("Figure", "阈值"), lambda r: Cell(r.threshold.title, tip=r.threshold.title), stretch=True),
        Column[ThresholdRow](_VALUE, _now, width=150, number=True),
        Column[ThresholdRow](Text("Origin", "来源"), _origin, width=104),
        Column[ThresholdRow](Text("Source", "出处"), lambda r: Cell(foreign(r.now.source), tone="2", tip=foreign(r.now.source)), width=250),
    )


def _group(row: ThresholdRow) -> Group:
    return Group(row.threshold.check, row.title, foreign(row.threshold.check))


class ThresholdsDialog(QDialog):
    """All figures with origin and source; the chosen one can be moved with a reason, or taken back.

    A change counts from the next run on, and where a stored run is judged again.
    """

    def __init__(self, frame: Frame, find: str = "", *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._frame = frame
        self._row: ThresholdRow | None = None
        self._chosen_key: tuple[str, str] | None = None
        self.setModal(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 12, 0, 12)
        column.setSpacing(8)
        self.search = SearchBox(Text("Check, figure, source…", "检查项、阈值、出处…"))
        self.search.setText(find)
        self.search.searched.connect(self._find)
        column.addLayout(_inset(self.search))
        self.model = TableModel[ThresholdRow](_columns(), lambda r: r.threshold.key, search=search_words, group=_group)
        self.table = TableView(self.model, TITLE)
        self.table.chosen.connect(self._choose)
        column.addWidget(self.table, 1)
        column.addLayout(self._editor())
        column.addLayout(self._foot())
        self.resize(880, 640)
        self._name()
        self._choose(None)
        self.model.find(find)
        self.load()

    def _editor(self) -> QVBoxLayout:
        self.about = PlainLabel("", weight=600, wrap=True)
        self.bounds = PlainLabel("", size="dense", level="2", wrap=True)
        self.value = LineField(_VALUE)
        self.why = LineField(_WHY, Text("stands beside every finding judged by it", "将显示在相关检查结果旁"))
        self.value_field, self.why_field = Field(_VALUE, self.value), Field(_WHY, self.why)
        self.value.returnPressed.connect(self._set)
        self.why.returnPressed.connect(self._set)
        fields = QHBoxLayout()
        fields.setSpacing(12)
        fields.addWidget(self.value_field, 1)
        fields.addWidget(self.why_field, 3)
        column = QVBoxLayout()
        column.setContentsMargins(16, 4, 16, 0)
        column.setSpacing(4)
        column.addWidget(self.about)
        column.addWidget(self.bounds)
        column.addLayout(fields)
        return column

    def _foot(self) -> QHBoxLayout:
        self.note = PlainLabel("", size="dense", level="2", wrap=True)
        self.back = Button(Text("Take back", "恢复默认"), icon="undo")
        self.keep = Button(Text("Set", "设定"), kind="primary")
        close = Button(Text("Close", "关闭"))
        self.back.clicked.connect(self._reset)
        self.keep.clicked.connect(self._set)
        close.clicked.connect(self.reject)
        return _inset(self.note, self.back, close, self.keep)

    # -- what is shown --------------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read all figures anew; the chosen one stays so."""
        self._frame.bridge.when_done(self._frame.services.query(list_thresholds), self._show)

    def _show(self, rows: tuple[ThresholdRow, ...]) -> None:
        self.model.set_rows(rows)
        if self._chosen_key is None or not self.table.choose(self._chosen_key):
            self.table.choose_first()
        self._choose(self.table.current_row)

    def _find(self, words: str) -> None:
        self.model.find(words)
        self.table.choose_first()

    def _choose(self, row: ThresholdRow | None) -> None:
        self._row = row
        for widget in (self.value, self.why, self.keep):
            widget.setEnabled(row is not None)
        self.back.setEnabled(row is not None and row.moved is not None)
        self.complain("")
        if row is None:
            self.about.set_words("")
            self.bounds.set_words("")
            return
        self._chosen_key = row.threshold.key
        self.about.set_words(Text(f"{row.title.en}: {row.threshold.title.en}", f"{row.title.zh}：{row.threshold.title.zh}"))
        origin = row.shipped_origin
        self.bounds.set_words(Text(
            f"Shipped: {row.shipped} ({origin.en}). Allowed: {row.bounds}.", f"默认 {row.shipped}（{origin.zh}），可设 {row.bounds}。"
        ))  # fmt: skip
        self.value.setText(row.entry)
        self.why.setText(row.moved.why if row.moved else "")

    # -- what is changed ------------------------------------------------------------------------------------------------

    def _set(self) -> None:
        if self._row is None:
            return
        one, why, now = self._row.threshold, self.why.text(), utc_now()
        try:
            value = parse_amount(one, self.value.text())
        except UsageError as error:
            self.complain(error.whole_text)
            return
        self._write(self._frame.services.change(lambda db: set_threshold(db, one.check, one.name, value, why=why, at=now), KIND))

    def _reset(self) -> None:
        if self._row is not None:
            one, now = self._row.threshold, utc_now()
            self._write(self._frame.services.change(lambda db: reset_threshold(db, one.check, one.name, at=now), KIND))

    def _write(self, done: Future[ThresholdChange]) -> None:
        self._frame.bridge.when_done(done, self._written, lambda trouble: self.complain(trouble.whole_text))

    def _written(self, change: ThresholdChange) -> None:
        self.note.set_words(Text("It counts from the next run on.", "自下次验收起生效。"))
        self.load()

    def complain(self, words: Words) -> None:
        """Say under the value what is wrong with it, or nothing."""
        self.value_field.complain(words)

    def changeEvent(self, event: QEvent) -> None:
        """Keep the window's title in the window's language."""
        if event.type() is QEvent.Type.LanguageChange:
            self._name()
        super().changeEvent(event)

    def _name(self) -> None:
        self.setWindowTitle(say(TITLE))
        self.setAccessibleName(say(TITLE))


def _inset(first: QWidget, *others: QWidget) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setContentsMargins(16, 0, 16, 0)
    row.setSpacing(8)
    row.addWidget(first, 1)
    for widget in others:
        row.addWidget(widget)
    return row


def thresholds_dialog(frame: Frame, parent: QWidget, find: str = "") -> ThresholdsDialog:
    """The dialog, open, narrowed to `find` (such as a check's id)."""
    from gpulease_gui.gui.forms.fields import open_dialog

    dialog = ThresholdsDialog(frame, find, parent=parent)
    open_dialog(dialog)
    return dialog
