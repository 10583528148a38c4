"""Are more GPUs charged than are needed, because only whole nodes are rented?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text
from gpulease_gui.economics.flag import Flagged, FlagSeverity, RedFlag, unsaid
from gpulease_gui.economics.offer_facts import OfferFacts, Reference

FLAG = RedFlag("whole_node_only", Text("Whole node only", "只租整机"), FlagSeverity.SERIOUS, "billing.whole_node_only")


def judge(facts: OfferFacts, reference: Reference) -> Flagged | None:
    """Up when whole nodes are a must, unless the buyer fills them."""
    if facts.whole_node_only is None:
        return unsaid(Text("whether single GPUs are rented", "是否可按单卡租用"))
    fills = facts.gpus_asked and facts.gpus_per_node and facts.gpus_asked % facts.gpus_per_node == 0
    if not facts.whole_node_only or fills:
        return None
    size = facts.gpus_per_node
    node = Text(f"a node of {size} GPUs", f"{size} 卡整机") if size else Text("a whole node", "整机")
    return Flagged(Text(f"{node.en} is charged, however few GPUs are used", f"用几张卡都按{node.zh}收费"))
