"""Which seconds under a promise follow one another, so that a verdict may rest on them?

One bad second is a sample, three together are a finding, and at a slower pace three bad samples; those that lie farther apart than a few seconds are no stretch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpulease_gui.gui.widgets.chart_data import Floats

LEAST_S, APART_S, LEAST_READINGS = 3.0, 5.0, 3


def lasting_s(starts_s: Floats, lengths_s: Floats, bad_s: Floats, loose_s: Floats, interval_s: float = 1.0) -> float:
    """The seconds of stretches with LEAST_S bad ones or more, and as many as LEAST_READINGS take, of slots in the order of their time.

    Of each slot `bad_s` seconds are bad; `loose_s` others may lie anywhere in it, so that they part it from its neighbours.
    """
    import numpy as np  # who only asks for the bounds needs none

    there = np.flatnonzero((bad_s > 0) & (loose_s <= APART_S))
    if not len(there):
        return 0.0
    starts, ends, bad, loose = starts_s[there], (starts_s + lengths_s)[there], bad_s[there], loose_s[there]
    apart = starts[1:] - ends[:-1] + loose[1:] + loose[:-1]
    sums = np.add.reduceat(bad, np.concatenate([[0], np.flatnonzero(apart > APART_S) + 1]))
    return round(float(sums[sums >= max(LEAST_S, LEAST_READINGS * interval_s) - 1e-6].sum()), 3)
