"""How does a widget show a state?"""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QFont, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.pdf.badges import Badge, State, badge_of
from gpulease_gui.pdf.paint import badge_width, paint_badge


def paint_verdict(painter: QPainter, rect: QRectF, state: State | Badge, *, filled: bool, word: str = "") -> None:
    """Draw a state in the window's theme and language with the painter's font; `word` replaces its own word."""
    badge = state if isinstance(state, Badge) else badge_of(state)
    paint_badge(painter, rect, badge, word or say(badge.word), colours(), filled=filled, icon=icons.paint)


class BadgeLabel(Lively, QWidget):
    """A verdict or another state as mark and word; filled in headers, inspectors and dialogs.

    `note` follows the word, such as a count: "9 fail".
    """

    def __init__(self, state: State | Badge | None = None, *, filled: bool = True, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._badge: Badge | None = None
        self._words: Text | str = ""
        self._filled = filled
        self.set_state(state)

    def set_state(self, state: State | Badge | None, words: Text | str = "") -> None:
        """Show another state (None shows nothing), with `words` in place of its own if given."""
        self._badge = state if isinstance(state, Badge) or state is None else badge_of(state)
        self._words = words
        self.retranslate()
        self.updateGeometry()
        self.update()

    @property
    def word(self) -> str:
        """What stands beside the mark now."""
        if self._badge is None:
            return ""
        return say(self._words or self._badge.word)

    def retranslate(self) -> None:
        """Tell the name to assistive tools."""
        self.setAccessibleName(self.word)
        self.updateGeometry()
        self.update()

    def _font(self) -> QFont:
        return sized(self.font(), TextSize.DENSE, 600)

    def sizeHint(self) -> QSize:
        """Mark, word and, when filled, the ground around them."""
        metrics = QFontMetricsF(self._font())
        width = badge_width(metrics, self.word, filled=self._filled) if self._badge else 0
        return QSize(int(width) + 2, int(max(20, metrics.height() + 4)))

    def minimumSizeHint(self) -> QSize:
        """A state is never cut."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the state."""
        if self._badge is None:
            return
        painter = QPainter(self)
        painter.setFont(sized(self.font(), TextSize.DENSE))
        paint_verdict(painter, QRectF(self.rect()), self._badge, filled=self._filled, word=self.word)
