"""Is only a container rented, where the driver and the kernel are out of reach?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.flag import Flagged, FlagSeverity, RedFlag, unsaid
from gpulease_gui.economics.offer_facts import OfferFacts, Reference

FLAG = RedFlag("container_only", Text("Container only", "只提供容器"), FlagSeverity.NOTABLE, "isolation")


def judge(facts: OfferFacts, reference: Reference) -> Flagged | None:
    """Up when the term isolation says container."""
    if "isolation" not in facts.terms:
        return unsaid(Text("whether a machine or a container is rented", "租的是裸金属、虚拟机还是容器"))
    if facts.terms["isolation"] != "container":
        return None
    return Flagged(Text("driver, kernel log and network stay with the supplier", "驱动、内核日志与网络都由供应商掌握"))
