"""Do the runs of iperf3 and fio survive being put together, and when is one of them repeated?"""

from __future__ import annotations

import json

import pytest

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.gpus import GpuCatalogue
from gpulease_gui.checks import disk_seq, net_iperf_multi
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import Bands, judged
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.facts import disk_rates, iperf_pair
from gpulease_gui.facts.iperf_pair import BACKWARD, FORWARD


def promise(**terms: float) -> Promise:
    return Promise(Catalogue(GpuCatalogue(), {}), {key.replace("__", "."): value for key, value in terms.items()})


def iperf(gbit_s: float) -> CommandOutput:
    end = {"sum_received": {"seconds": 5.0, "bits_per_second": gbit_s * 1e9}, "sum_sent": {}}
    start = {"version": "iperf 3.12", "test_start": {"protocol": "TCP", "num_streams": 8, "reverse": 0}}
    return CommandOutput(json.dumps({"start": start, "end": end}).encode())


def fio(direction: str, mb_s: float) -> CommandOutput:
    flows = {"read": {"bw_bytes": 0}, "write": {"bw_bytes": 0}} | {direction: {"bw_bytes": mb_s * 1e6, "runtime": 5000}}
    job = {"jobname": "gpulease", "error": 0, "job options": {"direct": "1"}, **flows}
    return CommandOutput(json.dumps({"fio version": "fio-3.33", "jobs": [job]}).encode())


def test_that_combined_iperf_runs_read_back_as_they_were() -> None:
    refused = CommandOutput(b"", "iperf3: Verbindung abgelehnt ✗\n".encode(), 1)
    pair = iperf_pair.parse(iperf_pair.combine({FORWARD: [iperf(24.0), iperf(25.5)], BACKWARD: [refused]}))
    assert [t.gbit_s for t in pair.forward] == [24.0, 25.5]
    assert [(t.run, t.trouble) for t in pair.backward] == [(None, "iperf3: Verbindung abgelehnt ✗")]


def test_that_combined_fio_runs_keep_their_setting() -> None:
    both = disk_rates.combine([fio("read", 900)], [fio("write", 400)], seconds=5, size_mib=256, direct=True, filesystem="ext4")
    rates = disk_rates.parse(both)
    assert (rates.read[0].mb_s, rates.write[0].mb_s, rates.read[0].seconds) == (900.0, 400.0, 5.0)
    assert (rates.seconds, rates.size_mib, rates.direct, rates.filesystem) == (5, 256, True, "ext4")


@pytest.mark.parametrize(
    ("first", "due"), [(79.9, (FORWARD,)), (80.0, ()), (95.0, ())], ids=["would fail", "would warn", "passes"]
)
def test_that_only_a_first_rate_that_would_fail_is_repeated(first: float, due: tuple[str, ...]) -> None:
    pair = iperf_pair.parse(iperf_pair.combine({FORWARD: [iperf(first)], BACKWARD: [iperf(99)]}))
    assert net_iperf_multi.to_repeat(pair, promise(network__gbit_s=100)) == due
    assert net_iperf_multi.to_repeat(pair, promise()) == ()


def test_that_a_repeated_rate_is_not_repeated_again() -> None:
    pair = iperf_pair.parse(iperf_pair.combine({FORWARD: [iperf(20), iperf(21)], BACKWARD: []}))
    assert net_iperf_multi.to_repeat(pair, promise(network__gbit_s=100)) == ()


def test_that_each_direction_of_the_disk_is_repeated_for_itself() -> None:
    both = disk_rates.combine([fio("read", 900)], [fio("write", 100)], seconds=5, size_mib=256, direct=True)
    terms = promise(disk__read_mb_s=1000, disk__write_mb_s=1000)
    assert disk_seq.to_repeat(disk_rates.parse(both), terms) == ("write",)


def test_that_one_bad_rate_warns_and_two_fail() -> None:
    bands = Bands(passes=0.9, warns=0.8)
    assert judged([50.0], 100.0, bands) == (Verdict.WARN, "measured_once")
    assert judged([50.0, 60.0], 100.0, bands) == (Verdict.FAIL, "rate_low")
    assert judged([50.0, 90.0], 100.0, bands) == (Verdict.PASS, "")
