"""Is an accepted node still the machine that was accepted, each time that it is connected to?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.span import utc_now
from gpulease_gui.services.identity_pin import pinned_run
from gpulease_gui.services.verify import Request
from gpulease_gui.store.workspace import Workspace

if TYPE_CHECKING:
    from gpulease_gui.services.outcome import Outcome
    from gpulease_gui.services.verify import Verification

# The report of nvidia-smi and the ids of the system; they are judged against the accepted run and all other nodes.
IDENTITY_CHECKS = ("trust.identity_pin", "trust.duplicate_node")


def look_again(workspace: Workspace, verification: Verification, node: Node, cancel: CancelToken) -> Outcome | None:
    """Read who the node is and tell the bus what changed (NodeDrifted); None for a node that was never accepted.

    Blocks. The look is a run of two checks that joins the newest whole one. Raises UserFacing, Cancelled.
    """
    with workspace.read() as connection:
        pinned = pinned_run(connection, node.id, utc_now())
    return verification.run(node, Request(only=IDENTITY_CHECKS), cancel) if pinned is not None else None
