"""What did one comparison come to, and is that within its bar?"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Bar:
    """One comparison. `ours` and `peer` are medians, `ratio` the median of the rounds' ratios (ours / peer).

    `spread` is the lowest and the highest ratio of a round. None = the peer was not there (`note` says why).
    """

    name: str
    ours: float | None
    peer: float | None
    ratio: float | None
    bar: float
    met: bool | None
    spread: tuple[float, float] | None
    rounds: int
    unit: str
    note: str = ""

    def line(self) -> str:
        """The JSON line."""
        return json.dumps({key: value for key, value in asdict(self).items() if key != "note" or value})


def paired(name: str, ours: Sequence[float], peer: Sequence[float], bar: float, unit: str) -> Bar:
    """A bar over rounds that were interleaved, so that a machine that changes its speed cancels out."""
    ratios = [a / b for a, b in zip(ours, peer, strict=True)]
    ratio = statistics.median(ratios)
    return Bar(
        name, _round(statistics.median(ours)), _round(statistics.median(peer)), _round(ratio), bar, ratio <= bar,
        (_round(min(ratios)), _round(max(ratios))), len(ratios), unit,
    )  # fmt: skip


def absolute(name: str, values: Sequence[float], bar: float, unit: str) -> Bar:
    """A bar that our own figure is held to: `ratio` is that figure itself."""
    value = statistics.median(values)
    return Bar(
        name, _round(value), None, _round(value), bar, value <= bar, (_round(min(values)), _round(max(values))), len(values),
        unit,
    )  # fmt: skip


def skipped(name: str, bar: float, unit: str, why: str) -> Bar:
    """A bar whose peer is not there."""
    return Bar(name, None, None, None, bar, None, None, 0, unit, why)


def table(bars: Sequence[Bar]) -> str:
    """The bars for eyes."""
    head = f"{'bar':44}{'ours':>10}{'peer':>10}{'ratio':>8}{'bar':>7}  {'spread':16}{'n':>3}  unit"
    return "\n".join([head, *map(_row, bars)])


def _row(bar: Bar) -> str:
    if bar.ratio is None:
        return f"{bar.name:44}skipped: {bar.note}"
    low, high = bar.spread or (bar.ratio, bar.ratio)
    peer = "" if bar.peer is None else f"{bar.peer:.4g}"
    word = "met" if bar.met else "MISSED"
    return (
        f"{bar.name:44}{bar.ours:>10.4g}{peer:>10}{bar.ratio:>8.3g}{bar.bar:>7.4g}  {f'{low:.3g} to {high:.3g}':16}{bar.rounds:>3}"
        f"  {bar.unit}  {word}"
    )


def _round(value: float) -> float:
    return float(f"{value:.4g}")
