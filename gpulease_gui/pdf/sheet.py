"""How do words become lines on paper?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPagedPaintDevice, QPainter, QPen, QTextLayout, QTextOption

from gpulease_gui.domain.text import Language, Text, visible
from gpulease_gui.pdf.badges import Badge
from gpulease_gui.pdf.fonts import shipped_font
from gpulease_gui.pdf.paint import badge_width, paint_badge
from gpulease_gui.pdf.palette import LIGHT, Palette
from gpulease_gui.reports.document import Tone

# All lengths are points: the device has 72 dots an inch.
PAGE_WIDTH, PAGE_HEIGHT = 595.28, 841.89
MARGIN = 42.52  # 15 mm
WIDTH = PAGE_WIDTH - 2 * MARGIN
FOOTER = 32.0
BODY = 9.5
CELL = 8.5
SMALL = 7.5
CODE = 7.0
MAX_LINES = 40
# A badge is drawn with the screen's proportions (13 px text) and scaled to the paper's text.
_BADGE_POINTS = 12.0
_SPACES = {"\t": " ", "\n": " "}
# Beyond it Qt writes glyphs without the text that they stand for.
_LAST_BMP = 0xFFFF
_TONES: Mapping[Tone, str] = {
    Tone.PLAIN: "t1", Tone.QUIET: "t3", Tone.STRONG: "t1", Tone.FAIL: "fail", Tone.MISSING: "t3", Tone.CODE: "t2",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lines:
    """Words set in a width. `first_height` is the height of one line."""

    layout: QTextLayout
    height: float
    first_height: float
    colour: str
    dashed: bool = False

    @property
    def natural_width(self) -> float:
        """How wide the widest line is."""
        return max((self.layout.lineAt(n).naturalTextWidth() for n in range(self.layout.lineCount())), default=0.0)

    def draw(self, painter: QPainter, x: float, y: float) -> None:
        """Draw with the upper left corner at (x, y)."""
        painter.setPen(QColor(self.colour))
        self.layout.draw(painter, QPointF(x, y))
        if self.dashed:
            self._underline(painter, x, y)

    def _underline(self, painter: QPainter, x: float, y: float) -> None:
        painter.setPen(QPen(QColor(self.colour), 0.5, Qt.PenStyle.DashLine))
        for number in range(self.layout.lineCount()):
            line = self.layout.lineAt(number)
            if line.naturalTextWidth() > 0:
                rect = line.naturalTextRect()
                base = y + line.y() + line.ascent() + 1.5
                painter.drawLine(QPointF(x + rect.left(), base), QPointF(x + rect.right(), base))


class Sheet:
    """The paper: its device, language and colours."""

    def __init__(self, device: QPagedPaintDevice, language: Language, palette: Palette = LIGHT) -> None:
        self.device, self.language, self.palette = device, language, palette
        self._metrics = QFontMetricsF(shipped_font(CELL), device)

    def say(self, text: Text) -> str:
        """The words as they can be printed: one line, control and bidi characters visible, no letter lost."""
        return self.clean(text.say(self.language))

    def other(self, text: Text) -> str:
        """The same in the other language, for headings; empty if both say the same."""
        other = Language.EN if self.language is Language.ZH else Language.ZH
        return "" if text.en == text.zh else self.clean(text.say(other))

    def clean(self, words: str) -> str:
        """Foreign words ready for paper. A character that no font has is shown by its number, never left out."""
        return "".join(self._printable(character) for character in visible(words))

    def _printable(self, character: str) -> str:
        if " " <= character <= "~" or character in _SPACES:
            return _SPACES.get(character, character)
        known = ord(character) <= _LAST_BMP and self._metrics.inFontUcs4(ord(character))
        return character if known else f"⟨U+{ord(character):04X}⟩"

    def colour(self, token: str) -> QColor:
        """The colour of a token."""
        return QColor(self.palette.colour(token))

    def set(
        self, words: str, width: float, *, points: float = BODY, token: str = "t1", bold: bool = False,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft, dashed: bool = False, max_lines: int = MAX_LINES,
    ) -> Lines:  # fmt: skip
        """`words` (already clean) in lines of at most `width`; a word that is too long breaks anywhere."""
        layout = QTextLayout(words, _font(points, bold), self.device)
        option = QTextOption(align)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        height, first, end = _break(layout, max(width, 4.0), max_lines)
        if end < len(words.encode("utf-16-le")) // 2:
            cut = words.encode("utf-16-le")[: max(0, end - 2) * 2].decode("utf-16-le", "ignore")
            return self.set(
                f"{cut}…", width, points=points, token=token, bold=bold, align=align, dashed=dashed, max_lines=max_lines + 1
            )
        return Lines(layout, height, first, self.palette.colour(token), dashed)

    def tone(
        self, text: Text, tone: Tone, width: float, *, points: float = BODY, align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft
    ) -> Lines:
        """A text as loud as its tone says."""
        return self.set(
            self.say(text), width, points=min(points, CODE) if tone is Tone.CODE else points, token=_TONES[tone],
            bold=tone in (Tone.STRONG, Tone.FAIL), align=align, dashed=tone is Tone.MISSING,
        )  # fmt: skip

    def badge_width(self, badge: Badge, points: float = CELL, *, filled: bool = False) -> float:
        """How wide `badge` draws it."""
        metrics = QFontMetricsF(_font(_BADGE_POINTS, badge.loud), self.device)
        return badge_width(metrics, self.say(badge.word), filled=filled) * points / _BADGE_POINTS + 2

    def badge(self, painter: QPainter, x: float, y: float, height: float, badge: Badge, points: float = CELL) -> None:
        """Mark and word, vertically centred in `height`; loud ones on their tint."""
        scale = points / _BADGE_POINTS
        painter.save()
        painter.translate(x, y)
        painter.scale(scale, scale)
        painter.setFont(_font(_BADGE_POINTS, bold=False))
        width = self.badge_width(badge, points, filled=True) / scale + 8
        rect = QRectF(0, 0, width, height / scale)
        paint_badge(painter, rect, badge, self.say(badge.word), self.palette, filled=badge.loud)
        painter.restore()

    def rule(self, painter: QPainter, x: float, y: float, width: float, token: str, thickness: float) -> None:
        """A horizontal rule with its upper edge at y."""
        painter.fillRect(QRectF(x, y, width, thickness), self.colour(token))


def _break(layout: QTextLayout, width: float, max_lines: int) -> tuple[float, float, int]:
    """(height, height of the first line, position after the last line) in UTF-16 units."""
    height = first = 0.0
    end = 0
    layout.beginLayout()
    for _ in range(max_lines):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(width)
        stop = _softer(layout.text(), line.textStart(), line.textStart() + line.textLength())
        if stop is not None:
            line.setNumColumns(stop - line.textStart(), width)
        line.setPosition(QPointF(0, height))
        height += line.height()
        first = first or line.height()
        end = line.textStart() + line.textLength()
    layout.endLayout()
    return height, first, end


_JOINTS, _IN_WORD = "_.", re.compile(r"[A-Za-z0-9_.]")


def _softer(words: str, start: int, end: int) -> int | None:
    """Where a line should end instead of in the middle of a long name: after its last joint, else None."""
    if end >= len(words) or not (_IN_WORD.match(words[end - 1]) and _IN_WORD.match(words[end])):
        return None
    for place in range(end - 1, start, -1):
        if words[place] in _JOINTS:
            return place + 1 if place + 1 < end else None
        if not _IN_WORD.match(words[place]):
            return None
    return None


@lru_cache(maxsize=64)
def _font(points: float, bold: bool) -> QFont:
    font = shipped_font(points, bold=bold)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font
