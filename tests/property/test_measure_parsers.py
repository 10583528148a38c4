"""Do the readers of our own measurements end in a reading or in Unreadable, and does a cut run never pass what failed?"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.catalog.terms import validate_term
from gpulease_gui.checks.check import rules
from gpulease_gui.checks.judgement import Evidence, judge
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.facts.fact import read, readers
from gpulease_gui.services.measure import MEASURES

from . import mutations

TESTS = Path(__file__).parents[1]
KINDS = sorted(MEASURES)
MOST_CUTS = 60
SHARES = [n / 37 for n in range(37)]
MEASURED = sorted(id_ for id_, rule in rules().items() if set(rule.check.facts) & set(MEASURES))
CATALOGUE = load_catalogue()


OF_JSON: tuple[Callable[[bytes], bytes], ...] = (
    lambda raw: re.sub(rb"\d+(\.\d+)?", rb"null", raw),
    lambda raw: re.sub(rb'"(?:[^"\\]|\\.){1,40}"(?=[,}\]])', rb"[{}]", raw),
    lambda raw: raw.replace(b"[", b"{").replace(b"]", b"}"),
    lambda raw: raw.replace(b": ", b":\x1b[31m "),
)


@st.composite
def damaged(draw: st.DrawFn, kind: str) -> bytes:
    """A combined output after one change to its JSON, or after the changes that every output may suffer."""
    change = draw(st.sampled_from((None, *OF_JSON)))
    return draw(mutations.damaged(kind)) if change is None else change(draw(st.sampled_from(mutations.seeds(kind))))


@pytest.mark.parametrize("kind", KINDS)
@mutations.EVERY_READER
@given(data=st.data())
def test_that_a_damaged_output_is_read_or_refused(kind: str, data: st.DataObject) -> None:
    mutations.check_ends_well(kind, data.draw(mutations.damaged(kind)))


@pytest.mark.parametrize("kind", KINDS)
def test_that_an_output_of_other_shapes_is_read_or_refused(kind: str) -> None:
    for raw in mutations.seeds(kind):
        for change in OF_JSON:
            mutations.check_ends_well(kind, change(raw))


@pytest.mark.parametrize("kind", KINDS)
def test_that_a_mebibyte_costs_less_than_a_second_and_64_mib(kind: str) -> None:
    for raw in mutations.big(kind):
        mutations.check_costs_little(kind, raw)


@pytest.mark.parametrize("kind", KINDS)
def test_that_an_output_cut_at_any_byte_invents_nothing(kind: str) -> None:
    for raw in mutations.whole_seeds(kind):
        assert mutations.inventions_of_cuts(kind, raw, MOST_CUTS) == []


@pytest.mark.parametrize("kind", KINDS)
def test_that_no_cut_turns_a_fail_into_a_pass(kind: str) -> None:
    assert mutations.passes_by_a_cut(kind, MOST_CUTS) == []


@pytest.mark.parametrize("check", MEASURED)
@settings(max_examples=40)
@given(data=st.data())
def test_that_a_rule_breaks_on_no_reading_of_a_damaged_output(check: str, data: st.DataObject) -> None:
    rule = rules()[check]
    kind = next(id_ for id_ in rule.check.facts if id_ in MEASURES)
    try:
        evidence = Evidence(read(readers()[kind], CommandOutput(data.draw(damaged(kind)))))
    except Unreadable as trouble:
        evidence = Evidence(trouble=trouble)
    promised = {term: SAMPLE[term] for term in rule.check.terms if data.draw(st.booleans())}
    for finding in judge(rule, {kind: evidence}, Promise(CATALOGUE, promised)):
        assert finding.reason.en and finding.reason.zh


SAMPLE: dict[str, Any] = {
    "disk.read_mb_s": 1000.0, "disk.write_mb_s": 1000.0, "disk.read_iops": 100000.0, "disk.size_gb": 1000.0,
    "network.gbit_s": 100.0, "network.same_site": True, "network.ports": "22, 8000", "network.ingress_mbit_s": 100.0,
    "network.egress_mbit_s": 100.0, "gpu.memory_gb_s": 2800.0, "perf.bf16_tflops": 750.0, "perf.fp32_tflops": 50.0,
    "perf.fp64_tflops": 50.0, "pcie.copy_gb_s": 50.0, "work.gpu_util_percent": 95.0,
}  # fmt: skip


def failing() -> list[Path]:
    cases = [path for check in MEASURED for path in sorted((TESTS / "checks" / check).glob("*.toml"))]
    return [path for path in cases if any(e.get("verdict") == "fail" for e in tomllib.loads(path.read_text("utf-8"))["expect"])]


def cut_runs(told: Any, share: float) -> Any:
    """The same document with the head of every run's own output only."""
    if isinstance(told, dict) and isinstance(told.get("stdout"), str):
        return told | {"stdout": told["stdout"][: int(len(told["stdout"]) * share)]}
    if isinstance(told, dict):
        return {key: cut_runs(value, share) for key, value in told.items()}
    return [cut_runs(value, share) for value in told] if isinstance(told, list) else told


def cut_of(text: str, share: float) -> str:
    """A combined output with cut runs in it; one of another form is cut as it stands."""
    if text.lstrip().startswith("{"):
        return json.dumps(cut_runs(json.loads(text), share))
    return text[: int(len(text) * share)]


@pytest.mark.parametrize("path", failing(), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_that_no_cut_run_passes_what_fails_whole(path: Path) -> None:
    case, runner = tomllib.loads(path.read_text("utf-8")), mutations.case_runner()
    terms = {key: validate_term(key, value, CATALOGUE) for key, value in case.get("terms", {}).items()}
    promise = Promise(CATALOGUE, terms, case.get("seconds"), runner.history_of(case))
    whole = {kind: runner.evidence_of(kind, spec) for kind, spec in case["outputs"].items()}
    measured = {kind: runner.output_of(spec) for kind, spec in case["outputs"].items() if kind in MEASURES}
    failed = {(e.get("term"), e.get("direction")) for e in case["expect"] if e["verdict"] == "fail"}
    for share in SHARES:
        cut = {kind: evidence(kind, cut_of(output.text, share), output.exit_code) for kind, output in measured.items()}
        for finding in judge(rules()[path.parent.name], whole | cut, promise):
            if (finding.term, None) in failed or (finding.term, finding.direction) in failed:
                assert finding.verdict is not Verdict.PASS, share


def evidence(kind: str, text: str, exit_code: int | None) -> Evidence:
    try:
        return Evidence(read(readers()[kind], CommandOutput(text.encode(), exit_code=exit_code)))
    except Unreadable as trouble:
        return Evidence(trouble=trouble)
