"""How does a page narrow what it shows?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QTimer, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLineEdit, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.buttons import Chip
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.gui.widgets.lively import Lively

_WAIT_MS = 200
FIND = Text("Search or go to…", "搜索或跳转…")


class SearchBox(Lively, QLineEdit):
    """A field with a lens; `searched` comes 200 ms after the last key, or at Enter."""

    searched = Signal(str)

    def __init__(self, hint: Words = FIND, *, keys: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._hint, self._keys, self._said = hint, keys, ""
        self._wait = QTimer(self)
        self._wait.setSingleShot(True)
        self._wait.setInterval(_WAIT_MS)
        self._wait.timeout.connect(self._tell)
        self.textChanged.connect(self._typed)
        self.returnPressed.connect(self._tell)
        self.setMinimumWidth(204)
        self.setClearButtonEnabled(False)
        self.retranslate()

    def _typed(self) -> None:
        self._wait.start()
        self._give_room()

    def _tell(self) -> None:
        self._wait.stop()
        if self.text() != self._said:
            self._said = self.text()
            self.searched.emit(self._said)

    def _key_width(self) -> int:
        return QFontMetrics(sized(self.font(), TextSize.CAPTION)).horizontalAdvance(self._keys) + 10

    def _give_room(self) -> None:
        """The hint ends before the key that leads here."""
        self.setTextMargins(22, 0, self._key_width() + 10 if self._keys and not self.text() else 8, 0)

    def retheme(self) -> None:
        """The key grows with the font."""
        self._give_room()

    def retranslate(self) -> None:
        """Say the hint."""
        self._give_room()
        self.setPlaceholderText(say(self._hint))
        self.setAccessibleName(say(self._hint))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The field, the lens and, while it is empty, the key that leads here."""
        super().paintEvent(event)
        palette, painter = colours(), QPainter(self)
        icons.paint(painter, QRectF(9, (self.height() - 16) // 2, 16, 16), "search", palette.t3)
        if not self._keys or self.text():
            return
        painter.setFont(sized(self.font(), TextSize.CAPTION))
        width, height = self._key_width(), painter.fontMetrics().height() + 2
        box = QRectF(self.width() - width - 8.5, (self.height() - height) // 2 + 0.5, width, height - 1)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(palette.border2))
        painter.drawRoundedRect(box, 3, 3)
        painter.setPen(QColor(palette.t3))
        painter.drawText(box, 0x84, self._keys)  # centred both ways


class FilterBar(QFrame):
    """The 40 px under the header: chips at the left (one at a time), tools of the page at the right.

    `filtered` carries the key of the chip that is on.
    """

    filtered = Signal(str)

    def __init__(self, chips: Sequence[tuple[str, Words]] = (), *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("filterBar")
        self.setMinimumHeight(40)
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(16, 6, 16, 6)
        self.row.setSpacing(8)
        self._chips: dict[str, Chip] = {}
        for key, words in chips:
            chip = Chip(words)
            chip.clicked.connect(lambda _=False, key=key: self.choose(key))
            self._chips[key] = chip
            self.row.addWidget(chip)
        self.row.addStretch(1)
        if chips:
            self._mark(chips[0][0])

    def add_tool(self, widget: QWidget) -> None:
        """Put `widget` at the right end."""
        self.row.addWidget(widget)

    @property
    def current(self) -> str:
        """The key of the chip that is on, or an empty text."""
        return next((key for key, chip in self._chips.items() if chip.isChecked()), "")

    def choose(self, key: str) -> None:
        """Switch one chip on and the others off, and tell it."""
        self._mark(key)
        self.filtered.emit(key)

    def _mark(self, key: str) -> None:
        for other, chip in self._chips.items():
            chip.setChecked(other == key)

    def set_count(self, key: str, count: int | None) -> None:
        """Show how many rows a chip would leave."""
        self._chips[key].set_count(count)
