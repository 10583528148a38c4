"""What if the workload were otherwise: longer days, more starts, more idle time, other GPUs?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSlider, QVBoxLayout, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.workload import Workload
from gpulease_gui.economics.workload_pattern import Pattern, workload_of
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.panes import Section
from gpulease_gui.services.commercial_words import plain

_MOST_GPUS = 64


class TurnSlider(Lively, QWidget):
    """A slider with its name and what it stands at. `moved` comes while it is dragged, and by the keys."""

    moved = Signal()

    def __init__(self, name: Text, most: int, words: Callable[[int], Text], *, least: int = 0) -> None:
        super().__init__()
        self._name, self._words = name, words
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(least, most)
        self.slider.setPageStep(max(1, (most - least) // 8))
        self.value = PlainLabel("", size="dense", weight=500)
        head = QHBoxLayout()
        head.addWidget(PlainLabel(name, size="dense", level="2"))
        head.addStretch()
        head.addWidget(self.value)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.slider)
        self.slider.valueChanged.connect(self._moved)
        self.retranslate()

    def _moved(self) -> None:
        self._say()
        self.moved.emit()

    def _say(self) -> None:
        able = self.slider.isEnabled()
        self.value.set_words(self._words(self.slider.value()) if able else Text("as listed", "按列表"))
        self.slider.setAccessibleDescription(self.value.text())

    def put(self, place: int) -> None:
        """Move it without telling anyone; the range grows to hold a value beyond it."""
        self.slider.blockSignals(True)
        self.slider.setMaximum(max(self.slider.maximum(), place))
        self.slider.setValue(place)
        self.slider.blockSignals(False)
        self._say()

    def allow(self, *, able: bool) -> None:
        """A slider without a meaning for the workload can't be moved, and says so."""
        self.slider.setEnabled(able)
        self._say()

    def retranslate(self) -> None:
        """Name the slider and say where it stands."""
        self.slider.setAccessibleName(say(self._name))
        self._say()

    def retheme(self) -> None:
        """The groove takes its colour from the theme."""
        palette = self.slider.palette()
        palette.setColor(palette.ColorRole.Highlight, colours().accent)
        self.slider.setPalette(palette)


def _percent(place: int) -> Text:
    return Text(f"{place}\N{THIN SPACE}%", f"{place}\N{THIN SPACE}%")


class WhatIf(Section):
    """Four sliders over the workload of the editor. `turned` comes at each move, `taken` carries the workload to keep."""

    turned = Signal()
    taken = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(Text("What if", "假设分析"), parent=parent)
        self.hours = TurnSlider(Text("Hours a day", "每日小时"), 48, lambda n: _plain(f"{plain(Decimal(n) / 2)} h"))
        self.starts = TurnSlider(Text("Starts a day", "每日启动次数"), 24, lambda n: _plain(str(n)), least=1)
        self.idle = TurnSlider(Text("Idle share", "空闲占比"), 95, _percent)
        self.gpus = TurnSlider(Text("GPUs", "GPU 数"), _MOST_GPUS, lambda n: _plain(str(n)), least=1)
        self.reset = Button(Text("Back to the workload", "恢复为原负载"), kind="quiet", small=True, icon="undo")
        self.take = Button(Text("Take into the workload", "写入负载"), small=True)
        self.said = PlainLabel("", size="dense", level="2", wrap=True)
        self._pattern: Pattern | None = None
        self._workload = Workload()
        self.is_turned = False
        grid = QGridLayout()
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(6)
        for place, slider in enumerate(self.sliders):
            grid.addWidget(slider, place // 2, place % 2)
            slider.moved.connect(self._moved)
        self.column.addLayout(grid)
        row = QHBoxLayout()
        row.addWidget(self.said, 1)
        row.addWidget(self.reset)
        row.addWidget(self.take)
        self.column.addLayout(row)
        self.reset.clicked.connect(self._back)
        self.take.clicked.connect(self.taken)

    @property
    def sliders(self) -> tuple[TurnSlider, ...]:
        """All four, in the order of the keyboard."""
        return (self.hours, self.starts, self.idle, self.gpus)

    def begin(self, workload: Workload, pattern: Pattern | None) -> None:
        """Stand at a workload; without a pattern only idle share and GPUs can be turned."""
        self._workload, self._pattern = workload, pattern
        self.is_turned = False
        if pattern is not None:
            self.hours.put(round(pattern.hours_per_day * 2))
            self.starts.put(pattern.starts_per_day)
        self.idle.put(round((1 - workload.busy_fraction) * 100))
        self.gpus.put(workload.gpus)
        self.hours.allow(able=pattern is not None)
        self.starts.allow(able=pattern is not None)
        self._show()

    def _moved(self) -> None:
        self.is_turned = True
        self._show()
        self.turned.emit()

    def _back(self) -> None:
        self.begin(self._workload, self._pattern)
        self.turned.emit()

    def _show(self) -> None:
        for button in (self.reset, self.take):
            button.setEnabled(self.is_turned)
        if not self.is_turned:
            self.said.set_words(Text("Move a slider: every figure follows.", "拖动滑块，所有数字随之更新。"))

    def tell(self, words: Text) -> None:
        """Say what the turn changes."""
        if self.is_turned:
            self.said.set_words(words)

    @property
    def pattern(self) -> Pattern | None:
        """The turned pattern; None for a workload without one."""
        if self._pattern is None:
            return None
        return replace(
            self._pattern, hours_per_day=self._hours(self._pattern), starts_per_day=self.starts.slider.value(),
            busy_fraction=self._busy, gpus=self.gpus.slider.value(),
        )  # fmt: skip

    def _hours(self, pattern: Pattern) -> Decimal:
        """A slider that was not moved keeps hours that stand between its steps."""
        place = self.hours.slider.value()
        return pattern.hours_per_day if place == round(pattern.hours_per_day * 2) else Decimal(place) / 2

    @property
    def _busy(self) -> Decimal:
        place = self.idle.slider.value()
        kept = self._workload.busy_fraction
        return kept if place == round((1 - kept) * 100) else 1 - Decimal(place) / 100

    @property
    def workload(self) -> Workload:
        """The turned workload."""
        pattern = self.pattern
        if pattern is not None:
            return workload_of(pattern)
        return replace(self._workload, gpus=self.gpus.slider.value(), busy_fraction=self._busy)


def _plain(words: str) -> Text:
    return Text(words, words)
