"""How does a band of one line show what there is room for, in a narrow window and in any language?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame

from gpulease_gui.gui.widgets.lively import Lively

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    _Base = QWidget
else:
    _Base = object


class Fitted(_Base):
    """Mixed in before the Qt class. It fits itself into the window, and not the window to itself: `fit` shows and hides its parts
    by the room there is.

    Qt asks for it again when the width changes and when a part has words of another length, or in another language.
    """

    def fit(self) -> None:
        """Show what there is room for; must come to the same when it is called twice."""
        raise NotImplementedError

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width has room for other parts."""
        super().resizeEvent(event)
        self.fit()

    def event(self, event: QEvent) -> bool:
        """Parts with other words take other room."""
        if event.type() is QEvent.Type.LayoutRequest:
            self.fit()
        return super().event(event)


class FittedBand(Fitted, Lively, QFrame):
    """A band of its own that fits itself."""
