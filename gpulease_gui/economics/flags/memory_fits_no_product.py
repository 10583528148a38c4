"""Is there a card with the promised memory?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.economics.flag import Flagged, FlagSeverity, RedFlag, unsaid
from gpulease_gui.economics.offer_facts import OfferFacts, Reference

FLAG = RedFlag("memory_fits_no_product", Text("Memory fits no product", "显存与任何产品都对不上"), FlagSeverity.SERIOUS, "gpu.memory_gb")


def judge(facts: OfferFacts, reference: Reference) -> Flagged | None:
    """Up when no product of the promised name (or none at all, without a name) has the promised memory.

    A slice of a card may have any size.
    """
    memory_gb = facts.card_memory_gb
    if facts.terms.get("gpu.whole") is False or facts.terms.get("gpu.mig"):
        return None
    if memory_gb is None or isinstance(memory_gb, str | bool):
        return unsaid(Text("how much memory a card has", "单卡显存"))
    named = reference.products(facts.card)
    sizes = {size for product in named or reference.gpus.models.values() for size in product.listed("memory_gb_marketing")}
    if memory_gb in sizes:
        return None
    known = ", ".join(number_text(size) for size in sorted(sizes))
    what = facts.card if named else "card"
    return Flagged(Text(
        f"no {what} has {number_text(memory_gb)} GB; known: {known}",
        f"没有显存为 {number_text(memory_gb)} GB 的{f' {what} ' if named else '卡'}，已知：{known}",
    ))  # fmt: skip
