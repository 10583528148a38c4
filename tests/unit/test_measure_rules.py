"""What do the small rules behind the measurements say?"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.gpus import GpuCatalogue
from gpulease_gui.checks.net_ports import promised_ports
from gpulease_gui.checks.over_time import Course, course, held
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import Bands
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.facts import clock_ticks, peer_ping
from gpulease_gui.facts.clock_ticks import ClockTest, clock_test, ticks_in
from gpulease_gui.facts.fact import readers
from gpulease_gui.services.measure import MEASURES
from gpulease_gui.services.plan import Choice, make_plan


@pytest.mark.parametrize(
    ("words", "ports"),
    [
        ("22, 8000-8002", ((22, 22), (8000, 8000), (8001, 8001), (8002, 8002))),
        ("tcp/443 and 40022->22", ((443, 443), (40022, 22))),
        ("8888:80；9000 → 90", ((8888, 80), (9000, 90))),
        ("3 ports per GPU", ()),
        ("10个端口", ()),
        ("10.0.0.1", ()),
        ("0, 70000, 99999->22", ()),
        ("all", ()),
    ],
)
def test_that_the_ports_of_a_contract_are_read(words: str, ports: tuple[tuple[int, int], ...]) -> None:
    assert promised_ports(words) == ports


@given(st.text(max_size=300))
def test_that_any_words_give_at_most_64_real_ports(words: str) -> None:
    found = promised_ports(words)
    assert len(found) <= 64
    assert all(0 < port <= 65535 for pair in found for port in pair)


def test_that_a_wide_range_is_cut() -> None:
    assert [outside for outside, _ in promised_ports("1-65535")] == list(range(1, 65))


def test_that_the_windows_are_a_minute_or_a_third() -> None:
    long = course([(10.0 * n, 100.0 if n <= 6 else 40.0) for n in range(1, 61)])
    assert long == Course(100.0, 40.0, 60.0, 600.0)
    short = course([(1.0, 9.0), (2.0, 9.0), (3.0, 3.0)])
    assert short == Course(9.0, 3.0, 1.0, 3.0)
    assert course([(1.0, 9.0), (2.0, 9.0)]) is None
    assert course([(600.0, 9.0), (10.0, 9.0), (620.0, 1.0)]) is None


@pytest.mark.parametrize(
    ("length_s", "last", "verdict", "code"),
    [
        (600, 100, Verdict.PASS, ""),
        (300, 100, Verdict.INCONCLUSIVE, "too_short"),
        (300, 50, Verdict.FAIL, "rate_falls"),
        (300, 80, Verdict.WARN, "rate_falls"),
        (90, 50, Verdict.INCONCLUSIVE, "too_short"),
    ],
)
def test_that_a_fall_counts_earlier_than_an_even_rate(length_s: float, last: float, verdict: Verdict, code: str) -> None:
    assert held(Course(100.0, last, 60.0, length_s), Bands(0.9, 0.7), Promise(Catalogue(GpuCatalogue(), {}))) == (verdict, code)


def test_that_the_sway_of_the_line_is_told_apart_from_the_clock() -> None:
    ticks = [(10.0, 1000.0), (10.25, 1000.25), (10.5, 1000.5), (15.5, 1005.5)]
    arrivals = [(50.0, 998.0), (50.35, 998.35), (50.5, 998.5), (55.5, 1003.5)]
    found = clock_test(ticks, arrivals)
    assert found is not None
    assert (found.node_s, found.ours_s, found.offset_s) == (5.0, 5.0, 2.0)
    assert found.jitter_s == pytest.approx(0.1)
    assert clock_test(ticks[:3], arrivals) is None


def test_that_a_clock_of_no_time_has_no_ratio() -> None:
    assert ClockTest(5.0, 0.0, 0.0, 0.0).ratio == 0.0


@pytest.mark.skipif(not Path("/proc/uptime").exists(), reason="needs Linux")
def test_that_a_node_without_python_prints_its_stamps_all_the_same(tmp_path: Path) -> None:
    for name in ("sleep", "date"):
        os.symlink(str(shutil.which(name)), tmp_path / name)
    done = subprocess.run(
        ["/bin/sh", "-c", clock_ticks.command(1).line], env={"PATH": str(tmp_path)}, capture_output=True, timeout=30, check=True
    )
    ticks = ticks_in(done.stdout)
    assert len(ticks) == 4 and done.stderr == b""
    assert 1.0 <= ticks[3][0] - ticks[2][0] < 3.0


def test_that_no_address_is_taken_for_an_option() -> None:
    with pytest.raises(ValueError, match="-f"):
        peer_ping.command("-f", 5)


def test_that_everything_measured_is_marked_as_more_than_passive() -> None:
    assert {id_ for id_, reader in readers().items() if reader.fact.impact is not Impact.PASSIVE} - {"fio_json", "iperf3_json", "disk_own", "tcp_rate"} == set(
        MEASURES
    )


def test_that_a_peer_brings_one_check_and_heavy_brings_the_others() -> None:
    with_peer = {rule.check.id for rule in make_plan(peer=True).active}
    assert with_peer == {"net.iperf_multi"}
    assert make_plan().active == ()
    heavy = {rule.check.id for rule in make_plan(heavy=True).active}
    assert {"disk.rand", "cpu.steal", "trust.clock"} <= heavy
    assert not {"net.sustained", "disk.burst", "disk.capacity_honest"} & heavy  # ten minutes and more: named by themselves
    both = {rule.check.id for rule in make_plan(Choice(heavy=True, peer=True, sustained=True)).active}
    assert {"net.sustained", "disk.burst", "net.latency", "rdma.write_bw", "net.iperf_multi"} <= both
