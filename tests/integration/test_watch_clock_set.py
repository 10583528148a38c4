"""Does a watch write the right time after the clock of this computer was wrong?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpulease_gui.services.timeline import Clock
from gpulease_gui.store.samples import list_marks
from tests.integration.test_watch_scripted import POWER, START_S, A, B, Scripted

DAY = 86_400


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Scripted]:
    made = Scripted(tmp_path)
    yield made
    made.services.close()


def connect_anew(node: Scripted) -> None:
    if node.watch._timeline.begin(node.watch._last_s):
        node.watch._set_back()


def times(node: Scripted) -> list[int]:
    return [round(at_s) - START_S for at_s in node.watch.view.rings[POWER, A].view().times_s]


def test_that_a_connection_after_a_clock_was_a_day_ahead_writes_the_right_time_again(node: Scripted) -> None:
    for node.at in range(300):
        node.slept_s = DAY if 100 <= node.at < 160 else 0
        if node.at == 200:
            connect_anew(node)
        node.cards((0, A, "500"))
    stored = node.end()[POWER, A]
    assert set(range(200, 300)) <= {at for at, value in stored.items() if value == 500.0}
    assert times(node) == sorted(times(node)) and times(node)[0] == 0 and times(node)[-1] == 299
    assert all(gap.end_s is not None and gap.end_s <= START_S + 299 for gap in node.watch.view.gaps)
    assert node.gaps()[0] == ("computer_slept", 99, 200), "no gap lasts into the time to come"
    assert node.gaps()[1:] == [("clock_wrong", 100, 200), ("clock_wrong", DAY + 100, DAY + 200)]
    with node.services.workspace.read() as connection:
        marks = list_marks(connection, "scripted", datetime.fromtimestamp(START_S, UTC), datetime.fromtimestamp(START_S + 300, UTC))
    assert [(mark.kind, mark.at.timestamp() - START_S) for mark in marks] == [("clock", 200)]


def test_that_an_episode_that_a_clock_ahead_saw_ends_by_the_right_one(node: Scripted) -> None:
    for node.at in range(240):
        node.slept_s = DAY if 100 <= node.at < 160 else 0
        if node.at == 200:
            connect_anew(node)
        node.cards(*([(0, A, "500")] if node.at > 90 and node.at < 200 else [(0, A, "500"), (1, B, "500")]))
    node.end()
    assert all(end is None or end <= 240 or begin >= DAY for _, _, begin, end in node.events())
    assert node.degraded_s() < 240


def test_that_a_clock_that_was_an_hour_ahead_counts_again_while_the_connection_lasts(node: Scripted) -> None:
    for node.at in range(0, 500):
        node.slept_s = 3600 if node.at < 50 else 0
        if node.at == 0:
            node.watch._timeline.begin(0.0)
        node.cards((0, A, "500"))
    stored = node.end()[POWER, A]
    assert set(range(350, 500)) <= {at for at, value in stored.items() if value == 500.0}
    assert times(node) == list(range(350, 500)) and node.watch._last_s == START_S + 499


def set_clock(node: Scripted, jumps: dict[int, int], seconds: int) -> None:
    """A computer that never sleeps; from these seconds on its clock is wrong by so much."""
    clock = Clock(wall=lambda: float(START_S + node.at + node.slept_s), steady=lambda: 1000.0 + node.at, lasting=lambda: 1000.0 + node.at)
    node.watch._clock = node.watch._timeline._clock = clock
    node.watch._timeline.begin(0.0)
    for node.at in range(seconds):
        node.slept_s = jumps.get(node.at, node.slept_s)
        node.cards((0, A, "500"))


def test_that_a_clock_set_two_hours_back_for_a_while_hatches_nothing_that_was_read_and_says_that_it_was_set(node: Scripted) -> None:
    set_clock(node, {300: -7200, 900: 0}, 1500)
    read = {at for at, value in node.end()[POWER, A].items() if value == 500.0}
    assert set(range(590)) <= read and set(range(1210, 1500)) <= read
    gaps = [(reason, begin, end) for reason, begin, end in node.gaps() if reason == "clock_set"]
    assert gaps and gaps[-1][1:] == (600, 1200) and "computer_slept" not in {reason for reason, *_ in node.gaps()}
    assert not [at for _, begin, end in gaps for at in range(begin + 2, end) if at in read]


def test_that_a_clock_set_an_hour_ahead_is_a_gap_with_that_reason_and_no_sleep(node: Scripted) -> None:
    set_clock(node, {100: 3600}, 600)
    stored = node.end()[POWER, A]
    assert node.gaps() == [("clock_set", 399, 4000)] and max(stored) == 4199
