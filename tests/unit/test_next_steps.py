from __future__ import annotations

import re

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.checks.check import Rule
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.facts.fact import readers
from gpulease_gui.services.judging import Judging, evidence_of
from gpulease_gui.services.plan import make_plan

OUTPUTS = {
    "timeout": CommandOutput(b"", b"", 124, 5.2),
    "missing_tool": CommandOutput(b"", b"", 127),
    "denied": CommandOutput(b"", b"", 126),
    "connection_lost": CommandOutput(b"", b"", None),
    "noise": CommandOutput(b"\xff\x00?", b"", 0),
    "nothing": CommandOutput(b"", b"", 0),
    "cut_off": CommandOutput(b"x" * 100, b"", 0, stdout_cut=True),
}


def inconclusive(judging: Judging, rules: list[Rule]) -> list[Finding]:
    findings = [finding for rule in rules for finding in judging.findings(rule)]
    return [finding for finding in findings if finding.verdict is Verdict.INCONCLUSIVE]


def judging_of() -> Judging:
    return Judging(make_plan(only=(), heavy=True, peer=True).rules, Promise(load_catalogue(), {}))


@pytest.mark.parametrize("reason", [Reason.CONNECTION_LOST, Reason.COMPUTER_SLEPT, Reason.OWN_NETWORK, Reason.TIMEOUT, Reason.CUT_OFF, Reason.NOT_COLLECTED])
def test_that_what_never_came_has_a_reason_said_once_and_a_next_step(reason):
    judging = judging_of()
    for id_ in readers():
        judging.give_up(id_, reason)
    found = [finding for finding in inconclusive(judging, judging.rest()) if finding.reason_code == reason]
    assert found
    for finding in found:
        assert finding.next_step.en and re.search("[一-鿿]", finding.next_step.zh), finding.check
        assert finding.reason.en.count("ended") + finding.reason.en.count("in time") <= 1


@pytest.mark.parametrize("case", OUTPUTS)
def test_that_no_bad_output_leaves_a_finding_without_a_next_step(case):
    judging = judging_of()
    evidence = {id_: evidence_of(id_, OUTPUTS[case], "") for id_ in readers()}
    rules = [rule for id_, seen in evidence.items() for rule in judging.take(id_, seen)]
    found = inconclusive(judging, rules + judging.rest())
    assert found
    assert [finding.check for finding in found if not (finding.next_step.en and finding.next_step.zh)] == []


def test_that_a_command_with_a_shortened_limit_says_the_time_that_it_had():
    trouble = evidence_of("smi_xml", CommandOutput(b"", b"", 124, 5.2), "").trouble
    assert trouble is not None and trouble.reason == "nvidia-smi gave no answer within 5 s"
