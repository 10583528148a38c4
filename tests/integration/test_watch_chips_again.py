"""Is an Ascend chip missed that went while nobody watched, as one is that is lost in mid-stream?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpulease_gui.domain.text import Language
from gpulease_gui.services.live_csv import readings_csv
from gpulease_gui.services.watch_cards import NOT_BACK
from gpulease_gui.store.samples import list_gaps
from tests.unit.test_telemetry import npus

from .test_watch_scripted import NS, POWER, START_S, A, B, Scripted

FIRST, SECOND = (0, "0000:9D:00.0", "40"), (1, "0000:C1:00.0", "50")


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Scripted]:
    made = Scripted(tmp_path)
    yield made
    made.services.close()


def told(node: Scripted, start: int, end: int, *chips: tuple[int, str, str]) -> None:
    for node.at in range(start, end):
        node.say("npu", npus(*chips))
    node.at = end


def again(node: Scripted) -> None:
    """Another program watches from this second on."""
    node.anew(recalled=False)
    node.watch._recall()


def test_that_a_chip_that_went_while_the_program_was_closed_is_an_event_a_finding_and_a_gap_until_it_is_back(node: Scripted) -> None:
    told(node, 0, 30, FIRST, SECOND)
    node.at = 100
    again(node)
    told(node, 100, 120, FIRST)
    assert node.events() == [("watch.lost", "1/0", 100, None)] and node.watch.view.lost == {"1/0": NOT_BACK}
    assert node.degraded_s() == 20.0
    lasting = {(gap.metric, gap.reason, gap.start_s - START_S) for gap in node.watch.view.lasting}
    assert lasting == {(f"npu.{name}", "lost 1/0", 100.0) for name in ("aicore_percent", "power_w", "temperature_c")}
    told(node, 120, 130, FIRST, SECOND)
    assert node.events() == [("watch.lost", "1/0", 100, 120)] and node.watch.view.lost == {} and node.watch.view.lasting == ()
    with node.services.workspace.read() as connection:
        kept = {(g.start_ns // NS - START_S, g.end_ns // NS - START_S) for g in list_gaps(connection, "scripted", None, 0, 2**62) if g.metric == "npu.power_w"}
        table = readings_csv(connection, "scripted", START_S, START_S + 130, {}, Language.EN).decode("utf-8-sig")
    assert kept == {(100, 120)} and "1/0" in table.splitlines()[0] and "1/0: lost" in table


@pytest.mark.parametrize("kind", ["gpu", "npu"])
def test_that_one_that_went_so_long_ago_that_none_of_its_readings_is_at_hand_is_a_gap_too(node: Scripted, kind: str) -> None:
    metric, lost = {"gpu": (POWER, B), "npu": ("npu.power_w", "1/0")}[kind]

    def watched(start: int, end: int, *, both: bool) -> None:
        if kind == "npu":
            told(node, start, end, FIRST, *([SECOND] if both else []))
            return
        for node.at in range(start, end):
            node.cards((0, A, "500"), *([(1, B, "400")] if both else []))
        node.at = end

    watched(0, 30, both=True)
    node.at = 7200
    again(node)
    watched(7200, 7220, both=False)
    assert node.events() == [("watch.lost", lost, 7200, None)]
    assert (metric, f"lost {lost}", 7200.0) in {(gap.metric, gap.reason, gap.start_s - START_S) for gap in node.watch.view.lasting}
    watched(7220, 7230, both=True)
    assert node.events() == [("watch.lost", lost, 7200, 7220)] and not [gap for gap in node.watch.view.lasting if gap.reason.endswith(lost)]
    with node.services.workspace.read() as connection:
        kept = [(g.start_ns // NS - START_S, g.end_ns // NS - START_S) for g in list_gaps(connection, "scripted", None, 0, 2**62) if g.metric == metric]
    assert kept == [(7200, 7220)]


def test_that_a_chip_that_was_lost_stays_lost_through_a_stop_and_a_start_and_is_no_gpu(node: Scripted) -> None:
    told(node, 0, 10, FIRST, SECOND)
    told(node, 10, 300, FIRST)
    again(node)
    assert node.watch.rules is not None and node.watch.rules._cards.known == frozenset()
    told(node, 300, 320, FIRST)
    assert node.events() == [("watch.lost", "1/0", 10, 299), ("watch.lost", "1/0", 300, None)]


def test_that_only_chips_of_the_last_minute_are_expected(node: Scripted) -> None:
    told(node, 0, 10, FIRST, SECOND)
    node.watch._unseen(START_S + 10.0)  # it went while a program watched that knew nothing of it
    node.watch._flush()
    node.at = 100
    node.anew(recalled=False)
    assert node.watch.rules is not None
    node.watch.rules._chips._had = frozenset()
    told(node, 100, 200, FIRST)
    node.anew(recalled=False)
    told(node, 200, 220, FIRST)
    assert node.events() == []


def test_that_chips_that_others_replaced_meanwhile_are_not_missed(node: Scripted) -> None:
    told(node, 0, 10, FIRST, SECOND)
    node.at = 7200
    node.anew(recalled=False)
    told(node, 7200, 7220, (2, "0000:D1:00.0", "40"), (3, "0000:E1:00.0", "50"))
    assert node.events() == []


@pytest.mark.parametrize("says", ["! npu-smi does not answer", ""])
def test_that_a_driver_of_chips_that_is_gone_after_a_start_is_told_for_all_of_them(node: Scripted, says: str) -> None:
    told(node, 0, 10, FIRST, SECOND)
    node.at = 100
    node.anew(recalled=False)
    for node.at in range(100, 200):
        node.network(1000.0 + node.at, eth0=node.at)
        if says:
            node.say("npu", says)
    (event,) = node.events()
    assert event == ("watch.driver", "", 101 if not says else 100, None) and node.degraded_s() == 2 * (199 - event[2])


def test_that_a_node_that_has_gpus_in_the_place_of_its_chips_has_no_driver_that_is_gone(node: Scripted) -> None:
    told(node, 0, 10, FIRST, SECOND)
    node.at = 100
    node.anew(recalled=False)
    for node.at in range(100, 300):
        node.cards((0, A, "500"), (1, B, "400"))
        node.network(1000.0 + node.at, eth0=node.at)
    assert node.events() == []
