"""Does every check say of every case what a careful engineer would say?

A case is tests/checks/CHECK_ID/NAME.toml: `why`, `[terms]` (the contract), `[outputs.FACT_ID]` (`file` below
tests/outputs or `text`; `exit_code`, `stderr`; `replace` = [[old, new, most times]], each must hit), and `[[expect]]`:
fields of the finding of that term and direction, plus `worst_subject` (id of the first subject) and `says` (words that
the English reason holds). `[before.outputs.FACT_ID]` are the readings of the accepted run (`before = {}`: there was none),
`[[elsewhere]]` what other nodes showed, `[[same_task]]` the speeds by unit of earlier runs of the same task; with any of them the rule has a history.
"""

from __future__ import annotations

import hashlib
import tomllib
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pytest

from gpulease_gui.catalog.catalogue import Catalogue, load_catalogue
from gpulease_gui.catalog.terms import validate_term
from gpulease_gui.checks.check import rules
from gpulease_gui.checks.history import Elsewhere, History
from gpulease_gui.checks.judgement import Evidence, judge
from gpulease_gui.checks.machine import machine_of
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.task import TaskRate
from gpulease_gui.facts.fact import read, readers

HERE = Path(__file__).parent
OUTPUTS = HERE.parent / "outputs"
CASES = sorted(HERE.glob("*/*.toml"))
CHECKS = sorted({path.parent.name for path in CASES})
KEYS = ("why", "terms", "outputs", "expect", "seconds", "before", "elsewhere", "contracted", "same_task")
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


@cache
def catalogue() -> Catalogue:
    return load_catalogue()


def case_id(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


def output_of(spec: dict) -> CommandOutput:
    text = (OUTPUTS / spec["file"]).read_text("utf-8") if "file" in spec else spec["text"]
    for old, new, *most in spec.get("replace", []):
        assert old in text, f"nothing to replace: {old!r}"
        text = text.replace(old, new, most[0] if most else -1)
    return CommandOutput(text.encode(), spec.get("stderr", "").encode(), spec.get("exit_code", 0))


def evidence_of(fact_id: str, spec: dict) -> Evidence:
    output = output_of(spec)
    sha256 = hashlib.sha256(output.stdout).hexdigest()
    try:
        return Evidence(read(readers()[fact_id], output), None, sha256)
    except Unreadable as error:
        return Evidence(None, error, sha256)


def history_of(case: dict) -> History | None:
    """The accepted run was a month ago; other nodes were seen `hours_ago`."""
    if not {"before", "elsewhere", "same_task"} & set(case):
        return None
    outputs = case.get("before", {}).get("outputs", {})
    read_before = {fact_id: evidence_of(fact_id, spec).reading for fact_id, spec in outputs.items()}
    marks = (read_before.get(fact_id) for fact_id in ("smi_xml", "environment", "nvlink"))
    seen = [Elsewhere(seen_at=NOW - timedelta(hours=s.pop("hours_ago")), **s) for s in map(dict, case.get("elsewhere", []))]
    same_task = tuple(tuple(TaskRate(unit, 20, rate, rate, rate, None, 2) for unit, rate in run.items()) for run in case.get("same_task", []))
    pinned = machine_of(*marks) if read_before else None
    return History(NOW, pinned, NOW - timedelta(days=30), case.get("contracted", True), None, tuple(seen), same_task=same_task)


@cache
def findings_of(path: Path) -> tuple[Finding, ...]:
    case = tomllib.loads(path.read_text("utf-8"))
    assert set(case) <= set(KEYS) and case["why"] and case["expect"]
    terms = {key: validate_term(key, value, catalogue()) for key, value in case.get("terms", {}).items()}
    evidence = {fact_id: evidence_of(fact_id, spec) for fact_id, spec in case.get("outputs", {}).items()}
    return judge(rules()[path.parent.name], evidence, Promise(catalogue(), terms, case.get("seconds"), history_of(case)))


@pytest.mark.parametrize("path", CASES, ids=case_id)
def test_that_the_check_says_what_the_case_says(path: Path) -> None:
    found = findings_of(path)
    for wanted in tomllib.loads(path.read_text("utf-8"))["expect"]:
        same = [f for f in found if f.term == wanted.get("term") and f.direction == wanted.get("direction", f.direction)]
        assert len(same) == 1, [(f.term, f.direction, f.verdict) for f in found]
        assert differences(same[0], wanted) == {}


def differences(finding: Finding, wanted: dict) -> dict:
    special = {"worst_subject": finding.subjects[0].id if finding.subjects else None, "subjects": len(finding.subjects)}
    got = {key: special[key] if key in special else getattr(finding, key) for key in wanted if key not in ("says", "step_says")}
    wrong = {key: (wanted[key], value) for key, value in got.items() if value != wanted[key]}
    for key, text in (("says", finding.reason.en), ("step_says", finding.next_step.en)):
        if not all(word in text for word in wanted.get(key, [])):
            wrong[key] = (wanted[key], text)
    return wrong


@pytest.mark.parametrize("path", CASES, ids=case_id)
def test_that_every_finding_is_said_in_both_languages(path: Path) -> None:
    for finding in findings_of(path):
        texts = [finding.reason, *(s.reason for s in finding.subjects if s.reason.en), finding.next_step]
        assert finding.reason.en and all(bool(text.en) == bool(text.zh) for text in texts)
        if finding.verdict in (Verdict.FAIL, Verdict.INCONCLUSIVE) and not finding.reason_code:
            raise AssertionError(f"no reason code: {finding.reason.en}")


@pytest.mark.parametrize("check_id", CHECKS)
def test_that_every_kind_of_answer_has_a_case(check_id: str) -> None:
    own = [path for path in CASES if path.parent.name == check_id]
    verdicts = {f.verdict for path in own for f in findings_of(path)}
    assert {Verdict.PASS, Verdict.INCONCLUSIVE} <= verdicts and verdicts & {Verdict.WARN, Verdict.FAIL}
    assert any("hostile" in path.stem or "hostile" in path.read_text("utf-8").split("\n", 1)[0] for path in own)
