"""Do old readings go by their level, in small steps, and does what was kept for a run stay?"""

from __future__ import annotations

from array import array
from datetime import UTC, datetime

import pytest

from gpulease_gui.store import evidence, retention, samples
from gpulease_gui.store.records import SampleBlock, Series
from gpulease_gui.store.retention import Retention

S = 1_000_000_000
START = 1_772_366_400 * S
POWER = Series("n1", "gpu.power_w", "GPU-a", "W")


def day(number):
    return datetime.fromtimestamp(START // S + number * 86_400, UTC)


@pytest.fixture
def two_hours(desk):
    desk.write(lambda db: samples.append_blocks(db, [SampleBlock(POWER, START + n * 10 * S, S, array("f", [350.0] * 10)) for n in range(721)]))


def levels(desk):
    return dict(desk.rows("SELECT level, count(*) FROM sample_packs GROUP BY level"))


def test_that_each_level_goes_when_its_days_are_over(desk, two_hours):
    before = levels(desk)
    assert set(before) == {0, 1, 2, 3, 4}
    assert desk.write(lambda db: retention.remove_some(db, day(29))) is False
    assert levels(desk) == before
    for number, gone in ((31, {0}), (91, {0, 1}), (366, {0, 1, 2}), (2000, {0, 1, 2, 3})):
        desk.write(lambda db, number=number: retention.remove_some(db, day(number)))
        assert {level for level in before if level not in levels(desk) or levels(desk)[level] < before[level] / 3} == gone
    with desk.workspace.read() as connection:
        told = samples.outline(connection, "n1", START, START + 7200 * S, S)
    assert [slab.step_ns // S for slab in told.slabs] == [1800], "half hours are never removed"


def test_that_what_is_set_counts_and_a_coarser_level_is_kept_at_least_as_long(desk, two_hours):
    desk.write(lambda db: retention.save_retention(db, Retention(readings=100, ten_seconds=5, minutes=0, five_minutes=1)))
    with desk.workspace.read() as connection:
        kept = retention.get_retention(connection)
    assert kept.days == {0: 100, 1: 100, 2: 0, 3: 0}
    desk.write(lambda db: retention.remove_some(db, day(99)))
    assert levels(desk)[0] > 1
    desk.write(lambda db: retention.remove_some(db, day(102)))
    assert set(levels(desk)) >= {2, 3, 4} and levels(desk).get(1, 0) < 5


def test_that_a_round_is_small_and_says_that_there_is_more(desk, two_hours, monkeypatch):
    monkeypatch.setattr(retention, "MOST_ROWS", 1)
    count = sum(levels(desk).values())
    assert desk.write(lambda db: retention.remove_some(db, day(40))) is True
    assert sum(levels(desk).values()) == count - 1


def test_that_a_stretch_of_a_run_stays_with_its_hash(desk, two_hours):
    kept = desk.write(lambda db: retention.keep_stretch(db, "r1", "n1", START + 600 * S, START + 900 * S))
    again = desk.write(lambda db: retention.keep_stretch(db, "r1", "n1", START + 600 * S, START + 900 * S))
    assert kept == again and len(desk.rows("SELECT * FROM kept_stretches")) == 1
    with desk.workspace.read() as connection:
        content = evidence.get_content(connection, kept.sha256)
        assert content.startswith(b"1\tgpu.power_w\tGPU-a\tW\n\n") and retention.fits(connection, kept)
    while desk.write(lambda db: retention.remove_some(db, day(3000))):
        pass
    with desk.workspace.read() as connection:
        assert retention.fits(connection, kept)
        (blocks,) = samples.read_blocks(connection, "n1", START + 600 * S, START + 900 * S).values()
    assert sum(len(block.values) for block in blocks) == 300


def test_that_changed_readings_no_longer_fit_what_was_kept(desk, two_hours):
    kept = desk.write(lambda db: retention.keep_stretch(db, "r1", "n1", START + 600 * S, START + 900 * S))
    desk.write(lambda db: samples.append_blocks(db, [SampleBlock(POWER, START + 650 * S, S, array("f", [700.0]))]))
    with desk.workspace.read() as connection:
        assert not retention.fits(connection, kept)


def test_that_nothing_is_kept_of_a_run_without_readings(desk):
    assert desk.write(lambda db: retention.keep_stretch(db, "r1", "n1", START, START + S)) is None


def test_that_room_goes_back_to_the_disk(desk):
    noise = array("f", range(1800))
    for n in range(300):
        block = SampleBlock(POWER, START + n * 1800 * S, S, noise)
        desk.write(lambda db, block=block: samples.append_blocks(db, [block]))
    (pages,) = desk.rows("PRAGMA page_count")[0]
    while desk.write(lambda db: retention.remove_some(db, day(60))):
        pass
    for _ in range(4):
        desk.write(lambda db: retention.remove_some(db, day(60)))
    assert desk.rows("PRAGMA page_count")[0][0] < 0.8 * pages
