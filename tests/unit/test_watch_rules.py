"""Do watch rules begin and end at the right reading, say nothing of what nobody saw, and count each card's time once?"""

from __future__ import annotations

import pytest

from gpulease_gui.checks.thresholds import Moved, Thresholds
from gpulease_gui.checks.watch_rule import SLOW, TOLD, TOLD_TO
from gpulease_gui.checks.watch_rules import (
    BROKEN_SAMPLES,
    HOT,
    WATCH_RULES,
    WATCH_THRESHOLDS,
    Episode,
    WatchPromise,
    WatchRules,
    degraded_s,
)

CARD = "GPU-a"
FLOOR = {"gpu.power_w": ("gpu.power_w", 700.0)}


def told(rules: WatchRules, readings: list[dict[str, float | None]], start_s: float = 1000.0) -> list[tuple[str, float, float | None, bool]]:
    """(rule, begin, end, cut) as they are told, one reading a second."""
    made: list[Episode] = []
    for second, values in enumerate(readings):
        made += rules.feed(CARD, values, start_s + second)
    return [(one.rule.id, one.began_s, one.ended_s, one.cut) for one in made]


def capped(watts: float | None, mask: int | None = 4) -> dict[str, float | None]:
    return {"gpu.power_w": watts, "gpu.event_reasons": mask, "gpu.temperature_c": 60.0, "gpu.util_percent": 99.0}


def test_that_a_floor_breaks_at_its_first_bad_reading_and_ends_at_its_first_good_one() -> None:
    rules = WatchRules(WatchPromise(FLOOR))
    readings = [capped(690)] * 5 + [capped(350)] * 30 + [capped(699)] * 12
    assert told(rules, readings) == [("watch.floor", 1005.0, None, False), ("watch.floor", 1005.0, 1035.0, False)]
    assert rules.open == ()


def test_that_a_reading_that_flaps_is_no_event_and_ends_none() -> None:
    assert told(WatchRules(WatchPromise(FLOOR)), [capped(350), capped(700)] * 200) == []
    rules = WatchRules(WatchPromise(FLOOR))
    assert told(rules, [capped(350)] * 10, 2000.0) == [("watch.floor", 2000.0, None, False)]
    assert told(rules, [capped(700), capped(350)] * 200, 2010.0) == []
    assert told(rules, [capped(700)] * 9, 2410.0) == [("watch.floor", 2000.0, 2406.0, False)]


def test_that_one_good_reading_in_ten_hides_no_throttling_and_nine_in_ten_end_it() -> None:
    rules = WatchRules(WatchPromise())
    mostly = [capped(700, 0x40 if second % 10 != 9 else 0) for second in range(600)]
    assert told(rules, mostly) == [("watch.throttled", 1001.0, None, False)]
    rarely = [capped(700, 0x40 if second % 10 == 9 else 0) for second in range(60)]
    assert told(rules, rarely, 1600.0) == [("watch.throttled", 1001.0, 1599.0, False)]


def test_that_a_card_that_works_now_and_then_is_not_idle() -> None:
    work = [{"gpu.util_percent": 0.0 if second % 100 else 90.0} for second in range(4000)]
    assert told(WatchRules(WatchPromise(billed=True)), work) == []


def test_that_a_card_that_is_not_held_back_breaks_no_floor() -> None:
    rules = WatchRules(WatchPromise(FLOOR))
    assert told(rules, [capped(80, mask=1)] * 100) == []


def test_that_what_was_not_read_is_neither_bad_nor_good() -> None:
    rules = WatchRules(WatchPromise(FLOOR))
    nothing: dict[str, float | None] = {"gpu.power_w": None, "gpu.event_reasons": None}
    assert told(rules, [capped(350)] * 9 + [nothing] * 9 + [capped(350)]) == [
        ("watch.floor", 1000.0, 1008.0, True), ("watch.floor", 1018.0, None, False),
    ]  # fmt: skip
    assert told(rules, [nothing] * 500, 1100.0) == [] and len(rules.open) == 1


def test_that_time_that_nobody_saw_is_not_counted() -> None:
    rules = WatchRules(WatchPromise(FLOOR))
    told(rules, [capped(350)] * 20)
    (cut,) = rules.unseen(1300.0)
    assert (cut.began_s, cut.ended_s, cut.cut) == (1000.0, 1019.0, True)
    assert told(rules, [capped(350)] * 9, 2000.0) == [], "a streak does not go on over a gap"


def beside(rules: WatchRules, readings: list[dict[str, float | None]], start_s: float) -> list[tuple[str, float, float | None, bool]]:
    """As `told`, and every second it is looked what was not read for too long."""
    made: list[Episode] = []
    for second, values in enumerate(readings):
        made += [*rules.feed(CARD, values, start_s + second), *rules.overdue(start_s + second)]
    return [(one.rule.id, one.began_s, one.ended_s, one.cut) for one in made]


@pytest.mark.parametrize("after", [
    [capped(None)] * 3600, [{}] * 3600, [capped(350, None)] * 3600,
    [capped(None, 0)] * 3600,
])  # fmt: skip
def test_that_what_lasts_is_cut_off_at_its_last_bad_reading_when_it_is_not_read_any_more(after: list[dict[str, float | None]]) -> None:
    rules = WatchRules(WatchPromise(FLOOR))
    assert beside(rules, [capped(350)] * 20 + after + [capped(700)] * 20, 1000.0) == [
        ("watch.floor", 1000.0, None, False), ("watch.floor", 1000.0, 1019.0, True),
    ]  # fmt: skip
    assert beside(rules, [capped(350)] * 9 + after + [capped(350)] * 9, 9000.0) == [], "nine and nine an hour later are no ten"


@pytest.mark.parametrize("missed", [1, 2, 8])
def test_that_a_hole_is_no_part_of_what_lasts_around_it_and_a_missed_reading_is_no_hole(missed: int) -> None:
    readings = [capped(350)] * 20 + [capped(None)] * missed + [capped(350)] * 20 + [capped(700)] * 10
    rules, after_s = WatchRules(WatchPromise(FLOOR)), 1020.0 + missed
    parted = [("watch.floor", 1000.0, 1019.0, True), ("watch.floor", after_s, None, False), ("watch.floor", after_s, after_s + 20, False)]
    whole = [("watch.floor", 1000.0, after_s + 20, False)]
    assert beside(rules, readings, 1000.0) == [("watch.floor", 1000.0, None, False), *(whole if missed == 1 else parted)]
    rules = WatchRules(WatchPromise(FLOOR))
    made = [one for second, values in enumerate(readings) for one in rules.feed(CARD, values, 1000.0 + second)]
    assert [one.goes_on for one in made] == ([False] * 2 if missed == 1 else [False, True, True, True]), "nobody is told of it twice"


def test_that_holes_before_an_event_is_known_are_no_part_of_it_either() -> None:
    readings = [capped(350)] * 4 + [capped(None)] * 5 + [capped(350)] * 4 + [capped(None)] * 5 + [capped(350)] * 4
    assert told(WatchRules(WatchPromise(FLOOR)), readings) == [
        ("watch.floor", 1000.0, 1003.0, True), ("watch.floor", 1009.0, 1012.0, True), ("watch.floor", 1018.0, None, False),
    ]  # fmt: skip
    good = [capped(350)] * 20 + [capped(None)] * 5 + [capped(700)] * 20
    assert told(WatchRules(WatchPromise(FLOOR)), good)[1:] == [("watch.floor", 1000.0, 1019.0, True)], "nobody saw when it ended"


@pytest.mark.parametrize(("rule", "bad", "unread", "begins"), [
    ("watch.idle", {"gpu.util_percent": 0.0}, {"gpu.util_percent": None}, 1800), ("watch.hot", {"gpu.temperature_c": 95.0}, {"gpu.temperature_c": None}, 10),
])  # fmt: skip
def test_that_a_card_was_neither_idle_nor_hot_while_nobody_read_it(rule, bad, unread, begins) -> None:
    """Eight seconds in which a card was lost were counted as idle, too."""
    readings = [bad] * begins + [unread] * 8 + [bad] * 20
    assert beside(WatchRules(WatchPromise(billed=True)), readings, 1000.0) == [
        (rule, 1000.0, None, False), (rule, 1000.0, 999.0 + begins, True), (rule, 1008.0 + begins, None, False),
    ]  # fmt: skip


@pytest.mark.parametrize("interval_s", [0.1, 5.0])
def test_that_a_hole_is_one_by_the_rate_of_the_readings(interval_s: float) -> None:
    rules = WatchRules(WatchPromise(FLOOR), interval_s)
    for n in range(20):
        rules.feed(CARD, capped(350), 1000.0 + n * interval_s)
    after_s = 1000.0 + 19 * interval_s
    assert rules.feed(CARD, capped(350), after_s + 2 * interval_s) == ()
    assert len(rules.feed(CARD, capped(350), after_s + 2 * interval_s + max(2.6, 2.6 * interval_s))) == 2


def test_that_good_readings_before_a_cut_are_not_counted() -> None:
    rules = WatchRules(WatchPromise(FLOOR))
    told(rules, [capped(350)] * 20 + [capped(700)] * 9)
    assert [one.ended_s for one in rules.unseen(1028.0)] == [1019.0]


def test_that_a_memory_that_was_too_hot_is_not_cool_because_nobody_reads_it() -> None:
    hot = {"gpu.temperature_c": 60.0, "gpu.temperature_memory_c": 105.0}
    for silent in ({"gpu.temperature_c": 60.0, "gpu.temperature_memory_c": None}, {"gpu.temperature_c": 60.0}):
        rules = WatchRules(WatchPromise())
        assert beside(rules, [hot] * 20 + [silent] * 60, 1000.0) == [("watch.hot", 1000.0, None, False), ("watch.hot", 1000.0, 1019.0, True)]
    cool = {"gpu.temperature_c": 60.0, "gpu.temperature_memory_c": 80.0}
    assert beside(WatchRules(WatchPromise()), [hot] * 20 + [cool] * 20, 1000.0)[1:] == [("watch.hot", 1000.0, 1020.0, False)]


def test_that_a_card_that_draws_what_is_promised_keeps_it_whatever_its_reasons_are() -> None:
    readings = [capped(350)] * 20 + [capped(700, None)] * 20
    assert told(WatchRules(WatchPromise(FLOOR)), readings)[1:] == [("watch.floor", 1000.0, 1020.0, False)]


def test_that_the_worst_figure_grows_while_the_event_lasts() -> None:
    rules = WatchRules(WatchPromise(FLOOR))
    told(rules, [capped(650)] * 20)
    assert rules.grown() == ()
    told(rules, [capped(80)] * 50 + [capped(90)], 1020.0)
    (one,) = rules.grown()
    assert (one.worst.value, one.worst_s, one.ended_s) == (80.0, 1020.0, None) and rules.grown() == ()
    ended = [one for second in range(10) for one in rules.feed(CARD, capped(700), 1071.0 + second)]
    assert [one.worst.value for one in ended] == [80.0]
    hot = WatchRules(WatchPromise())
    told(hot, [{"gpu.temperature_c": 88.0}] * 10 + [{"gpu.temperature_c": 105.0}, {"gpu.temperature_c": 89.0}])
    assert [one.worst.value for one in hot.grown()] == [105.0]


def test_that_a_driver_that_is_called_gone_once_stays_gone_while_the_node_is_read() -> None:
    rules = WatchRules(WatchPromise())
    rules.lose("", "nvidia-smi ended", 1000.0)
    for at_s in range(1001, 4600):
        rules.gone_still(at_s)
        assert rules.overdue(at_s) == ()
    assert [(one.began_s, one.ended_s) for one in rules.unseen(5000.0)] == [(1000.0, 4599.0)]


def test_that_a_lost_card_is_lost_though_its_node_tells_nothing_of_cards_for_an_hour() -> None:
    rules = WatchRules(WatchPromise())
    rules.lose(CARD, "GPU is lost", 1000.0)
    assert rules.overdue(4600.0) == () and len(rules.open) == 1


def test_that_the_worst_reading_and_the_first_ones_are_kept() -> None:
    rules = WatchRules(WatchPromise(FLOOR))
    made = [one for n in range(10) for one in rules.feed(CARD, capped(400.0 - n), 1000.0 + n)]
    assert made[0].worst.value == 391.0 and made[0].worst.promised == 700.0
    assert made[0].readings == tuple((1000.0 + n, 400.0 - n) for n in range(10))


@pytest.mark.parametrize(("mask", "throttled"), [
    (0x4, False), (0x1, False), (0x1 | 0x4, False), (0x2, False), (0x10, False), (0x100, False), (0x8, True), (0x20, True), (0x40 | 0x4, True), (0x80, True), (0x1 | 0x20, True),
])  # fmt: skip
def test_that_only_a_card_that_protects_itself_is_throttled(mask: int, throttled: bool) -> None:
    assert bool(told(WatchRules(WatchPromise()), [capped(700, mask)] * 10)) is throttled


def test_that_a_moved_figure_counts() -> None:
    moved = Thresholds({HOT.key: Moved(59.0, "a test"), BROKEN_SAMPLES.key: Moved(2, "a test")})
    assert told(WatchRules(WatchPromise(thresholds=moved)), [capped(700)] * 2) == [("watch.hot", 1000.0, None, False)]
    assert told(WatchRules(WatchPromise()), [capped(700)] * 20) == []


def test_that_a_lost_card_is_told_at_once_and_comes_back_after_some_readings() -> None:
    rules = WatchRules(WatchPromise())
    (lost,) = rules.lose(CARD, "GPU is lost", 1000.0)
    assert (lost.rule.id, lost.words, lost.rule.degraded) == ("watch.lost", "GPU is lost", True)
    assert rules.lose(CARD, "GPU is lost", 1001.0) == () and rules.feed("GPU-b", capped(700), 1002.0) == ()
    assert told(rules, [capped(700)] * 10, 1003.0) == [("watch.lost", 1000.0, 1003.0, False)]


def test_that_a_driver_that_does_not_answer_is_of_the_whole_node() -> None:
    rules = WatchRules(WatchPromise())
    (silent,) = rules.lose("", "NVML: driver not loaded", 1000.0)
    assert (silent.rule.id, silent.subject) == ("watch.driver", "")
    ended = [one for n in range(10) for one in rules.answer(1050.0 + n)]
    assert [(one.began_s, one.ended_s) for one in ended] == [(1000.0, 1050.0)]


def test_that_idle_counts_only_while_it_is_paid_for() -> None:
    idle = {"gpu.util_percent": 0.0}
    assert told(WatchRules(WatchPromise(billed=True)), [idle] * 1800) == [("watch.idle", 1000.0, None, False)]
    assert told(WatchRules(WatchPromise()), [idle] * 3600) == []


def test_that_the_time_of_a_card_counts_once() -> None:
    assert degraded_s([], 8) == 0.0
    assert degraded_s([("a", 0, 3600), ("a", 1800, 5400), ("b", 0, 1800)], 8) == 5400 + 1800
    assert degraded_s([("", 0, 100), ("a", 50, 250)], 8) == 800 + 150


def test_that_every_rule_has_figures_that_can_be_moved() -> None:
    used = {one for rule in WATCH_RULES for one in (rule.begin, *rule.thresholds)}
    assert used == {*WATCH_THRESHOLDS, *SLOW.values()} - {TOLD, TOLD_TO}
    assert all(one.accepts(one.value) for one in WATCH_THRESHOLDS)


@pytest.mark.parametrize("mask", [float("inf"), float("nan")])
def test_that_a_mask_that_is_no_number_says_nothing(mask: float) -> None:
    assert told(WatchRules(WatchPromise(FLOOR)), [{"gpu.event_reasons": mask, "gpu.power_w": 1.0}] * 20) == []


def test_that_what_is_counted_of_a_card_counts_on_over_a_short_cut_only() -> None:
    for hole_s, begun in ((10, True), (11, False)):
        rules = WatchRules(WatchPromise(FLOOR))
        assert told(rules, [capped(350)] * 9) == [] and rules.unseen(1009.0, {CARD}) == ()
        assert told(rules, [capped(350)], 1008.0 + hole_s) == [
            ("watch.floor", 1000.0, 1008.0, True), ("watch.floor", 1008.0 + hole_s, None, False),
        ] * begun  # fmt: skip
    rules = WatchRules(WatchPromise(FLOOR))
    told(rules, [capped(350)] * 9)
    rules.unseen(1009.0, {"GPU-b"})
    assert told(rules, [capped(350)] * 9, 1010.0) == [], "another card is not this one"
