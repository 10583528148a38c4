"""What did the supplier say of one term, and how far is it proven?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text


class ClaimState(StrEnum):
    """How far a promise is proven, weakest first."""

    NOT_ASKED = "not_asked"
    ASKED = "asked"
    ANSWERED = "answered"
    EVIDENCED = "evidenced"
    VERIFIED = "verified"
    REFUTED = "refuted"


CLAIM_WORDS: Mapping[ClaimState, Text] = {
    ClaimState.NOT_ASKED: Text("not asked", "未询问"),
    ClaimState.ASKED: Text("asked", "待答复"),
    ClaimState.ANSWERED: Text("claimed only", "仅承诺"),
    ClaimState.EVIDENCED: Text("in writing", "合同约定"),
    ClaimState.VERIFIED: Text("verified", "实测相符"),
    ClaimState.REFUTED: Text("refuted", "实测不符"),
}


@dataclass(frozen=True, slots=True)
class Claim:
    """One term of an offer or contract: `value` None means not stated."""

    term: str
    value: TermValue | None
    state: ClaimState = ClaimState.NOT_ASKED
    source: str = ""
    note: str = ""
    node_id: str | None = None


@dataclass(frozen=True, slots=True)
class ClaimChange:
    """One line of a claim's history; lines are never changed or removed. `at` is UTC."""

    at: datetime
    by: str
    value: TermValue | None
    state: ClaimState
    note: str = ""


def after_finding(claim: Claim, verdict: Verdict, node_id: str) -> Claim:
    """The claim after a run: pass verifies, fail refutes, the other verdicts change nothing.

    Once refuted by a node, only a pass on the same node verifies again.
    """
    if verdict is Verdict.FAIL:
        return replace(claim, state=ClaimState.REFUTED, node_id=node_id)
    if verdict is not Verdict.PASS:
        return claim
    if claim.state is ClaimState.REFUTED and claim.node_id not in (None, node_id):
        return claim
    return replace(claim, state=ClaimState.VERIFIED, node_id=node_id)
