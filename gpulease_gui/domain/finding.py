"""What does a check say, and how do findings add up?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.threshold import JudgedBy

Value = int | float | str | bool | None


class Verdict(StrEnum):
    """The five words of a finding; there are no others."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NOT_APPLICABLE = "not_applicable"


VERDICT_WORDS: Mapping[Verdict, Text] = {
    Verdict.PASS: Text("Pass", "通过"),
    Verdict.WARN: Text("Warning", "警告"),
    Verdict.FAIL: Text("Fail", "不符"),
    Verdict.INCONCLUSIVE: Text("Inconclusive", "无法判定"),
    Verdict.NOT_APPLICABLE: Text("N/A", "不适用"),
}

# Worst first; not_applicable never decides.
WORST_FIRST = (Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.WARN, Verdict.PASS, Verdict.NOT_APPLICABLE)


class CheckState(StrEnum):
    """What may become of a planned check besides a finding; never a verdict."""

    PLANNED = "planned"
    RUNNING = "running"
    DONE = "done"
    NOT_RUN = "not_run"
    CANCELLED = "cancelled"
    ERROR = "error"


class Basis(StrEnum):
    """How the value is known: the node says so, or we timed or counted it."""

    REPORTED = "reported"
    MEASURED = "measured"


class Reason(StrEnum):
    """Reason codes that the runner gives; rules may add their own words (lower case, underscores)."""

    MISSING_TOOL = "missing_tool"
    TIMEOUT = "timeout"
    DENIED = "denied"
    CUT_OFF = "cut_off"
    MALFORMED = "malformed"
    UNREADABLE = "unreadable"
    CONNECTION_LOST = "connection_lost"
    COMPUTER_SLEPT = "computer_slept"
    OWN_NETWORK = "own_network"
    NOT_COLLECTED = "not_collected"
    NOT_PROMISED = "not_promised"
    IMPLIED = "implied_by_gpu_model"
    INCONSISTENT = "inconsistent"
    OTHER_VENDOR = "other_vendor"
    DRIVER = "driver_not_answering"
    SAME_MACHINE = "same_machine"
    TERMS_CONTRADICT = "terms_contradict"


@dataclass(frozen=True, slots=True)
class SubjectFinding:
    """The part of a finding that speaks of one GPU, interface or direction.

    `id` is the GPU UUID, else bus id, interface, or `a->b`; `index` as the node counts.
    """

    id: str
    verdict: Verdict
    measured: Value = None
    index: int | None = None
    reason: Text = NO_TEXT


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check says of one term (and direction). `measured` is the worst of the subjects.

    `required`, `evidence` (SHA-256 of the outputs) and `judged_by` (the figures that it was held against) are filled in
    by the runner.
    """

    check: str
    verdict: Verdict
    reason: Text
    term: str | None = None
    promised: Value = None
    measured: Value = None
    unit: str = ""
    subjects: tuple[SubjectFinding, ...] = ()
    reason_code: str = ""
    next_step: Text = NO_TEXT
    basis: Basis = Basis.REPORTED
    better: str | None = None
    rule_version: int = 1
    required: bool = False
    evidence: tuple[str, ...] = field(default=())
    direction: str = ""
    judged_by: tuple[JudgedBy, ...] = ()


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of `verdicts`; not_applicable if there are none."""
    present = set(verdicts)
    return next((v for v in WORST_FIRST if v in present), Verdict.NOT_APPLICABLE)


def overall(findings: Iterable[Finding]) -> Verdict:
    """The verdict of a run: the worst required finding; inconclusive when nothing required was judged."""
    verdict = worst(f.verdict for f in findings if f.required)
    return Verdict.INCONCLUSIVE if verdict is Verdict.NOT_APPLICABLE else verdict


def totals(findings: Iterable[Finding]) -> dict[Verdict, int]:
    """How many findings of each verdict, in the order worst first."""
    counts = Counter(f.verdict for f in findings)
    return {v: counts.get(v, 0) for v in WORST_FIRST}


def worst_first(subjects: Iterable[SubjectFinding]) -> tuple[SubjectFinding, ...]:
    """Subjects in the order worst first, then by index."""
    rank = {v: n for n, v in enumerate(WORST_FIRST)}
    return tuple(sorted(subjects, key=lambda s: (rank[s.verdict], s.index if s.index is not None else 1 << 30, s.id)))
