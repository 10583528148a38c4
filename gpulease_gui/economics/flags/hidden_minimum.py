"""Is more charged for a short run than the billing step tells?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.economics.flag import Flagged, FlagSeverity, RedFlag, unsaid
from gpulease_gui.economics.offer_facts import OfferFacts, Reference

FLAG = RedFlag("hidden_minimum", Text("Hidden minimum", "隐藏的最低收费"), FlagSeverity.SERIOUS, "billing.min_billed_s")
_HOUR_S = 3600


def judge(facts: OfferFacts, reference: Reference) -> Flagged | None:
    """Up when the minimum time is longer than the billing step (or an hour, where no step is stated)."""
    if facts.min_billed_s is None:
        return unsaid(Text("the least time that a start is charged", "每次启动的最短计费时长"))
    step_s = facts.granularity_s if facts.granularity_s is not None else _HOUR_S
    if facts.min_billed_s <= step_s:
        return None
    hours = number_text(facts.min_billed_s / _HOUR_S)
    return Flagged(Text(f"every start or order is charged {hours} h at least", f"每次启动或每笔订单至少按 {hours} 小时收费"))
