"""How does what is known of a claim count as an answer?"""

from __future__ import annotations

from gpulease_gui.domain.claim import ClaimState
from gpulease_gui.domain.finding import Basis
from gpulease_gui.economics.scoring import Answer, EvidenceKind


def answer_of(state: ClaimState, basis: Basis | None, *, in_contract: bool) -> tuple[Answer, EvidenceKind]:
    """The answer and its evidence. `basis` is the one of the finding that verified; `in_contract`: it was signed.

    A refuted claim is a measured no; one that nobody answered is unknown, not a no.
    """
    if state is ClaimState.REFUTED:
        return Answer.FAIL, EvidenceKind.MEASURED
    if state is ClaimState.VERIFIED:
        return Answer.PASS, EvidenceKind.MEASURED if basis is Basis.MEASURED else EvidenceKind.CONTRACT
    if state in (ClaimState.NOT_ASKED, ClaimState.ASKED):
        return Answer.UNKNOWN, EvidenceKind.CLAIM
    if in_contract:
        return Answer.PASS, EvidenceKind.CONTRACT
    return Answer.PASS, EvidenceKind.DOCUMENT if state is ClaimState.EVIDENCED else EvidenceKind.CLAIM
