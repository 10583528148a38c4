"""What has a dialog to say so that what was typed in it outlives a crash?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpulease_gui.gui.widgets.bands import Band
from gpulease_gui.gui.widgets.dialogs import FactDialog
from gpulease_gui.gui.widgets.labels import Words


class DraftDialog(FactDialog):
    """A dialog whose words a DraftKeeper keeps until it is closed, by which button ever; a crash closes nothing.

    `edited` comes with every change of the user, `closed` when the dialog is saved or given up. A subclass says what stands
    in it (`words_now`) and puts the same words back (`put_words`).
    """

    edited = Signal()
    closed = Signal()

    def __init__(self, title: Words, headline: Words, *, icon: str = "", token: str = "t2", consequence: Words = "",
                 parent: QWidget | None = None) -> None:  # fmt: skip
        super().__init__(title, headline, icon=icon, token=token, consequence=consequence, parent=parent)
        self.band = Band("warn")
        self.band.hide()
        outer = self.layout()
        if isinstance(outer, QVBoxLayout):
            outer.insertWidget(1, self.band)
        self._dirty = self._over = False
        self.finished.connect(self._end)

    @property
    def dirty(self) -> bool:
        """Whether something was typed since `begin`."""
        return self._dirty

    def begin(self) -> None:
        """What stands in the dialog now is what is stored."""
        self._dirty = False
        self.band.hide()

    def touch(self) -> None:
        """The user changed something."""
        self._dirty = True
        self.edited.emit()

    def words_now(self) -> tuple[str, ...]:
        """What stands in the dialog."""
        raise NotImplementedError

    def put_words(self, words: Sequence[str]) -> bool:
        """Put back what `words_now` gave; False for a draft of another shape, which changes nothing."""
        raise NotImplementedError

    def bring_back(self, words: Sequence[str], told: Words) -> None:
        """Put words back that were typed before, and say so."""
        if not self._over and tuple(words) != self.words_now() and self.put_words(words):
            self._dirty = True
            self.band.tell(told)

    def _end(self) -> None:
        self._over = True
        self.closed.emit()
