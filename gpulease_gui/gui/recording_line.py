"""How many nodes are watched, how often, and how much of it was recorded today?"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from time import time_ns

from PySide6.QtCore import QObject, QTimer

from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.services.events import Event, NodeStateChanged
from gpulease_gui.store.recorded import recorded_bytes

LOOK_MS = 10_000
_NS, _MB = 1_000_000_000, 1_000_000


class RecordingLine(QObject):
    """Tells the foot of the window. The store is asked in a worker, and only for what came since the last time."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._day, self._bytes, self._asking = "", 0, False  # asking: until the answer of this workspace came
        self._workspace: object = None
        self._until_ns = 0
        self._timer = QTimer(self)
        self._timer.setInterval(LOOK_MS)
        self._timer.timeout.connect(self.look)
        self._timer.start()
        window.bridge.arrived.connect(self._heard)

    def _heard(self, event: Event) -> None:
        if isinstance(event, NodeStateChanged):
            self.look()

    def look(self) -> None:
        """Count the watched nodes now, and soon what was recorded."""
        services, strip = self._window.open_services, self._window.task_strip
        views = services.watching.views() if services is not None else ()
        strip.show_watched(watched_words(len(views)), rate_words(view.interval_s for view in views))
        if services is None or not views:
            strip.show_recorded(NO_TEXT)
            return
        self._begin_day(services.workspace)
        if not self._asking:
            self._asking, since_ns = True, self._until_ns
            self._window.bridge.when_done(services.query(lambda db: recorded_bytes(db, since_ns, time_ns())), self._take, lambda _: self._take((0, since_ns)))

    def _begin_day(self, workspace: object) -> None:
        """Another day, or another workspace, begins at nought."""
        midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
        if midnight.isoformat() != self._day or workspace is not self._workspace:
            self._asking = self._asking and workspace is self._workspace  # the answer of another one never comes
            self._day, self._workspace, self._bytes = midnight.isoformat(), workspace, 0
            self._until_ns = int(midnight.timestamp() * _NS)

    def _take(self, found: tuple[int, int]) -> None:
        self._asking = False
        self._bytes, self._until_ns = self._bytes + found[0], max(self._until_ns, found[1])
        self._window.task_strip.show_recorded(recorded_words(self._bytes))


def watched_words(count: int) -> Text:
    """How many nodes are watched; empty for none."""
    if not count:
        return NO_TEXT
    return Text(f"Watching {count} node{'s' if count != 1 else ''}", f"监控 {count} 个节点")


def rate_words(intervals_s: Iterable[float]) -> str:
    """Samples a second of all of them: "1 Hz", "1–10 Hz"."""
    rates = sorted({number_text(1 / interval_s) for interval_s in intervals_s}, key=float)
    return f"{rates[0]}–{rates[-1]} Hz" if len(rates) > 1 else f"{rates[0]} Hz" if rates else ""


def recorded_words(size: int) -> Text:
    """Kilobytes, then megabytes of today, one decimal while there are few."""
    shown = f"{number_text(size / _MB, 1 if size < 10 * _MB else 0)} MB" if size >= _MB / 10 else f"{size // 1000} kB"
    return Text(f"Recording, {shown} today", f"录制中，今日 {shown}")
