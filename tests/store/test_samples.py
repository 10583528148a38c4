"""Do readings come back at their time, and no more points than a chart asked for?"""

from __future__ import annotations

import math
import sqlite3
import struct
from array import array
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.store import packing, samples
from gpulease_gui.store.records import Gap, Mark, SampleBlock, Series

S = 1_000_000_000
START = 1_772_366_400 * S
POWER = Series("n1", "gpu.power_w", "GPU-a", "W")
OTHER = Series("n1", "gpu.power_w", "GPU-b", "W")


def block(start_s, *values, series=POWER):
    return SampleBlock(series, START + start_s * S, S, array("f", values))


def read(desk, start_s, end_s, points=1000, metric="gpu.power_w"):
    with desk.workspace.read() as connection:
        return samples.read_range(connection, "n1", metric, START + int(start_s * S), START + int(end_s * S), points)


def drawn(stretch):
    return [((t - START) / S, low, high) for t, low, high in zip(stretch.times_ns, stretch.low, stretch.high, strict=True)]


def test_that_readings_come_back_at_their_time_and_only_those_asked_for(desk):
    blocks = [block(0, 700.0, 0.1), block(2, 650.5), block(0, 99.0, series=OTHER), block(5, series=OTHER)]
    desk.write(lambda db: samples.append_blocks(db, blocks))
    found = read(desk, 0, 3)
    assert [s.series for s in found.stretches] == [POWER, OTHER]
    third = array("f", [0.1])[0]
    assert drawn(found.stretches[0]) == [(0, 700.0, 700.0), (1, third, third), (2, 650.5, 650.5)]
    assert drawn(read(desk, 1, 2).stretches[0]) == [(1, third, third)]
    assert drawn(read(desk, 1, 1.5).stretches[0]) == [(1, third, third)]
    assert drawn(read(desk, 0.5, 2.5).stretches[0]) == [(1, third, third), (2, 650.5, 650.5)]
    assert read(desk, 3, 9).stretches == ()
    assert read(desk, 0, 9, metric="gpu.temp_c").stretches == ()
    with desk.workspace.read() as connection:
        assert samples.list_series(connection, "n1") == (POWER, OTHER)


def test_that_the_bytes_of_a_pack_are_little_endian(desk):
    desk.write(lambda db: samples.append_blocks(db, [block(0, 1.0, -2.0)]))
    start = struct.pack("<q", START)
    assert desk.rows("SELECT level, start_ns, end_ns, content FROM sample_packs") == [
        (0, START, START + 2 * S, b"\1\0\0\0" + start + struct.pack("<q", S) + b"\1\0\0\0\2\0\0\0" + bytes.fromhex("0000803f000000c0"))
    ]  # fmt: skip
    assert list(packing.unpacked(bytes.fromhex("0000803f000000c0"))) == [1.0, -2.0]


def test_that_a_long_range_keeps_its_lowest_and_highest_readings(desk):
    values = [float(n % 10) for n in range(100)]
    values[55] = 500.0
    desk.write(lambda db: samples.append_blocks(db, [block(0, *values)]))
    assert drawn(read(desk, 0, 100, points=4).stretches[0]) == [
        (0, 0.0, 9.0), (25, 0.0, 9.0), (50, 0.0, 500.0), (75, 0.0, 9.0)
    ]  # fmt: skip


@given(
    st.lists(st.tuples(st.integers(1, 7), st.lists(st.one_of(st.just(math.nan), st.floats(0, 9, width=16)), max_size=9))),
    st.integers(-5, 90), st.integers(1, 90), st.integers(1, 20),
)  # fmt: skip
def test_that_slices_hold_just_the_readings_of_their_time(blocks, start, length, slices):
    """The same by the plain rule: every reading goes to the slice that its time falls into."""
    at, kept, expected = 0, [], {}
    for step, values in blocks:
        kept.append((at, step, array("f", values)))
        for n, value in enumerate(values):
            if not math.isnan(value):
                expected.setdefault((at + n * step - start) * slices // length, []).append(value)
        at += step * len(values)
    found: dict[int, list[float]] = {}
    read: dict[int, int] = {}
    for number, low, high, mean, count in samples._slices(kept, start, start + length, slices):
        found.setdefault(number, []).extend((low, high))
        read[number] = read.get(number, 0) + count
        assert low - abs(low) * 1e-6 <= mean <= high + abs(high) * 1e-6
    assert {n: (min(v), max(v), read[n]) for n, v in found.items()} == {n: (min(v), max(v), len(v)) for n, v in expected.items()}


def test_that_a_missing_reading_is_no_point_and_no_zero(desk):
    desk.write(lambda db: samples.append_blocks(db, [block(0, 1.0, float("nan"), 3.0)]))
    assert drawn(read(desk, 0, 3).stretches[0]) == [(0, 1.0, 1.0), (2, 3.0, 3.0)]


def test_that_a_block_written_again_is_not_doubled(desk):
    desk.write(lambda db: samples.append_blocks(db, [block(0, 1.0)]))
    desk.write(lambda db: samples.append_blocks(db, [block(0, 2.0, 3.0)]))
    assert drawn(read(desk, 0, 3).stretches[0]) == [(0, 2.0, 2.0), (1, 3.0, 3.0)]


def test_that_gaps_of_the_metric_and_of_the_node_are_told_with_their_reason(desk):
    whole = Gap("n1", START, START + 3 * S, "connection_lost")
    power = Gap("n1", START + 4 * S, START + 5 * S, "tool_missing", "gpu.power_w")
    for gap in (whole, power, Gap("n1", START, START + S, "denied", "gpu.temp_c"), Gap("n1", START + 9 * S, START + 10 * S, "x")):
        desk.write(lambda db, gap=gap: samples.append_gap(db, gap))
    assert read(desk, 2, 9).gaps == (whole, power)


def test_that_an_empty_range_is_refused(desk):
    with pytest.raises(ValueError, match="empty"):
        read(desk, 3, 3)


def test_that_samples_of_an_unknown_node_are_refused_as_a_whole(desk):
    stray = block(0, 1.0, series=Series("n9", "gpu.power_w"))
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        desk.write(lambda db: samples.append_blocks(db, [block(0, 1.0), stray]))
    assert desk.rows("SELECT count(*) FROM sample_series") == [(0,)]


def test_that_marks_come_back_in_their_time(desk):
    first = Mark("m1", "n1", desk.noon, "run_started", "", "r1")
    second = Mark("m2", "n1", desk.noon + timedelta(minutes=1), "connection_lost", "reset by peer")
    desk.write(lambda db: samples.save_mark(db, second))
    desk.write(lambda db: samples.save_mark(db, first))
    with desk.workspace.read() as connection:
        assert samples.list_marks(connection, "n1", desk.noon, desk.noon + timedelta(hours=1)) == (first, second)
        assert samples.list_marks(connection, "n1", desk.noon, desk.noon) == (first,)
        assert samples.list_marks(connection, "n2", desk.noon, desk.noon + timedelta(hours=1)) == ()
