"""How does a widget follow a switch of language or theme?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    _Base = QWidget
else:
    _Base = object


class Lively(_Base):
    """Mixed in before the Qt class: `class Page(Lively, QWidget)`.

    `retranslate` sets every string that is not a `Text` held by a label of ours; `retheme` sets what the style sheet
    cannot (icons). Call both at the end of `__init__`; Qt calls them again at each switch.
    """

    def retranslate(self) -> None:
        """Set all strings anew."""

    def retheme(self) -> None:
        """Set all icons and fixed sizes anew."""

    def changeEvent(self, event: QEvent) -> None:
        """Qt's notice of a new language, style sheet or font."""
        if event.type() is QEvent.Type.LanguageChange:
            self.retranslate()
        elif event.type() in (QEvent.Type.StyleChange, QEvent.Type.PaletteChange):
            self.retheme()
        super().changeEvent(event)
