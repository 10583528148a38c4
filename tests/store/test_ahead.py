"""Does what a clock that was ahead wrote down stay, is it told, and is it taken for the newest nowhere?"""

from __future__ import annotations

from array import array
from datetime import UTC, datetime

import pytest

from gpulease_gui.store import ahead, recorded, retention, samples, watch_ends
from gpulease_gui.store.records import Gap, SampleBlock, Series

from .test_watch_events import S, Watched

POWER = Series("n1", "gpu.power_w", "GPU-a", "W")


@pytest.fixture
def early(desk):
    """Ten seconds at noon, and three times ten that lie two, three and four hours after it; `noon` in ns."""
    desk.noon_ns = int(desk.noon.timestamp()) * S
    keep(desk, 0, 7200, 10_800, 14_400)
    return desk


def keep(desk, *after_s):
    blocks = [SampleBlock(POWER, desk.noon_ns + at_s * S, S, array("f", [500.0] * 10)) for at_s in after_s]
    desk.write(lambda db: [samples.append_blocks(db, [block]) for block in blocks])


def told(desk):
    with desk.workspace.read() as connection:
        gaps = samples.list_gaps(connection, "n1", None, 0, 2**62)
        marks = samples.list_marks(connection, "n1", datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))
    return [((gap.start_ns - desk.noon_ns) // S, (gap.end_ns - desk.noon_ns) // S, gap.reason) for gap in gaps], [(mark.kind, mark.words) for mark in marks]


def test_that_what_lies_in_the_time_to_come_is_told_once_as_a_gap_and_a_mark_and_stays(early):
    def tell(after_s):
        return early.write(lambda db: ahead.tell_ahead(db, "n1", early.noon_ns + after_s * S)).told

    assert [tell(7206), tell(7300), tell(7400)] == [True, False, False]
    assert told(early) == ([(10_800, 14_410, "clock_wrong")], [("clock", "2026-03-01T16:00:10.000000Z")])
    keep(early, 18_000)
    assert [tell(7500), tell(7600)] == [True, False]
    assert told(early)[0] == [(10_800, 14_410, "clock_wrong"), (14_410, 18_010, "clock_wrong")]
    early.write(lambda db: samples.append_gap(db, Gap("n1", early.noon_ns, early.noon_ns + 20_000 * S, "not_watched")))
    early.write(lambda db: samples.cut_gaps(db, "n1", early.noon_ns + 12_000 * S))
    not_watched = [(10, 7200, "not_watched"), (7210, 10_800, "not_watched"), (10_810, 12_000, "not_watched")]
    assert sorted(told(early)[0]) == sorted([*not_watched, (10_800, 14_410, "clock_wrong"), (14_410, 18_010, "clock_wrong")])
    with early.workspace.read() as connection:
        assert sum(len(block.values) for block in samples.read_blocks(connection, "n1", 0, 2**62)[POWER]) == 50


def test_that_a_clock_that_was_corrected_by_less_than_five_seconds_is_none_that_was_ahead(early):
    assert early.write(lambda db: ahead.tell_ahead(db, "n1", early.noon_ns + 14_405 * S)) == ahead.Ahead()
    assert told(early) == ([], [])
    assert early.write(lambda db: ahead.tell_ahead(db, "n1", early.noon_ns + 14_404 * S)) == ahead.Ahead(early.noon_ns + 14_410 * S, told=True)


def test_that_a_slow_watch_and_a_line_that_came_early_are_no_clock_that_was_ahead(early):
    early.write(lambda db: samples.append_blocks(db, [SampleBlock(POWER, early.noon_ns + 20_000 * S, 60 * S, array("f", [500.0]))]))
    assert early.write(lambda db: ahead.tell_ahead(db, "n1", early.noon_ns + 19_990 * S)) == ahead.Ahead()
    with early.workspace.read() as connection:
        assert ahead.newest_end(connection, "n1", early.noon_ns + 20_000 * S) == early.noon_ns + 20_060 * S


def test_that_what_the_right_clock_read_of_that_time_is_no_part_of_its_gap_any_more(early):
    early.write(lambda db: ahead.tell_ahead(db, "n1", early.noon_ns + 7206 * S))
    for begin_s, end_s in ((10_799, 11_000), (12_000, 12_010), (14_000, 14_409)):
        early.write(lambda db, begin_s=begin_s, end_s=end_s: ahead.read_again(db, "n1", early.noon_ns + begin_s * S, early.noon_ns + end_s * S))
    assert told(early)[0] == [(11_000, 12_000, "clock_wrong"), (12_010, 14_000, "clock_wrong")]


def test_that_the_newest_reading_is_none_of_the_time_to_come(early):
    now_ns = early.noon_ns + 60 * S
    with early.workspace.read() as connection:
        assert ahead.newest_end(connection, "n1", now_ns) == early.noon_ns + 10 * S
        assert ahead.newest_end(connection, "n1", early.noon_ns - 3600 * S) == 0
        assert retention.newest_pack(connection, "n1", now_ns) == (early.noon_ns + 10 * S, S)
        size, newest = recorded.recorded_bytes(connection, early.noon_ns, now_ns)
    assert newest == early.noon_ns + 10 * S and size > 0
    keep(early, 50)
    with early.workspace.read() as connection:
        assert recorded.recorded_bytes(connection, newest, now_ns)[1] == early.noon_ns + 60 * S, "what comes later is counted"


def test_that_what_a_killed_program_left_open_ends_at_its_last_true_reading(early):
    watched = Watched(early)
    watched.tell(8, lost=("GPU-b",))
    for close in (
        lambda db: watch_ends.close_all_left_open(db.conn, early.noon_ns + 60 * S), lambda db: watch_ends.close_forsaken(db.conn, early.noon_ns + 1200 * S),
    ):  # fmt: skip
        early.write(lambda db: db.execute("UPDATE watch_events SET ended_ns = NULL"))
        early.write(close)
        assert [watched.after(one.ended_ns) for one in watched.events()] == [9.75]
