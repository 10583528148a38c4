"""Guards that every test of the window lives under, and the parts that it is made from."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.text import Language
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.page import PageSpec
from gpulease_gui.gui.preferences import Preferences
from gpulease_gui.gui.theme.theme import Theme, ThemeMode
from gpulease_gui.pdf.fonts import load_fonts
from gpulease_gui.services.composition import Services, open_services

from . import guards

_AUDIT = guards.AuditGuard()


@pytest.fixture(scope="session")
def qapp_args() -> list[str]:
    return ["gpulease-gui"]


class PatientBot(QtBot):
    """Waits end with their conditions; what a loaded machine of two cores takes longer than usual is no failure."""

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = 0) -> None:  # noqa: N802
        super().waitUntil(callback, timeout=max(timeout, 60_000))


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    return PatientBot(request)


@pytest.fixture(scope="session")
def translations(qapp: QApplication) -> Translations:
    return Translations(qapp)


@pytest.fixture(scope="session")
def worn(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Theme:
    """The theme of the test process: there is one application, so there is one theme."""
    load_fonts()
    return Theme(qapp, tmp_path_factory.mktemp("images"), ThemeMode.LIGHT)


@pytest.fixture
def theme(worn: Theme) -> Iterator[Theme]:
    """The theme, light again after the test."""
    yield worn
    if worn.mode is not ThemeMode.LIGHT:
        worn.choose(ThemeMode.LIGHT)


@pytest.fixture(autouse=True)
def english(worn: Theme, translations: Translations) -> Iterator[Translations]:
    """Every test begins in English."""
    translations.switch(Language.EN)
    settle()
    yield translations


def settle() -> None:
    """Let Qt do what is posted, deferred deletions too."""
    for _ in range(3):
        QCoreApplication.sendPostedEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        QApplication.processEvents()


@pytest.fixture(autouse=True)
def nothing_is_left(english: Translations) -> Iterator[None]:
    """No warning of Qt, no exception in a slot, no window, no ticking timer survives a test."""
    before = guards.widgets_alive()
    _AUDIT.seen.clear()
    _AUDIT.watching = True
    with guards.QtMessages() as messages, guards.exceptions_in_slots() as faults:
        yield
        settle()
        gc.collect()
        settle()
    _AUDIT.watching = False
    assert not faults, "exceptions in slots:\n" + "\n".join(guards.whole_story(fault) for fault in faults)
    assert not messages.surprising, f"Qt warned: {messages.surprising}"
    assert not _AUDIT.seen, f"the main thread touched the world: {_AUDIT.seen}"
    left = [widget for widget in QApplication.topLevelWidgets() if id(widget) not in before]
    assert not left, f"windows left behind: {left}"
    assert not guards.timers_running(), f"timers left ticking: {guards.timers_running()}"


@pytest.fixture
def stalls() -> Iterator[guards.StallGuard]:
    """Measures every turn of the event loop of the test; too long ones fail it.

    What earlier tests left alive is no garbage of the window: the collector does not walk through it meanwhile.
    """
    gc.collect()
    gc.freeze()
    guard = guards.StallGuard()
    guard.start()
    yield guard
    guard.stop()
    gc.unfreeze()
    guard.check()


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    """An own, empty workspace."""
    opened = open_services(tmp_path / "own.db")
    yield opened
    opened.close()


@pytest.fixture
def make_window(theme: Theme, english: Translations, tmp_path: Path) -> Iterator[Callable[..., MainWindow]]:
    """Makes shown windows: `make_window(*pages)`, then `window.attach(services)`."""
    made: list[MainWindow] = []

    def make(*pages: PageSpec) -> MainWindow:
        window = MainWindow(theme, english, Preferences(tmp_path / "window.ini"), pages, tmp_path)
        window.show()
        made.append(window)
        return window

    yield make
    for window in made:
        window.detach()
        window.close()
        window.deleteLater()


@pytest.fixture
def resources() -> Path:
    return Path(__file__).resolve().parents[2] / "resources"
