"""Do the readers of our own measurements end in a reading or in Unreadable, and does a cut run never pass what failed?"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
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

TESTS = Path(__file__).parents[1]
KINDS = sorted(MEASURES)
SEEDS = {kind: [path.read_bytes() for path in sorted((TESTS / "facts" / kind).glob("*.out"))] for kind in KINDS}
EVERYTHING = [seed for seeds in SEEDS.values() for seed in seeds]
MEASURED = sorted(id_ for id_, rule in rules().items() if set(rule.check.facts) & set(MEASURES))
CATALOGUE = load_catalogue()


@st.composite
def damaged(draw: st.DrawFn, seeds: list[bytes]) -> bytes:
    raw, other = draw(st.sampled_from(seeds)), draw(st.one_of(st.binary(max_size=60), st.sampled_from(EVERYTHING)))
    at = int(len(raw) * draw(st.floats(0, 1)))
    changes = (
        raw[:at],
        raw[:at] + other + raw[at:],
        raw + other,
        re.sub(rb"\d+", rb"-1", raw),
        re.sub(rb"\d", rb"9999999999", raw),
        re.sub(rb"\d+(\.\d+)?", rb"null", raw),
        re.sub(rb'"(?:[^"\\]|\\.){1,40}"(?=[,}\]])', rb"[{}]", raw),
        raw.replace(b"[", b"{").replace(b"]", b"}"),
        raw.replace(b": ", b":\x1b[31m "),
    )
    return draw(st.sampled_from(changes))


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_that_every_text_ends_in_a_reading_or_in_unreadable(kind: str, data: st.DataObject) -> None:
    raw = data.draw(damaged(SEEDS[kind]))
    try:
        reading = read(readers()[kind], CommandOutput(raw))
    except Unreadable as error:
        assert error.reason and error.code
        return
    json.dumps(readers()[kind].as_dict(reading), allow_nan=False)


@pytest.mark.parametrize("check", MEASURED)
@given(data=st.data())
def test_that_a_rule_breaks_on_no_reading_of_a_damaged_output(check: str, data: st.DataObject) -> None:
    rule = rules()[check]
    kind = next(id_ for id_ in rule.check.facts if id_ in MEASURES)
    try:
        evidence = Evidence(read(readers()[kind], CommandOutput(data.draw(damaged(SEEDS[kind])))))
    except Unreadable as trouble:
        evidence = Evidence(trouble=trouble)
    promised = {term: SAMPLE[term] for term in rule.check.terms if data.draw(st.booleans())}
    for finding in judge(rule, {kind: evidence}, Promise(CATALOGUE, promised)):
        assert finding.reason.en and finding.reason.zh


SAMPLE: dict[str, Any] = {
    "disk.read_mb_s": 1000.0, "disk.write_mb_s": 1000.0, "disk.read_iops": 100000.0, "disk.size_gb": 1000.0,
    "network.gbit_s": 100.0, "network.same_site": True, "network.ports": "22, 8000", "network.ingress_mbit_s": 100.0,
    "network.egress_mbit_s": 100.0,
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


@pytest.mark.parametrize("path", failing(), ids=lambda path: f"{path.parent.name}/{path.stem}")
@given(share=st.floats(0, 1))
def test_that_no_cut_run_passes_what_fails_whole(path: Path, share: float) -> None:
    case = tomllib.loads(path.read_text("utf-8"))
    terms = {key: validate_term(key, value, CATALOGUE) for key, value in case.get("terms", {}).items()}
    evidence = {}
    for kind, spec in case["outputs"].items():
        text = json.dumps(cut_runs(json.loads(spec["text"]), share)) if kind in MEASURES else spec["text"]
        try:
            evidence[kind] = Evidence(read(readers()[kind], CommandOutput(text.encode())))
        except Unreadable as trouble:
            evidence[kind] = Evidence(trouble=trouble)
    failed = {(e.get("term"), e.get("direction")) for e in case["expect"] if e["verdict"] == "fail"}
    for finding in judge(rules()[path.parent.name], evidence, Promise(CATALOGUE, terms)):
        if (finding.term, None) in failed or (finding.term, finding.direction) in failed:
            assert finding.verdict is not Verdict.PASS
