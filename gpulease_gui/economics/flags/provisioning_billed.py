"""Is the time charged before the machine can be used?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.flag import Flagged, FlagSeverity, RedFlag, unsaid
from gpulease_gui.economics.offer_facts import OfferFacts, Reference

FLAG = RedFlag("provisioning_billed", Text("Starting up is billed", "开通时间计费"), FlagSeverity.NOTABLE, "billing.bill_provisioning")


def judge(facts: OfferFacts, reference: Reference) -> Flagged | None:
    """Up when the meter runs from the order, also for a start that never becomes ready."""
    if facts.bill_provisioning is None:
        return unsaid(Text("from which moment the time counts", "从何时开始计费"))
    if not facts.bill_provisioning:
        return None
    return Flagged(Text("the time counts before the machine is ready, even if it never is", "机器就绪之前就开始计费，启动失败也照收"))
