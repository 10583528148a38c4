"""Was a card busy when it was looked at?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gpulease_gui.checks.cards import Mark
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.facts.clock_samples import ClockSamples
from gpulease_gui.facts.smi_xml import Gpu

NO_LOAD = "no_load"  # the reason code of a card that was idle

BUSY_PERCENT, QUIET_PERCENT = 50.0, 2.0
SAMPLES = 3


def was_busy(gpu: Gpu) -> bool:
    """Whether the report itself shows work: an idle card's figures prove nothing about load."""
    return (gpu.gpu_util_percent or 0.0) >= BUSY_PERCENT


def sampled_busy(gpu: Gpu, samples: ClockSamples | None) -> bool:
    """Whether at least three samples show work."""
    return sum((s.util_percent or 0.0) >= BUSY_PERCENT for s in samples.of(gpu.index, gpu.uuid)) >= SAMPLES if samples else False


def always_above_quiet(gpu: Gpu, samples: ClockSamples | None) -> bool | None:
    """Whether every sample shows more than 2 % use; None if fewer than three were told."""
    told = [s.util_percent for s in samples.of(gpu.index, gpu.uuid) if s.util_percent is not None] if samples else []
    return all(util > QUIET_PERCENT for util in told) if len(told) >= SAMPLES else None


def warnings_first(marks: Sequence[tuple[Gpu, Mark]]) -> list[tuple[Gpu, Mark]]:
    """A warning about one card must not hide behind the others, of which an idle look says nothing."""
    if not any(mark.verdict is Verdict.WARN for _, mark in marks):
        return list(marks)
    return [(gpu, replace(mark, verdict=Verdict.NOT_APPLICABLE) if mark.code == NO_LOAD else mark) for gpu, mark in marks]
