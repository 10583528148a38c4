"""Can any check call good what was never read or never promised?"""

from __future__ import annotations

import hashlib
import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulease_gui.catalog.catalogue import Catalogue, load_catalogue
from gpulease_gui.catalog.terms import validate_term
from gpulease_gui.checks.check import rules
from gpulease_gui.checks.judgement import Evidence, judge
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import WORST_FIRST, Finding, Reason, Verdict, worst
from gpulease_gui.domain.term import TermKind

CHECKS = sorted(rules())
FOLDER = Path(__file__).parent.parent / "checks"


@cache
def catalogue() -> Catalogue:
    return load_catalogue()


@cache
def runner() -> ModuleType:
    """The case runner of tests/checks, whose readings of real outputs are used here."""
    spec = importlib.util.spec_from_file_location("case_runner", FOLDER / "test_cases.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def evidence_of(path: Path) -> dict[str, Evidence]:
    outputs = runner().tomllib.loads(path.read_text("utf-8")).get("outputs", {})
    return {fact_id: runner().evidence_of(fact_id, spec) for fact_id, spec in outputs.items()}


def cases(check_id: str) -> list[Path]:
    return sorted((FOLDER / check_id).glob("*.toml"))


def values_of(key: str) -> st.SearchStrategy[object]:
    """Values that the term `key` may take."""
    term = catalogue().terms[key]
    low, high = int(term.minimum or 1), int(term.maximum or 10_000)
    return {
        TermKind.GPU_MODEL: st.sampled_from(["H100", *catalogue().gpus.models]),
        TermKind.COUNT: st.integers(low, high),
        TermKind.NUMBER: st.floats(term.minimum or 1, term.maximum or 1e6, allow_nan=False),
        TermKind.CHOICE: st.sampled_from(term.choices or ("",)),
        TermKind.YES_NO: st.booleans(),
        TermKind.VERSION: st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){0,2}", fullmatch=True),
        TermKind.TEXT: st.sampled_from(["NVMe", "EPYC", "1g.10gb"]),
    }[term.kind]


@st.composite
def promises(draw: st.DrawFn) -> dict[str, object]:
    """Stated terms; the promise itself is made in the test, since it prints as the whole catalogue."""
    keys = draw(st.lists(st.sampled_from(sorted(catalogue().terms)), unique=True, max_size=8))
    return {key: validate_term(key, draw(values_of(key)), catalogue()) for key in keys}


def trouble(code: str) -> Evidence:
    return Evidence(None, Unreadable("nothing was read", code=code), hashlib.sha256(code.encode()).hexdigest())


@settings(max_examples=40, deadline=None)
@given(promise=promises(), code=st.sampled_from([str(reason) for reason in Reason]), silent=st.booleans())
def test_that_no_check_passes_without_a_reading(promise, code, silent):
    promise = Promise(catalogue(), promise)
    for check_id in CHECKS:
        rule = rules()[check_id]
        evidence = {} if silent else {id_: trouble(code) for id_ in (*rule.check.facts, *rule.check.optional)}
        for finding in judge(rule, evidence, promise):
            assert finding.verdict in (Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE), check_id
            assert finding.reason_code and finding.reason.en and finding.reason.zh


@pytest.mark.parametrize("check_id", CHECKS)
def test_that_nothing_promised_is_nothing_passed(check_id):
    rule = rules()[check_id]
    for path in cases(check_id):
        for finding in judge(rule, evidence_of(path), Promise(catalogue())):
            assert not (rule.check.needs_promise and finding.verdict is Verdict.PASS), path.name
            if finding.reason_code == Reason.NOT_PROMISED:
                assert finding.verdict is Verdict.INCONCLUSIVE and not finding.required and finding.next_step.en, path.name


@pytest.mark.parametrize("check_id", CHECKS)
def test_that_a_missing_optional_reading_turns_no_fail_into_a_pass(check_id):
    rule = rules()[check_id]
    for path in cases(check_id):
        full = evidence_of(path)
        promise = case_promise(path)
        # A contradiction needs both of its sources; with one of them silent there is none (trust.cross_sources says so).
        fails = [f for f in judge(rule, full, promise) if f.verdict is Verdict.FAIL]
        if all(f.reason_code == Reason.INCONSISTENT for f in fails):
            continue
        for id_ in rule.check.optional:
            left = {key: value for key, value in full.items() if key != id_}
            findings = judge(rule, left, promise)
            assert worst(f.verdict for f in findings) is not Verdict.PASS, (path.name, id_)


def case_promise(path: Path) -> Promise:
    terms = runner().tomllib.loads(path.read_text("utf-8")).get("terms", {})
    return Promise(catalogue(), {key: validate_term(key, value, catalogue()) for key, value in terms.items()})


ALL_CASES = [(id_, path) for id_ in CHECKS for path in cases(id_)]


@settings(max_examples=60, deadline=None)
@given(case=st.sampled_from(ALL_CASES), promise=promises())
def test_that_a_rule_answers_any_contract_about_a_real_output_in_order(case, promise):
    (check_id, path), promise = case, Promise(catalogue(), promise)
    for finding in judge(rules()[check_id], evidence_of(path), promise):
        assert in_order(finding), (check_id, path.name)


def in_order(finding: Finding) -> bool:
    """Worst subject first, a promised value kept beside a verdict on it, required whenever it fails."""
    order = [WORST_FIRST.index(s.verdict) for s in finding.subjects]
    passes_something = finding.verdict is not Verdict.PASS or finding.term is None or finding.promised is not None
    return order == sorted(order) and passes_something and (finding.required or finding.verdict is not Verdict.FAIL)
