"""How does a worker wait for a secret that the user types, as long as somebody wants it?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QDialog, QWidget

from gpulease_gui.domain.node import Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import Text

if TYPE_CHECKING:
    from gpulease_gui.gui.forms.secret_dialog import SecretDialog
    from gpulease_gui.services.kept_secrets import KeptSecrets
    from gpulease_gui.services.ways import SecretAsked

_LOOK_S = 0.2


@dataclass(slots=True, eq=False)
class SecretQuestion:
    """What a worker waits for. `keepable`, `trouble`: as of the dialog, which is there while the question is open."""

    node: Node
    asked: SecretAsked
    shown: bool
    keepable: bool
    trouble: Text | None
    dialog: SecretDialog | None = None
    _answered: threading.Event = field(default_factory=threading.Event)
    _answer: Secret | None = None

    def wait(self, is_open: Callable[[], bool]) -> Secret | None:
        """Called by the worker: what the user types; None when he gives up, the window closes or the work was cancelled."""
        while not self._answered.wait(_LOOK_S):
            if self.asked.withdrawn() or not is_open():
                return None
        return self._answer

    def ask(self, kept: KeptSecrets, parent: QWidget) -> SecretDialog:
        """The dialog, which is not open yet; what is typed into it goes to the worker."""
        from gpulease_gui.gui.forms.secret_dialog import SecretDialog

        self.dialog = dialog = SecretDialog(
            self.node, self.asked, shown=self.shown, keepable=self.keepable, trouble=self.trouble, parent=parent
        )

        def answer() -> None:
            if dialog.result() == QDialog.DialogCode.Accepted:
                self._answer = dialog.secret
                if dialog.wants_keeping:
                    kept.keep_once_accepted(self.node, self.asked.what, dialog.secret)
            self.dialog = None
            self._answered.set()

        dialog.finished.connect(answer)
        return dialog
