"""Is a card that was taken away by agreement missed no more, until it is read again or the agreement is taken back?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpulease_gui.gui.models.past import Wish, read_past
from gpulease_gui.services.events import RecordsChanged
from gpulease_gui.services.watch_cards import NOT_BACK
from gpulease_gui.store.away import Away, away_now, list_away, take_away, undo_away
from gpulease_gui.store.doors import Database
from tests.integration.test_watch_scripted import POWER, START_S, A, B, Scripted

LOST = "GPU is lost"


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Scripted]:
    made = Scripted(tmp_path)
    yield made
    made.services.close()


def until(node: Scripted, end: int, *, there: bool) -> None:
    """A is read each second, B as well, or it is called lost."""
    while node.at < end:
        node.cards((0, A, "500"), (1, B, "400" if there else f"[{LOST}]"))
        node.at += 1


def change(node: Scripted, work: Callable[[Database], object]) -> None:
    node.services.workspace.submit(work).result()
    node.services.bus.publish(RecordsChanged(frozenset({"away"})))


def agreed(node: Scripted) -> Away:
    away = Away(B, datetime.fromtimestamp(START_S + node.at, UTC), "li", "back to the shop, agreed by phone")
    change(node, lambda db: take_away(db, "scripted", away))
    return away


def test_that_from_an_agreement_on_a_card_costs_nothing_is_not_lost_and_is_not_expected(node: Scripted) -> None:
    until(node, 10, there=True)
    until(node, 20, there=False)
    assert node.watch.view.lost == {B: LOST}
    agreed(node)
    until(node, 60, there=False)
    assert (node.watch.view.lost, node.watch.view.away) == ({}, {B: START_S + 20.0})
    assert node.events() == [("watch.lost", B, 10, 20)] and node.degraded_s() == 10.0
    node.reconnect()
    while node.at < 100:
        node.cards((0, A, "500"))
        node.at += 1
    assert node.events() == [("watch.lost", B, 10, 20)] and node.watch.view.lost == {}
    node.end()
    with node.services.workspace.read() as connection:
        past = read_past(connection, Wish("scripted", START_S, START_S + 100, 900, (START_S, START_S + 60)), {})
    assert past.figures[POWER, ""][1] == 60 + 20 and past.view.away == {B: START_S + 20.0}


def test_that_an_agreement_that_is_taken_back_counts_as_if_it_had_never_been(node: Scripted) -> None:
    until(node, 10, there=True)
    until(node, 20, there=False)
    away = agreed(node)
    until(node, 30, there=False)
    change(node, lambda db: undo_away(db, "scripted", away))
    until(node, 40, there=False)
    assert node.watch.view.lost == {B: LOST} and node.degraded_s() == 30.0
    assert node.events() == [("watch.lost", B, 10, None)]
    with node.services.workspace.read() as connection:
        assert list_away(connection, "scripted") == ()


def test_that_a_card_that_came_back_may_be_lost_again_through_a_start_of_the_watch(node: Scripted) -> None:
    until(node, 10, there=True)
    until(node, 20, there=False)
    agreed(node)
    until(node, 30, there=False)
    until(node, 60, there=True)
    assert node.watch.view.away == {} and node.degraded_s() == 10.0
    with node.services.workspace.read() as connection:
        assert away_now(connection, "scripted") == {} and len(list_away(connection, "scripted")) == 1
    node.anew(recalled=True)
    while node.at < 80:
        node.cards((0, A, "500"))
        node.at += 1
    assert node.events() == [("watch.lost", B, 10, 20), ("watch.lost", B, 60, None)] and node.watch.view.lost == {B: NOT_BACK}
