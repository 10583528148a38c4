"""Do all other readers end in a reading or in Unreadable, fast and small, and does a cut never invent, hide or excuse anything?"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.facts.fact import read, readers
from gpulease_gui.services.measure import MEASURES

from . import mutations
from .test_smi_parsers import KINDS as NVIDIA

FACTS = Path(__file__).parents[1] / "facts"
CPU_SECONDS = mutations.MOST_SECONDS  # per input of 16 KiB; a reader that backtracks takes some seconds, and hours at 8 MiB
MOST_BYTES = 16 * 1024

Told = Callable[[Any], set[Any]]


def topo_facts(reading: Any) -> set[Any]:
    places = {
        (p.gpu, name, p_value)
        for p in reading.places
        for name, p_value in (("cpu", p.cpu_affinity), ("numa", p.numa_affinity))
    }
    return set(reading.pairs) | set(reading.nic_links) | {place for place in places if place[2] is not None}


def fields(owner: Any, one: Any, *names: str) -> set[Any]:
    return {(owner, name, getattr(one, name)) for name in names if getattr(one, name) not in (None, ())}


CHIP = (
    "chip_id",
    "name",
    "health",
    "bus_id",
    "power_w",
    "temperature_c",
    "aicore_percent",
    "hbm_used_mb",
    "hbm_total_mb",
)
RUN = ("sent_gbit_s", "received_gbit_s", "retransmits", "udp_gbit_s", "lost_percent", "streams", "error", "reverse")

# Every reader that is not of NVIDIA's tools and not of our own measurements: those have files of their own.
OTHERS = sorted(set(readers()) - set(NVIDIA) - set(MEASURES))
MOST_CUTS = 60
# What grows with the text, or says how whole it is: a head of the text says less of it.
GROWING: dict[str, tuple[str, ...]] = {
    "clock_samples": ("samples", "rounds", "complete", "span_s", "masks"),
    "dmesg": ("lines", "first_stamp", "last_stamp", "cut_off", "xid_events", "xids_by_device", "xid_counts"),
    "fio_json": ("valid_json",),
    "ibstat": ("cas", "ports_active", "ports_down"),
    "ibv_devinfo": ("hcas", "ports_active"),
    "iperf3_json": ("valid_json", "intervals"),
    "iperf3_text": ("error",),
    "lsblk": ("total_devices", "cut_off"),
    "lspci": ("devices", "nvidia_gpus", "nvswitch_bridges", "mellanox_functions", "cut_off"),
    "mounts": ("largest",),
    "npu_smi": ("npus", "chips", "cut_off", "unhealthy", "process_count"),
    "train_log": ("form", "steps", "last_step", "first_loss", "last_loss", "rates", "faults", "lines", "cut_lines"),
}

# What a reading of each kind says, as a set: a part of an output may say less, never anything else.
TOLD: dict[str, Told] = {
    "topo": topo_facts,
    "nvlink": lambda r: {
        (gpu.index, gpu.name, link) for gpu in r.gpus for link in gpu.links if link.active is not None
    },
    "dmesg": lambda r: {(e.time, e.kind, e.bus_id, e.code) for e in r.events if e.code is not None},
    "npu_smi": lambda r: set().union(*(fields((n, c.npu_id), c, *CHIP) for n, c in enumerate(r.chips))),
    "iperf3_json": lambda r: fields("run", r, *RUN) | set(r.intervals),
    "fio_json": lambda r: set(r.jobs) | fields("fio", r, "version", "error_code"),
    "iperf3_text": lambda r: set(r.summaries) | {("run", "error") for _ in [0] if r.error},
    "nccl_tests": lambda r: set(r.rows) | fields("run", r, "average_gb_s", "out_of_bounds"),
    "nvbandwidth": lambda r: set(r.sums) | set(r.waived),
    "dcgmi": lambda r: {(t.name, t.results[0]) for t in r.tests} | fields("dcgm", r, "overall_health"),
    "ethtool": lambda r: fields(
        "link", r, "interface", "speed_mbit_s", "duplex", "port", "link_detected", "auto_negotiation"
    ),
    "ibstat": lambda r: set().union(
        *(fields((a.name, p.number), p, "state", "physical_state", "rate_gbit_s", "link_layer") for a, p in r.ports)
    ),
    "ibv_devinfo": lambda r: set().union(
        *(
            fields((d.name, p.number), p, "state", "active_mtu_bytes", "link_layer")
            for d in r.devices
            for p in d.ports or ()
        )
    ),
    "lspci": lambda r: {(d.slot, d.class_code, d.vendor_id, d.device_id) for d in r.devices if d.device_id},
    "lsblk": lambda r: set().union(
        *(fields(d.name, d, "type", "size_text", "model") | {(d.name, p) for p in d.mountpoints} for d in r.devices)
    ),
}
# What a kind tells of its own completeness; the other kinds have an end that their documents show.
COMPLETE: dict[str, Callable[[Any], bool]] = {
    "topo": lambda r: r.complete,
    "nvlink": lambda r: not r.cut_off,
    "dmesg": lambda r: not r.cut_off,
    "npu_smi": lambda r: not r.cut_off,
    "lspci": lambda r: not r.cut_off,
    "lsblk": lambda r: not r.cut_off,
}
SEEDS = {kind: [path.read_bytes() for path in sorted((FACTS / kind).glob("*.out"))] for kind in TOLD}


def reading_of(kind: str, raw: bytes, *, capped: bool = False) -> Any:
    """The reading, or what an Unreadable still says (None = nothing)."""
    try:
        return read(readers()[kind], CommandOutput(raw, stdout_cut=capped))
    except Unreadable as error:
        assert error.reason and error.code
        return error.reading


@pytest.mark.parametrize("kind", OTHERS)
@mutations.EVERY_READER
@given(data=st.data())
def test_that_a_damaged_output_is_read_or_refused(kind: str, data: st.DataObject) -> None:
    mutations.check_ends_well(kind, data.draw(mutations.damaged(kind)))


@pytest.mark.parametrize("kind", OTHERS)
def test_that_a_mebibyte_costs_less_than_a_second_and_64_mib(kind: str) -> None:
    for raw in mutations.big(kind):
        mutations.check_costs_little(kind, raw)


@pytest.mark.parametrize("kind", OTHERS)
def test_that_an_output_cut_at_any_byte_invents_nothing(kind: str) -> None:
    for raw in mutations.whole_seeds(kind):
        found = mutations.inventions_of_cuts(kind, raw, MOST_CUTS, GROWING.get(kind, ()))
        assert [one for one in found if kind != "iperf3_text" or not after_a_whole_row(raw, one)] == []


def after_a_whole_row(raw: bytes, invention: str) -> bool:
    """Between two rows nobody can tell whether the first stream of a summary is its only one."""
    at = int(invention.split()[1].rstrip(":"))
    return re.search(rb"(sender|receiver)\s*$", raw[:at]) is not None


@pytest.mark.parametrize("kind", OTHERS)
def test_that_no_cut_turns_a_fail_into_a_pass(kind: str) -> None:
    assert mutations.passes_by_a_cut(kind, MOST_CUTS) == []


UNITS = (
    b" ",
    b"\t",
    b"\n",
    b"\r",
    b"0",
    b"a",
    b"-",
    b"- ",
    b"|",
    b"| a ",
    b"[",
    b"1",
    b"1.",
    b"GPU0 ",
    b"NIC1",
    b"NV1",
    b"\x1b[",
    b"\x1b]",
    b'{"a":',
    b"[1,",
)
STARTS = (
    b"",
    b"GPU0\tGPU1\tCPU Affinity\n",
    b"NVRM: Xid (",
    b"GPU 0: a (UUID: ",
    b"[  5] 0-1 sec 1 ",
    b"# Rank 0 Pid 1 on ",
    b"| NPU Name |",
    b"NAME ",
)


@pytest.mark.parametrize("kind", TOLD)
def test_that_no_run_of_one_thing_keeps_a_reader_busy(kind: str) -> None:
    slow = [(start, unit) for start in STARTS for unit in UNITS if seconds(kind, start, unit) > CPU_SECONDS]
    assert slow == []


def seconds(kind: str, start: bytes, unit: bytes) -> float:
    """CPU time to recognise and read `start`, a long run of `unit`, and an end that does not fit."""
    raw = start + unit * (MOST_BYTES // len(unit)) + b"!"
    begun = time.thread_time()
    reading_of(kind, raw)
    readers()[kind].recognise(raw.decode("utf-8", "replace"))
    return time.thread_time() - begun


@pytest.mark.parametrize("kind", TOLD)
@given(data=st.data())
def test_that_a_cut_text_says_nothing_that_the_whole_one_does_not(kind: str, data: st.DataObject) -> None:
    raw = data.draw(st.sampled_from(SEEDS[kind]))
    part = raw[: data.draw(st.integers(0, len(raw)))]
    whole, less = reading_of(kind, raw), reading_of(kind, part)
    if whole is not None and less is not None:  # a text that mixes two outputs holds no reading, its first half does
        at_odds = {
            pair[:2] for pair in getattr(whole, "disagreeing", ())
        }  # the second row of a pair may be the worse one
        new = TOLD[kind](less) - TOLD[kind](whole)
        assert {fact for fact in new if kind != "topo" or (fact.first, fact.second) not in at_odds} == set()


@pytest.mark.parametrize("kind", COMPLETE)
@given(data=st.data())
def test_that_a_text_that_the_cap_cut_claims_to_be_complete_only_if_nothing_is_missing(
    kind: str, data: st.DataObject
) -> None:
    raw = data.draw(st.sampled_from(SEEDS[kind]))
    part = raw[: data.draw(st.integers(0, len(raw)))]
    whole, less = reading_of(kind, raw), reading_of(kind, part, capped=True)
    if less is not None and COMPLETE[kind](less):
        assert {fact for fact in TOLD[kind](whole) if kind != "topo" or fact in whole.pairs} <= TOLD[kind](less)


@pytest.mark.parametrize("kind", TOLD)
@given(data=st.data())
def test_that_colours_and_line_ends_change_nothing(kind: str, data: st.DataObject) -> None:
    raw = data.draw(st.sampled_from([seed for seed in SEEDS[kind] if b"\x1b" not in seed and seed[:1] != b"\xff"]))
    dressed = data.draw(
        st.sampled_from([raw.replace(b"\r", b"").replace(b"\n", b"\r\n"), re.sub(rb"(?m)^", lambda _: b"\x1b[0m", raw)])
    )
    whole, other = reading_of(kind, raw), reading_of(kind, dressed)
    assert (whole is None) == (other is None)
    if whole is not None:
        assert TOLD[kind](other) == TOLD[kind](whole)
