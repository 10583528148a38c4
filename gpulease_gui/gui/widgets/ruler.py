"""How does a widget show a promise beside its measurement, or many promises at once?"""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.labels import Words, plain_tip
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.pdf.paint import Promises, Ruler, paint_ruler, paint_stack


class RulerBar(Lively, QWidget):
    """The promise ruler; `sentence` is its tooltip and accessible name."""

    def __init__(self, ruler: Ruler | None = None, sentence: Words = "", *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._ruler, self._sentence = ruler, sentence
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_ruler(ruler, sentence)

    def set_ruler(self, ruler: Ruler | None, sentence: Words = "") -> None:
        """Show another pair; None shows nothing."""
        self._ruler, self._sentence = ruler, sentence
        self.retranslate()
        self.update()

    def retranslate(self) -> None:
        """Say the sentence in the window's language."""
        self.setToolTip(plain_tip(self._sentence))
        self.setAccessibleName(say(self._sentence))

    def sizeHint(self) -> QSize:
        """The usual ruler."""
        return QSize(112, 16)

    def minimumSizeHint(self) -> QSize:
        """The shortest ruler that can be read."""
        return QSize(84, 16)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it on whole pixels."""
        if self._ruler is not None:
            top = (self.height() - 16) // 2
            paint_ruler(QPainter(self), QRect(0, top, self.width(), 16), self._ruler, colours())


class PromiseBar(Lively, QWidget):
    """Kept, broken, warned, unknown and not applicable promises as one bar."""

    def __init__(self, promises: Promises | None = None, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._promises = promises or Promises()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def set_promises(self, promises: Promises) -> None:
        """Show other counts."""
        self._promises = promises
        self.retranslate()
        self.update()

    def retranslate(self) -> None:
        """Say the counts."""
        p = self._promises
        said = self.tr("{kept} kept, {broken} broken, {warned} with a warning, {unknown} unknown, {na} not applicable")
        words = said.format(kept=p.kept, broken=p.broken, warned=p.warned, unknown=p.unknown, na=p.not_applicable)
        self.setAccessibleName(words)
        self.setToolTip(plain_tip(words))

    def sizeHint(self) -> QSize:
        """As wide as a column of the contracts table."""
        return QSize(184, 10)

    def minimumSizeHint(self) -> QSize:
        """Five parts can still be told apart."""
        return QSize(48, 10)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the parts."""
        top = (self.height() - 10) // 2
        paint_stack(QPainter(self), QRect(0, top, self.width(), 10), self._promises, colours())
