"""Was a card busy when it was looked at?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpulease_gui.checks.cards import Mark
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.clock_samples import ClockSamples
from gpulease_gui.facts.smi_xml import Gpu

NO_LOAD = "no_load"  # the reason code of a card that was idle

BUSY_PERCENT = Threshold(
    "clock.event_reasons", "busy", 50.0, "%", Text("a card is under load from this use on", "利用率达到此值算作满载"), ">=", high=100.0
)
QUIET_PERCENT = Threshold(
    "mem.idle_usage", "quiet_use", 2.0, "%", Text("a card never rested if each sample shows more use than", "每次采样利用率都高于此值即从未空闲"),
    ">", high=100.0,
)  # fmt: skip
SAMPLES = 3  # fewer are none


def was_busy(gpu: Gpu, promise: Promise) -> bool:
    """Whether the report itself shows work: an idle card's figures prove nothing about load."""
    return (gpu.gpu_util_percent or 0.0) >= promise.limit(BUSY_PERCENT)


def always_above_quiet(gpu: Gpu, samples: ClockSamples | None, promise: Promise) -> bool | None:
    """Whether every sample shows more use than a resting card has; None if fewer than three were told."""
    told = [s.util_percent for s in samples.of(gpu.index, gpu.uuid) if s.util_percent is not None] if samples else []
    quiet = promise.limit(QUIET_PERCENT)
    return all(util > quiet for util in told) if len(told) >= SAMPLES else None


def warnings_first(marks: Sequence[tuple[Gpu, Mark]]) -> list[tuple[Gpu, Mark]]:
    """A warning about one card must not hide behind the others, of which an idle look says nothing."""
    if not any(mark.verdict is Verdict.WARN for _, mark in marks):
        return list(marks)
    return [(gpu, replace(mark, verdict=Verdict.NOT_APPLICABLE) if mark.code == NO_LOAD else mark) for gpu, mark in marks]
