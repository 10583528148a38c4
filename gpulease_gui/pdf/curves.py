"""What of a stretch of readings is drawn: lines, or for many of them a band with its median?"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpulease_gui.reports.document import Blank, Curve, LineChart

MOST_LINES = 3
_SLOTS = 240


@dataclass(frozen=True, slots=True)
class Slot:
    """One moment of a band: lowest, highest and middle reading of all curves."""

    at_s: float
    low: float
    high: float
    median: float


def runs_of(curve: Curve, blanks: Sequence[Blank]) -> list[list[tuple[float, float]]]:
    """(time, value) of a curve, cut where a gap of it lies between two points; both ends of a slice are drawn."""
    blanks = [blank for blank in blanks if not blank.curves or curve.name in blank.curves]
    parts: list[list[tuple[float, float]]] = []
    before: float | None = None
    for at, low, high in zip(curve.times_s, curve.low, curve.high, strict=True):
        if before is None or _between(before, at, blanks):
            parts.append([])
        parts[-1].append((at, low))
        if high != low:
            parts[-1].append((at, high))
        before = at
    return parts


def band_of(chart: LineChart) -> list[list[Slot]]:
    """All curves together in even slots of time, cut where none was read."""
    width = max(chart.end_s - chart.start_s, 1e-9) / _SLOTS
    held: dict[int, list[tuple[float, float, float]]] = {}
    for curve in chart.curves:
        for at, low, high in zip(curve.times_s, curve.low, curve.high, strict=True):
            held.setdefault(int((at - chart.start_s) / width), []).append((at, low, high))
    return _cut([_slot(readings) for _, readings in sorted(held.items())], [blank for blank in chart.blanks if not blank.curves])


def _slot(readings: list[tuple[float, float, float]]) -> Slot:
    """A slot stands at its latest reading, so that it never lies inside the gap that begins there."""
    middle = statistics.median((low + high) / 2 for _, low, high in readings)
    at_s = max(at for at, _, _ in readings)
    return Slot(at_s, min(low for _, low, _ in readings), max(high for _, _, high in readings), middle)


def _cut(slots: Iterable[Slot], blanks: Sequence[Blank]) -> list[list[Slot]]:
    parts: list[list[Slot]] = []
    for slot in slots:
        if not parts or _between(parts[-1][-1].at_s, slot.at_s, blanks):
            parts.append([])
        parts[-1].append(slot)
    return parts


def _between(earlier_s: float, later_s: float, blanks: Sequence[Blank]) -> bool:
    """Whether a gap lies between two moments."""
    return any(blank.start_s < later_s and blank.end_s > earlier_s and blank.end_s > blank.start_s for blank in blanks)
