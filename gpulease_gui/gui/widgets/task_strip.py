"""What is the program doing, for how long, and how is it stopped?"""

from __future__ import annotations

import time
from datetime import datetime

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QSizePolicy, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.local_times import zone
from gpulease_gui.gui.widgets.buttons import IconButton
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.panes import Icon, hairline
from gpulease_gui.gui.widgets.progress import show_progress
from gpulease_gui.services.events import JobChanged

MOST_SHOWN = 3
_CANCEL = Text("Cancel this task", "取消此任务")


class TaskStrip(Lively, QFrame):
    """The foot of the window: what is watched, a line per running job, at the right what was saved, what was recorded, the zone.

    `cancelled` carries the id of a job whose × was pressed.
    """

    cancelled = Signal(str)

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("taskStrip")
        self.setMinimumHeight(28)
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(12, 0, 16, 0)
        self._row.setSpacing(12)
        # Many jobs at once must not make the window wider: the first ones are shown, the rest is counted.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._more = PlainLabel("", size="dense", level="2")
        self.watched = _Watched()
        self._row.addWidget(self.watched)
        self._row.addWidget(self._more)
        self._row.addStretch(1)
        self._note = PlainLabel("", size="dense", level="2")
        self._zone = PlainLabel(zone(datetime.now().astimezone()), size="dense", level="2")
        self._recorded = PlainLabel("", size="dense", level="2")
        self._recorded.hide()
        self._row.addWidget(self._note)
        self._row.addWidget(self._recorded)
        self._row.addWidget(self._zone)
        self._tasks: dict[str, _Task] = {}
        self._clock = QTimer(self)
        self._clock.setInterval(1000)
        self._clock.timeout.connect(self._tick)

    def say_note(self, words: Text | str) -> None:
        """Say at the right what happened last, such as "Saved 15:46:11"."""
        self._note.set_words(words)

    def show_watched(self, words: Words, rate: str) -> None:
        """Say at the left how many nodes are watched and how often; nothing for none."""
        self.watched.say(words, rate)

    def show_recorded(self, words: Words) -> None:
        """Say at the right how much of today was recorded."""
        self._recorded.set_words(words)
        self._recorded.setVisible(bool(say(words)))

    def job_changed(self, event: JobChanged) -> None:
        """Show, advance or take away the line of a job."""
        task = self._tasks.get(event.job_id)
        if event.ended:
            if task is not None:
                del self._tasks[event.job_id]
                task.hide()
                task.deleteLater()
            if event.error:
                en, zh = (event.title, event.title) if isinstance(event.title, str) else (event.title.en, event.title.zh)
                self.say_note(Text(f"{en}: {event.error}", f"{zh}：{event.error}"))
        elif task is None:
            task = self._tasks[event.job_id] = _Task(event)
            task.close_button.clicked.connect(lambda _=False, job=event.job_id: self._cancel(job))
            self._row.insertWidget(self._row.indexOf(self._more), task)
        if task is not None and not event.ended:
            task.advance(event.done, event.total)
        self._count()
        if self._tasks:
            self._clock.start()
        else:
            self._clock.stop()

    def _count(self) -> None:
        """Show the oldest jobs and say how many more there are."""
        for number, task in enumerate(self._tasks.values()):
            task.setVisible(number < MOST_SHOWN)
        more = len(self._tasks) - MOST_SHOWN
        self._more.set_words(Text(f"+{more} more", f"另有 {more} 项") if more > 0 else "")

    def _cancel(self, job_id: str) -> None:
        self._tasks[job_id].cancelling()
        self.cancelled.emit(job_id)

    def _tick(self) -> None:
        for task in self._tasks.values():
            task.tick()

    @property
    def titles(self) -> tuple[str, ...]:
        """The jobs that are shown, in the order they began."""
        return tuple(say(task.title) for task in self._tasks.values())


class _Watched(QWidget):
    """Mark, words, rate, a hairline."""

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self._words, self._rate = PlainLabel("", size="dense"), PlainLabel("", size="dense", level="3")
        for part in (Icon("nav-live", "accent", 14), self._words, self._rate, hairline(vertical=True)):
            row.addWidget(part)
        self.hide()

    def say(self, words: Words, rate: str) -> None:
        """Say it; empty words hide the line."""
        self._words.set_words(words)
        self._rate.set_words(rate)
        self.setVisible(bool(say(words)))


class _Task(Lively, QWidget):
    """One job. An unknown length is a busy bar, never a made-up percentage."""

    def __init__(self, event: JobChanged) -> None:
        super().__init__()
        self.title = event.title
        self._began = time.monotonic()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self._bar = QProgressBar()
        self._bar.setFixedWidth(84)
        self._bar.setTextVisible(False)
        self._elapsed = PlainLabel("", size="dense", level="2")
        self._elapsed.setMinimumWidth(self._elapsed.fontMetrics().horizontalAdvance("59 min 59 s"))  # ticks move nothing
        self.close_button = IconButton("close", _CANCEL, size=12)
        row.addWidget(Icon("verdict-running", "run", 14))
        row.addWidget(PlainLabel(event.title, size="dense"))
        row.addWidget(self._bar)
        row.addWidget(self._elapsed)
        row.addWidget(self.close_button)
        row.addWidget(hairline(vertical=True))
        self.retranslate()

    def retranslate(self) -> None:
        """Name the bar; the labels follow by themselves."""
        self._bar.setAccessibleName(say(self.title))
        self.setAccessibleName("" if self.close_button.isEnabled() else say(Text("cancelling", "正在取消")))

    def advance(self, done: int, total: int) -> None:
        """Show `done` of `total` steps; a total of 0 is unknown."""
        show_progress(self._bar, done, total)

    def tick(self) -> None:
        """Show how long it has been running."""
        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        words = Text(f"{minutes} min {seconds:02} s", f"{minutes} 分 {seconds:02} 秒")
        self._elapsed.set_words(words if minutes else Text(f"{seconds} s", f"{seconds} 秒"))

    def cancelling(self) -> None:
        """Say at once that the wish was heard."""
        self.close_button.setEnabled(False)
        self._elapsed.set_words(Text("cancelling…", "正在取消…"))
        self.retranslate()
