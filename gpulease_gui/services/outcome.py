"""How is a run written as one JSON object?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from gpulease_gui.domain.finding import Basis, Finding, Value, Verdict, overall, totals
from gpulease_gui.domain.node import HostKey
from gpulease_gui.domain.text import NO_TEXT, Text, in_one_line
from gpulease_gui.domain.threshold import JudgedBy
from gpulease_gui.reports.wording import value_text


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a node was not reached: phase (dns, tcp, banner, kex, host_key, auth, channel), reason, next step.

    `reason_text`, `next_text`: the same in both languages, as far as they are known; `next_step` names flags of the command
    line where `next_text` names buttons.
    """

    phase: str
    reason: str
    next_step: str
    reason_text: Text = NO_TEXT
    next_text: Text = NO_TEXT


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that the command line prints of a run. `contract` is an id; `contract` is literally that for a terms file.

    `name`: what the node is called, "" where no record of one was asked; `target`: how the command line writes it.
    `end_unseen`: it was cancelled, and the node did not say at once that its commands ended.
    """

    target: str
    run: str | None
    started: datetime
    host_key: HostKey | None
    contract: str | None
    demo: bool
    findings: tuple[Finding, ...] = ()
    cancelled: bool = False
    error: Trouble | None = None
    states: Mapping[str, str] = field(default_factory=dict)
    end_unseen: bool = False
    name: str = ""

    @property
    def called(self) -> str:
        """Which node, in one line: its name, and its address where that says no more: behind gates many have one address."""
        return in_one_line(f"{self.name} ({self.target})" if self.name and self.target not in self.name else self.name or self.target)

    @property
    def overall(self) -> Verdict:
        """The verdict by the required findings; a run that was cut short is never better than inconclusive."""
        verdict = overall(self.findings)
        short = self.cancelled or self.error is not None
        return verdict if verdict is Verdict.FAIL or not short else Verdict.INCONCLUSIVE


def figure_json(one: JudgedBy) -> dict[str, object]:
    """A figure that a finding was judged by; `value` is a part of one where `unit` is `share`."""
    return {
        "check": one.check, "name": one.name, "title": one.title.en, "sign": one.sign, "value": one.value, "unit": one.unit,
        "origin": str(one.origin), "source": one.source,
    }  # fmt: skip


def finding_json(finding: Finding) -> dict[str, object]:
    """A finding with the keys of the documented JSON; sentences in English."""
    return {
        "check": finding.check, "verdict": str(finding.verdict), "term": finding.term, "required": finding.required,
        "promised": finding.promised, "measured": finding.measured, "unit": finding.unit,
        "subjects": [
            {"id": s.id, "index": s.index, "verdict": str(s.verdict), "measured": s.measured, "reason": s.reason.en}
            for s in finding.subjects
        ],
        "reason": finding.reason.en, "reason_code": str(finding.reason_code), "next_step": finding.next_step.en,
        "basis": str(finding.basis), "rule_version": finding.rule_version, "evidence": list(finding.evidence),
        "judged_by": [figure_json(one) for one in finding.judged_by],
    }  # fmt: skip


def outcome_json(outcome: Outcome) -> dict[str, object]:
    """The one JSON object of `gpulease verify --json`. `name`: as in `kept`, `changed` and `overall` of several nodes."""
    answer: dict[str, object] = {
        "name": in_one_line(outcome.name) or None,
        "target": outcome.target,
        "run": outcome.run,
        "started": outcome.started.isoformat(),
        "host_key": outcome.host_key.fingerprint if outcome.host_key else None,
        "contract": outcome.contract,
        "demo": outcome.demo,
        "findings": [finding_json(f) for f in outcome.findings],
        "totals": {str(v): n for v, n in totals(outcome.findings).items()},
        "overall": str(outcome.overall),
        "cancelled": outcome.cancelled,
    }
    if outcome.states:
        answer["not_run"] = dict(outcome.states)
    if outcome.error:
        error = outcome.error
        answer["error"] = {"phase": error.phase, "reason": error.reason, "next_step": error.next_step}
    return answer


def finding_line(finding: Finding) -> str:
    """One line for people, as a finding is saved."""
    measured = "" if finding.measured is None else f" {_said(finding.measured, finding.unit)}"
    promised = "" if finding.promised is None else f" (promised {_said(finding.promised)})"
    where = f" {finding.term}" if finding.term else ""
    words = f"{finding.verdict:14} {finding.check}{where}{measured}{promised}: {finding.reason.en}"
    return words.replace("\n", " ")


def _said(value: Value, unit: str = "") -> str:
    """A value for people; a figure keeps its digits, so that lines can be compared."""
    if isinstance(value, str | bool):
        return value_text(value).en
    return f"{value} {unit}".rstrip()


def current(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The latest finding per check, term and direction, in the order of their first appearance."""
    latest: dict[tuple[str, str | None, str], Finding] = {}
    for finding in findings:
        latest[(finding.check, finding.term, finding.direction)] = finding
    return tuple(latest.values())


def kept_promises(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """One passing finding (a measured one if there is one) of each term that nothing of the run speaks against.

    A term with a fail, a warning or an open question beside its pass is not proven.
    """
    by_term: dict[str, list[Finding]] = {}
    for finding in current(findings):
        if finding.term is not None and finding.verdict is not Verdict.NOT_APPLICABLE:
            by_term.setdefault(finding.term, []).append(finding)
    proven = [said for said in by_term.values() if all(f.verdict is Verdict.PASS for f in said)]
    return tuple(max(said, key=lambda f: f.basis is Basis.MEASURED) for said in proven)
