"""Telemetry lines become points, and nothing is invented where a line says nothing."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import signal
import subprocess
import threading
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.telemetry.gpu import number as gpu_number
from gpulease_gui.telemetry.row import Row, RowReader
from gpulease_gui.telemetry.source import RECORD_END, LastingReader, LineReader, Point, metrics, sources
from tests.standin.build import build_smi
from tests.standin.machine import machine_texts

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


@pytest.mark.parametrize("fallen", ["cpu 130 0 110 860 37 0 0 10", "cpu 130 0 110 797 100 0 0 10"])
def test_that_idle_time_that_the_kernel_takes_back_leaves_the_share_of_the_processors(fallen: str) -> None:
    read, memory = reader("host"), ["MemTotal: 2097152 kB", "MemAvailable: 1048576 kB"]
    read.read(sample(1.0, "cpu 100 0 100 800 40 0 0 0", *memory))
    points = values(read.read(sample(2.0, fallen, *memory)))
    assert (points[("cpu.util_percent", "")], points[("cpu.steal_percent", "")]) == (pytest.approx(100 * 50 / 110), pytest.approx(100 * 10 / 110))


@pytest.mark.parametrize("anew", ["cpu 1 0 1 8 0 0 0 0", "cpu 130 0 110 860 40 0 0 0", "cpu 110 0 110 300 40 0 0 9", "cpu 90 0 110 860 40 0 0 9"])
def test_that_counters_of_processors_that_were_set_anew_are_a_gap(anew: str) -> None:
    read, memory = reader("host"), ["MemTotal: 2097152 kB", "MemAvailable: 1048576 kB"]
    read.read(sample(1.0, "cpu 100 0 100 800 40 0 0 5", *memory))
    points = values(read.read(sample(2.0, anew, *memory)))
    assert points[("cpu.util_percent", "")] is None and points[("cpu.steal_percent", "")] is None and points[("ram.used_gib", "")] == 1.0


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


MORE = f"{{}}, {UUID}, 97, 41, 71680, 688.41, 63, 1755, 2619, 0x4, {{}}, 700.00, {{}}"


def test_that_a_longer_row_of_nvidia_smi_tells_the_limit_the_memory_and_what_the_error_counters_rose_by() -> None:
    read = reader("gpu")
    first = values(read.read(MORE.format(0, "00000000:1A:00.0", "[N/A]") + ", 7, 0"))
    assert first["gpu.power_limit_w", UUID] == 700 and first["gpu.power_w", UUID] == 688.41
    assert not {"gpu.temperature_memory_c", "gpu.ecc_corrected"} & {metric for metric, _ in first}, "what was never told makes no curve"
    later = values(read.read(MORE.format(0, "00000000:1A:00.0", "71") + ", 12, 0"))
    assert [later[metric, UUID] for metric in ("gpu.temperature_memory_c", "gpu.ecc_corrected", "gpu.ecc_uncorrected")] == [71, 5, 0]
    gone = read.read(MORE.format(0, "00000000:1A:00.0", "71").replace(" 97,", " [GPU is lost],") + ", 12, 0")
    assert {(point.value, point.lost) for point in gone} == {(None, "GPU is lost")} and len(gone) == 12


def test_that_rows_of_two_cards_with_one_uuid_are_kept_apart_by_their_bus_address() -> None:
    read, names = reader("gpu"), []
    for index, bus in ((0, "00000000:1A:00.0"), (1, "00000000:3D:00.0"), (0, "00000000:1A:00.0"), (1, "00000000:3D:00.0")):
        points = read.read(MORE.format(index, bus, "71"))
        names.append({(point.subject, point.index) for point in points if point.subject})
        assert not any(point.lost for point in points)
    assert names == [{(UUID, 0)}, {(f"{UUID}/00000000:3D:00.0", 1)}] * 2


@pytest.mark.parametrize(("metric", "cells", "name", "said"), [
    ("gpu.temperature_c", "97, 41, 71680, 688.41, 1000000, 1755, 2619, 0x4", "temperature_c", 1_000_000),
    ("gpu.util_percent", "65535, 41, 71680, 688.41, 63, 1755, 2619, 0x4", "util_percent", 65535),
    ("gpu.power_w", "97, 41, 71680, 4294967.29, 63, 1755, 2619, 0x4", "power_w", 4294967.29),
    ("gpu.clock_sm_mhz", "97, 41, 71680, 688.41, 63, 4294967295, 2619, 0x4", "clock_sm_mhz", 2**32 - 1),
    ("gpu.memory_used_gib", "97, 41, 17592186044416, 688.41, 63, 1755, 2619, 0x4", "memory_used_mib", 2**44),
])  # fmt: skip
def test_that_a_figure_that_no_card_can_have_is_no_value_and_says_why(metric: str, cells: str, name: str, said: float) -> None:
    good = f"0, {UUID}, 97, 41, 71680, 688.41, 63, 1755, 2619, 0x4"
    line: dict[str, object] = {"index": 0, "uuid": UUID, "util_percent": 97, "power_w": 688.41, "temperature_c": 63, "clock_sm_mhz": 1755,
                               "memory_used_mib": 71680, "counters": {"at_s": 1.0, "ecc_corrected": 0}}  # fmt: skip
    for before, odd in ((good, f"0, {UUID}, {cells}"), (json.dumps(line), json.dumps({**line, name: said, "counters": {"at_s": 2.0, "ecc_corrected": 0}}))):
        source = sources()["gpu"].reader()
        assert isinstance(source, RowReader)
        source.look(before)
        points = source.look(odd)
        assert not isinstance(points, Row)
        assert {(point.metric, point.value, point.why) for point in points if point.why or point.value is None} == {(metric, None, "impossible_figure")}
        assert point_value(source.look(before.replace('"at_s": 1.0', '"at_s": 3.0')), metric) is not None


@pytest.mark.parametrize(("said", "why"), [
    ("1e9", "impossible_figure"), ("NaN", "impossible_figure"), ("-1", "impossible_figure"), ("Infinity", "impossible_figure"),
    ("null", None), (str(2**64 - 1), None), ('"412"', None),
])  # fmt: skip
def test_that_an_impossible_figure_of_the_first_line_of_all_says_why_and_one_that_was_not_told_makes_no_curve(said: str, why: str | None) -> None:
    points = reader("gpu").read(f'{{"index": 0, "uuid": "{UUID}", "util_percent": 97, "power_w": {said}}}')
    assert [(point.value, point.why) for point in points if point.metric == "gpu.power_w"] == ([] if why is None else [(None, why)])
    assert [(point.metric, point.value) for point in points if point.value is not None] == [("gpu.util_percent", 97)]


def test_that_a_cell_with_all_bits_set_says_that_there_is_none() -> None:
    assert gpu_number("0xffffffffffffffff") is None and gpu_number(str(2**64 - 1)) is None


@pytest.mark.parametrize("watts", ["1e9", "nan", "-1", "inf", "1e308", "1e20", "100000000000000000000", "0x" + "f" * 400])
def test_that_an_impossible_cell_of_the_first_row_of_all_says_why(watts: str) -> None:
    points = reader("gpu").read(f"0, {UUID}, 97, 41, 71680, {watts}, 63, 1755, 2619, 0x4")
    assert {point.metric: point.why for point in points if point.value is None} == {"gpu.power_w": "impossible_figure", "gpu.xid": "unheard"}


def point_value(told: Row | tuple[Point, ...], metric: str) -> float | None:
    points = [Point(*key, value) for key, value in zip(told.form.keys, told.values, strict=True)] if isinstance(told, Row) else told
    return next(point.value for point in points if point.metric == metric)


@pytest.mark.parametrize("disk", ["mmcblk0", "nbd3", "rbd0", "bcache0", "pmem0", "dasda", "zd16", "cciss/c0d0", "sda", "vdb", "xvda1", "dm-12", "md127", "nvme10n1"])
def test_that_a_whole_disk_of_any_kind_is_counted_and_its_partition_is_not(disk: str) -> None:
    read = reader("disk")
    part = disk + ("p" if disk[-1].isdigit() else "") + "12"
    rows = ["253 1 dm-1 1 0 8 0 1 0 8 0", *(f"{7} {0} {name} 1 0 {{0}} 0 1 0 {{0}} 0" for name in (disk, part, "loop0", "ram1", "zram0", "sr0"))]
    read.read(sample(10.0, *[row.format(8) for row in rows]))
    points = values(read.read(sample(11.0, *[row.format(1_000_008) for row in rows])))
    assert points == {
        ("disk.read_mb_s", disk): 512.0, ("disk.write_mb_s", disk): 512.0, ("disk.read_mb_s", "dm-1"): 0.0, ("disk.write_mb_s", "dm-1"): 0.0,
    }  # fmt: skip


def test_that_a_network_disk_that_is_not_connected_is_none() -> None:
    read = reader("disk")
    assert values(read.read(sample(1.0, "43 0 nbd0 0 0 0 0 0 0 0 0", "8 0 sda 1 0 8 0 1 0 8 0"))).keys() == {("disk.read_mb_s", "sda"), ("disk.write_mb_s", "sda")}


def npus(*chips: tuple[int, str, str]) -> str:
    """The table of these (number, bus address, degrees)."""
    rule = "+" + "-" * 27 + "+" + "-" * 15 + "+" + "-" * 52 + "+"
    rows = [f"| npu-smi 23.0.0                   Version: 21.0.2{'':<48}|", rule,
            f"| {'NPU   Name':<26}| {'Health':<14}| {'Power(W)    Temp(C)':<51}|", f"| {'Chip':<26}| {'Bus-Id':<14}| {'AICore(%)   Memory-Usage(MB)':<51}|", rule]  # fmt: skip
    for number, bus, heat in chips:
        rows += [f"| {number:<5} {'910B2':<20}| {'OK':<14}| {'100':<11} {heat:<39}|", f"| {0:<26}| {bus:<14}| {'50':<11} {'0    / 0':<39}|", rule]
    return RECORD_END.join([*rows, ""])


def test_that_chips_that_change_their_numbers_keep_their_names_by_the_bus_address() -> None:
    read = reader("npu")

    def heats(line: str) -> dict[str, float | None]:
        return {subject: value for (metric, subject), value in values(read.read(line)).items() if metric == "npu.temperature_c"}

    assert heats(npus((0, "0000:C1:00.0", "41"), (1, "0000:C2:00.0", "42"))) == {"0/0": 41, "1/0": 42}
    assert heats(npus((0, "0000:C2:00.0", "43"), (1, "0000:C1:00.0", "44"))) == {"0/0": 44, "1/0": 43}
    assert heats(npus((0, "0000:C2:00.0", "43"), (1, "0000:C3:00.0", "45"))) == {"0/0": None, "1/0": 43, "1@0000:C3:00.0/0": 45}
    assert heats(npus((0, "NA", "46"), (1, "NA", "47"))) == {"0/0": 46, "1/0": 47, "1@0000:C3:00.0/0": None}


def test_that_a_chip_with_another_number_after_a_reconnect_is_the_same_chip() -> None:
    first = reader("npu")
    first.read(npus((0, "0000:9D:00.0", "40"), (1, "0000:C1:00.0", "50"), (2, "0000:D1:00.0", "60")))
    assert isinstance(first, LastingReader)
    points = values(first.renewed().read(npus((0, "0000:C1:00.0", "50"), (1, "0000:D1:00.0", "60"))))
    assert {subject: value for (metric, subject), value in points.items() if metric == "npu.temperature_c"} == {"1/0": 50, "2/0": 60}


@pytest.mark.parametrize("heat", ["0", "151", "1000000"])
def test_that_a_chip_can_not_have_such_a_temperature(heat: str) -> None:
    points = reader("npu").read(npus((0, "0000:C1:00.0", heat)))
    assert [(point.value, point.why) for point in points if point.metric == "npu.temperature_c"] == [(None, "impossible_figure")]


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


def run_source(id_: str, folder: Path, interval_ms: int, seconds: float = 60.0) -> Generator[str]:
    """The lines of a source's script beside the tools and the PCI devices of a folder; it is ended when nobody reads on."""
    script = sources()[id_].script.replace("/sys/bus/pci/devices", str(folder / "bus"))
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "GPULEASE_TMP": str(folder), "GPULEASE_INTERVAL": f"{interval_ms / 1000:g}",
                   "GPULEASE_INTERVAL_MS": str(interval_ms)}  # fmt: skip
    with subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True) as running:
        alarm = threading.Timer(seconds, lambda: os.killpg(running.pid, signal.SIGKILL))
        alarm.start()
        assert running.stdout is not None
        try:
            yield from (line.rstrip("\n") for line in running.stdout)
        finally:
            alarm.cancel()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)


@pytest.mark.parametrize(("interval_ms", "columns"), [(1000, 15), (100, 13)])
def test_that_the_script_asks_nvidia_smi_for_what_it_knows_and_for_slow_counters_once_a_second(interval_ms: int, columns: int, tmp_path: Path) -> None:
    build_smi(machine_texts(), tmp_path / "nvidia-smi")
    lines = run_source("gpu", tmp_path, interval_ms)
    read = reader("gpu")
    told = [read.read(next(lines)) for _ in range(16)]
    lines.close()
    metrics_told = {point.metric for point in told[-1]}
    assert len({points[-1].subject for points in told}) == 8 and "gpu.power_limit_w" in metrics_told and "gpu.temperature_memory_c" in metrics_told
    assert ("gpu.ecc_corrected" in metrics_told) == (columns == 15)


# The pause after a tool is over once that is gone; a minute of silence passes once somebody says that the tool hangs.
SLEEP = """#!/bin/sh
case $1 in
  2) rm -f {0}/hangs; while kill -0 "$(cat {0}/gpu.pid)"; do /bin/sleep 0.01; done 2>/dev/null ;;
  *) until [ -e {0}/hangs ]; do /bin/sleep 0.01; done ;;
esac
"""


def smi(folder: Path, script: str) -> None:
    (folder / "nvidia-smi").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "sleep").write_text(SLEEP.format(folder))
    for name in ("nvidia-smi", "sleep"):
        (folder / name).chmod(0o755)


def test_that_an_older_nvidia_smi_is_asked_for_what_it_knows(tmp_path: Path) -> None:
    smi(tmp_path, 'case $1 in --help*) echo \'"pci.bus_id"\';; *) echo "$1";; esac')
    lines = run_source("gpu", tmp_path, 1000)
    asked = "--query-gpu=index,uuid,utilization.gpu,utilization.memory,memory.used,power.draw,temperature.gpu,clocks.sm,clocks.mem,clocks_throttle_reasons.active"
    assert list(itertools.islice(lines, 4)) == [asked, "! nvidia-smi ended"] * 2, "what ended is begun again"
    lines.close()


@pytest.mark.parametrize("hangs", ["exec /bin/sleep 60", "/bin/sleep 60 & wait", "sh -c '/bin/sleep 60 & wait' & wait"])
def test_that_an_nvidia_smi_that_hangs_is_ended_with_what_it_started_said_and_asked_again(hangs: str, tmp_path: Path) -> None:
    smi(tmp_path, (
        f'case $1 in --help*) exit;; esac\necho x >> {tmp_path}/calls\n[ $(wc -l < {tmp_path}/calls) = 1 ] || {{ echo back; rm "$0"; exit; }}\n'
        f"echo row\n{hangs}"
    ))  # fmt: skip
    lines, silent = run_source("gpu", tmp_path, 100), "! the NVIDIA driver does not answer"
    assert next(lines) == "row"
    (tmp_path / "hangs").touch()
    assert list(lines) == [silent, "back", "! nvidia-smi ended", "! nvidia-smi is not installed on the node"]


def test_that_an_nvidia_smi_that_hangs_from_the_first_call_on_is_said(tmp_path: Path) -> None:
    smi(tmp_path, f'echo x >> {tmp_path}/calls; [ $(wc -l < {tmp_path}/calls) -lt 3 ] || rm "$0"; true > {tmp_path}/hangs; exec /bin/sleep 60')
    silent = "! the NVIDIA driver does not answer"
    assert list(run_source("gpu", tmp_path, 100)) == [silent, silent, silent, "! nvidia-smi is not installed on the node"]


def pci(folder: Path, *devices: str) -> None:
    for number, device in enumerate(devices):
        (folder / "bus" / str(number)).mkdir(parents=True)
        for name, word in zip(("vendor", "class"), device.split(), strict=True):
            (folder / "bus" / str(number) / name).write_text(f"{word}\n")


def test_that_a_card_that_is_on_no_bus_is_there_when_nvidia_smi_told_of_it(tmp_path: Path) -> None:
    pci(tmp_path, "0x1a03 0x030000")
    smi(tmp_path, f"echo '0, {UUID}, 97'")
    lines = run_source("gpu", tmp_path, 1000)
    assert list(itertools.islice(lines, 2)) == [f"0, {UUID}, 97", "! nvidia-smi ended"]
    lines.close()


@pytest.mark.parametrize(("devices", "said"), [
    (("0x10de 0x030200", "0x10de 0x030000", "0x10de 0x068000"), "the NVIDIA driver shows none of 2 NVIDIA GPUs on the PCI bus"),
    (("0x10de 0x068000", "0x1a03 0x030000"), "no NVIDIA GPU on the node"), ((), "the NVIDIA driver shows no GPU"),
])  # fmt: skip
def test_that_an_nvidia_smi_that_finds_no_devices_is_judged_by_what_the_bus_lists(devices: tuple[str, ...], said: str, tmp_path: Path) -> None:
    pci(tmp_path, *devices)
    smi(tmp_path, "echo 'No devices were found'; exit 6")
    lines = run_source("gpu", tmp_path, 1000)
    assert next(lines) == f"! {said}"
    lines.close()


def test_that_the_interval_runs_while_the_script_works(tmp_path: Path) -> None:
    """A tool that takes 300 of 400 ms leaves 100 to wait for."""
    (tmp_path / "cat").write_text("#!/bin/sh\nsleep 0.3\nexec /bin/cat \"$@\"\n")
    (tmp_path / "cat").chmod(0o755)
    lines = run_source("disk", tmp_path, 400)
    at_s = [float(next(lines).split(" ", 1)[0]) for _ in range(6)]
    lines.close()
    steps = sorted(after - before for before, after in itertools.pairwise(at_s))
    assert steps[len(steps) // 2] < 0.6


def test_that_a_flood_of_npu_smi_is_no_table_and_fills_no_disk(tmp_path: Path) -> None:
    (tmp_path / "npu-smi").write_text("#!/bin/sh\nexec yes table\n")
    (tmp_path / "npu-smi").chmod(0o755)
    (tmp_path / "sleep").write_text("#!/bin/sh\n")
    (tmp_path / "sleep").chmod(0o755)
    lines = run_source("npu", tmp_path, 1000)
    assert next(lines) == "! npu-smi does not answer" and (tmp_path / "npu").stat().st_size <= 60_000
    lines.close()
