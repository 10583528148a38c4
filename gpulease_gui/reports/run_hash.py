"""Which hash stands for what a run found?"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable

from gpulease_gui.domain.finding import Finding, SubjectFinding, Value
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.threshold import JudgedBy


def run_hash(run_id: str, findings: Iterable[Finding], evidence: Iterable[str]) -> str:
    """SHA-256 over the canonical JSON of a run: its findings in order and the hashes of all its outputs."""
    whole = {"run": run_id, "findings": [finding_record(f) for f in findings], "evidence": sorted(set(evidence))}
    return hashlib.sha256(canonical(whole)).hexdigest()


def joint_hash(hashes: Iterable[str]) -> str:
    """One hash for several runs: the run's own if there is one, else SHA-256 over their hashes, a line each."""
    kept = list(hashes)
    return kept[0] if len(kept) == 1 else hashlib.sha256("".join(f"{one}\n" for one in kept).encode()).hexdigest()


def canonical(value: object) -> bytes:
    """Keys sorted, ASCII, no blanks: the same bytes on every machine."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode()


def finding_record(finding: Finding) -> dict[str, object]:
    """The whole finding with keys of its own fields, sentences in both languages."""
    record: dict[str, object] = {
        "check": finding.check, "term": finding.term, "direction": finding.direction, "verdict": str(finding.verdict),
        "required": finding.required, "promised": plain(finding.promised), "measured": plain(finding.measured),
        "unit": finding.unit, "better": finding.better, "basis": str(finding.basis), "reason": both(finding.reason),
        "reason_code": str(finding.reason_code), "next_step": both(finding.next_step),
        "rule_version": finding.rule_version, "evidence": list(finding.evidence),
        "subjects": [_subject(subject) for subject in finding.subjects],
    }  # fmt: skip
    # A finding of a version that kept no figures has the hash that it had then.
    return {**record, "judged_by": [_figure(one) for one in finding.judged_by]} if finding.judged_by else record


def _figure(one: JudgedBy) -> dict[str, object]:
    return {
        "check": one.check, "name": one.name, "value": plain(one.value), "unit": one.unit, "sign": one.sign,
        "origin": str(one.origin), "source": one.source,
    }  # fmt: skip


def _subject(subject: SubjectFinding) -> dict[str, object]:
    return {
        "id": subject.id, "index": subject.index, "verdict": str(subject.verdict), "measured": plain(subject.measured),
        "reason": both(subject.reason),
    }  # fmt: skip


def both(text: Text) -> dict[str, str]:
    """A sentence in both languages."""
    return {"en": text.en, "zh": text.zh}


def plain(value: Value) -> Value:
    """`value` as JSON can hold it: NaN and infinities as their words."""
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value
