"""What does the target band say of a node on the Live page?"""

from __future__ import annotations

from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.node import Reach
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.models.verified import Verified
from gpulease_gui.gui.pages.live_nodes import LiveNode
from gpulease_gui.gui.pages.page import Target
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.services.events import NodeState

NOT_VERIFIED, NOT_READ = Text("not verified yet", "尚未验收"), Text("not read", "未读取")


def target_of(
    node: LiveNode, state: NodeState, impact: Impact, rate: tuple[Words, Words] | None, verified: Verified | None, fewer: Text | None = None
) -> Target:
    """Cards that are `fewer` than promised, contract, what was found, how it is sampled, its clock, the supplier. `verified` None: not read of the store yet."""
    facts: list[tuple[Words, Words]] = []
    if verified is not None:
        facts.append((Text("Found", "实为"), verified.cards or NOT_VERIFIED))
    if rate is not None:
        facts.append(rate)
    if verified is not None:
        facts.append((Text("Clock", "时钟偏差"), verified.clock or NOT_READ))
    if node.supplier:
        facts.append((Text("Supplier", "供应商"), node.supplier))
    address = "" if node.node.reach is Reach.LOCAL else node.address  # its name says where it is
    return Target(node.node.name, address, node.contract, "", state, impact, tuple(facts), fewer or "")
