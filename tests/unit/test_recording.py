"""Are the blocks of the store exactly what was sampled?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.services.recording import BLOCK_S, MOST_AHEAD, Recorder, slots
from gpulease_gui.store.records import SampleBlock, Series
from gpulease_gui.telemetry.row import Form, Row
from gpulease_gui.telemetry.source import metrics

POWER = "gpu.power_w"


FORM = Form(((POWER, "GPU-a"),))


def row(value: float | None) -> Row:
    return Row(FORM, [math.nan if value is None else value])


def block_of(samples: Sequence[tuple[float, float | None]], interval_s: float = 1.0) -> SampleBlock:
    recorder = Recorder("n1", interval_s, metrics())
    for at_s, value in samples:
        recorder.add(row(value), at_s)
    (block,) = recorder.take()
    return block


def shown(block: SampleBlock) -> list[float | None]:
    return [None if math.isnan(value) else value for value in block.values]


def test_that_a_block_names_series_unit_start_and_step() -> None:
    block = block_of([(100.0, 698.5), (101.0, 701.25)])
    assert block.series == Series("n1", POWER, "GPU-a", "W")
    assert (block.start_ns, block.step_ns) == (100_000_000_000, 1_000_000_000)
    assert shown(block) == [698.5, 701.25]


def test_that_a_missing_second_and_a_missing_value_are_empty_slots() -> None:
    assert shown(block_of([(100.0, 1.0), (102.1, 2.0), (103.0, None), (104.0, 4.0)])) == [1.0, None, 2.0, None, 4.0]


def test_that_samples_that_come_late_together_lie_where_they_were_taken() -> None:
    late = [(100.0, 0.0), (105.0, 1.0), (105.01, 2.0), (105.02, 3.0), (105.03, 4.0), (106.0, 6.0)]
    assert shown(block_of(late)) == [0.0, None, 1.0, 2.0, 3.0, 4.0, 6.0]


def test_that_jitter_loses_no_sample() -> None:
    assert shown(block_of([(100.0, 1.0), (101.6, 2.0), (102.4, 3.0)])) == [1.0, 2.0, 3.0]


def test_that_a_clock_that_was_set_back_writes_over_nothing() -> None:
    assert shown(block_of([(100.0, 1.0), (101.0, 2.0), (40.0, 3.0), (41.0, 4.0)])) == [1.0, 2.0, 3.0, 4.0]


@given(st.lists(st.floats(0, 1000), min_size=1, max_size=40), st.sampled_from([0.1, 1.0, 60.0]), st.integers(0, 12))
def test_that_every_sample_has_a_slot_of_its_own_in_order_and_none_in_a_time_to_come(ages: list[float], step_s: float, room: int) -> None:
    places = slots(ages, step_s, room)
    assert places[0] >= -room and all(a < b for a, b in zip(places, places[1:], strict=False))
    came = [max(round(age / step_s) for age in ages[: n + 1]) for n in range(len(ages))]
    for place, slot in zip(places, came[len(ages) - len(places) :], strict=True):
        assert place <= slot + MOST_AHEAD


def test_that_a_node_that_floods_us_writes_nothing_into_the_time_to_come() -> None:
    flood = [(100.0, 1.0), (101.0, 2.0), *((102.0, 700.0) for _ in range(8000)), (103.0, 300.0), (104.0, 301.0)]
    block = block_of(flood)
    assert block.start_ns == 100_000_000_000 and len(block.values) <= 5 + MOST_AHEAD
    assert shown(block)[-2:] == [300.0, 301.0]


def test_that_it_is_told_of_which_metrics_a_flood_left_readings_out_and_of_a_few_that_came_late_it_is_not() -> None:
    recorder = Recorder("n1", 1.0, metrics())
    for flood in (range(6), range(3000)):
        for value in flood:
            recorder.add(row(float(value)), 100.0 + value / 500)
        recorder.take()
        told = recorder.floods()
        assert told == ({"gpu.power_w": (100.0, 105.998)} if len(flood) > 6 else {}) and recorder.floods() == {}


def test_that_what_a_stalled_line_delivers_at_the_start_of_a_block_lies_in_the_seconds_of_the_stall() -> None:
    recorder = Recorder("n1", 1.0, metrics())
    for second in range(10):
        recorder.add(row(float(second)), 100.0 + second)
    recorder.take()
    for value in range(10, 14):  # of 110, 111, 112 and 113, all at once
        recorder.add(row(float(value)), 113.0 + value / 1000)
    recorder.add(row(14.0), 114.0)
    (block,) = recorder.take()
    assert (block.start_ns // 1_000_000_000, shown(block)) == (110, [10.0, 11.0, 12.0, 13.0, 14.0])


def test_that_of_more_samples_than_there_was_time_for_the_newest_are_kept() -> None:
    assert shown(block_of([(100.0, float(value)) for value in range(10)] + [(101.0, 10.0)])) == [6.0, 7.0, 8.0, 9.0, 10.0]


@given(st.integers(1, 30), st.lists(st.floats(-0.4, 0.4), min_size=30, max_size=30))
def test_that_steady_samples_lie_one_a_slot_whatever_the_jitter(count: int, jitter: list[float]) -> None:
    ages = [0.0] + [n + jitter[n] for n in range(1, count)]
    assert slots(ages, 1.0) == list(range(count))


def test_that_a_block_is_due_after_ten_seconds_and_then_begins_anew() -> None:
    recorder = Recorder("n1", 1.0, metrics())
    recorder.add(row(1.0), 100.0)
    assert not recorder.due(100.0 + BLOCK_S - 0.1)
    assert recorder.due(100.0 + BLOCK_S)
    recorder.take()
    assert not recorder.due(200.0)
    assert recorder.take() == ()


def test_that_an_unknown_metric_is_kept_without_a_unit() -> None:
    recorder = Recorder("n1", 1.0, metrics())
    recorder.add(Row(Form((("made.up", ""),)), [2.0]), 1.0)
    assert recorder.take()[0].series.unit == ""


def test_that_a_curve_of_lines_of_two_forms_is_one_block_in_the_order_in_which_they_came() -> None:
    both, alone = Form(((POWER, "GPU-a"), ("gpu.processes", "GPU-a"))), Form(((POWER, "GPU-a"),))
    recorder = Recorder("n1", 1.0, metrics())
    for second in range(6):
        recorder.add(Row(alone, [float(second)]) if second % 3 else Row(both, [float(second), 10.0 + second]), 100.0 + second)
    power, processes = sorted(recorder.take(), key=lambda block: block.series.metric)
    assert (power.series.metric, shown(power)) == (POWER, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    assert (processes.series.metric, shown(processes)) == ("gpu.processes", [10.0, None, None, 13.0])


def test_that_several_xids_of_one_second_are_stored_in_that_second() -> None:
    recorder = Recorder("n1", 1.0, metrics())
    told = Form(((POWER, "GPU-a"), ("gpu.xid", "GPU-a")))
    alone, powered = Form((("gpu.xid", "GPU-a"),)), Form(((POWER, "GPU-a"),))
    for second in range(5):
        recorder.add(Row(powered, [500.0]), 100.0 + second)
    for xid in (31.0, 45.0, 63.0):
        recorder.add(Row(alone, [xid]), 105.0)
    recorder.add(Row(told, [500.0, 79.0]), 105.0)
    recorder.add(Row(told, [500.0, 48.0]), 106.0)
    blocks = recorder.take()
    xids = [(block.start_ns / 1e9, block.step_ns, shown(block)) for block in blocks if block.series.metric == "gpu.xid"]
    assert xids == [(105.0, 10**9, [31.0]), (105.001, 10**9, [45.0]), (105.002, 10**9, [63.0]), (105.003, 10**9, [79.0]), (106.0, 10**9, [48.0])]
    assert [shown(block) for block in blocks if block.series.metric == POWER] == [[500.0] * 7]
