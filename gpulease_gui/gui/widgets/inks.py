"""How are words and colours of a large table drawn at the least cost: colours, widths and elided words are kept?"""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.pdf.palette import Palette

_LINE = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
_MOST_KEPT = 4000


class Inks:
    """Colours of one theme and fonts of one base font; ask an `InkPot` for the ones of now."""

    def __init__(self, palette: Palette, base: QFont) -> None:
        self.palette = palette
        self._colours: dict[str, QColor] = {token: QColor(colour) for token, colour in palette.tokens().items()}
        self._fonts = {weight: sized(base, TextSize.DENSE, weight) for weight in (400, 500, 600)}
        self._fonts[0] = sized(base, TextSize.CAPTION, 500)
        self._metrics = {weight: QFontMetrics(font) for weight, font in self._fonts.items()}
        self._widths: dict[tuple[int, str], int] = {}
        self._elided: dict[tuple[int, str, int], str] = {}
        plain = self._metrics[400]
        self.under = plain.height() // 2 - plain.descent() + 3
        self.dashes = QPen(self._colours["ctl"], 1)
        self.dashes.setDashPattern([3, 2])

    def colour(self, token: str) -> QColor:
        """The colour of a token such as `t2`."""
        return self._colours[token]

    def font(self, weight: int) -> QFont:
        """400, 500, 600 of a dense cell; 0 is the caption."""
        return self._fonts[weight]

    def width(self, words: str, weight: int) -> int:
        """How wide one line of `words` is."""
        known = self._widths.get((weight, words))
        if known is None:
            if len(self._widths) > _MOST_KEPT:
                self._widths.clear()
            known = self._widths[weight, words] = self._metrics[weight].horizontalAdvance(words)
        return known

    def draw(self, painter: QPainter, room: QRect, words: Text | str, token: str, weight: int = 400) -> int:
        """One line of plain text, elided where room is short; where it ends."""
        if room.width() <= 6:
            return room.left()
        said = say(words)
        if "\n" in said or "\t" in said:
            said = " ".join(said.split())
        wide = self.width(said, weight)
        if wide > room.width():
            said = self._short(said, weight, room.width())
            wide = self.width(said, weight)
        painter.setFont(self._fonts[weight])
        painter.setPen(self._colours[token])
        painter.drawText(room, _LINE, said)
        return room.left() + wide

    def _short(self, words: str, weight: int, room: int) -> str:
        known = self._elided.get((weight, words, room))
        if known is None:
            if len(self._elided) > _MOST_KEPT:
                self._elided.clear()
            known = self._elided[weight, words, room] = self._metrics[weight].elidedText(words, Qt.TextElideMode.ElideRight, room)
        return known


class InkPot:
    """Keeps the inks of one view until its theme or font changes."""

    def __init__(self) -> None:
        self._inks: Inks | None = None
        self._base = QFont()

    def of(self, base: QFont) -> Inks:
        """The inks of the theme of now for a base font."""
        palette = colours()
        if self._inks is None or self._inks.palette is not palette or base != self._base:
            self._base, self._inks = QFont(base), Inks(palette, base)
        return self._inks
