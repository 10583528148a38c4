"""Telemetry lines become points, and nothing is invented where a line says nothing."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.telemetry.source import RECORD_END, LineReader, Point, metrics, sources

UUID = "GPU-5d1f0c5e-77aa-4f0e-9d0b-3a6f2f9b1c01"


def reader(id_: str) -> LineReader:
    return sources()[id_].reader()


def sample(uptime_s: float, *rows: str) -> str:
    return RECORD_END.join([f"{uptime_s} 1.0", *rows]) + RECORD_END


def values(points: tuple[Point, ...]) -> dict[tuple[str, str], float | None]:
    return {(p.metric, p.subject): p.value for p in points}


def test_that_a_gpu_line_is_read_by_uuid_in_the_units_of_the_metrics() -> None:
    points = values(reader("gpu").read(f"3, {UUID}, 97, 41, 71680, 688.41, 63, 1755, 2619, 0x0000000000000004"))
    assert points[("gpu.util_percent", UUID)] == 97
    assert points[("gpu.memory_used_gib", UUID)] == 70
    assert points[("gpu.power_w", UUID)] == 688.41
    assert points[("gpu.event_reasons", UUID)] == 4


@pytest.mark.parametrize("cell", ["[N/A]", "N/A", "[Not Supported]", "[Unknown Error]", "ERR!", "", "[GPU is lost]"])
def test_that_no_spelling_of_not_available_becomes_a_zero(cell: str) -> None:
    points = values(reader("gpu").read(f"0, {UUID}, {cell}, {cell}, {cell}, {cell}, {cell}, {cell}, {cell}, {cell}"))
    assert set(points.values()) == {None}


@pytest.mark.parametrize("line", ["", "Unable to determine the device handle for GPU 0000:1A:00.0: Unknown Error", "0, x, 1"])
def test_that_words_in_place_of_a_gpu_line_are_no_sample(line: str) -> None:
    with pytest.raises(Unreadable):
        reader("gpu").read(line)


def test_that_interface_counters_become_gigabits_per_second() -> None:
    read = reader("network")
    before = "  eth2: 1000000000 0 0 0 0 0 0 0 500000000 0 0 0 0 0 0 0"
    after = "  eth2: 4000000000 0 0 0 0 0 0 0 500000000 0 0 0 0 0 0 0"
    head = "Inter-|   Receive |  Transmit"
    assert set(values(read.read(sample(100.0, head, before))).values()) == {None}
    points = values(read.read(sample(102.0, head, after)))
    assert points == {("net.rx_gbit_s", "eth2"): 12.0, ("net.tx_gbit_s", "eth2"): 0.0}


def test_that_a_counter_reset_is_a_gap_and_not_a_rate() -> None:
    read = reader("network")
    for uptime_s, counter in ((1.0, 9_000), (2.0, 50)):
        points = values(read.read(sample(uptime_s, f"eth0: {counter} 0 0 0 0 0 0 0 {counter} 0")))
    assert points[("net.rx_gbit_s", "eth0")] is None


def test_that_partitions_are_not_counted_beside_their_disk() -> None:
    read = reader("disk")
    rows = ["259 0 nvme0n1 1 0 {0} 0 1 0 {1} 0", "259 1 nvme0n1p1 1 0 {0} 0 1 0 {1} 0", "7 0 loop0 1 0 {0} 0 1 0 {1} 0"]
    read.read(sample(10.0, *[row.format(0, 0) for row in rows]))
    points = values(read.read(sample(11.0, *[row.format(2_000_000, 1_000_000) for row in rows])))
    assert points == {("disk.read_mb_s", "nvme0n1"): 1024.0, ("disk.write_mb_s", "nvme0n1"): 512.0}


def test_that_stolen_time_is_told_apart_from_busy_time() -> None:
    read = reader("host")
    memory = ["MemTotal: 2097152 kB", "MemFree: 1 kB", "MemAvailable: 1048576 kB"]
    first = values(read.read(sample(1.0, "cpu 100 0 100 800 0 0 0 0", *memory)))
    assert first[("cpu.util_percent", "")] is None and first[("ram.used_gib", "")] == 1.0
    points = values(read.read(sample(2.0, "cpu 120 0 100 870 0 0 0 10", *memory)))
    assert points[("cpu.util_percent", "")] == 30.0
    assert points[("cpu.steal_percent", "")] == 10.0


def test_that_each_metric_belongs_to_one_source_and_says_its_unit() -> None:
    ids = [metric.id for source in sources().values() for metric in source.metrics]
    assert len(ids) == len(set(ids)) == len(metrics())
    assert all(metric.unit or metric.lane in ("events", "task_loss") for metric in metrics().values())


OTHER = "GPU-5d1f0c5e-77aa-4f0e-9d0b-3a6f2f9b1c02"
CARD: dict[str, object] = {"index": 0, "uuid": UUID, "power_w": 412.5, "counters": {"at_s": 10.0, "nvlink_tx_kib": 1000}}


def test_that_a_renamed_interface_ends_its_curve_once_and_begins_another() -> None:
    read = reader("network")
    row = "{}: {} 0 0 0 0 0 0 0 {} 0"
    read.read(sample(1.0, row.format("eth0", 0, 0)))
    read.read(sample(2.0, row.format("eth0", 10**9, 0)))
    points = values(read.read(sample(3.0, row.format("ens3", 2 * 10**9, 0))))
    assert points == dict.fromkeys([("net.rx_gbit_s", "ens3"), ("net.tx_gbit_s", "ens3"), ("net.rx_gbit_s", "eth0"), ("net.tx_gbit_s", "eth0")])
    assert {subject for _, subject in values(read.read(sample(4.0, row.format("ens3", 3 * 10**9, 0))))} == {"ens3"}


@pytest.mark.parametrize("counters", [(2**32 - 10, 10), (9_000, 0)])
def test_that_a_wrapped_counter_of_the_agent_is_a_gap_and_the_next_sample_a_rate(counters: tuple[int, int]) -> None:
    read = reader("gpu")
    for at_s, counter in enumerate((*counters, counters[1] + 10**6)):
        points = values(read.read(json.dumps({**CARD, "counters": {"at_s": float(at_s), "nvlink_tx_kib": counter, "ecc_corrected": counter}})))
        if at_s == 1:
            assert points.get(("gpu.nvlink_tx_gb_s", UUID)) is None and points.get(("gpu.ecc_corrected", UUID)) is None
    assert points[("gpu.nvlink_tx_gb_s", UUID)] == pytest.approx(1.024)
    assert points[("gpu.ecc_corrected", UUID)] == 10**6


def test_that_a_counter_whose_bits_are_all_set_is_no_value_and_brings_no_errors() -> None:
    read = reader("gpu")
    told = []
    for at_s, counter in enumerate([7, 7, 2**64 - 1, 7, 9]):
        line = json.dumps({**CARD, "counters": {"at_s": float(at_s), "nvlink_tx_kib": 5000, "ecc_corrected": counter}})
        told.append(values(read.read(line)).get(("gpu.ecc_corrected", UUID)))
    assert told == [None, 0.0, None, 0.0, 2.0]


def test_that_a_row_with_a_figure_beyond_all_bounds_has_no_such_figure() -> None:
    points = values(reader("gpu").read(f"0, {UUID}, 97, 41, 71680, 1e39, 63, 1755, 2619, 0xFFFFFFFFFFFFFFFF"))
    assert (points["gpu.power_w", UUID], points["gpu.event_reasons", UUID], points["gpu.util_percent", UUID]) == (None, None, 97.0)


@pytest.mark.parametrize("later_s", [9.0, 10.0, -1.0])
def test_that_a_clock_of_the_node_that_goes_back_is_no_rate(later_s: float) -> None:
    read = reader("gpu")
    read.read(json.dumps(CARD))
    points = values(read.read(json.dumps({**CARD, "counters": {"at_s": later_s, "nvlink_tx_kib": 5000}})))
    assert points == {("gpu.power_w", UUID): 412.5}


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "-1", "true", "null", '"412"', "[412]", "1e999", "9" * 400, "1e39", str(2**64 - 1)])
def test_that_what_is_no_figure_is_no_value(value: str) -> None:
    read = reader("gpu")
    read.read(json.dumps(CARD))
    points = values(read.read(f'{{"index": 0, "uuid": "{UUID}", "power_w": {value}, "counters": {value}, "xids": {value}}}'))
    assert {value for (metric, _), value in points.items() if metric != "gpu.xid"} == {None}
    assert not {value for (metric, _), value in points.items() if metric == "gpu.xid"} - {412.0}


@pytest.mark.parametrize("line", [
    "{", "{}", "[" * 60_000, "{\"a\":" * 20_000, '{"index": 0, "uuid": 7}', '{"index": true, "uuid": "GPU-1"}', '{"index": 0, "uuid": "<b>x</b>"}',
    '{"index": 0, "uuid": "' + "x" * 60_000 + '"}', '{"index": -1, "uuid": "GPU-1"}', '{"index": ' + "9" * 60_000 + "}",
])  # fmt: skip
def test_that_a_hostile_line_in_place_of_a_gpu_is_unreadable(line: str) -> None:
    with pytest.raises(Unreadable):
        reader("gpu").read(line)


@pytest.mark.parametrize("line", [json.dumps({**CARD, "uuid": "GPU-@"}), "0, GPU-@, 97, 41, 71680, 688.41, 63, 1755, 2619, 0x4"])
def test_that_a_node_can_not_invent_gpus_without_end(line: str) -> None:
    read = reader("gpu")
    for number in range(64):
        read.read(line.replace("@", str(number)))
    with pytest.raises(Unreadable):
        read.read(line.replace("@", "64"))


def test_that_a_lost_gpu_has_no_values_and_says_why() -> None:
    read = reader("gpu")
    read.read(json.dumps(CARD))
    points = read.read(json.dumps({"index": 0, "uuid": UUID, "lost": "GPU is lost\x1b[2J"}))
    assert [(p.metric, p.value, p.index) for p in points] == [("gpu.power_w", None, 0)]
    assert points[0].lost.startswith("GPU is lost") and "\x1b" not in points[0].lost


@pytest.mark.parametrize(("line", "why"), [
    (f"0, {UUID}, " + ", ".join(["[GPU requires reset]"] * 8), "GPU requires reset"),
    (f"0, {UUID}, " + ", ".join(["[Unknown Error]"] * 8), "it answers nothing"),
    (f"0, {UUID}, " + ", ".join(["[N/A]"] * 8), "it answers nothing"),
    (json.dumps({"index": 0, "uuid": UUID, "util_percent": None, "power_w": None, "temperature_c": None}), "it answers nothing"),
])  # fmt: skip
def test_that_a_card_of_which_nothing_can_be_read_is_lost_whatever_the_driver_calls_it(line: str, why: str) -> None:
    read = reader("gpu")
    read.read(f"0, {UUID}, 97, 41, 71680, 688.41, 63, 1755, 2619, 0x4")
    assert {(point.value, point.lost) for point in read.read(line)} == {(None, why)}


@pytest.mark.parametrize("line", [
    f"0, {UUID}, [N/A], [N/A], 71680, 688.41, 63, [N/A], [N/A], [N/A]",
    json.dumps({"index": 0, "uuid": UUID, "util_percent": None, "power_w": 688.41}),
    json.dumps({"index": 0, "uuid": UUID, "processes": None}),
])  # fmt: skip
def test_that_a_card_of_which_some_is_read_or_asked_is_there(line: str) -> None:
    assert not any(point.lost for point in reader("gpu").read(line))


def test_that_a_gpu_that_nvidia_smi_leaves_out_is_lost_and_the_others_keep_their_names() -> None:
    read, row = reader("gpu"), "{}, {}, 97, 41, 71680, 688.41, 63, 1755, 2619, 0x4"
    for index, uuid in ((0, UUID), (1, OTHER), (0, UUID), (1, OTHER)):
        assert not any(point.lost for point in read.read(row.format(index, uuid)))
    read.read(row.format(0, OTHER))
    points = read.read(row.format(0, OTHER))
    assert {point.subject for point in points if point.lost} == {UUID}
    assert {point.value for point in points if point.lost} == {None}
    assert {point.index for point in points if point.subject == OTHER} == {0}


def test_that_rdma_words_of_four_bytes_become_gigabits() -> None:
    read = reader("rdma")
    read.read(sample(10.0, "mlx5_0/1 0 0 5", "mlx5_1/1 0 0 -"))
    points = values(read.read(sample(12.0, "mlx5_0/1 2500000000 1250000000 7", "mlx5_1/1 0 0 -")))
    assert points == {
        ("rdma.rx_gbit_s", "mlx5_0/1"): 40.0, ("rdma.tx_gbit_s", "mlx5_0/1"): 20.0, ("rdma.errors", "mlx5_0/1"): 2.0,
        ("rdma.rx_gbit_s", "mlx5_1/1"): 0.0, ("rdma.tx_gbit_s", "mlx5_1/1"): 0.0,
    }  # fmt: skip


HUGE = "9" * 400


@pytest.mark.parametrize(
    ("id_", "line"),
    [
        ("network", sample(1.0, "eth0: ² 0 0 0 0 0 0 0 ² 0")), ("network", sample(1.0, f"eth0: {HUGE} 0 0 0 0 0 0 0 1 0")),
        ("disk", sample(1.0, "8 0 sda 1 1 ² 1 1 1 ² 1")), ("rdma", sample(1.0, "mlx5_0/1 ² ² -")),
        ("host", sample(1.0, "cpu 1 1 1 1 1 1 1 1", f"MemTotal: {HUGE} kB", "MemAvailable: 1 kB")), ("host", sample(1.0, f"cpu {HUGE} 1 1 1 1")),
        ("gpu", f"², {UUID}, 1, 2, 3, 4, 5, 6, 7, 0x0"), ("network", sample(float("nan"), "eth0: 1 0 0 0 0 0 0 0 1 0")),
    ],
)  # fmt: skip
def test_that_a_figure_that_is_no_counter_makes_its_line_unreadable(id_: str, line: str) -> None:
    with pytest.raises(Unreadable):
        reader(id_).read(line)


@pytest.mark.parametrize("cell", ["0x" + "f" * 400, "1e400", "nan", "-inf"])
def test_that_a_cell_that_is_no_finite_number_is_no_value(cell: str) -> None:
    points = values(reader("gpu").read(f"0, {UUID}, 1, 2, 3, 4, 5, 6, 7, {cell}"))
    assert points["gpu.event_reasons", UUID] is None and points["gpu.power_w", UUID] == 4


_WORD = st.one_of(
    st.text(max_size=6), st.sampled_from(["²", "٣", HUGE, "0x" + "f" * 400, "1e400", "nan", "-1", "", ",", "0", UUID, "eth0:", "sda", "cpu", "MemTotal:", "MemAvailable:", "{", '{"index":0}', RECORD_END]),
    st.integers().map(str), st.floats().map(str),
)  # fmt: skip
_LINE = st.tuples(st.sampled_from([" ", ",", RECORD_END]), st.lists(_WORD, max_size=14)).map(lambda one: one[0].join(one[1]))


@pytest.mark.parametrize("id_", sorted(sources()))
@given(st.lists(st.one_of(_LINE, _LINE.map(lambda line: f"1.5 1.0{RECORD_END}{line}")), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_that_no_line_breaks_a_reader(id_: str, lines: list[str]) -> None:
    read = reader(id_)
    for line in lines:
        try:
            points = read.read(line)
        except Unreadable:
            continue
        assert all(point.value is None or math.isfinite(point.value) for point in points)
