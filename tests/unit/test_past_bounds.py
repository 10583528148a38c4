"""Do the bounds of a percentile hold for all readings that can have these summaries, and are they told where they are wide?"""

from __future__ import annotations

import math
import random
from functools import partial

import numpy as np
import pytest

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.models.past_bounds import Slots, _Formula, _least, _most, _reached
from gpulease_gui.gui.pages.live_table import _between
from gpulease_gui.gui.widgets.chart_data import Figures, Floats
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
    short = _between(figures, 343.0, 104.2, 380.1, 1)
    assert short.text == "104–380" and isinstance(short.tip, Text) and "104.2–380.1" in short.tip.en
    assert _between(figures, 343.0, 14.2, 80.1, 1).text == "14.2–80.1"
    wide = _between(figures, 343.0, 1104.2, 2380.1, 1)
    assert wide.text == "1104–2380" and isinstance(wide.tip, Text) and "1,104.2–2,380.1" in wide.tip.en and "1,104.2–2,380.1" in wide.tip.zh
    assert _between(figures, 343.0, 104_000.0, 380_000.0, 0).text == "–"


def most(slot: tuple[float, ...], x: float) -> float:
    """At most so many readings of one slot lie at or below x."""
    low, mean, p95, high, count = slot
    place, wrong = round(0.95 * (count - 1)), 1e-6 * count * max(abs(low), abs(high))
    if x < low or x >= high:
        return 0.0 if x < low else count
    if x < p95:
        return min(math.floor(((place + 1) * p95 + (count - place - 1) * high - count * mean + wrong) / (p95 - x)), place)
    return min(math.floor((count * (high - mean) + wrong) / (high - x)), count - 1)


def least(slot: tuple[float, ...], x: float) -> float:
    """At least so many readings of one slot lie at or below x."""
    low, mean, p95, high, count = slot
    place, wrong = round(0.95 * (count - 1)), 1e-6 * count * max(abs(low), abs(high))
    if x <= low or x >= high:
        return count if x >= high else float(x == low)
    if x < p95:
        return max(place - math.floor((count * mean - place * low - (count - place - 1) * p95 - high + wrong) / (x - low)), 1)
    return max(count - math.floor((count * (mean - low) + wrong) / (x - low)), place + 1)


@pytest.mark.parametrize("seed", range(12))
def test_that_slots_that_are_settled_or_alike_shorten_the_search_and_change_nothing(seed: int) -> None:
    noise = random.Random(seed)
    kinds = (lambda: noise.uniform(100, 700), lambda: noise.choice((0.0, 100.0)), lambda: float(noise.randint(0, 9)), lambda: noise.gauss(50, 1))
    slots = slots_of([[noise.choice(kinds)() for _ in range(noise.choice((1, 2, 20, 72)))] for _ in range(noise.choice((2, 40)))])
    rows = list(zip(*(some.tolist() for some in (slots.low, slots.mean, slots.p95, slots.high, slots.count)), strict=True))
    range_ = max(row[3] for row in rows) - min(row[0] for row in rows)
    for share in (0.05, 0.95):
        wanted = round(share * (sum(row[4] for row in rows) - 1)) + 1
        low, high = slots.bounds(share)
        close = range_ * 2.0**-17
        assert sum(most(row, low - close) for row in rows) < wanted <= sum(most(row, low + close) for row in rows)
        assert sum(least(row, high - close) for row in rows) < wanted <= sum(least(row, high + close) for row in rows)


@pytest.mark.parametrize(("top", "most_looks"), [(100.0, 6.5), (math.inf, 8.0)])
def test_that_a_percentile_is_found_without_looking_at_every_slot_at_every_step(top: float, most_looks: float) -> None:
    """Of percent, of which many slots have one in common, and of noise; halving alone looks at each slot 25 times."""
    noise, looks = np.random.default_rng(1), 0
    readings = np.sort(noise.normal(80, noise.uniform(1, 20, (2000, 1)), (2000, 60)), axis=1)
    readings = np.clip(np.round(readings), 0.0, top) if top == 100.0 else readings
    slots = Slots(readings[:, 0], readings.mean(axis=1), readings[:, 56], readings[:, -1], np.full(2000, 60.0))

    def looked(formula: _Formula, table: Floats, x: float, late: Floats, early: Floats) -> None:
        nonlocal looks
        looks += len(late) + len(early)
        with np.errstate(divide="ignore", invalid="ignore"):
            formula(table, x, late, early)

    for formula, table, share in zip((_most, _least) * 2, slots._tables * 2, (0.05, 0.05, 0.95, 0.95), strict=True):
        _reached(partial(looked, formula), table, round(share * (60 * 2000 - 1)) + 1)
    assert looks <= most_looks * 2000 * 4
