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
# How long the dialog of a secret that several may wait for stays open for the next of them.
HEIR_MS = 1_000


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
    _heir: SecretQuestion | None = None

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
            asker = self
            while asker._heir is not None:
                asker = asker._heir
            asker._end(dialog, kept)

        dialog.finished.connect(answer)
        return dialog

    def _end(self, dialog: SecretDialog, kept: KeptSecrets) -> None:
        if dialog.result() == QDialog.DialogCode.Accepted:
            self._answer = dialog.secret
            if dialog.wants_keeping:
                kept.keep_once_accepted(self.node, self.asked.what, dialog.secret)
        self.dialog = None
        self._answered.set()

    def goes_on_as(self, other: SecretQuestion) -> bool:
        """Whether `other` waits for the very secret that nobody waits for here any more, so that what is typed is for it."""
        same = bool(self.asked.shared) and self.asked.shared == other.asked.shared
        return same and self.dialog is not None and not self.dialog.is_over and self.asked.withdrawn() and (self.asked, self.shown) == (other.asked, other.shown)

    def hand_over(self, heir: SecretQuestion) -> None:
        """From now on the dialog is that of `heir`."""
        self._heir, heir.dialog, self.dialog = heir, self.dialog, None
