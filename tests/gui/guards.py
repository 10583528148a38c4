"""What may a test of the window never leave behind or hide?"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import (
    QAbstractEventDispatcher,
    QCoreApplication,
    QMessageLogContext,
    QTimer,
    QtMsgType,
    qInstallMessageHandler,
)
from PySide6.QtWidgets import QApplication

# Part of a Qt message -> why it may come.
ALLOWED_QT_MESSAGES = {
    "This plugin does not support propagateSizeHints()": "the offscreen platform has no window manager",
    "This plugin does not support raise()": "the offscreen platform has no window manager",
    "This plugin does not support grabbing": "the offscreen platform has one window at a time",
    "QFontDatabase: Cannot find font directory": "a bare machine has no system fonts; ours is shipped",
}


class QtMessages:
    """Collects Qt's warnings; `surprising` are those nobody explained."""

    def __init__(self) -> None:
        self.surprising: list[str] = []
        self._old: Any = None

    def __enter__(self) -> QtMessages:
        self._old = qInstallMessageHandler(self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        qInstallMessageHandler(self._old)

    def _hear(self, kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
        quiet = kind in (QtMsgType.QtDebugMsg, QtMsgType.QtInfoMsg)
        if not quiet and not any(part in message for part in ALLOWED_QT_MESSAGES):
            self.surprising.append(message)


@contextlib.contextmanager
def exceptions_in_slots() -> Iterator[list[BaseException]]:
    """Exceptions that PySide hands to the hook because no caller could take them."""
    found: list[BaseException] = []
    old = sys.excepthook
    sys.excepthook = lambda kind, fault, trace: found.append(fault)
    yield found
    sys.excepthook = old


def whole_story(fault: BaseException) -> str:
    """An exception with the lines that it went through: what failed in a slot has no test line to point at."""
    return "".join(traceback.format_exception(fault))


def widgets_alive() -> set[int]:
    """The top-level widgets that exist, shown or not."""
    return {id(widget) for widget in QApplication.topLevelWidgets()}


def timers_running() -> list[str]:
    """Timers of the application that still tick."""
    app = QCoreApplication.instance()
    owners = [app, *QApplication.topLevelWidgets()] if app is not None else []
    timers = [timer for owner in owners for timer in owner.findChildren(QTimer)]
    return [repr(timer) for timer in timers if timer.isActive()]


# The limits are those of a window that has a core to itself. Tests that run beside others share caches and memory with
# them, which costs CPU time as well.
SLACK = 2.0 if "PYTEST_XDIST_WORKER" in os.environ else 1.0


@dataclass
class StallGuard:
    """CPU seconds of the main thread in each turn of the event loop (between two `aboutToBlock`).

    Within `allow(reason)` a turn may take `ALLOWED_S` (first build of a page, switch of language or theme, grab).
    """

    MAX_S: float = 0.050 * SLACK
    P99_S: float = 0.016 * SLACK
    ALLOWED_S: float = 0.300 * SLACK
    turns: list[float] = field(default_factory=list)
    long: list[str] = field(default_factory=list)
    allowed: list[tuple[str, float]] = field(default_factory=list)
    _since: float = 0.0
    _reason: str = ""

    def start(self) -> None:
        """Begin to measure."""
        dispatcher = QAbstractEventDispatcher.instance()
        assert dispatcher is not None
        dispatcher.aboutToBlock.connect(self._turn)
        self._since = time.thread_time()

    def stop(self) -> None:
        """End the last turn and measure no more."""
        self._turn()
        dispatcher = QAbstractEventDispatcher.instance()
        if dispatcher is not None:
            dispatcher.aboutToBlock.disconnect(self._turn)

    def _turn(self) -> None:
        now = time.thread_time()
        spent, self._since = now - self._since, now
        if self._reason:
            self.allowed.append((self._reason, spent))
            limit = self.ALLOWED_S
        else:
            self.turns.append(spent)
            limit = self.MAX_S
        if spent > limit:
            self.long.append(f"{spent * 1000:.0f} ms {self._reason or 'in an ordinary turn'}")

    @contextlib.contextmanager
    def allow(self, reason: str) -> Iterator[None]:
        """Work that is listed as slow."""
        self._turn()
        self._reason = reason
        yield
        self._turn()
        self._reason = ""

    @property
    def p99_s(self) -> float:
        """The 99th percentile of the ordinary turns."""
        ordered = sorted(self.turns)
        return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] if ordered else 0.0

    def check(self) -> None:
        """Raise AssertionError with the turns that were too long."""
        assert not self.long, f"the window stood still: {self.long}"
        assert self.p99_s <= self.P99_S or len(self.turns) < 100, f"99th percentile {self.p99_s * 1000:.1f} ms"


_FORBIDDEN = {
    "socket.connect": "a socket", "socket.bind": "a socket", "socket.getaddrinfo": "a name look-up",
    "sqlite3.connect": "a database", "subprocess.Popen": "a child process", "os.system": "a child process",
    "os.posix_spawn": "a child process",
}  # fmt: skip
_LARGE = 1 << 20


class AuditGuard:
    """Fails code of ours that touches the world on the main thread inside the event loop.

    An audit hook cannot be taken away, so there is one for the process, and `watching` switches it.
    """

    def __init__(self) -> None:
        self.watching = False
        self.seen: list[str] = []
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.watching or threading.current_thread() is not threading.main_thread():
            return
        what = _FORBIDDEN.get(event) or (self._large_file(args) if event == "open" else "")
        if what and _inside_our_slot():
            self.seen.append(f"{what} on the main thread: {args[:1]!r}")

    @staticmethod
    def _large_file(args: tuple[Any, ...]) -> str:
        path, mode = args[0], args[1]
        if isinstance(path, str | bytes | os.PathLike) and (mode is None or "r" in str(mode)):
            with contextlib.suppress(OSError):
                return "a file over 1 MiB" if os.stat(path).st_size > _LARGE else ""
        return ""


def _inside_our_slot() -> bool:
    """Whether code of the program is on the stack, and no test or fixture calls it without the event loop between.

    From the innermost frame outwards: ours, then (through Qt, which has no Python frame) whoever runs the event loop.
    """
    frame = sys._getframe(2)
    ours = False
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("gpulease_gui.gui") or name.startswith("gpulease_gui.services"):
            ours = True
        if ours and (name.startswith("pytestqt.") or frame.f_code.co_name in LOOP_RUNNERS):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


# Functions of the tests that spin the event loop.
LOOP_RUNNERS = {"settle", "wait_for"}
