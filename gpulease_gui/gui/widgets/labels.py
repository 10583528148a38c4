"""How is text shown so that foreign words stay plain text and follow the language?"""

from __future__ import annotations

import html
from unicodedata import east_asian_width

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme.sheet import set_role
from gpulease_gui.gui.widgets.lively import Lively

Words = Text | str
_MOST_WIDE = 14


def plain_tip(words: Words) -> str:
    """A tooltip that shows `words` as they are: Qt would read tags in them."""
    said = say(words)
    return f"<p style='white-space:pre-wrap'>{html.escape(said)}</p>" if said else ""


def fewer_letters(name: str) -> str:
    """A name for a button: a long one ends in …, so that the button leaves room for the rest of the header. Wide letters count twice."""
    width = 0
    for kept, letter in enumerate(name):
        width += 2 if east_asian_width(letter) in "WF" else 1
        if width > _MOST_WIDE:
            return name[:kept].rstrip() + "…"
    return name


class PlainLabel(Lively, QLabel):
    """Always plain text, whatever the words hold; a `Text` follows the language by itself.

    `level` 1, 2, 3 or a colour token; `size` caption, dense, body, section, headline, key_figure, first_run;
    `weight` 400, 500, 600.
    """

    def __init__(
        self,
        words: Words = "",
        *,
        level: str = "1",
        size: str = "body",
        weight: int = 400,
        code: bool = False,
        wrap: bool = False,
        select: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._words: Words = ""
        self.setTextFormat(Qt.TextFormat.PlainText)
        for role, value in (("level", level), ("textsize", size), ("weight", str(weight)), ("code", str(code).lower())):
            self.setProperty(role, value)
        self.setWordWrap(wrap)
        if select:
            self.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        self.set_words(words)

    def set_words(self, words: Words) -> None:
        """Show other words."""
        self._words = words
        self.retranslate()

    @property
    def words(self) -> Words:
        """What it says, in both languages where it has both."""
        return self._words

    def set_level(self, level: str) -> None:
        """Change the colour: 1, 2, 3 or a verdict's token."""
        set_role(self, "level", level)

    def retranslate(self) -> None:
        """Say the words in the window's language."""
        self.setText(say(self._words))


class ElidedLabel(PlainLabel):
    """One line that ends in … where room is short; the whole is in the tooltip."""

    def __init__(self, words: Words = "", *, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight, **more: object) -> None:
        self._mode = mode
        super().__init__(words, **more)  # type: ignore[arg-type]
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def retranslate(self) -> None:
        """Say the words; the tooltip says them whole."""
        super().retranslate()
        self.setToolTip(plain_tip(self._words))
        self.setAccessibleName(self.text())

    def minimumSizeHint(self) -> QSize:
        """Room for one letter and the dots."""
        return QSize(QFontMetrics(self.font()).horizontalAdvance("M…"), super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what fits."""
        painter = QPainter(self)
        shown = self.fontMetrics().elidedText(self.text(), self._mode, self.contentsRect().width())
        self.style().drawItemText(
            painter, self.contentsRect(), int(self.alignment()), self.palette(), self.isEnabled(), shown,
            self.foregroundRole(),
        )  # fmt: skip
        painter.end()
