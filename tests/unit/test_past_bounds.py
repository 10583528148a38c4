"""Do the bounds of a percentile hold for all readings that can have these summaries, and are they told where they are wide?"""

from __future__ import annotations

import random

import numpy as np
import pytest

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.models.past_bounds import Slots
from gpulease_gui.gui.pages.live_table import _between
from gpulease_gui.gui.widgets.chart_data import Figures
from gpulease_gui.store.slots import summary


def slots_of(groups: list[list[float]]) -> Slots:
    made = [summary(sorted(group), sum(group)) for group in groups]
    return Slots(*(np.array(column, np.float32).astype(np.float64) for column in zip(*made, strict=True)))


def percentile(groups: list[list[float]], share: float) -> float:
    readings = sorted(value for group in groups for value in group)
    return readings[round(share * (len(readings) - 1))]


@pytest.mark.parametrize("seed", range(40))
def test_that_every_percentile_lies_between_its_bounds(seed: int) -> None:
    noise = random.Random(seed)
    kinds = (
        lambda: noise.uniform(100, 700), lambda: noise.choice((0.0, 700.0)), lambda: noise.gauss(350, 5), lambda: 0.0 if noise.random() < 0.97 else 99.0,
    )  # fmt: skip
    groups = [[noise.choice(kinds)() for _ in range(noise.choice((1, 2, 3, 19, 20, 72)))] for _ in range(noise.choice((1, 3, 60)))]
    slots = slots_of(groups)
    for share in (0.05, 0.95):
        low, high = slots.bounds(share)
        assert low - 1e-3 <= percentile(groups, share) <= high + 1e-3


def test_that_a_steady_card_is_known_closely_and_noise_is_not() -> None:
    noise = random.Random(1)
    steady = slots_of([[noise.uniform(349, 351) for _ in range(60)] for _ in range(100)] + [[50.0] * 60])
    assert steady.bounds(0.05) == (pytest.approx(349.5, abs=1.0), pytest.approx(350, abs=1.5))
    low, high = slots_of([[noise.uniform(100, 700) for _ in range(72)] for _ in range(50)]).bounds(0.05)
    assert low < 131 < high and high - low > 100


def test_that_a_percentile_that_is_not_known_closely_is_shown_as_a_range_or_not_at_all() -> None:
    figures = Figures(3600, 100.0, 343.0, 400.0, 658.0, 700.0, estimated=True)
    assert _between(figures, 343.0, 341.0, 350.0, 1).text == "≈ 343.0"
    assert _between(figures, 343.0, 104.2, 380.1, 1).text == "104.2–380.1"
    wide = _between(figures, 343.0, 1104.2, 2380.1, 1)
    assert wide.text == "1,104–2,380" and isinstance(wide.tip, Text) and "1,104.2–2,380.1" in wide.tip.en and "1,104.2–2,380.1" in wide.tip.zh
    assert _between(figures, 343.0, 104_000.0, 380_000.0, 0).text == "–"
