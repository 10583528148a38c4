"""Does the header say how often readings really come where a node can't keep the rate that was asked?"""

from __future__ import annotations

import pytest

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.pages.live_words import cost_words, kept_hz
from gpulease_gui.services.series import Ring
from gpulease_gui.services.watch import WatchView

NOW_S = 1_764_600_000.0


def ring(step_s: float, count: int, from_s: float = NOW_S, gap_s: float = 0.0) -> Ring:
    made = Ring()
    for number in range(count):
        made.append(from_s + number * step_s + (gap_s if number >= count // 2 else 0.0), 1.0)
    return made


def view(interval_s: float, *, by_agent: bool = False, **rings: Ring) -> WatchView:
    return WatchView("n", interval_s, {(metric.replace("__", "."), ""): one for metric, one in rings.items()}, by_agent=by_agent)


@pytest.mark.parametrize(("interval_s", "step_s", "hz"), [(0.1, 0.1, 10), (0.1, 0.11, 10), (0.1, 0.162, 6), (0.1, 2.5, 1), (1.0, 2.0, 0.5), (5.0, 5.1, 0.2)])
def test_that_the_kept_rate_is_that_of_the_readings_that_came(interval_s: float, step_s: float, hz: float) -> None:
    assert kept_hz(view(interval_s, ram__used_gib=ring(step_s, 80))) == pytest.approx(hz)


def test_that_the_slowest_source_counts_and_a_gap_or_a_slow_chip_does_not() -> None:
    slow = view(0.1, ram__used_gib=ring(0.1, 80), gpu__util_percent=ring(0.2, 80), npu__power_w=ring(2.0, 80))
    assert kept_hz(slow) == 5
    assert kept_hz(view(0.1, ram__used_gib=ring(0.1, 80, gap_s=600.0))) == 10
    assert kept_hz(view(0.1, ram__used_gib=ring(1.0, 10))) == 10, "too little came to say"


def test_that_what_was_read_at_the_rate_before_is_not_held_against_this_one() -> None:
    slow = view(0.1, ram__used_gib=ring(1.0, 80))
    slow.paces = ((NOW_S, 1.0), (NOW_S + 75.0, 0.1))
    assert kept_hz(slow) == 10


def test_that_the_header_says_the_rate_that_came_of_the_one_that_was_asked() -> None:
    assert cost_words(view(0.1, ram__used_gib=ring(0.162, 80))) == (Text("Sampled", "采样"), Text("6 of 10 Hz", "6 / 10 Hz"))
    agent = view(0.1, by_agent=True, ram__used_gib=ring(0.2, 80), agent__cpu_percent=ring(0.1, 5))
    assert str(cost_words(agent)[1]) == "5 of 10 Hz · 1\N{THIN SPACE}% CPU"
