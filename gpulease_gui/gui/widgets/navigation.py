"""How does the user get from page to page?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPainter, QPainterPath
from PySide6.QtWidgets import QFrame, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QVBoxLayout, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.pages.page import NavGroup, PageSpec
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.labels import Words, plain_tip
from gpulease_gui.gui.widgets.lively import Lively

WIDE, NARROW = 200, 48
_ENTRY = int(Qt.ItemDataRole.UserRole) + 1
Index = QModelIndex | QPersistentModelIndex
_NO_INDEX = QModelIndex()


@dataclass(frozen=True, slots=True)
class NavEntry:
    """One line: a page (with icon) or the heading of a group (without id)."""

    title: Text
    id: str = ""
    icon: str = ""
    count: Words = ""
    alarm: bool = False


class Navigation(Lively, QFrame):
    """The list of pages; `chosen` carries the id of a page that the user picked."""

    chosen = Signal(str)

    def __init__(self, entries: Sequence[NavEntry], foot: Sequence[NavEntry] = (), *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("navigation")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 8, 0, 8)
        self._lists = [_NavList(entries), _NavList(foot)]
        column.addWidget(self._lists[0], 1)
        column.addWidget(self._lists[1])
        self._lists[1].setVisible(bool(foot))
        self._lists[1].setFixedHeight(34 * len(foot))
        for view in self._lists:
            view.picked.connect(self.chosen)
        self.is_wide = True
        self.set_wide(wide=True)
        self.retranslate()

    def set_wide(self, *, wide: bool) -> None:
        """Icons and words, or icons only."""
        self.is_wide = wide
        self.setFixedWidth(WIDE if wide else NARROW)
        for view in self._lists:
            view.set_wide(wide=wide)

    def show_current(self, page: str) -> None:
        """Mark the page in sight."""
        for view in self._lists:
            view.show_current(page)

    def set_count(self, page: str, count: Words, *, alarm: bool) -> None:
        """Show a count beside a page."""
        for view in self._lists:
            view.entries.set_count(page, count, alarm=alarm)

    def retranslate(self) -> None:
        """Say the titles in the window's language."""
        self._lists[0].setAccessibleName(self.tr("Pages"))
        self._lists[1].setAccessibleName(self.tr("More pages"))
        for view in self._lists:
            view.viewport().update()


class _Entries(QAbstractListModel):
    def __init__(self, entries: Sequence[NavEntry]) -> None:
        super().__init__()
        self.lines = list(entries)

    def rowCount(self, parent: Index = _NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self.lines)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if index.isValid() and self.lines[index.row()].id:
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return Qt.ItemFlag.NoItemFlags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        entry = self.lines[index.row()]
        if role == _ENTRY:
            return entry
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return " ".join(part for part in (say(entry.title), say(entry.count)) if part)
        if role == Qt.ItemDataRole.ToolTipRole and entry.id:
            return plain_tip(entry.title)
        return None

    def set_count(self, page: str, count: Words, *, alarm: bool) -> None:
        for place, entry in enumerate(self.lines):
            if entry.id == page and (entry.count, entry.alarm) != (count, alarm):
                self.lines[place] = replace(entry, count=count, alarm=alarm)
                self.dataChanged.emit(self.index(place), self.index(place))


class _NavList(QListView):
    picked = Signal(str)

    def __init__(self, entries: Sequence[NavEntry]) -> None:
        super().__init__()
        self.setObjectName("navigationList")
        self.entries = _Entries(entries)
        self.entries.setParent(self)
        self._paint = _NavDelegate(self)
        self.setModel(self.entries)
        self.setItemDelegate(self._paint)
        self.setMouseTracking(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.selectionModel().currentChanged.connect(self._current_changed)
        self._quiet = False

    def set_wide(self, *, wide: bool) -> None:
        self._paint.wide = wide
        self.scheduleDelayedItemsLayout()
        self.viewport().update()

    def show_current(self, page: str) -> None:
        self._quiet = True
        place = next((n for n, entry in enumerate(self.entries.lines) if page and entry.id == page), -1)
        self.setCurrentIndex(self.entries.index(place) if place >= 0 else QModelIndex())
        self._quiet = False

    def _current_changed(self, current: QModelIndex) -> None:
        if not self._quiet and current.isValid():
            self.picked.emit(self.entries.lines[current.row()].id)


class _NavDelegate(QStyledItemDelegate):
    wide = True

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        entry: NavEntry = index.data(_ENTRY)
        line = option.fontMetrics.height()
        if entry.id:
            return QSize(40, max(32, line + 12))
        return QSize(40, line + 14 if self.wide else 17)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        entry: NavEntry = index.data(_ENTRY)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if entry.id:
            self._paint_page(painter, option, entry)
        else:
            self._paint_heading(painter, option, entry)
        painter.restore()

    def _paint_heading(self, painter: QPainter, option: QStyleOptionViewItem, entry: NavEntry) -> None:
        rect, palette = option.rect, colours()
        if not self.wide:
            painter.fillRect(QRect(rect.left() + 14, rect.center().y(), rect.width() - 28, 1), QColor(palette.border2))
            return
        painter.setPen(QColor(palette.t3))
        painter.setFont(sized(QFont(option.font), TextSize.DENSE))
        painter.drawText(rect.adjusted(16, 6, 0, 0), Qt.AlignmentFlag.AlignVCenter, say(entry.title))

    def _paint_page(self, painter: QPainter, option: QStyleOptionViewItem, entry: NavEntry) -> None:
        palette, rect = colours(), option.rect
        current = bool(option.state & QStyle.StateFlag.State_Selected)
        box = QRectF(rect.adjusted(8, 1, -8, -1)) if self.wide else QRectF(rect.adjusted(6, 1, -6, -1))
        if current:
            _fill(painter, box, palette.surface)
            painter.fillRect(QRectF(rect.left(), box.top() + 5, 3, box.height() - 10), QColor(palette.accent))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            _fill(painter, box, palette.border)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(palette.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), 4, 4)
        left = rect.left() + (16 if self.wide else 15)
        icon = QRectF(left, rect.center().y() - 8, 18, 18)
        icons.paint(painter, icon, entry.icon, palette.accent if current else palette.t2)
        if not self.wide:
            self._paint_dot(painter, rect, entry)
            return
        painter.setFont(sized(QFont(option.font), TextSize.BODY, 600 if current else 400))
        painter.setPen(QColor(palette.t1 if current else palette.t2))
        painter.drawText(rect.adjusted(44, 0, -40, 0), Qt.AlignmentFlag.AlignVCenter, say(entry.title))
        painter.setFont(sized(QFont(option.font), TextSize.CAPTION, 600 if entry.alarm else 400))
        painter.setPen(QColor(palette.fail if entry.alarm else palette.t3))
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(rect.adjusted(0, 0, -16, 0), right, say(entry.count))

    @staticmethod
    def _paint_dot(painter: QPainter, rect: QRect, entry: NavEntry) -> None:
        if entry.alarm:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours().fail))
            painter.drawEllipse(QRectF(rect.right() - 15, rect.top() + 5, 7, 7))


def _fill(painter: QPainter, box: QRectF, colour: str) -> None:
    path = QPainterPath()
    path.addRoundedRect(box, 4, 4)
    painter.fillPath(path, QColor(colour))


def entries_of(pages: Sequence[PageSpec]) -> tuple[list[NavEntry], list[NavEntry]]:
    """The lines of the navigation: headings only where pages stand under them; the foot apart."""
    lines: list[NavEntry] = []
    for group in (NavGroup.TOP, NavGroup.CHOOSE, NavGroup.USE, NavGroup.SETTLE):
        inside = [spec for spec in pages if spec.group is group]
        if inside and group is not NavGroup.TOP:
            lines.append(NavEntry(group.value))
        lines += [NavEntry(spec.title, spec.id, spec.icon) for spec in inside]
    foot = [NavEntry(spec.title, spec.id, spec.icon) for spec in pages if spec.group is NavGroup.FOOT]
    return lines, foot
