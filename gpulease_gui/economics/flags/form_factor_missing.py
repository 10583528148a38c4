"""Does the offer name a family of cards without saying which build?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.flag import Flagged, FlagSeverity, RedFlag, unsaid
from gpulease_gui.economics.offer_facts import OfferFacts, Reference

FLAG = RedFlag("form_factor_missing", Text("Form factor missing", "未写明板卡形态"), FlagSeverity.SERIOUS, "gpu.form_factor")


def judge(facts: OfferFacts, reference: Reference) -> Flagged | None:
    """Up when the promised word leaves several forms (SXM, PCIe, NVL) and none is stated."""
    if facts.card is None:
        return unsaid(Text("which GPU it is", "是什么 GPU"))
    forms = {str(p.form_class) for p in reference.products(facts.card) if p.form_class}
    if len(forms) < 2 or "gpu.form_factor" in facts.terms:
        return None
    word, choice = facts.card, ", ".join(sorted(forms)).upper()
    return Flagged(Text(f"{word} is sold as {choice}; the offer does not say which", f"{word} 有 {choice} 多种形态，报价没有写明是哪一种"))
