"""Which pinned host key does the user replace by name, because the machine behind it was really rebuilt?"""

from __future__ import annotations

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import HostKey, Node
from gpulease_gui.remote.failures import HostKeyChanged
from gpulease_gui.services.links import Links, NotConnected
from gpulease_gui.services.pinned_keys import hop_place, pinned_keys
from gpulease_gui.store import hop_keys
from gpulease_gui.store.workspace import Workspace

COMPARED = "fingerprint named by the user in --replace-host-key"
WHY = "replaced on the command line"


def replace_host_keys(
    workspace: Workspace, links: Links, node: Node, named: tuple[str, ...], cancel: CancelToken
) -> tuple[str, ...]:
    """Replace the pins whose host now shows a key that is `named` (SHA256:...), of the node or of a jump host on the way.

    Connects until no key has changed any more; another key than a named one replaces nothing. The old pins stay in the
    history. Answers with a line of English for each fingerprint. Raises Cancelled.
    """
    left, said = list(named), []
    while left:
        changed = _changed(links, node, cancel)
        if changed is None or changed.new.fingerprint not in left:
            break
        left.remove(changed.new.fingerprint)
        said.append(_replace(workspace, links, node, changed))
    return (*said, *(f"nothing was replaced for {fingerprint}: the node shows no changed key like it" for fingerprint in left))


def _changed(links: Links, node: Node, cancel: CancelToken) -> HostKeyChanged | None:
    try:
        links.open(node, cancel).line.close()
    except NotConnected as error:
        return error.__cause__ if isinstance(error.__cause__, HostKeyChanged) else None
    return None


def _replace(workspace: Workspace, links: Links, node: Node, changed: HostKeyChanged) -> str:
    for old in _pinned(workspace, node, changed.hop):
        if old.kind == changed.new.kind:
            links.replace_key(node, old, WHY, hop=changed.hop)
    links.trust(node, changed.new, COMPARED, why=WHY, hop=changed.hop)
    old_key, new = changed.old.fingerprint, changed.new.fingerprint
    return f"host key of {changed.host_port} replaced: {old_key} by {new}; the old one stays in the history"


def _pinned(workspace: Workspace, node: Node, hop: str) -> tuple[HostKey, ...]:
    with workspace.read() as connection:
        return hop_keys.list_trusted_hop_keys(connection, hop_place(node, hop)) if hop else pinned_keys(connection, node).keys
