"""Is a card that another one replaces while the line goes on missed no more from then on, and only then?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gpulease_gui.gui.pages.live_lanes import Lanes
from gpulease_gui.services.intake import WatchView
from gpulease_gui.services.series import Ring
from gpulease_gui.services.watch_cards import Cards
from gpulease_gui.store.card_names import get_numbers
from tests.integration.test_watch_scripted import POWER, START_S, A, B, Scripted

C, D = A[:-1] + "3", A[:-1] + "4"


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Scripted]:
    made = Scripted(tmp_path)
    yield made
    made.services.close()


def rows(node: Scripted, until: int, *cards: str) -> None:
    """Rows of nvidia-smi, numbered anew in each second, up to one."""
    while node.at < until:
        node.cards(*((index, card, "500") for index, card in enumerate(cards)))
        node.at += 1


def said(node: Scripted, until: int, cards: tuple[str, ...], lost: tuple[str, ...] = ()) -> None:
    """The same from the agent, which says of some that they are lost."""
    while node.at < until:
        node.say("gpu", *(json.dumps({"index": index, "uuid": card, "power_w": 500.0}) for index, card in enumerate(cards)),
                 *(json.dumps({"index": 7, "uuid": card, "lost": "GPU is lost"}) for card in lost))  # fmt: skip
        node.at += 1


@pytest.mark.parametrize("before", [(C, B), (B, C)])
def test_that_a_loss_ends_with_the_card_that_takes_its_place(node: Scripted, before: tuple[str, str]) -> None:
    rows(node, 10, A, B)
    rows(node, 20, B)
    assert node.events() == [("watch.lost", A, 10, None)]
    rows(node, 60, *before)
    assert node.events() == [("watch.lost", A, 10, 20)] and node.degraded_s() == 10.0
    assert node.watch.view.lost == {}
    rows(node, 70, B)
    assert node.events()[1:] == [("watch.lost", C, 60, None)], "the newcomer can be lost as well"


def test_that_a_loss_ends_though_the_agent_calls_the_old_card_lost_for_ever(node: Scripted) -> None:
    said(node, 10, (A, B))
    said(node, 20, (B,), lost=(A,))
    said(node, 60, (C, B), lost=(A,))
    assert node.events() == [("watch.lost", A, 10, 20)] and node.degraded_s() == 10.0
    node.reconnect()
    said(node, 90, (C, B))
    assert node.events() == [("watch.lost", A, 10, 20)] and node.watch.view.lost == {}
    said(node, 120, (C, B, A))
    said(node, 140, (C, B), lost=(A,))
    assert node.events() == [("watch.lost", A, 10, 20), ("watch.lost", A, 120, None)], "it was there again, beside the others"


@pytest.mark.parametrize("place", [0, 1])
def test_that_two_cards_that_change_places_at_once_are_no_loss_that_lasts(node: Scripted, place: int) -> None:
    rows(node, 10, A, B)
    rows(node, 60, *((C, B) if place == 0 else (A, C)))
    assert node.degraded_s() == 0.0 and node.watch.view.lost == {}
    assert all(ended is not None for *_, ended in node.events())


@pytest.mark.parametrize("later", [(C, D), (C, B), (A, C)])
def test_that_rows_of_nvidia_smi_call_no_card_lost_whose_place_another_takes_at_once(node: Scripted, later: tuple[str, str]) -> None:
    rows(node, 10, A, B)
    rows(node, 60, *later)
    assert node.events() == [] and node.watch.view.missed == () and node.watch.view.lost == {}


def test_that_of_two_cards_that_are_gone_beside_one_newcomer_one_is_lost_from_its_first_missed_row_on(node: Scripted) -> None:
    rows(node, 10, A, B, D)
    rows(node, 60, C, D)
    assert [(rule, begin, end) for rule, _, begin, end in node.events()] == [("watch.lost", 10, None)]
    assert len(node.watch.view.lost) == 1 and {gap.start_s - START_S for gap in node.watch.view.missed} == {10}


def test_that_a_card_lost_over_a_cut_is_replaced_while_the_line_goes_on(node: Scripted) -> None:
    rows(node, 10, A, B)
    node.reconnect()
    rows(node, 30, B)
    assert node.events() == [("watch.lost", A, 10, None)]
    rows(node, 50, B, C)
    assert node.events() == [("watch.lost", A, 10, 30)] and node.degraded_s() == 20.0


def test_that_of_two_lost_cards_one_newcomer_replaces_one(node: Scripted) -> None:
    rows(node, 10, A, B, D)
    rows(node, 20, D)
    rows(node, 60, D, C)
    assert sorted(node.events()) == [("watch.lost", A, 10, None), ("watch.lost", B, 10, 20)]
    assert node.degraded_s() == 10 + 50


def test_that_a_card_that_joins_before_another_is_lost_and_one_that_comes_back_replace_nobody(node: Scripted) -> None:
    rows(node, 10, A, B)
    rows(node, 20, A, B, C)
    rows(node, 60, A, C)
    assert node.events() == [("watch.lost", B, 20, None)]
    rows(node, 80, C)
    rows(node, 120, A, C)
    assert node.events() == [("watch.lost", B, 20, None), ("watch.lost", A, 60, 80)]


def test_that_a_name_that_stands_in_one_row_only_replaces_nobody(node: Scripted) -> None:
    rows(node, 10, A, B)
    rows(node, 20, B)
    rows(node, 21, B, C)
    rows(node, 60, B)
    assert ("watch.lost", A, 10, None) in node.events()


def test_that_a_card_of_the_first_round_takes_no_place_of_one_that_is_gone_in_the_second(node: Scripted) -> None:
    for place, card in enumerate((A, B, C)):
        node.watch._on_line("gpu", json.dumps({"index": place, "uuid": card, "power_w": 1}).encode(), 1000.0 + 0.3 * place)
    node.at = 1
    rows(node, 40, B, C)
    assert node.events() == [("watch.lost", A, 1, None)]


@pytest.mark.parametrize("recalled", [True, False])
@pytest.mark.parametrize("swapped_s", [1, 3, 25])
def test_that_cards_that_others_replaced_are_not_missed_by_a_watch_that_starts_right_after(node: Scripted, swapped_s: int, recalled: bool) -> None:
    said(node, 14, (A, B))
    said(node, 14 + swapped_s, (C, D))
    for until in (60, 100):
        node.anew(recalled=recalled)
        said(node, until, (C, D))
    assert node.degraded_s() == 0.0 and node.watch.view.lost == {} and node.events() == []


@pytest.mark.parametrize("lost_s", [6, 20])
def test_that_a_loss_that_ended_with_a_newcomer_is_none_in_the_next_watch_and_another_still_is(node: Scripted, lost_s: int) -> None:
    rows(node, 10, A, B, D)
    rows(node, 10 + lost_s, D)
    rows(node, 45, C, D)
    assert sorted(node.events()) == [("watch.lost", A, 10, None), ("watch.lost", B, 10, 10 + lost_s)]
    node.anew(recalled=False)
    rows(node, 90, C, D)
    assert sorted(node.events()) == [("watch.lost", A, 10, 44), ("watch.lost", A, 45, None), ("watch.lost", B, 10, 10 + lost_s)]
    assert set(node.watch.view.lost) == {A}


def test_that_a_newcomer_of_the_last_seconds_of_a_watch_keeps_its_place_in_the_next(node: Scripted) -> None:
    rows(node, 10, A, B)
    rows(node, 20, B)
    rows(node, 22, C, B)
    node.anew(recalled=False)
    rows(node, 60, C, B)
    assert [end for *_, end in node.events() if end is None] == [] and node.watch.view.lost == {}


def test_that_cards_behind_a_dead_driver_that_comes_back_with_others_are_not_missed_by_the_next_watch(node: Scripted) -> None:
    rows(node, 10, A, B)
    while node.at < 20:
        node.say("gpu", "! nvidia-smi ended")
        node.at += 1
    said(node, 60, (C, D))
    node.anew(recalled=False)
    said(node, 90, (C, D))
    assert [rule for rule, *_ in node.events()] == ["watch.driver"] and node.watch.view.lost == {}


def test_that_cards_that_others_replaced_between_two_watches_keep_their_numbers_and_the_others_get_new_ones(node: Scripted) -> None:
    said(node, 10, (A, B))
    assert node.watch.view.numbers == {A: 0, B: 1}
    for cards, until in (((C, B), 30), ((B, D), 50), ((A, D), 70)):
        node.anew(recalled=True)
        node.watch._recall()
        said(node, until, cards)
    assert node.watch.view.numbers == {A: 0, B: 1, C: 2, D: 3}, "as within one watch: a card is its UUID, whatever place it has"
    assert node.watch.view.indexes == {A: 0, D: 1}
    lanes = Lanes(lambda term: None)
    power = next(spec for spec in lanes.of(node.watch.view) if "power" in spec.id)
    assert {curve.subject: curve.number for curve in power.curves} == {A: 0, B: 1, C: 2, D: 3}
    node.end()
    with node.services.workspace.read() as connection:
        assert get_numbers(connection, "scripted") == {A: 0, B: 1, C: 2, D: 3}


def test_that_a_card_that_no_watch_has_numbered_takes_the_number_of_no_other() -> None:
    view, lanes = WatchView("n", 1.0, numbers={C: 0}), Lanes(lambda term: None)
    for card in (A, C):
        view.rings[POWER, card] = ring = Ring()
        ring.append(1.0, 500.0)
    lanes.of(view)
    assert lanes.numbers == {A: 1, C: 0}


def test_that_what_changes_places_again_and_again_keeps_little_in_mind() -> None:
    cards = Cards()
    for at in range(2000):
        cards.told(float(at), [f"GPU-{at // 20}", "GPU-b"])
        cards.replaced()
    assert len(cards.known) <= 3 and not cards.absent
