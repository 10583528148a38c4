"""Are summaries of readings those of the readings: at every level, over gaps, late blocks, old files and removed readings?"""

from __future__ import annotations

import math
import random
from array import array
from datetime import UTC, datetime

import pytest

from gpulease_gui.store import older_blocks, packing, retention, samples, slot_places, slots
from gpulease_gui.store.packing import packed
from gpulease_gui.store.records import SampleBlock, Series
from gpulease_gui.store.slots import Outline

S = 1_000_000_000
# A whole half hour, so that the figures below can be told by heart.
START = 1_772_366_400 * S
POWER = Series("n1", "gpu.power_w", "GPU-a", "W")


def blocks(begin_s, values, series=POWER, each=10):
    """Blocks as a watch writes them: they begin anywhere in a slot."""
    return [
        SampleBlock(series, START + round((begin_s + n) * S), S, array("f", values[n : n + each]))
        for n in range(0, len(values), each)
    ]  # fmt: skip


def keep(desk, *runs):
    for run in runs:
        for block in run:
            desk.write(lambda db, block=block: samples.append_blocks(db, [block]))


def outline(desk, start_s, end_s, step_s):
    with desk.workspace.read() as connection:
        return samples.outline(connection, "n1", START + start_s * S, START + end_s * S, step_s * S)


def told(one, series_id=1):
    """(second, lowest, mean, p95, highest, count) of every slot of a series that was read."""
    return [
        ((at_ns - START) / S, *numbers)
        for slab in one.slabs if series_id in slab.ids for at_ns, numbers in slots.slots_of(slab, slab.ids.index(series_id))
    ]  # fmt: skip


def raw(one):
    """(second, value) of every reading that is not summarised."""
    return [
        ((at_ns + n * step_ns - START) / S, value)
        for _, at_ns, step_ns, values in slots.pieces(one.packs) for n, value in enumerate(values)
    ]  # fmt: skip


def by_hand(readings, step_s, end_s):
    """The same by the plain rule, from (second, value) of each finite reading."""
    held: dict[int, list[float]] = {}
    for at_s, value in readings:
        if math.isfinite(value) and at_s // step_s * step_s + step_s <= end_s:
            held.setdefault(int(at_s // step_s * step_s), []).append(value)
    made = []
    for at_s, values in sorted(held.items()):
        values.sort()
        made.append((at_s, values[0], sum(values) / len(values), values[round(0.95 * (len(values) - 1))], values[-1], len(values)))
    return made


@pytest.fixture
def hour(desk):
    """An hour and a half of noise, with 20 minutes of silence and what is no number."""
    noise = random.Random(7)
    values = [noise.uniform(100, 700) for _ in range(5400)]
    values[77] = math.nan
    values[3000] = math.inf
    first, second = values[:2000], values[3200:]
    keep(desk, blocks(3.5, first), blocks(3203.5, second))
    return [(3.5 + n, array("f", [v])[0]) for n, v in enumerate(values) if not 2000 <= n < 3200]


@pytest.mark.parametrize("step_s", [10, 60, 300, 1800])
def test_that_every_level_is_made_from_the_readings_themselves(desk, hour, step_s):
    one = outline(desk, 0, 7200, step_s)
    row_s = slots.ROWS[slots.level_for(step_s * S)] // S
    found = [row for row in told(one) if row[0] < 5403 // row_s * row_s]
    expected = by_hand(hour, step_s, 5403 // row_s * row_s)
    assert [row[0] for row in found] == [row[0] for row in expected]
    assert [row[1:] for row in found] == [pytest.approx(row[1:], rel=1e-5) for row in expected]


@pytest.mark.parametrize("step_s", [1, 10, 60, 300, 1800, 9999])
def test_that_every_reading_is_told_once_at_every_level(desk, hour, step_s):
    for start_s, end_s in ((0, 7200), (0, 1790), (600, 7200), (700, 1900)):
        one = outline(desk, start_s, end_s, step_s)
        spans = [(row[0], row[0] + slab.step_ns / S) for slab in one.slabs for row in told(Outline((slab,), ()))]
        spans += [(at_s, at_s + 0.5) for at_s, _ in raw(one)]
        first_s, after_s = min(begin for begin, _ in spans), max(end for _, end in spans)
        assert start_s - 1800 < first_s <= start_s + 10 and after_s >= min(end_s, 5403) - 10
        summed = sum(row[5] for row in told(one)) + sum(math.isfinite(value) for _, value in raw(one))
        assert summed == sum(first_s <= at_s < after_s and math.isfinite(value) for at_s, value in hour)


def test_that_silence_and_what_is_no_number_stay_without_a_reading(desk, hour):
    one = outline(desk, 0, 7200, 10)
    seconds = {row[0] for row in told(one)}
    assert not {n for n in range(2010, 3200, 10)} & seconds
    counts = {row[0]: row[5] for row in told(one)}
    assert counts[80] == 9, "a reading that was not taken is not counted as one of nothing"
    assert all(value for row in told(one) for value in row[1:])


def test_that_what_is_not_summarised_yet_comes_as_readings(desk, hour):
    one = outline(desk, 0, 7200, 60)
    assert [at_s for at_s, _ in raw(one)] == [5400.5, 5401.5, 5402.5]
    assert told(one)[-1][0] == 5340.0
    keep(desk, blocks(5403.5, [1.0] * 80))
    assert [row[0] for row in told(outline(desk, 5340, 7200, 60))][-7:] == [5340.0, *range(5400, 5460, 10)], "five minutes are not over: slots of 10 s"


def test_that_ten_seconds_of_a_node_are_one_row(desk):
    others = [Series("n1", "gpu.power_w", f"GPU-{n}", "W") for n in range(8)]
    desk.write(lambda db: samples.append_blocks(db, [block for one in others for block in blocks(0, [1.0] * 10, one)]))
    assert desk.rows("SELECT level, count(*) FROM sample_packs GROUP BY level") == [(0, 1)]


def test_that_a_block_that_comes_late_makes_its_slots_anew(desk):
    keep(desk, blocks(0, [1.0] * 1800), blocks(1800, [5.0] * 120))
    keep(desk, blocks(70, [99.0] * 10), blocks(1920, [5.0] * 70))
    assert told(outline(desk, 0, 1800, 1800)) == [(0, 1.0, pytest.approx((1790 + 990) / 1800), 1.0, 99.0, 1800)]


def test_that_an_older_file_is_read_as_it_is_and_moved_in_steps(desk):
    desk.write(lambda db: samples.append_blocks(db, blocks(0, [1.0])))
    desk.write(lambda db: db.execute("DELETE FROM sample_packs"))
    desk.write(lambda db: db.execute("DELETE FROM sample_covered"))
    values = [float(n % 7) for n in range(6000)]
    for n in range(0, 6000, 10):
        row = (START + n * S, packed(array("f", values[n : n + 10])))
        desk.write(lambda db, row=row: db.execute("INSERT INTO sample_blocks VALUES (1, 0, ?, 1000000000, 10, ?)", row))
    before = outline(desk, 0, 6000, 60)
    assert told(before) == [] and len(raw(before)) == 6000
    keep(desk, blocks(86_400, [3.0] * 70))
    steps = 0
    while desk.write(lambda db: older_blocks.move_some(db.conn)):
        steps += 1
        half = outline(desk, 0, 6000, 60)
        assert sum(row[5] for row in told(half)) + len(raw(half)) == 6000
    assert steps == 4 and desk.rows("SELECT count(*) FROM sample_blocks") == [(0,)]
    after = outline(desk, 0, 6000, 60)
    assert raw(after) == [] and [row[:6] for row in told(after)] == [
        (pytest.approx(row[0]), *(pytest.approx(value, rel=1e-6) for value in row[1:])) for row in by_hand(list(enumerate(values)), 60, 6000)
    ]  # fmt: skip
    with desk.workspace.read() as connection:
        spans = samples.recorded_spans(connection, "n1", START, START + 90_000 * S, 30 * S)
    assert [((a - START) / S, (z - START) / S) for a, z in spans] == [(0, 6000), (86_400, 86_470)]


def test_that_coarser_slots_stand_in_for_what_was_removed(desk):
    keep(desk, [SampleBlock(POWER, START + n * 10 * S, S, array("f", [float(n)] * 10)) for n in range(370)])
    desk.write(lambda db: db.execute("DELETE FROM sample_packs WHERE level = 0 AND start_ns < ?", (START + 3000 * S,)))
    desk.write(lambda db: db.execute("DELETE FROM sample_packs WHERE level = 1 AND start_ns < ?", (START + 1800 * S,)))
    one = outline(desk, 0, 3700, 1)
    assert [(slab.step_ns // S, (slab.starts_ns[0] - START) // S) for slab in one.slabs] == [(60, 0), (10, 1800)]
    assert sum(row[5] for row in told(one)) == 3000 and len(raw(one)) == 700


def test_that_a_bit_mask_is_all_bits_that_were_set(desk):
    keep(desk, blocks(0, [0.0, 4.0, 0.0, 64.0] * 90, Series("n1", "gpu.event_reasons", "GPU-a", "")))
    assert told(outline(desk, 0, 60, 60))[0] == (0, 68.0, 68.0, 68.0, 68.0, 60)


def test_that_a_series_that_is_gone_leaves_the_others_their_slots(desk):
    other = Series("n1", "gpu.power_w", "GPU-b", "W")
    both = [[*blocks(n, [1.0] * 10), *blocks(n, [2.0] * 10, other)] for n in range(0, 600, 10)]
    alone = [blocks(n, [1.0] * 10) for n in range(600, 1200, 10)]
    for some in (*both, *alone):
        desk.write(lambda db, some=some: samples.append_blocks(db, some))
    one = outline(desk, 0, 1200, 60)
    assert [(row[0], row[1]) for row in told(one, 1)] == [(n, 1.0) for n in range(0, 1200, 60)]
    assert [(row[0], row[1]) for row in told(one, 2)] == [(n, 2.0) for n in range(0, 600, 60)]


def test_that_a_day_of_slices_has_the_extremes_of_its_readings(desk):
    values = [350.0] * 7200
    values[1234], values[4321] = 50.0, 999.0
    keep(desk, blocks(0, values, each=600))
    with desk.workspace.read() as connection:
        (stretch,) = samples.read_range(connection, "n1", "gpu.power_w", START, START + 7200 * S, 40).stretches
    assert len(stretch.times_ns) == 40
    assert (min(stretch.low), max(stretch.high)) == (50.0, 999.0)
    assert [n for n, low in enumerate(stretch.low) if low == 50.0] == [1234 // 180]


def test_that_blocks_that_overlap_repeat_or_come_in_any_order_lie_in_their_slots():
    def packed_at(*runs):
        return packing.pack([(number, start_s * S, S, array("f", values)) for number, start_s, values in runs])

    contents = [
        packed_at((2, 12, [1, 2]), (1, 12, [7, 8])),
        packed_at((2, 6, [3, 4, 5, 6, 9]), (1, 6, [0])),
        # Another layout, one series twice; the block at 12 replaces the one above.
        packed_at((1, 14, [5]), (1, 21, [6])),
        packed_at((2, 12, [50])),
    ]
    found = {one.series_id: one for one in slot_places.by_slots(contents, 0, 22 * S)}

    def told(series_id, step_s):
        one = found[series_id]
        return {
            slot: sorted(value for begin, end in places for value in one.readings[begin:end])
            for slot, places in one.of_length(step_s * S).items()
        }  # fmt: skip

    assert told(2, 10) == {0: [3, 4, 5, 6], 1: [9, 50]} and told(1, 10) == {0: [0], 1: [5, 7, 8], 2: [6]}
    assert told(2, 60) == {0: [3, 4, 5, 6, 9, 50]} and told(1, 60) == {0: [0, 5, 6, 7, 8]}


DAY = 86_400


def counted(desk, start_s, end_s, step_s):
    """How many readings a chart of a range is told of."""
    one = outline(desk, start_s, end_s, step_s)
    return sum(row[5] for row in told(one)) + sum(start_s <= at_s < end_s for at_s, _ in raw(one))


@pytest.mark.parametrize("ahead_s", [DAY // 2, 3 * DAY, 40 * DAY])
def test_that_a_clock_that_was_ahead_for_a_minute_leaves_the_time_after_it_summarised(desk, ahead_s):
    keep(desk, blocks(0, [5.0] * 3600), blocks(ahead_s, [9.0] * 60), blocks(3600, [7.0] * 7200))
    assert {step_s: counted(desk, 0, 10_800, step_s) for step_s in (1, 10, 60, 300, 1800)} == dict.fromkeys((1, 10, 60, 300, 1800), 10_800)
    assert told(outline(desk, 0, 10_800, 1800)) == [(n, *[5.0 if n < 3600 else 7.0] * 4, 1800) for n in range(0, 10_800, 1800)]
    assert counted(desk, ahead_s, ahead_s + 60, 60) == 60
    now = datetime.fromtimestamp(START // S + 60 * DAY, UTC)
    while desk.write(lambda db: retention.remove_some(db, now)):
        pass
    assert counted(desk, 0, 10_800, 60) == 10_800


def test_that_a_clock_that_was_far_behind_for_a_minute_costs_no_summary_of_what_is_no_longer_there(desk):
    keep(desk, blocks(0, [5.0] * 10_800))
    now = datetime.fromtimestamp(START // S + 60 * DAY, UTC)
    while desk.write(lambda db: retention.remove_some(db, now)):
        pass
    keep(desk, blocks(-900 * DAY, [1.0] * 70), blocks(10_800, [7.0] * 1800))
    assert [row[1:] for row in told(outline(desk, 0, 12_600, 1800))] == [(5.0, 5.0, 5.0, 5.0, 1800)] * 6 + [(7.0, 7.0, 7.0, 7.0, 1800)]
    assert counted(desk, -900 * DAY, -900 * DAY + 100, 10) == 70


def test_that_readings_that_an_older_program_never_summarised_are_summed_up_before_they_go(desk):
    keep(desk, blocks(0, [5.0] * 3600))
    desk.write(lambda db: db.execute("DELETE FROM sample_packs WHERE level > 0"))
    desk.write(lambda db: db.execute("UPDATE sample_covered SET until_ns = ?", (START + 40 * DAY * S,)))
    now = datetime.fromtimestamp(START // S + 45 * DAY, UTC)
    while desk.write(lambda db: retention.remove_some(db, now)):
        pass
    assert desk.rows("SELECT count(*) FROM sample_packs WHERE level = 0") == [(0,)]
    assert [row[5] for row in told(outline(desk, 0, 3600, 1800))] == [1800, 1800]


def test_that_a_program_that_missed_readings_catches_up_with_them(desk):
    keep(desk, blocks(0, [5.0] * 3600), blocks(3600, [6.0] * 1800))
    desk.write(lambda db: db.execute("DELETE FROM sample_packs WHERE level > 0 AND end_ns > ?", (START + 3600 * S,)))
    desk.write(lambda db: db.execute("UPDATE sample_covered SET until_ns = ?", (START + 40 * DAY * S,)))
    keep(desk, blocks(5400, [7.0] * 1800))
    assert [row[5] for row in told(outline(desk, 0, 7200, 1800))] == [1800] * 4


def test_that_what_is_no_finite_number_is_in_no_point_of_a_range(desk):
    keep(desk, blocks(0, [500.0, math.inf, math.nan, -math.inf, 700.0]))
    with desk.workspace.read() as connection:
        for points in (100, 1):
            (stretch,) = samples.read_range(connection, "n1", "gpu.power_w", START, START + 60 * S, points).stretches
            assert (min(stretch.low), max(stretch.high), sum(stretch.count)) == (500.0, 700.0, 2)
