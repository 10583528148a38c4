"""Is a promised rate judged by the readings of a test of ours, all of them but its ramp, and by nobody else's traffic?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest

from gpulease_gui.checks.thresholds import Moved, Thresholds
from gpulease_gui.checks.watch_line import LineWatch, Load
from gpulease_gui.checks.watch_rule import RAMP
from gpulease_gui.checks.watch_rules import Episode, WatchPromise, WatchRules
from gpulease_gui.services.events import LoadChanged
from gpulease_gui.services.watch_loads import Loads

RX, TX = "net.rx_gbit_s", "net.tx_gbit_s"
NET = {metric: ("network.gbit_s", 100.0) for metric in (RX, TX)}
Told = list[tuple[str, float | None, float, float | None]]


def fed(rules: WatchRules, readings: Iterable[float], start_s: float, load: Load | None = None, metric: str = TX) -> Told:
    """(metric, measured, begin, end) of what is told of these readings, one a second, of which the last `seconds` are the load's."""
    made: list[Episode] = []
    rules.promise = WatchPromise(rules.promise.floors, {metric: load} if load else {}, thresholds=rules.promise.thresholds)
    for second, value in enumerate(readings):
        made += rules.feed_lines({metric: value}, start_s + second)
    assert {one.subject for one in made} <= {""}
    return [(one.worst.metric, one.worst.value, one.began_s, one.ended_s) for one in made]


def outcome(readings: Iterable[float], seconds: float = 20.0, before: Iterable[float] = (0.0,) * 10, *, certain: bool = True) -> Told:
    """What is told of a test of a promise of 100 Gbit/s that begins at second 10, and of the rest after it."""
    rules = WatchRules(WatchPromise(NET))
    told = fed(rules, before, 0.0)
    told += fed(rules, readings, 10.0, Load(TX, seconds, certain))
    return told + fed(rules, [0.0] * 40, 100.0)


@pytest.mark.parametrize("rate", [79.0, 60.0, 24.0, 10.0, 0.2])
def test_that_every_reading_of_a_test_counts_however_little_it_is(rate: float) -> None:
    assert outcome([rate] * 20) == [(TX, rate, 10.0, None), (TX, rate, 10.0, 100.0)]


def test_that_a_test_that_reaches_the_promise_is_no_event() -> None:
    assert outcome([96.0] * 20) == outcome([60.0] + [99.0] * 19) == []
    assert outcome([81.0] * 20) == [], "the check of it would not call it too slow"


def test_that_traffic_of_others_is_told_and_never_judged() -> None:
    rules = WatchRules(WatchPromise(NET))
    assert fed(rules, [10.0] * 4000, 0.0) == []
    (word,) = rules.unjudged()
    assert (word.metric, word.value, word.unit, word.term, word.promised) == (TX, 10.0, "Gbit/s", "network.gbit_s", 100.0)
    assert word.broken is None


@pytest.mark.parametrize("readings", [[4.9] * 10, [75.0] * 10, [10.0] * 9, [0.0] * 6 + [60.0] * 4])
def test_that_a_line_that_rests_or_gives_what_is_promised_needs_no_word(readings: list[float]) -> None:
    rules = WatchRules(WatchPromise(NET))
    fed(rules, readings, 0.0)
    assert rules.unjudged() == ()


def test_that_no_word_of_others_is_said_while_a_test_runs() -> None:
    rules = WatchRules(WatchPromise(NET))
    fed(rules, [10.0] * 20, 0.0)
    fed(rules, [60.0], 20.0, Load(TX, 20.0))
    assert rules.unjudged() == ()


RAMP_OF_12_S = [8.0 * second for second in range(1, 13)]


@pytest.mark.parametrize("readings", [
    [*RAMP_OF_12_S, *[97.0] * 8],
    [100.0 * (second / 12) ** 0.5 for second in range(1, 13)] + [99.0] * 8,
    [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 64.0, 66.0, 70.0, 80.0, 90.0, *[97.0] * 8],
    [97.0] * 6 + [40.0] * 6 + [97.0] * 8,
])  # fmt: skip
def test_that_a_ramp_of_twelve_seconds_and_a_short_dip_are_no_slow_line(readings: list[float]) -> None:
    assert outcome(readings) == []


def test_that_a_ramp_is_left_out_and_what_it_ends_at_counts() -> None:
    slow = [10.0, 30.0, 50.0, 50.5, *[50.0] * 16]
    assert outcome(slow) == [(TX, 50.0, 12.0, None), (TX, 50.0, 12.0, 100.0)]


def test_that_a_line_that_only_grows_counts_from_fifteen_seconds_on() -> None:
    """It gains 3 % a second and never stops: after a quarter of a minute that is no ramp any more."""
    growing = [10.0 * 1.03**second for second in range(40)]
    (begun, _) = outcome(growing, 40.0)
    assert begun[2] == 25.0
    short = Thresholds({RAMP.key: Moved(5.0, "a test")})
    rules = WatchRules(WatchPromise(NET, thresholds=short))
    assert fed(rules, growing, 0.0, Load(TX, 40.0))[0][2] == 5.0


def test_that_a_burst_hides_no_slow_line() -> None:
    assert outcome([99.0] * 8 + [40.0] * 12) == [(TX, 40.0, 18.0, None), (TX, 40.0, 18.0, 100.0)]


@pytest.mark.parametrize("before", [
    [0.0] * 9 + [6.0], [0.0, 6.0] + [0.0] * 8, [50.0] * 10, [],
])  # fmt: skip
def test_that_what_others_moved_before_a_test_silences_nothing(before: list[float]) -> None:
    assert outcome([50.0] * 20, before=before)[0] == (TX, 50.0, 10.0, None)


def test_that_the_set_up_and_the_end_of_a_test_are_none_of_it() -> None:
    """Fifteen seconds pass until it comes through; the program that ran it is back three seconds after its last bytes."""
    assert outcome([0.01] * 15 + [99.0] * 20 + [0.0] * 3) == []
    assert outcome([0.01] * 15 + [10.0] * 20 + [0.0] * 3)[0] == (TX, 10.0, 25.0, None)


def test_that_a_test_that_comes_through_to_nobody_is_no_slow_line() -> None:
    assert outcome([0.02] * 60, 60.0) == []
    assert outcome([50.0] * 60, 60.0, [50.0] * 10, certain=False) == [], "nothing was added to what others move"
    assert outcome([60.0] * 20, before=[50.0] * 10, certain=False)[0] == (TX, 60.0, 10.0, None)


def test_that_a_test_that_may_be_the_limit_counts_when_it_is_over_and_was_not() -> None:
    load = Load(TX, 20.0, waits=True, number=1)
    for believed in (True, False):
        rules = WatchRules(WatchPromise(NET))
        assert fed(rules, [50.0] * 20, 0.0, load) == []
        after = fed(rules, [0.0] * 40, 22.0, replace(load, over=True) if believed else None)
        assert after == ([(TX, 50.0, 0.0, None), (TX, 50.0, 0.0, 23.0)] if believed else [])


def test_that_a_stall_in_the_middle_of_a_test_counts() -> None:
    assert outcome([99.0] * 5 + [0.0] * 15)[0] == (TX, 0.0, 15.0, None)


def test_that_the_other_way_is_not_judged_by_a_test_of_this_one() -> None:
    rules = WatchRules(WatchPromise(NET, {TX: Load(TX, 20.0)}))
    assert [one for second in range(20) for one in rules.feed_lines({RX: 40.0, TX: 99.0}, float(second))] == []


def test_that_two_short_tests_an_hour_apart_are_no_one_stretch() -> None:
    rules = WatchRules(WatchPromise(NET))
    told: Told = []
    for number, begin_s in enumerate((0.0, 3600.0)):
        told += fed(rules, [50.0] * 6, begin_s, Load(TX, 6.0, number=number))
        told += fed(rules, [0.0] * 100, begin_s + 6)
    assert told == []
    close = WatchRules(WatchPromise(NET))
    for number, begin_s in enumerate((0.0, 20.0)):
        told += fed(close, [50.0] * 6, begin_s, Load(TX, 6.0, number=number))
        told += fed(close, [0.0] * 14, begin_s + 6)
    assert told[0] == (TX, 50.0, 0.0, None), "a slow test that is made once more at once is"


@pytest.mark.parametrize("interval_s", [0.2, 5.0])
def test_that_the_ramp_is_a_time_whatever_the_rate_of_asking(interval_s: float) -> None:
    line, counted = LineWatch(interval_s), list[tuple[float, float]]()
    for step in range(round(40 / interval_s)):
        at_s = step * interval_s
        value = min(60.0, 5.0 * (at_s + interval_s))
        counted += line.take(value, at_s, Load(TX, 60.0), 100.0, 15.0) or []
    assert min(value for _, value in counted) >= 58.0 and 9.0 <= counted[0][0] <= 12.0


def written(readings: Iterable[float], load: Load | None, floors: Mapping[str, tuple[str, float]]) -> Told:
    rules = WatchRules(WatchPromise(floors))
    return fed(rules, readings, 0.0, load, "disk.write_mb_s")


def test_that_a_promised_rate_of_writing_is_watched_while_a_test_of_ours_writes() -> None:
    floors = {"disk.write_mb_s": ("disk.write_mb_s", 3000.0)}
    load = Load("disk.write_mb_s", 30.0)
    assert written([400.0] * 30, load, floors) == [("disk.write_mb_s", 400.0, 0.0, None)]
    assert written([2900.0] * 30, load, floors) == written([400.0] * 30, None, floors) == []
    assert written([400.0] * 30, load, {}) == [], "nobody promised it"


def test_that_of_a_line_ten_seconds_are_worse_and_not_one() -> None:
    rules, load = WatchRules(WatchPromise(NET)), Load(TX, 60.0)
    fed(rules, [60.0] * 15 + [30.0] + [60.0] * 14, 0.0, load)
    assert rules.grown() == ()
    fed(rules, [30.0] * 20, 30.0, load)
    assert [one.worst.value for one in rules.grown()] == [30.0]


@pytest.mark.parametrize(("waits", "believed", "left"), [(False, True, []), (True, False, []), (True, True, [True])])
def test_that_a_test_that_waits_stays_known_as_over_if_it_is_believed(waits: bool, believed: bool, left: list[bool]) -> None:
    loads, load = Loads(), Load(TX, 20.0, waits=waits)
    loads.hear(LoadChanged("a", load, runs=True))
    assert loads.of("a") == {TX: replace(load, number=1)} and loads.of("b") == {}
    loads.hear(LoadChanged("a", load, runs=False, believed=believed))
    assert [one.over for one in loads.of("a").values()] == left
    loads.hear(LoadChanged("a", load, runs=True))
    assert [(one.over, one.number) for one in loads.of("a").values()] == [(False, 2)]
