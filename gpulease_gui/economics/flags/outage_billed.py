"""Is the time charged in which the supplier's own fault stops the work?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.flag import Flagged, FlagSeverity, RedFlag, unsaid
from gpulease_gui.economics.offer_facts import OfferFacts, Reference

FLAG = RedFlag("outage_billed", Text("Outages are billed", "故障时间计费"), FlagSeverity.SERIOUS, "billing.bill_outage")


def judge(facts: OfferFacts, reference: Reference) -> Flagged | None:
    """Up when the meter runs on during an outage."""
    if facts.bill_outage is None:
        return unsaid(Text("whether an outage is charged", "故障期间是否计费"))
    return Flagged(Text("the time of an outage is charged", "故障期间照常收费")) if facts.bill_outage else None
