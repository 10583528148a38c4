"""Do the guards of these tests really catch what they are for?"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, QTimer, qWarning
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from . import conftest, guards


def test_that_an_unknown_warning_of_qt_is_caught() -> None:
    with guards.QtMessages() as messages:
        qWarning("QObject: something is wrong")
        qWarning("This plugin does not support propagateSizeHints()")
    assert messages.surprising == ["QObject: something is wrong"]


def test_that_a_window_and_a_ticking_timer_are_seen() -> None:
    before = guards.widgets_alive()
    window, timer = QWidget(), QTimer()
    timer.setParent(window)
    timer.start(10_000)
    assert guards.widgets_alive() - before == {id(window)}
    assert len(guards.timers_running()) == 1
    window.deleteLater()


def test_that_a_turn_that_takes_too_long_is_caught_and_an_allowed_one_is_not(qtbot: QtBot) -> None:
    guard = guards.StallGuard()
    guard.start()
    with guard.allow("first build"):
        QTimer.singleShot(0, lambda: _burn(0.08 * guards.SLACK))
        qtbot.wait(5)
    guard.check()
    QTimer.singleShot(0, lambda: _burn(0.08 * guards.SLACK))
    qtbot.wait(5)
    guard.stop()
    with pytest.raises(AssertionError, match="stood still"):
        guard.check()


def _burn(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


# Stands for a slot of the program: the guard looks at the module's name.
_SLOT = """
__name__ = "gpulease_gui.gui.pretended"
def slot():
    work()
"""


def _from_our_slot(work: object) -> object:
    scope = {"work": work}
    exec(compile(_SLOT, "pretended", "exec"), scope)
    return scope["slot"]


@pytest.mark.parametrize("work", ["database", "process", "file"])
def test_that_a_slot_that_touches_the_world_on_the_main_thread_is_caught(work: str, qtbot: QtBot, tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(bytes((1 << 20) + 1))
    deeds = {
        "database": lambda: sqlite3.connect(":memory:").close(),
        "process": lambda: subprocess.run([sys.executable, "-c", ""], check=True),
        "file": lambda: large.open("rb").close(),
    }
    receiver = QObject()
    QTimer.singleShot(0, receiver, _from_our_slot(deeds[work]))
    qtbot.wait(1)
    assert len(conftest._AUDIT.seen) == 1
    conftest._AUDIT.seen.clear()


def test_that_a_fixture_may_touch_the_world_and_a_small_file_is_no_matter(qtbot: QtBot, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.write_bytes(b"x")
    sqlite3.connect(":memory:").close()
    receiver = QObject()
    QTimer.singleShot(0, receiver, _from_our_slot(lambda: small.open("rb").close()))
    qtbot.wait(1)
    assert conftest._AUDIT.seen == []
