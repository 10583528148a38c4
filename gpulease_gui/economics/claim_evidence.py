"""How does an answer of the checklist count, by what stands behind it?"""

from __future__ import annotations

from gpulease_gui.domain.answer import Answer, AnswerState, AnswerValue
from gpulease_gui.domain.finding import Basis
from gpulease_gui.economics import scoring
from gpulease_gui.economics.scoring import EvidenceKind

_VALUES = {
    AnswerValue.YES: scoring.Answer.PASS, AnswerValue.PARTLY: scoring.Answer.PARTIAL, AnswerValue.NO: scoring.Answer.FAIL,
    AnswerValue.UNKNOWN: scoring.Answer.UNKNOWN,
}  # fmt: skip
_KINDS = {
    AnswerState.ANSWERED: EvidenceKind.CLAIM, AnswerState.EVIDENCED: EvidenceKind.DOCUMENT, AnswerState.IN_CONTRACT: EvidenceKind.CONTRACT,
}  # fmt: skip


def answer_of(answer: Answer | None) -> tuple[scoring.Answer, EvidenceKind]:
    """The answer and what it rests on: measured 1.0, verified as reported or in the contract 0.9, evidenced 0.8, answered 0.6.

    Its own state decides, also on a contract: signing a contract does not write into it what the supplier only said
    before, so an answer that was taken over from the offer counts as it did there. Refuted is a measured no; asked and
    not asked are unknown.
    """
    if answer is None or not answer.known:
        return scoring.Answer.UNKNOWN, EvidenceKind.CLAIM
    if answer.state is AnswerState.NOT_APPLICABLE:
        return scoring.Answer.NOT_APPLICABLE, EvidenceKind.CLAIM
    if answer.state is AnswerState.REFUTED:
        return scoring.Answer.FAIL, EvidenceKind.MEASURED
    if answer.state is AnswerState.VERIFIED:
        return _VALUES[answer.value], EvidenceKind.MEASURED if answer.basis is Basis.MEASURED else EvidenceKind.CONTRACT
    return _VALUES[answer.value], _KINDS[answer.state]
