"""Does the contract go on, and charge, by itself?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.flag import Flagged, FlagSeverity, RedFlag, unsaid
from gpulease_gui.economics.offer_facts import OfferFacts, Reference

FLAG = RedFlag("auto_renewal", Text("Renews by itself", "自动续费"), FlagSeverity.NOTABLE, "billing.auto_renew")


def judge(facts: OfferFacts, reference: Reference) -> Flagged | None:
    """Up when the contract renews by itself; the days by which the charge comes early are said."""
    if facts.auto_renew is None:
        return unsaid(Text("whether it renews by itself", "是否自动续费"))
    if not facts.auto_renew:
        return None
    days = facts.renew_charge_lead_days
    if days is None:
        return Flagged(Text("it renews by itself, on a day that is not stated", "到期自动续费，扣款日未写明"))
    return Flagged(Text(f"it renews by itself and charges {days} days before the end", f"到期自动续费，提前 {days} 天扣款"))
