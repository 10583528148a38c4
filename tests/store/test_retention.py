"""Do old readings go by their level, in small steps, and does what was kept for a run stay?"""

from __future__ import annotations

import random
from array import array
from datetime import UTC, datetime

import pytest

from gpulease_gui.store import evidence, retention, samples
from gpulease_gui.store.kept_state import state_of
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
        assert content.startswith(b"1\tgpu.power_w\tGPU-a\tW\n\n") and state_of(connection, kept).intact
    while desk.write(lambda db: retention.remove_some(db, day(3000))):
        pass
    with desk.workspace.read() as connection:
        assert state_of(connection, kept).intact
        (blocks,) = samples.read_blocks(connection, "n1", START + 600 * S, START + 900 * S).values()
    assert sum(len(block.values) for block in blocks) == 300


def test_that_changed_readings_no_longer_fit_what_was_kept(desk, two_hours):
    kept = desk.write(lambda db: retention.keep_stretch(db, "r1", "n1", START + 600 * S, START + 900 * S))
    desk.write(lambda db: samples.append_blocks(db, [SampleBlock(POWER, START + 650 * S, S, array("f", [700.0]))]))
    with desk.workspace.read() as connection:
        assert not state_of(connection, kept).intact


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


# -- what is told between and around kept stretches -------------------------------------------------------------------

GPUS = (POWER, Series("n1", "gpu.power_w", "GPU-b", "W"))


@pytest.fixture
def four_hours(desk):
    """Four hours of two cards with noise and a silence of ten minutes; a run of two minutes and one of half an hour are kept."""
    noise = random.Random(5)
    begins = [n for n in range(0, 14_400, 10) if not 9000 <= n < 9600]
    packs = [[SampleBlock(one, START + n * 10**9 + 3 * 10**8, S, array("f", [noise.uniform(100, 700) for _ in range(10)])) for one in GPUS] for n in begins]
    desk.write(lambda db: [samples.append_blocks(db, some) for some in packs])
    for begin, end in ((3605, 3725), (12_001, 13_800)):
        desk.write(lambda db, begin=begin, end=end: retention.keep_stretch(db, "r1", "n1", START + begin * S, START + end * S))
    return [(block.start_ns + n * S, value) for some in packs for block in some for n, value in enumerate(block.values)]


def figures(desk, start_s, end_s, points):
    """(count, mean, lowest, highest) of what a chart is told of whole half hours, and the stretches that it is told coarsely."""
    with desk.workspace.read() as connection:
        found = samples.read_range(connection, "n1", "gpu.power_w", START + start_s * S, START + end_s * S, points)
    counts = [count for one in found.stretches for count in one.count]
    means = [mean for one in found.stretches for mean in one.mean]
    total = sum(counts)
    mean = sum(a * n for a, n in zip(means, counts, strict=True)) / total
    lows, highs = (value for one in found.stretches for value in one.low), (value for one in found.stretches for value in one.high)
    return (total, mean, min(lows), max(highs)), [((a - START) // S, (z - START) // S, step // S) for a, z, step in found.coarser]


def age(desk, number):
    while desk.write(lambda db: retention.remove_some(db, day(number))):
        pass


def test_that_nothing_is_blank_or_told_twice_around_what_was_kept_for_a_run(desk, four_hours):
    for number in (1, 31, 91, 366, 2000):
        age(desk, number)
        for points in (20, 100, 500, 20_000):
            for start_s, end_s in ((0, 14_400), (1800, 5400), (3600, 14_400)):
                own = [value for at_ns, value in four_hours if START + start_s * S <= at_ns < START + end_s * S]
                told, _ = figures(desk, start_s, end_s, points)
                assert told == (len(own), pytest.approx(sum(own) / len(own), rel=1e-5), min(own), max(own))


def test_that_a_stretch_that_is_not_kept_as_finely_any_more_is_named_and_what_was_kept_is_told_as_it_was(desk, four_hours):
    assert figures(desk, 3000, 7000, 20_000)[1] == []
    age(desk, 31)
    _, coarser = figures(desk, 3000, 7200, 20_000)
    assert coarser == [(3000, 3600, 10), (3730, 7200, 10)]
    with desk.workspace.read() as connection:
        (block, *others), _ = samples.read_blocks(connection, "n1", START + 3600 * S, START + 3730 * S).values()
        told = samples.outline(connection, "n1", START + 3600 * S, START + 3720 * S, S)
    assert block.start_ns == START + 36_003 * 10**8 and len(others) == 12
    assert told.slabs == () and sum(len(pack.values) for pack in told.packs) == 2 * 120
    age(desk, 91)
    assert figures(desk, 3000, 7200, 20_000)[1] == [(3000, 3600, 60), (3730, 3780, 10), (3780, 7200, 60)]
    assert figures(desk, 0, 14_400, 40)[1] == [], "nobody asked for less than two minutes a point"


def test_that_a_node_was_read_after_a_kept_stretch_too(desk, four_hours):
    def spans():
        with desk.workspace.read() as connection:
            found = samples.recorded_spans(connection, "n1", START, START + 14_400 * S, 60 * S)
        return [((a - START) // S, (z - START) // S) for a, z in found]

    assert spans() == [(0, 9000), (9600, 14_400)]
    age(desk, 31)
    assert spans() == [(0, 9000), (9600, 14_400)]
