"""Do the rules find in each simulated node what its story says, and nothing in the honest ones?"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.checks.check import rules
from gpulease_gui.checks.judgement import Evidence, judge
from gpulease_gui.checks.promise import Promise
from gpulease_gui.demo.answers import answer
from gpulease_gui.demo.fio_report import fio_json
from gpulease_gui.demo.iperf_report import Trip, iperf_json
from gpulease_gui.demo.machine import Machine
from gpulease_gui.demo.nodes import demo_nodes
from gpulease_gui.domain.command import CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Finding, Reason, Verdict, overall
from gpulease_gui.facts import disk_rates, iperf_pair
from gpulease_gui.facts.fact import read, readers

NOW = datetime(2026, 11, 30, 8, 15, 30, tzinfo=UTC)


@cache
def findings(name: str) -> tuple[Finding, ...]:
    node = demo_nodes()[name]
    evidence = {}
    for id_, reader in readers().items():
        if reader.fact.command and reader.fact.impact is Impact.PASSIVE:
            try:
                evidence[id_] = Evidence(reading=read(reader, answer(node, id_, NOW)))
            except Unreadable as trouble:
                evidence[id_] = Evidence(trouble=trouble)
    promise = Promise(load_catalogue(), node.terms)
    passive = [rule for rule in rules().values() if rule.check.impact is Impact.PASSIVE]
    return tuple(finding for rule in passive for finding in judge(rule, evidence, promise))


def failed(name: str) -> set[str]:
    return {f.check for f in findings(name) if f.verdict is Verdict.FAIL}


def verdicts(name: str, check: str) -> set[Verdict]:
    return {f.verdict for f in findings(name) if f.check == check}


@pytest.mark.parametrize("name", ["honest", "ascend"])
def test_that_an_honest_node_fails_nothing_and_passes_as_a_whole(name: str) -> None:
    assert failed(name) == set()
    fine = (Verdict.PASS, Verdict.NOT_APPLICABLE)
    assert [(f.check, f.verdict, f.reason.en) for f in findings(name) if f.required and f.verdict not in fine] == []
    assert overall(findings(name)) is Verdict.PASS


@pytest.mark.parametrize(
    ("name", "checks"),
    [
        # The promised model implies NVSwitch and 700 W as well.
        ("pcie-as-sxm", {"gpu.form_factor", "gpu.model", "gpu.pci_id", "topo.matrix", "nvlink.state", "power.limit"}),
        ("no-nvlink", {"topo.matrix", "nvlink.state"}),
        ("slow-net-a", {"net.inventory"}),
        ("slow-net-b", {"net.inventory"}),
        ("capped", {"power.limit", "clock.event_reasons"}),
        ("sick", {"gpu.count", "health.ecc_uncorrected", "health.row_remap", "health.xid", "health.recovery_action",
                  "health.remap_histogram"}),
    ],
)
def test_that_a_fraud_is_caught_by_name_and_by_nothing_else(name: str, checks: set[str]) -> None:
    assert failed(name) == checks


def test_that_two_sources_which_name_different_products_are_a_contradiction() -> None:
    cross = [f for f in findings("hostile") if f.check == "trust.cross_sources"]
    assert [(f.verdict, f.reason_code) for f in cross] == [(Verdict.FAIL, Reason.INCONSISTENT)]
    assert Verdict.PASS not in verdicts("hostile", "gpu.model")
    assert verdicts("hostile", "health.xid") == {Verdict.INCONCLUSIVE}


def test_that_the_pair_fails_the_promised_rate_in_both_directions() -> None:
    node = demo_nodes()["slow-net-a"]
    tests = {
        "target->peer": [run_of(node.machine, reverse=False)] * 2,
        "peer->target": [run_of(node.machine, reverse=True)] * 2,
    }
    found = measured("slow-net-a", "net.iperf_multi", "iperf_pair", iperf_pair.combine(tests))
    assert [f.verdict for f in found] == [Verdict.FAIL, Verdict.FAIL]
    assert [f.measured for f in found] == [pytest.approx(24.2, abs=0.3)] * 2


def run_of(machine: Machine, reverse: bool) -> CommandOutput:
    trip = Trip("10.77.0.32", 5201, 5, 8, reverse, machine.iperf_gbit_s)
    return CommandOutput(iperf_json(machine, trip).encode())


def test_that_the_disk_of_the_honest_node_is_as_fast_as_promised() -> None:
    machine = demo_nodes()["honest"].machine
    read_, write = (
        [CommandOutput(fio_json(machine, {"rw": rw, "direct": "1"}, 5.0).encode())] for rw in ("read", "write")
    )
    output = disk_rates.combine(read_, write, seconds=5, size_mib=256, direct=True, filesystem="xfs", path="/data")
    found = measured("honest", "disk.seq", "disk_rates", output)
    assert {(f.term, f.verdict) for f in found} == {("disk.read_mb_s", Verdict.PASS), ("disk.write_mb_s", Verdict.PASS)}


def measured(name: str, check: str, fact_id: str, output: CommandOutput) -> tuple[Finding, ...]:
    evidence = {fact_id: Evidence(reading=read(readers()[fact_id], output))}
    return judge(rules()[check], evidence, Promise(load_catalogue(), demo_nodes()[name].terms))
