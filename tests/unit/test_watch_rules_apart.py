"""Is a card ever idle or hot while it is lost, its driver is dead, or nobody reads it?"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulease_gui.checks.thresholds import Moved, Thresholds
from gpulease_gui.checks.watch_rules import WATCH_THRESHOLDS, Episode, WatchPromise, WatchRules
from gpulease_gui.checks.watch_time import as_named

CARD = "GPU-a"
READ = {
    "idle": {"gpu.util_percent": 0.0, "gpu.temperature_c": 30.0}, "works": {"gpu.util_percent": 90.0, "gpu.temperature_c": 60.0},
    "hot": {"gpu.util_percent": 0.0, "gpu.temperature_c": 95.0}, "nothing": {"gpu.util_percent": None, "gpu.temperature_c": None},
}  # fmt: skip


def soon(**figures: float) -> WatchPromise:
    """A card is idle after three readings in a row, hot after three of them."""
    moved = {"idle_samples": 3.0, "samples": 3.0, **figures}
    keys = {one.name: one.key for one in WATCH_THRESHOLDS}
    return WatchPromise(billed=True, thresholds=Thresholds({keys[name]: Moved(value, "a test") for name, value in moved.items()}))


def lived(rules: WatchRules, seconds: list[str], start_s: float = 1000.0) -> list[Episode]:
    """What is told of a card, a word a second; "silent": nothing came, "lost" and "driver": it was said, or shows late."""
    made: list[Episode] = []
    read_s = start_s
    for at_s, word in enumerate(seconds, int(start_s)):
        match word:
            case "lost" | "driver":
                made += rules.lose(CARD if word == "lost" else "", "gone", at_s)
            case "lost_late" | "driver_late":
                made += rules.lose(CARD if word == "lost_late" else "", "gone", at_s, min(read_s + 1, at_s))
            case "silent":
                pass
            case _:
                made += rules.answer(at_s)
                made += rules.feed(CARD, READ[word], at_s)
                read_s = at_s
        made += rules.overdue(at_s)
    return [*made, *rules.unseen(start_s + len(seconds))]


def spans(made: list[Episode], *rules: str) -> list[tuple[float, float]]:
    return sorted((one.began_s, one.ended_s) for one in made if one.ended_s is not None and one.rule.id in rules)


LOSSES = ["lost", "lost_late", "driver", "driver_late"]
# A card that does nothing most of the time, and short losses.
WORDS, COUNTS = ["idle"] * 6 + ["hot"] * 4 + ["works", "nothing", "silent", *LOSSES], st.one_of(st.integers(1, 3), st.integers(4, 12))
SEQUENCES = st.lists(st.tuples(st.sampled_from(WORDS), COUNTS), max_size=30)


@given(SEQUENCES, st.sampled_from([1.0, 3.0]), st.sampled_from([1.0, 4.0, 10.0]))
@settings(max_examples=400, deadline=None)
def test_that_a_card_is_never_idle_or_hot_and_lost_at_one_time(runs: list[tuple[str, int]], lost: float, good: float) -> None:
    seconds = [word for word, count in runs for _ in range(count)]
    made = lived(WatchRules(soon(lost_samples=lost, good_samples=good)), seconds)
    degraded = spans(made, "watch.lost", "watch.driver")
    for rule, bad in (("watch.idle", {"idle", "hot"}), ("watch.hot", {"hot"})):
        found = spans(made, rule)
        assert [(one, other) for one in found for other in degraded if max(one[0], other[0]) < min(one[1], other[1])] == []
        assert [(one, two) for one, two in zip(found, found[1:], strict=False) if one[1] > two[0]] == [], "no time counts twice"
        for began_s, ended_s in found:
            told = seconds[int(began_s) - 1000 : int(ended_s) - 1000 + 1]
            assert told[0] in bad and (lost > 1 or not set(told[:-1]) & set(LOSSES)), told
            unread = "".join("." if word in READ and word != "nothing" else "x" for word in told[:-1])
            assert "xx" not in unread, "one reading may be missed, no more"


@pytest.mark.parametrize("loss", [*LOSSES, "two"])
def test_that_what_a_short_loss_parts_goes_on_once_the_loss_is_over_and_nobody_is_told_twice(loss: str) -> None:
    """A loss of two seconds was counted as idle and as degraded at once."""
    lost = ["lost", "lost"] if loss == "two" else [loss]
    made = lived(WatchRules(soon()), ["idle"] * 5 + lost + ["idle"] * 15 + ["works"] * 10)
    idle = [(one.began_s, one.ended_s, one.goes_on) for one in made if one.rule.id == "watch.idle"]
    back_s = 1005.0 + len(lost)
    assert idle == [
        (1000.0, None, False), (1000.0, 1004.0, False), (back_s, None, True), (back_s, 1020.0 + len(lost), True),
    ]  # fmt: skip
    assert spans(made, "watch.lost", "watch.driver") == [(1005.0, back_s)]


def test_that_a_loss_before_a_card_is_known_as_idle_is_no_part_of_it_either() -> None:
    made = lived(WatchRules(soon(idle_samples=8, good_samples=2)), ["idle"] * 5 + ["lost"] + ["idle"] * 9)
    assert spans(made, "watch.idle") == [(1000.0, 1004.0), (1006.0, 1014.0)]


def test_that_a_card_that_works_after_its_loss_is_idle_no_more() -> None:
    made = lived(WatchRules(soon(good_samples=2)), ["idle"] * 5 + ["lost", "works", "works", "idle", "idle", "works"])
    assert spans(made, "watch.idle") == [(1000.0, 1004.0)]


@pytest.mark.parametrize("by_chip", [False, True])
def test_that_a_module_of_which_a_chip_is_lost_is_not_idle_and_where_chips_are_paid_for_the_other_chip_is(by_chip: bool) -> None:
    rules = WatchRules(soon(good_samples=2))
    rules.card_of = as_named if by_chip else rules.card_of
    made: list[Episode] = []
    for at_s in range(1000, 1020):
        made += rules.lose("0/1", "gone", at_s) if 1008 <= at_s < 1012 else rules.feed("0/1", {"npu.aicore_percent": 0.0}, at_s)
        made += rules.feed("0/0", {"npu.aicore_percent": 0.0}, at_s)
    made += rules.unseen(1020.0)
    first = [(one.began_s, one.ended_s) for one in made if one.rule.id == "watch.idle" and one.subject == "0/0" and one.ended_s]
    assert first == ([(1000.0, 1019.0)] if by_chip else [(1000.0, 1007.0), (1012.0, 1019.0)])
