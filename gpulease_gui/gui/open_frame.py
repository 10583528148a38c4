"""What does a page ask that does something when its workspace was left already?"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QDialog, QFileDialog, QMainWindow, QWidget

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.gui.bridge import Bridge
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.widgets.labels import Words

if TYPE_CHECKING:
    from gpulease_gui.services.composition import Services

T = TypeVar("T")


class Unsaved(QObject):
    """Holds what was typed and is not stored yet. The window asks all of them, before it lets go of a workspace."""

    def flush(self) -> None:
        """Store it now, as a draft; nobody types any more."""
        raise NotImplementedError


class _DeafBridge(Bridge):
    """Hands nothing over: who asked is about to be deleted."""

    def when_done(self, future: Future[T], done: Callable[[T], None],
                  failed: Callable[[UserFacing], None] | None = None) -> None:  # fmt: skip
        """Nobody waits for the result."""


class OpenFrame:
    """The window as the pages and dialogs of one workspace see it.

    Timers, focus and file dialogs come back to a page for some turns after its workspace was left. Until it is deleted it
    still has the services that it was made with, never those of the next workspace; no result reaches it, and nothing that
    it says is shown. What it hands to closed services is cancelled there.
    """

    def __init__(self, window: Frame, services: Services) -> None:
        self._window, self._services = window, services
        self._deaf: Bridge | None = None

    @property
    def services(self) -> Services:
        """The use cases of this workspace, also after it was left."""
        return self._services

    @property
    def is_open(self) -> bool:
        """Whether the window still shows this workspace."""
        return self._deaf is None

    @property
    def bridge(self) -> Bridge:
        """Where results come back; after the workspace was left nowhere."""
        return self._window.bridge if self._deaf is None else self._deaf

    @property
    def widget(self) -> QWidget:
        """The window, as the parent of dialogs."""
        return self._window.widget

    def leave(self) -> None:
        """The window lets go of the workspace."""
        self._deaf = _DeafBridge(self._window.bridge)

    def go(self, page: str, *path: str) -> None:
        """As the window's."""
        if self.is_open:
            self._window.go(page, *path)

    def note(self, words: Words) -> None:
        """As the window's."""
        if self.is_open:
            self._window.note(words)

    def trouble(self, headline: Words, sentence: Words = "") -> None:
        """As the window's."""
        if self.is_open:
            self._window.trouble(headline, sentence)

    def set_count(self, page: str, count: Words, *, alarm: bool = False) -> None:
        """As the window's."""
        if self.is_open:
            self._window.set_count(page, count, alarm=alarm)


def flush_all(window: QMainWindow) -> None:
    """Store the words that were typed in the last moments, on pages and in dialogs."""
    for unsaved in window.findChildren(Unsaved):
        unsaved.flush()


def put_away(widget: QWidget) -> None:
    """Delete a page or dialog soon; what it put off until then is dropped."""
    for timer in widget.findChildren(QTimer):
        timer.stop()
    widget.hide()
    widget.deleteLater()


def close_dialogs(window: QMainWindow) -> None:
    """End the dialogs of the workspace without their answer: what was typed in them stays as a draft."""
    for dialog in window.findChildren(QDialog):
        if isinstance(dialog, QFileDialog):
            dialog.reject()  # it belongs to the call that opened it
        else:
            put_away(dialog)
