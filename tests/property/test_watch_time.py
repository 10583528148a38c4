"""Is no second of a card counted twice, and never more than is paid for, whatever events lie over each other?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.checks.watch_rules import NODE
from gpulease_gui.checks.watch_time import degraded_s, paid_card

LENGTH_S, CARDS = 40, ("0/0", "0/1", "1/0", "1/1", "GPU-a", "GPU-b")
seconds = st.integers(0, LENGTH_S)
events = st.lists(st.tuples(st.sampled_from((NODE, *CARDS)), seconds, seconds), max_size=14)


def in_one_second(told: list[tuple[str, int, int]], second: int, cards: int, most: int) -> int:
    lasting = {paid_card(subject) for subject, begin, end in told if begin <= second < end}
    named = len(lasting - {NODE})
    return min(most, max(named, cards) if NODE in lasting else named)


@given(told=events, cards=st.integers(0, 5), most=st.integers(1, 5))
def test_that_each_second_of_each_card_that_is_paid_for_counts_once(told: list[tuple[str, int, int]], cards: int, most: int) -> None:
    found = degraded_s([(subject, float(begin), float(end)) for subject, begin, end in told], cards, most)
    assert found == sum(in_one_second(told, second, cards, most) for second in range(LENGTH_S))
    assert 0 <= found <= most * LENGTH_S


@given(told=events, more=events)
def test_that_another_event_makes_no_time_less(told: list[tuple[str, int, int]], more: list[tuple[str, int, int]]) -> None:
    some = [(subject, float(begin), float(end)) for subject, begin, end in told]
    both = some + [(subject, float(begin), float(end)) for subject, begin, end in more]
    assert degraded_s(some, 4) <= degraded_s(both, 4) <= 4 * LENGTH_S, "two modules and two cards"
    assert degraded_s(some + some, 4) == degraded_s(some, 4)
