"""Do the simulated nodes answer the built-in tasks so that the rules find what their stories say?"""

from __future__ import annotations

from functools import cache

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.checks.check import rules
from gpulease_gui.checks.judgement import Evidence, judge
from gpulease_gui.checks.promise import Promise
from gpulease_gui.demo.nodes import NAMES, demo_nodes
from gpulease_gui.demo.torch_report import TASKS, task_words
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.facts.fact import read, readers
from gpulease_gui.facts.task_lines import combine_runs

CHECKS = [rule.check.id for rule in rules().values() if set(rule.check.facts) <= set(TASKS)]
RUNS = 2  # what the program makes of a low one


@cache
def found(name: str, runs: int = RUNS, facts: tuple[str, ...] = ("torch_matmul", "torch_copy")) -> tuple[Finding, ...]:
    node = demo_nodes()[name]
    evidence = {}
    for fact_id, reader in readers().items():
        if fact_id in facts:
            assert reader.fact.command is not None
            made = [task_words(node.machine, fact_id, reader.fact.command.line, turn) for turn in range(runs)]
            evidence[fact_id] = Evidence(read(reader, combine_runs(fact_id, [one for one in made if one is not None])))
    promise = Promise(load_catalogue(), {"gpu.model": node.terms.get("gpu.model", "nvidia-h100-sxm5-80gb")})
    return tuple(f for check in CHECKS if set(rules()[check].check.facts) <= set(facts) for f in judge(rules()[check], evidence, promise))


def verdicts(name: str, runs: int = RUNS) -> dict[str, Verdict]:
    return {f"{f.check} {f.direction}".strip(): f.verdict for f in found(name, runs)}


ALL = tuple(TASKS)


def says(name: str, check: str) -> str:
    return " | ".join(f.reason.en for f in found(name) if f.check == check)


def test_that_the_honest_node_passes_every_task() -> None:
    told = found("honest", 1, ALL)
    assert [(f.check, f.reason.en) for f in told if f.verdict is not Verdict.PASS] == [] and len(told) == 14
    assert any("of its rate over 20 min" in f.reason.en for f in told if f.check == "perf.soak")


def test_that_the_capped_node_fails_with_its_cap_beside_the_rate() -> None:
    told = verdicts("capped")
    assert told["perf.bf16 best"] is Verdict.FAIL and told["clock.under_load"] is Verdict.FAIL
    assert "capped at 500 W (default 700 W)" in says("capped", "perf.bf16")
    assert "slowdown" in says("capped", "clock.under_load")
    assert verdicts("capped", 1)["perf.bf16 best"] is Verdict.WARN


def test_that_the_slow_sister_is_named_by_its_uuid() -> None:
    machine = demo_nodes()["slow-net-b"].machine
    (one,) = [f for f in found("slow-net-b") if f.check == "perf.uniformity"]
    assert one.verdict is Verdict.FAIL and machine.gpus[5].uuid in one.reason.en
    assert [s.index for s in one.subjects if s.verdict is not Verdict.PASS] == [5]


def test_that_pcie_cards_are_not_as_fast_as_the_promised_ones() -> None:
    assert verdicts("pcie-as-sxm")["perf.bf16 best"] is Verdict.FAIL
    assert verdicts("pcie-as-sxm")["nvlink.p2p_bw"] is Verdict.FAIL
    assert verdicts("no-nvlink")["nvlink.p2p_bw"] is Verdict.FAIL and "NVLink is not used" in says("no-nvlink", "nvlink.p2p_bw")


@pytest.mark.parametrize("name", [n for n in NAMES if demo_nodes()[n].machine.torch is None])
def test_that_a_node_without_pytorch_says_what_to_install(name: str) -> None:
    assert {(f.verdict, f.reason_code) for f in found(name, 1, ALL)} == {(Verdict.INCONCLUSIVE, "torch_absent")}
    assert all("python3 -m pip install torch" in f.next_step.zh for f in found(name, 1, ALL))
