"""Is the user told at once, seldom, and of everything, however many nodes are in trouble?"""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from gpulease_gui.domain.text import Text
from gpulease_gui.services.events import WatchAlarm
from gpulease_gui.services.notice_gate import APART_S, GATHER_S, SAME_APART_S, Heard, NoticeGate

GRAVE = frozenset({"watch.floor", "watch.lost"})


def alarm(node: str, rule: str = "watch.floor", card: str = "GPU-a") -> WatchAlarm:
    return WatchAlarm(node, rule, card, 0, None, Text("w", "w"), disturb=True)


def play(alarms: list[tuple[float, WatchAlarm]]) -> list[tuple[float, tuple[Heard, ...]]]:
    """The notices of alarms, as a timer that is set to `next_s` would take them."""
    gate, told = NoticeGate(GRAVE), list[tuple[float, tuple[Heard, ...]]]()
    for at_s, one in [*sorted(alarms, key=lambda pair: pair[0]), (1e9, None)]:
        while (due_s := gate.next_s()) is not None and due_s <= at_s:
            told.append((due_s, gate.take(due_s)))
        if one is not None:
            gate.hear(one, at_s)
    return told


def test_that_the_first_alarm_is_told_within_seconds() -> None:
    assert [(at_s, [(one.last.node_id, one.times) for one in heard]) for at_s, heard in play([(100.0, alarm("n"))])] == [(100.0 + GATHER_S, [("n", 1)])]


def test_that_eight_cards_of_a_node_are_one_notice() -> None:
    ((_, (heard,)),) = play([(n / 10, alarm("n", card=f"GPU-{n}")) for n in range(8)])
    assert heard.times == 8 and len(heard.subjects) == 8


def test_that_two_hundred_nodes_at_once_are_one_notice_with_all_of_them() -> None:
    ((_, heard),) = play([(n / 200, alarm(f"n{n}")) for n in range(200)])
    assert len({one.last.node_id for one in heard}) == 200


def test_that_the_same_thing_on_a_node_is_told_once_in_ten_minutes_with_how_often_it_was() -> None:
    told = play([(float(n), alarm("n")) for n in range(0, 1200, 10)])
    assert [at_s for at_s, _ in told] == [GATHER_S, GATHER_S + SAME_APART_S, GATHER_S + 2 * SAME_APART_S]
    assert [heard[0].times for _, heard in told] == [1, 60, 59]


def test_that_a_thousand_alarms_in_an_hour_are_at_most_sixty_notices_and_none_is_left_out() -> None:
    chance = random.Random(7)
    alarms = [(chance.uniform(0, 3600), alarm(f"n{chance.randrange(60)}", chance.choice(["watch.floor", "watch.hot", "watch.lost"]))) for _ in range(1043)]
    told = play(alarms)
    assert len([at_s for at_s, _ in told if at_s < 3600]) <= 61
    assert sum(one.times for _, heard in told for one in heard) == 1043


def test_that_what_is_graver_does_not_wait_for_what_only_warned() -> None:
    told = play([(0.0, alarm("a", "watch.hot")), (5.0, alarm("b", "watch.hot")), (10.0, alarm("c", "watch.lost")), (11.5, alarm("d", "watch.lost")), (13.0, alarm("e", "watch.lost"))])
    assert [(at_s, [one.last.node_id for one in heard]) for at_s, heard in told] == [
        (2.0, ["a"]), (12.0, ["c", "d", "b"]), (72.0, ["e"]),
    ]  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 5000), st.integers(0, 4), st.sampled_from(["watch.floor", "watch.hot"])), max_size=60))
def test_that_notices_keep_their_distance_and_tell_each_alarm_once(alarms: list[tuple[float, int, str]]) -> None:
    told = play([(at_s, alarm(f"n{node}", rule)) for at_s, node, rule in alarms])
    assert sum(one.times for _, heard in told for one in heard) == len(alarms)
    grave = [at_s for at_s, heard in told if any(one.last.rule in GRAVE for one in heard)]
    assert all(later - earlier >= APART_S - 1e-6 for earlier, later in zip(grave, grave[1:], strict=False))
    last: dict[tuple[str, str], float] = {}
    for at_s, heard in told:
        for one in heard:
            key = one.last.node_id, one.last.rule
            assert at_s - last.get(key, -1e9) >= SAME_APART_S - 1e-6
            last[key] = at_s
