"""What is known of one checklist item of an offer or contract?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from gpulease_gui.domain.finding import Basis
from gpulease_gui.domain.text import Text


class AnswerState(StrEnum):
    """How far an answer is proven, weakest first; the words of a claim and one more."""

    NOT_ASKED = "not_asked"
    ASKED = "asked"
    ANSWERED = "answered"
    EVIDENCED = "evidenced"
    IN_CONTRACT = "in_contract"
    VERIFIED = "verified"
    REFUTED = "refuted"
    NOT_APPLICABLE = "not_applicable"


class AnswerValue(StrEnum):
    """What the answer is; unknown is no no."""

    YES = "yes"
    PARTLY = "partly"
    NO = "no"
    UNKNOWN = "unknown"


ANSWER_WORDS: Mapping[AnswerState, Text] = {
    AnswerState.NOT_ASKED: Text("not asked", "未询问"),
    AnswerState.ASKED: Text("asked", "待答复"),
    AnswerState.ANSWERED: Text("claimed only", "仅承诺"),
    AnswerState.EVIDENCED: Text("evidenced", "有书面材料"),
    AnswerState.IN_CONTRACT: Text("in the contract", "合同约定"),
    AnswerState.VERIFIED: Text("verified", "实测相符"),
    AnswerState.REFUTED: Text("refuted", "实测不符"),
    AnswerState.NOT_APPLICABLE: Text("not applicable", "不适用"),
}
VALUE_WORDS: Mapping[AnswerValue, Text] = {
    AnswerValue.YES: Text("yes", "是"),
    AnswerValue.PARTLY: Text("partly", "部分"),
    AnswerValue.NO: Text("no", "否"),
    AnswerValue.UNKNOWN: Text("unknown", "未知"),
}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one item: who gave it and when (UTC).

    `basis` is that of the run that verified, `measured` a figure 0 to 1 between fixed anchors. `evidence` holds ids of
    attachments or SHA-256 of outputs; `run_id` the run that moved the item.
    """

    item: str
    state: AnswerState
    value: AnswerValue
    at: datetime
    by: str
    basis: Basis | None = None
    measured: Decimal | None = None
    note: str = ""
    evidence: tuple[str, ...] = ()
    run_id: str | None = None

    @property
    def known(self) -> bool:
        """Whether it says anything: asked and not asked are unknown."""
        silent = self.state in (AnswerState.NOT_ASKED, AnswerState.ASKED)
        return not silent and (self.value is not AnswerValue.UNKNOWN or self.state is AnswerState.NOT_APPLICABLE)
