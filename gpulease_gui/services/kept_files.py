"""How do readings that were kept as evidence leave the program, such that their hash can be computed again?"""

from __future__ import annotations

from pathlib import Path

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.services.evaluate import write_whole
from gpulease_gui.store.evidence import get_content
from gpulease_gui.store.kept_state import kept_hashes
from gpulease_gui.store.workspace import Workspace


def save_kept(workspace: Workspace, node_id: str, folder: Path) -> int:
    """Write the readings that were kept of a node, of each stretch as the bytes whose SHA-256 stands in reports; how many files.

    Raises UserFacing when nothing was kept, a copy was changed, or the folder can't be written to.
    """
    with workspace.read() as connection:
        hashes = kept_hashes(connection, node_id)
    if not hashes:
        raise UserFacing(Text("no readings of this node were kept", "该节点没有存证读数"), Text("They are kept when a run of a watched node ends", "受监控节点的验收结束时存证"), Text("Verify it while it is watched", "请在监控时验收该节点"))
    for sha256 in hashes:
        with workspace.read() as connection:
            content = get_content(connection, sha256)
        write_whole(folder / f"readings-{sha256[:12]}.bin", content)
    return len(hashes)
