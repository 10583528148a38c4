"""Does a dialog that opens by itself take keys that were typed for something else?"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QDialog, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.widgets.labels import PlainLabel

# So long nobody types before the dialog takes keys; it begins anew with each key.
QUIET_MS = 800
_NOWHERE = Text("What was typed before this could be read went nowhere.", "此窗口可读之前输入的内容未被采用。")


class TypingGuard(QObject):
    """Keeps a dialog shut from the moment it is shown until it was in front of the user for a while in which no key was pressed.

    Until then its line, boxes and buttons are disabled, and keys that come go nowhere; `note`, for which the dialog has a place, says so
    afterwards.
    """

    def __init__(self, dialog: QDialog) -> None:
        super().__init__(dialog)
        self._dialog, self._focus, self._is_shut = dialog, dialog.focusWidget(), False
        self.note = PlainLabel(_NOWHERE, size="dense", level="warn", wrap=True)
        self.note.hide()
        self._quiet = QTimer(self)
        self._quiet.setSingleShot(True)
        self._quiet.setInterval(QUIET_MS)
        self._quiet.timeout.connect(self._open)
        dialog.installEventFilter(self)

    def shut(self, focus: QWidget | None = None) -> None:
        """From now on nothing is taken until nobody types; then `focus`, or what had it, has the keys."""
        self._focus = focus or self._dialog.focusWidget()
        self._is_shut = True
        self._dialog.setEnabled(False)
        self._quiet.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What is typed into the dialog, wherever in it, comes by here while nothing in it is enabled."""
        kind = event.type()
        if kind is QEvent.Type.Show and not event.spontaneous():
            self.shut()
        if not self._is_shut:
            return False
        if kind is QEvent.Type.WindowActivate:
            self._quiet.start()
        is_typed = kind in (QEvent.Type.KeyPress, QEvent.Type.InputMethod)
        if is_typed:
            event.accept()
            self._quiet.start()
            self.note.show()
        return is_typed

    def _open(self) -> None:
        if not self._dialog.isActiveWindow():  # what is typed goes elsewhere; it begins anew when the user comes here
            return
        self._is_shut = False
        self._dialog.setEnabled(True)
        if self._focus is not None:
            self._focus.setFocus()
