"""Which node record does a target of the command line mean?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from gpulease_gui.demo.nodes import demo_nodes
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import THIS_COMPUTER, AuthMethod, Node, Reach
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.address import Target
from gpulease_gui.remote.pasted_nodes import parse_target
from gpulease_gui.remote.ssh_config import notes_of, resolve_alias
from gpulease_gui.services.config_now import as_of_now
from gpulease_gui.services.demo_data import node_id
from gpulease_gui.services.ways import method_for, usual_login
from gpulease_gui.store import nodes
from gpulease_gui.store.records import new_id
from gpulease_gui.store.workspace import Workspace

LOCAL = "local"
DEMO = "demo:"
_ASKED = Text("a password on the command line is not used: it stands in the history of the shell; it is asked for", "不使用命令行中的密码：它会留在 shell 历史中；需要时会询问")
LOCAL_ID = "this-computer"


@dataclass(frozen=True, slots=True)
class DemoBrings:
    """What `demo:NAME` brings along: the promises of its contract and the peer of its network."""

    terms: Mapping[str, TermValue] = field(default_factory=dict)
    peer: str | None = None


def is_demo(target: str) -> bool:
    """Whether a target is one of the simulated nodes."""
    return target.startswith(DEMO)


def demo_brings(target: str) -> DemoBrings:
    """Promises and peer (as a target) of a demo node. Raises UsageError for an unknown name."""
    node = demo_nodes().get(target.removeprefix(DEMO))
    if node is None:
        raise UsageError(f"there is no demo node {target!r}", next_step=f"the demo nodes are {', '.join(demo_nodes())}")
    return DemoBrings(node.terms, f"{DEMO}{node.peer}" if node.peer else None)


def node_of(workspace: Workspace, target: str, identity_file: str = "", *, note: Callable[[Text], None] | None = None) -> Node:
    """The record of a target, made and saved if there is none yet. Raises UsageError.

    `note` is told what the ssh config says of it and we don't follow.
    """
    with workspace.read() as connection:
        known = nodes.list_nodes(connection)
    if is_demo(target):
        demo_brings(target)
        wanted = node_id(target.removeprefix(DEMO))
        return next(node for node in known if node.id == wanted)
    node = _local(known) if target == LOCAL else _over_ssh(known, target, identity_file, note)
    record = _record_of(node, _named(known, target))
    if record not in known:
        workspace.submit(lambda db: nodes.save_node(db, record)).result()
    return replace(node, name=THIS_COMPUTER.en) if is_own_unnamed(node) else node


def _record_of(node: Node, before: Node | None) -> Node:
    """What is kept of a node. What the ssh config says today of a record that there was before is used, and not written into it."""
    if before is None or before.id != node.id:
        return node
    return replace(node, host_key_alias=before.host_key_alias, known_hosts=before.known_hosts, ssh_options=before.ssh_options)


def same_node(one: Node, other: Node) -> bool:
    """Whether two records lead to one place: the same record, or one host and port behind the same jump hosts."""
    if one.id == other.id:
        return True
    if one.address is None or other.address is None:
        return False
    here, there = ((n.address.host.lower(), n.address.port, n.jump) for n in (one, other) if n.address)
    return here == there


def _local(known: Iterable[Node]) -> Node:
    """The record of this computer, or a new one."""
    mine = (node for node in known if node.reach is Reach.LOCAL)
    return next(mine, Node(LOCAL_ID, THIS_COMPUTER.en, Reach.LOCAL))


def is_own_unnamed(node: Node) -> bool:
    """Whether it is the record of this computer, and the user gave it no name: a window in Chinese calls it otherwise."""
    return node.reach is Reach.LOCAL and node.name in (THIS_COMPUTER.en, THIS_COMPUTER.zh)


def _over_ssh(known: Iterable[Node], target: str, identity_file: str, note: Callable[[Text], None] | None) -> Node:
    found = _named(known, target)
    if found is not None:
        found = _as_of_now(found, target, note or _nobody)
    else:
        place = parse_target(target) if _is_pasted(target) else resolve_alias(target)
        if note is not None:
            for words in notes_of(place):
                note(words)
            if place.password:
                note(_ASKED)
        found = _with_way(_at(known, place) or _new(target, place), place)
        identity_file = identity_file or place.identity_file
        if place.password and not identity_file:
            return replace(found, auth=AuthMethod.PASSWORD)
    if identity_file:
        return replace(found, auth=method_for(identity_file), identity_file=identity_file)
    return replace(found, auth=usual_login(found)) if found.auth is AuthMethod.KEY and not found.identity_file else found


def _as_of_now(node: Node, target: str, tell: Callable[[Text], None]) -> Node:
    now = as_of_now(node, target)
    for words in (*now.not_followed, *now.differs):
        tell(words)
    return now.node


def _nobody(words: Text) -> None:
    """Nobody is told."""


def _named(known: Iterable[Node], target: str) -> Node | None:
    return next((node for node in known if node.name == target and node.reach is Reach.SSH), None)


def _at(known: Iterable[Node], place: Target) -> Node | None:
    """A private address means another machine behind every jump host."""
    return next((node for node in known if (node.address, node.jump) == (place.address, place.jump)), None)


def _is_pasted(target: str) -> bool:
    """Whether it is more than an alias or an address: a line with blanks or full-width signs, or one that may hold a password."""
    return target.startswith("[") or target.lower().startswith("ssh://") or " " in target.strip() or not target.isascii()


def _new(target: str, place: Target) -> Node:
    name = str(place.address) if _is_pasted(target) or place.password else target
    return Node(new_id(), place.name or name, Reach.SSH, place.address, jump=place.jump)


def _with_way(node: Node, place: Target) -> Node:
    """What ssh's config says of the way, where it says something."""
    return replace(
        node, certificate_file=place.certificate_file or node.certificate_file,
        host_key_alias=place.host_key_alias or node.host_key_alias,
        known_hosts="\n".join(place.known_hosts) or node.known_hosts, ssh_options=place.ssh_options or node.ssh_options,
    )  # fmt: skip
