"""Is it said how soon a broken GPU is replaced?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.flag import Flagged, FlagSeverity, RedFlag
from gpulease_gui.economics.offer_facts import OfferFacts, Reference

FLAG = RedFlag("no_replacement_time", Text("No replacement time", "没有换卡时限"), FlagSeverity.SERIOUS, "sla.replace_s")


def judge(facts: OfferFacts, reference: Reference) -> Flagged | None:
    """Up when no time is stated: here silence is the flaw itself."""
    if facts.replace_s is not None:
        return None
    return Flagged(Text("no time is stated within which a broken GPU or node is replaced", "没有写明故障 GPU 或整机的更换时限"))
