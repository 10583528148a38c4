"""Who may end what a watch holds open, and when did it end of which a killed program told nothing?"""

from __future__ import annotations

from array import array
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from gpulease_gui.services.upkeep import ENDS_S, Upkeep
from gpulease_gui.store import samples, watch_ends
from gpulease_gui.store.records import SampleBlock, Series

from .test_watch_events import S, Watched

POWER = Series("n1", "gpu.power_w", "GPU-b", "W")


@pytest.fixture
def begun(desk):
    """A card that is lost from the tenth second on, told for twenty seconds by a watch that is killed then."""
    desk.start_ns = int(desk.noon.timestamp()) * S
    watched = Watched(desk)
    watched.tell(10)
    watched.tell(10, cards=("GPU-a",), lost=("GPU-b",))
    return watched


def beside(watched):
    """Another watch of the node begins now."""
    return Watched(replace(watched.desk, noon=datetime.fromtimestamp(watched.at_s, UTC)))


def keep(watched, *spans):
    """Readings of the node from and to these seconds, written in this order."""
    for begin, end in spans:
        block = SampleBlock(POWER, watched.desk.start_ns + begin * S, S, array("f", [500.0] * (end - begin)))
        watched.desk.write(lambda db, block=block: samples.append_blocks(db, [block]))


def ends(watched):
    return [watched.after(one.ended_ns) for one in watched.events()]


def forsaken(watched, after_s):
    watched.desk.write(lambda db: watch_ends.close_forsaken(db.conn, watched.desk.start_ns + after_s * S))
    return ends(watched)


def test_that_a_second_watch_of_a_node_ends_nothing_that_the_first_one_holds_open(begun):
    second = beside(begun)
    second.tell(5)
    second.rules.unseen(second.at_s)
    begun.tell(300, cards=("GPU-a",), lost=("GPU-b",))
    beside(begun)
    assert ends(begun) == [None]
    begun.tell(10)
    assert ends(begun) == [320]


def test_that_what_a_silent_watch_left_open_ends_at_the_last_reading_it_can_have_seen_though_another_reads_on(begun):
    keep(begun, (0, 20), (20, 400))
    assert [forsaken(begun, 100), forsaken(begun, 170)] == [[None], [40]], "its sign of the tenth second holds for half a minute"


def test_that_a_watch_beside_a_killed_one_ends_what_that_held_open_within_minutes_and_at_its_time(begun):
    keep(begun, (0, 20), (20, 400))
    second = beside(begun)
    second.tell(140)
    assert ends(begun) == [None], "it may be late with a sign"
    second.tell(60)
    assert ends(begun) == [40]
    second.tell(300)
    assert ends(begun) == [40]


def test_that_an_open_window_that_watches_nothing_ends_it_as_well(begun):
    keep(begun, (0, 20), (20, 400))
    now_s = [begun.at_s]
    upkeep = Upkeep(begun.desk.workspace, begun.bus, lambda: now_s[0])
    found = []
    for _ in range(8):
        upkeep.end_forsaken()
        found += ends(begun)
        now_s[0] += ENDS_S
    upkeep.close()
    assert found == [None] * 5 + [40] * 3


def test_that_a_watch_that_is_alive_takes_back_an_end_that_it_did_not_tell(begun):
    assert forsaken(begun, 400) == [10]
    begun.tell(40, cards=("GPU-a",), lost=("GPU-b",))
    assert ends(begun) == [None]


def test_that_a_watch_that_holds_nothing_open_leaves_no_sign_behind(begun):
    def signs():
        begun.desk.write(lambda db: None)
        return begun.desk.rows("SELECT count(*) FROM settings WHERE key GLOB 'watching:*'")

    assert signs() == [(1,)]
    begun.rules.unseen(begun.at_s)
    assert signs() == [(0,)]
    begun.tell(2, cards=("GPU-a",), lost=("GPU-b",))
    begun.desk.write(lambda db: watch_ends.close_all_left_open(db.conn, int(begun.at_s) * S))
    assert signs() == [(0,)]


@pytest.mark.parametrize(("spans", "end"), [
    ([(0, 10), (10, 22)], 21.75),  # the readings that follow
    ([(0, 10), (140, 150)], 10),  # a hole of two minutes: nobody saw what came after
    ([(0, 10), (100, 110)], 40),  # no longer than its last sign allows
    ([(0, 5), (15, 30), (5, 14)], 13.75),  # what a clock that was ahead wrote down before what comes before it
])  # fmt: skip
def test_that_an_end_that_nobody_told_is_that_of_the_readings_that_follow_without_a_hole(begun, spans, end):
    keep(begun, *spans)
    begun.desk.write(lambda db: watch_ends.close_all_left_open(db.conn, begun.desk.start_ns + 5000 * S))
    assert ends(begun) == [end]
