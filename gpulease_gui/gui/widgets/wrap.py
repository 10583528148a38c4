"""Where does what stands in a row go when the row is too narrow for it?"""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

Rows = list[list[tuple[QLayoutItem, QRect]]]


class WrapLayout(QLayout):
    """Widgets side by side, each as wide as it wants to be; those that the width does not hold begin another row.

    `is_last_right`: the last one stands at the right end of its row where it shares it.
    """

    def __init__(self, parent: QWidget | None = None, *, gap_px: int = 8, row_gap_px: int = 4, is_last_right: bool = False) -> None:
        super().__init__(parent)
        self._gap_px, self._row_gap_px, self._is_last_right = gap_px, row_gap_px, is_last_right
        self._items: list[QLayoutItem] = []

    def addItem(self, item: QLayoutItem) -> None:
        """Take one more in."""
        self._items.append(item)

    def count(self) -> int:
        """How many there are, hidden ones too."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """The one at that place; None past the last."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """The one at that place, which is no longer in here."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """Free room is for others."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """The narrower, the higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of as many rows as that width needs."""
        margins = self.contentsMargins()
        rows = self._rows(QRect(0, 0, width - margins.left() - margins.right(), 0))
        height = max((rect.bottom() + 1 for row in rows for _, rect in row), default=0)
        return height + margins.top() + margins.bottom()

    def sizeHint(self) -> QSize:
        """All in one row."""
        sizes = [item.sizeHint() for item in self._shown()]
        width = sum(size.width() for size in sizes) + self._gap_px * max(0, len(sizes) - 1)
        return self._with_margins(QSize(width, max((size.height() for size in sizes), default=0)))

    def minimumSize(self) -> QSize:
        """A row for each of them."""
        sizes = [item.minimumSize() for item in self._shown()]
        return self._with_margins(QSize(max((s.width() for s in sizes), default=0), max((s.height() for s in sizes), default=0)))

    def setGeometry(self, rect: QRect) -> None:
        """Put all where they belong."""
        super().setGeometry(rect)
        margins = self.contentsMargins()
        inner = rect.adjusted(margins.left(), margins.top(), -margins.right(), -margins.bottom())
        for row in self._rows(inner):
            high = max(place.height() for _, place in row)
            for item, place in row:
                item.setGeometry(place.translated(0, (high - place.height()) // 2))

    def _with_margins(self, size: QSize) -> QSize:
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _rows(self, inner: QRect) -> Rows:
        """Each with its place; only one that is alone in its row is ever narrower than it wants to be."""
        rows: Rows = []
        at = inner.topLeft()
        for item in self._shown():
            size = item.sizeHint().boundedTo(QSize(max(inner.width(), item.minimumSize().width()), 1 << 20))
            if rows and at.x() + size.width() > inner.left() + inner.width():
                at = QPoint(inner.left(), max(place.bottom() for _, place in rows[-1]) + 1 + self._row_gap_px)
                rows.append([])
            rows = rows or [[]]
            rows[-1].append((item, QRect(at, size)))
            at = QPoint(at.x() + size.width() + self._gap_px, at.y())
        if self._is_last_right and rows and len(rows[-1]) > 1:
            item, place = rows[-1][-1]
            place.moveLeft(inner.left() + inner.width() - place.width())
            rows[-1][-1] = (item, place)
        return rows
