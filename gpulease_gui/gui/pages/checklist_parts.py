"""What stands around the checklist: its dimensions at the left, the deal above it, the chosen items below?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QListView,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gpulease_gui.catalog.checklist import DIMENSIONS
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.language import say
from gpulease_gui.gui.pages.checklist_table import badge_of_outcome
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.labels import PlainLabel, plain_tip
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.pdf.paint import Promises, paint_stack
from gpulease_gui.pdf.palette import Palette
from gpulease_gui.services.checklist_view import OUTCOME_WORDS, ChecklistView, Outcome

Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()
_ENTRY = int(Qt.ItemDataRole.UserRole) + 1
_EDGE, _BAR = 16, 104
_V = Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True, slots=True)
class DimensionEntry:
    """One dimension ("" = all of them): how its items came out."""

    key: str
    title: Text
    code: str
    counts: Mapping[Outcome, int]

    @property
    def total(self) -> int:
        """How many items it has."""
        return sum(self.counts.values())

    @property
    def note(self) -> Text:
        """Such as: IC · 12 items."""
        items = Text("1 item" if self.total == 1 else f"{self.total} items", f"{self.total} 项")
        return Text(f"{self.code} · {items.en}", f"{self.code} · {items.zh}") if self.code else items

    @property
    def spoken(self) -> str:
        """Title and counts in words."""
        parts = [f"{say(OUTCOME_WORDS[outcome])} {count}" for outcome, count in self.counts.items() if count]
        return f"{say(self.title)}, {say(self.note)}, {', '.join(parts)}"


def entries_of(view: ChecklistView) -> tuple[DimensionEntry, ...]:
    """All items, then the dimensions that have any, in their order."""
    codes = {row.item.dimension: row.item.id.partition("-")[0] for row in reversed(view.rows)}
    entries = [DimensionEntry("", Text("All dimensions", "全部维度"), "", view.totals)]
    for key, counts in view.counts.items():
        if sum(counts.values()):
            entries.append(DimensionEntry(key, DIMENSIONS.get(key, foreign(key)), codes.get(key, ""), counts))
    return tuple(entries)


def promises_of(counts: Mapping[Outcome, int]) -> Promises:
    """The counts as the stacked bar draws them; a waived item does not count as kept."""
    return Promises(
        counts.get(Outcome.PASS, 0), counts.get(Outcome.FAIL, 0), counts.get(Outcome.PARTLY, 0), counts.get(Outcome.UNKNOWN, 0),
        counts.get(Outcome.NOT_APPLICABLE, 0) + counts.get(Outcome.WAIVED, 0),
    )  # fmt: skip


class _Dimensions(QAbstractListModel):
    def __init__(self) -> None:
        super().__init__()
        self.entries: tuple[DimensionEntry, ...] = ()

    def set_entries(self, entries: Sequence[DimensionEntry]) -> None:
        if [entry.key for entry in entries] == [entry.key for entry in self.entries]:
            before, self.entries = self.entries, tuple(entries)
            for place, (old, new) in enumerate(zip(before, entries, strict=True)):
                if old != new:
                    self.dataChanged.emit(self.index(place), self.index(place))
            return
        self.beginResetModel()
        self.entries = tuple(entries)
        self.endResetModel()

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.entries)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry = self.entries[index.row()]
        if role == _ENTRY:
            return entry
        if role == Qt.ItemDataRole.DisplayRole:
            return say(entry.title)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return entry.spoken
        return plain_tip(entry.spoken) if role == Qt.ItemDataRole.ToolTipRole else None


class DimensionList(Lively, QListView):
    """The dimensions with their counts; `picked` carries the key of the one that the user chose ("" = all)."""

    picked = Signal(str)

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = _Dimensions()
        self._model.setParent(self)
        self.setProperty("pane", "1")
        self.setModel(self._model)
        self.setItemDelegate(_DimensionDelegate(self))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self._quiet = False
        self.selectionModel().currentChanged.connect(self._changed)
        self.retranslate()

    def show_entries(self, entries: Sequence[DimensionEntry], current: str) -> None:
        """Show other counts; `current` is marked without telling anyone."""
        self._quiet = True
        self._model.set_entries(entries)
        place = next((n for n, entry in enumerate(entries) if entry.key == current), 0)
        self.setCurrentIndex(self._model.index(place))
        self._quiet = False

    def choose(self, key: str) -> None:
        """Choose a dimension as the user would."""
        keys = [entry.key for entry in self._model.entries]
        if key in keys:
            self.setCurrentIndex(self._model.index(keys.index(key)))

    def dataChanged(self, topLeft: Index, bottomRight: Index, roles: Sequence[int] = ()) -> None:
        """Draw the entries that changed: Qt's list would lay out all of them, as if they had other heights."""
        QAbstractItemView.dataChanged(self, topLeft, bottomRight, list(roles))

    def _changed(self, current: QModelIndex) -> None:
        if not self._quiet and current.isValid():
            self.picked.emit(self._model.entries[current.row()].key)

    def retranslate(self) -> None:
        """Name the list."""
        self.setAccessibleName(say(Text("Dimensions", "维度")))
        self.viewport().update()

    def sizeHint(self) -> QSize:
        """High enough for all dimensions, if there is room."""
        return QSize(232, sum(max(self.sizeHintForRow(row), 0) for row in range(self._model.rowCount())) + 2)


class _DimensionDelegate(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, max(42, 2 * option.fontMetrics.height() + 6))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        entry: DimensionEntry = index.data(_ENTRY)
        rect, palette, font = option.rect, colours(), QFont(option.font)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        painter.save()
        painter.fillRect(rect, QColor(palette.sel if selected else palette.hover if hovered else palette.bg1))
        if selected:
            painter.fillRect(QRect(rect.left(), rect.top(), 3, rect.height()), QColor(palette.accent))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), QColor(palette.border))
        half = rect.height() // 2
        upper = QRect(rect.left() + _EDGE, rect.top() + 2, rect.width() - 2 * _EDGE, half - 1)
        lower = QRect(rect.left() + _EDGE, rect.top() + half, rect.width() - 2 * _EDGE, half - 4)
        bar = min(_BAR, lower.width() // 2)
        room = self._tallies(painter, upper, entry, palette, sized(font, TextSize.CAPTION, 600))
        self._words(painter, upper.adjusted(0, 0, -room, 0), entry.title, palette.t1, sized(font, TextSize.DENSE, 600 if selected else 500))
        self._words(painter, lower.adjusted(0, 0, -bar, 0), entry.note, palette.t3, sized(font, TextSize.CAPTION))
        paint_stack(painter, QRect(lower.right() - bar + 1, lower.center().y() - 3, bar, 9), promises_of(entry.counts), palette)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QPen(QColor(palette.accent), 1))
            painter.drawRect(rect.adjusted(0, 0, -1, -2))
        painter.restore()

    @staticmethod
    def _words(painter: QPainter, rect: QRect, words: Text, colour: str, font: QFont) -> None:
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawText(rect, _V, painter.fontMetrics().elidedText(say(words), Qt.TextElideMode.ElideRight, rect.width()))

    @staticmethod
    def _tallies(painter: QPainter, rect: QRect, entry: DimensionEntry, palette: Palette, font: QFont) -> int:
        """Draw what is open at the right; says how much room that took."""
        painter.setFont(font)
        right = rect.right() + 1
        for outcome in (Outcome.UNKNOWN, Outcome.PARTLY, Outcome.FAIL):
            count = entry.counts.get(outcome, 0)
            if not count:
                continue
            badge = badge_of_outcome(outcome)
            colour, said = palette.colour(badge.token), str(count)
            width = painter.fontMetrics().horizontalAdvance(said)
            painter.setPen(QColor(colour))
            painter.drawText(QRect(right - width, rect.top(), width + 1, rect.height()), _V, said)
            icons.paint(painter, QRectF(right - width - 16, rect.center().y() - 5, 12, 12), badge.icon, colour)
            right -= width + 24
        return rect.right() + 1 - right


class Legend(QWidget):
    """What the parts of the bars mean."""

    PARTS = (
        (Promises(kept=1), Text("Pass", "通过")), (Promises(broken=1), Text("Fail", "不符")), (Promises(warned=1), Text("Partly", "部分符合")),
        (Promises(unknown=1), Text("Unknown", "未知")), (Promises(not_applicable=1), Text("N/A or waived", "不适用或已豁免")),
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        grid = QGridLayout(self)
        grid.setContentsMargins(16, 8, 16, 10)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(3)
        for place, (promises, words) in enumerate(self.PARTS):
            row = QHBoxLayout()
            row.setSpacing(6)
            row.addWidget(_Swatch(promises))
            row.addWidget(PlainLabel(words, size="caption", level="3"), 1)
            grid.addLayout(row, place // 2, place % 2)


class _Swatch(QWidget):
    def __init__(self, promises: Promises) -> None:
        super().__init__()
        self._promises = promises
        self.setFixedSize(12, 9)

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_stack(QPainter(self), self.rect(), self._promises, colours())


class ScoreBar(Lively, QWidget):
    """A score on a line from 0 to 100: a tick at what is proven, a pale span to what could still come."""

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._span: tuple[float, float] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_span(self, low: float | None, high: float | None, sentence: str = "") -> None:
        """Show another range, 0 to 100; None = no score."""
        self._span = None if low is None or high is None else (low, high)
        self.setAccessibleName(sentence)
        self.setToolTip(plain_tip(sentence))
        self.update()

    def sizeHint(self) -> QSize:
        """As wide as a ruler."""
        return QSize(96, 14)

    def minimumSizeHint(self) -> QSize:
        """The shortest that can be read."""
        return QSize(56, 14)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Track, span, tick."""
        painter, palette = QPainter(self), colours()
        middle, width = self.height() // 2, self.width() - 2
        painter.fillRect(QRect(0, middle, self.width(), 1), QColor(palette.border2))
        if self._span is None:
            return
        low, high = (round(width * part / 100) for part in self._span)
        span = QColor(palette.accent)
        span.setAlphaF(0.28)
        painter.fillRect(QRect(low, middle - 3, max(high - low, 1), 7), span)
        painter.fillRect(QRect(low, 1, 2, self.height() - 2), QColor(palette.ink))
