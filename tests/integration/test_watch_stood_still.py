"""Is a node blamed for the time in which the program that watches it stood still, and is that time told?

Here every clock of this computer runs on while nobody looks, as with SIGSTOP, a frozen virtual machine, or a sleep on Windows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpulease_gui.remote.stream import StreamEnd, StreamEnding
from gpulease_gui.services.events import Event, GapClosed, GapOpened
from gpulease_gui.services.gap_words import SLEPT
from gpulease_gui.services.recording import FLOODED
from gpulease_gui.store.samples import list_gaps
from gpulease_gui.telemetry.gpu_agent import UNHEARD, XID
from tests.integration.test_watch_scripted import NS, POWER, START_S, A, B, Scripted

PAUSES = [20, 64, 600]


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Scripted]:
    made = Scripted(tmp_path)
    yield made
    made.services.close()


def second(node: Scripted, at: int, *cards: str) -> None:
    """What other sources say of a second comes before what is said of its cards."""
    node.at = at
    node.network(100.0 + at, eth0=0)
    node.cards(*((n, card, "500") for n, card in enumerate(cards)))


def shown(node: Scripted) -> list[tuple[str, int, int]]:
    """The gaps of the view, as those of the store."""
    return [(gap.reason, round(gap.start_s) - START_S, round(gap.end_s or 0.0) - START_S) for gap in node.watch.view.gaps]


def node_ring(node: Scripted) -> list[tuple[int, float]]:
    seen = node.watch.view.rings[POWER, A].view()
    assert list(seen.times_s) == sorted(seen.times_s)
    return [(round(at_s) - START_S, value) for at_s, value in zip(seen.times_s, seen.values, strict=True)]


def drawn(node: Scripted) -> dict[int, float]:
    return {at: value for at, value in node_ring(node) if value == value}


@pytest.mark.parametrize("paused", PAUSES)
def test_that_a_pause_of_our_own_is_a_gap_that_says_so_and_no_driver_that_does_not_answer(node: Scripted, paused: int) -> None:
    for at in [*range(10), *range(10 + paused, 30 + paused)]:
        second(node, at, A)
    stored = node.end()[POWER, A]
    assert {at for at, value in stored.items() if value == 500.0} == {*range(10), *range(10 + paused, 30 + paused)}
    assert (node.events(), node.gaps(), node.degraded_s()) == ([], [("computer_slept", 9, 10 + paused)], 0)
    assert [(gap.reason, gap.resumed) for gap in node.watch.view.gaps] == [("computer_slept", True)] and node.source_gaps() == []


def test_that_a_beat_that_comes_first_after_a_pause_says_nothing_of_a_driver_either(node: Scripted) -> None:
    for at in [*range(10), *range(80, 90)]:
        node.at = at
        node.watch._on_beat(1000.0 + at)
        second(node, at, A)
    node.end()
    assert (node.events(), node.gaps()) == ([], [("computer_slept", 9, 80)])


def test_that_a_warning_that_comes_first_after_a_pause_is_no_source_that_was_silent(node: Scripted) -> None:
    for at in [*range(10), *range(80, 90)]:
        node.at = at
        node.network(100.0 + at, eth0=0)
        node.say("gpu", "WARNING: infoROM is corrupted at gpu 0000:17:00.0")
        node.cards((0, A, "500"))
    node.end()
    assert (node.events(), node.gaps(), node.source_gaps()) == ([], [("computer_slept", 9, 80)], [])


@pytest.mark.parametrize("paused", PAUSES)
def test_that_a_card_that_stays_lost_over_a_pause_is_not_lost_in_it(node: Scripted, paused: int) -> None:
    for at in range(40):
        second(node, at, *([A, B] if at < 10 else [A]))
    lost_s = node.degraded_s()
    assert [(rule, card, begun) for rule, card, begun, _ in node.events()] == [("watch.lost", B, 10)]
    for at in range(40 + paused, 60 + paused):
        second(node, at, A)
    node.end()
    (_, _, _, cut), (_, _, anew, _) = node.events()
    assert cut == 39 and 40 + paused <= anew <= 44 + paused
    assert lost_s <= 40 - 10 and node.degraded_s() <= lost_s + 20


def test_that_a_driver_that_hangs_after_a_pause_is_told_from_the_pause_on(node: Scripted) -> None:
    for at in range(10):
        second(node, at, A)
    for at in range(110, 200):
        second(node, at)
    node.end()
    assert [(rule, begun) for rule, _, begun, _ in node.events()] == [("watch.driver", 111)]


@pytest.mark.parametrize(("looked_s", "why"), [(3, "no_answer"), (64, "computer_slept")])
def test_that_a_line_that_did_not_outlast_a_pause_is_not_lost_by_the_node(node: Scripted, looked_s: int, why: str) -> None:
    for at in range(10):
        second(node, at, A)
    node.at = 9 + looked_s
    node.watch._lost(StreamEnd(StreamEnding.SILENT, 1009.0))
    assert node.watch.view.gaps[-1].reason == why


@pytest.mark.parametrize("interval_s", [0.1, 1.0, 10.0, 60.0])
def test_that_a_node_that_is_heard_late_is_no_pause_of_ours(tmp_path: Path, interval_s: float) -> None:
    node = Scripted(tmp_path, interval_s)
    for n in range(6):
        node.at = int(n * 2.8 * interval_s)
        node.cards((0, A, "500"))
    assert node.watch.view.gaps == []
    node.services.close()


@pytest.mark.parametrize("paused", PAUSES)
@pytest.mark.parametrize("waited", [0, 7, 10_000])
def test_that_what_waited_for_us_stands_where_it_was_taken_and_only_the_rest_is_a_gap(node: Scripted, paused: int, waited: int) -> None:
    for at in range(10):
        second(node, at, A)
    for n in range(min(waited, paused)):
        node.at = 10 + paused
        node.network(110.0 + n, eth0=0)
        node.cards((0, A, str(100 + n)))
    for at in range(10 + paused, 40 + paused):
        second(node, at, A)
    stored = node.end()[POWER, A]
    late = {10 + n: 100.0 + n for n in range(min(waited, paused))}
    assert {at: value for at, value in stored.items() if value is not None} == dict.fromkeys([*range(10), *range(10 + paused, 40 + paused)], 500.0) | late
    assert node.gaps() == ([] if waited >= paused else [("computer_slept", 10 + waited if waited else 9, 10 + paused)])
    assert node.source_gaps() == [] and shown(node) == node.gaps()
    assert drawn(node) == {at: value for at, value in stored.items() if value is not None}


@pytest.mark.parametrize("waited", [0, 7, 10_000])
def test_that_a_pause_is_told_as_far_as_nothing_came_of_it_and_not_at_all_where_all_of_it_came(node: Scripted, waited: int) -> None:
    """It was told as a gap, and counted, as soon as the program went on, whatever came afterwards."""
    told: list[Event] = []
    node.services.bus.subscribe(lambda event: told.append(event) if isinstance(event, GapOpened | GapClosed) else None)
    for at in range(10):
        second(node, at, A)
    for n in range(min(waited, 30)):
        node.at = 40
        node.cards((0, A, str(100 + n)))
    for at in range(40, 50):
        second(node, at, A)
    node.end()
    spans = [] if waited > 30 else [(10 + waited if waited else 9, 40)]
    assert told == [
        one for begin, end in spans for one in (GapOpened("scripted", (START_S + begin) * 1000, SLEPT), GapClosed("scripted", (START_S + end) * 1000))
    ]  # fmt: skip
    assert node.watch.view.holes == len(node.gaps()) == len(spans)


def test_that_what_waited_is_shown_where_it_was_taken_two_seconds_after_a_pause(node: Scripted) -> None:
    for at in range(10):
        second(node, at, A)
    for n in range(7):
        node.at = 74
        node.cards((0, A, str(100 + n)))
    node.at = 77
    node.watch._on_beat(1000.0 + node.at)
    assert drawn(node) == dict.fromkeys(range(10), 500.0) | {10 + n: 100.0 + n for n in range(6)} | {74: 106.0}, "the last one may be of now"
    assert shown(node) == [("computer_slept", 16, 74)]
    assert [at for at, value in node_ring(node) if value != value] == [16], "the line ends where nothing is known"


def test_that_a_line_that_is_lost_after_a_pause_ends_the_curves_after_what_waited(node: Scripted) -> None:
    for at in [*range(10), *[74] * 7]:
        second(node, at, A)
    node.at = 75
    node.reconnect()
    assert [at for at, value in node_ring(node) if value != value] == [16, 74]
    assert drawn(node).keys() == {*range(16), 74}


def test_that_a_node_that_floods_us_is_told_after_a_pause_too(node: Scripted) -> None:
    for at in [*range(10), *range(30, 60)]:
        node.at = at
        node.cards(*[(0, A, "500")] * (200 if at >= 30 else 1))
    node.end()
    assert {gap.reason for gap in node.source_gaps()} == {FLOODED}


def test_that_xids_that_are_not_told_before_a_pause_are_not_told_after_it_either(node: Scripted) -> None:
    for at in [*range(10), *range(80, 100)]:
        second(node, at, A)
    node.watch._flush()
    node.watch._unseen(START_S + 100.0)
    node.end()
    with node.services.workspace.read() as connection:
        told = [(g.start_ns // NS - START_S, g.end_ns // NS - START_S) for g in list_gaps(connection, "scripted", XID, 0, 2**62) if g.reason == UNHEARD]
    assert told == [(0, 9), (80, 100)]


@pytest.mark.parametrize("pace", [2, 4])
def test_that_what_waited_of_a_source_slower_than_asked_stands_at_its_own_pace(node: Scripted, pace: int) -> None:
    """Other sources keep the line alive."""
    for at in range(41):
        second(node, at, *([A] if at % pace == 0 else []))
    for n in range(1, 8):
        node.at = 120
        node.cards((0, A, str(100 + n)))
    for at in range(120, 150):
        second(node, at, *([A] if at % pace == 0 else []))
    told = {at: value for at, value in node.end()[POWER, A].items() if value is not None and 40 < at < 120}
    assert told == {40 + n * pace: 100.0 + n for n in range(1, 8)}
    assert node.gaps() == shown(node) == [("computer_slept", 40 + 7 * pace + 1, 120)]
