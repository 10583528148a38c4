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
from gpulease_gui.remote.ssh_aliases import is_alias, may_speak_of
from gpulease_gui.remote.ssh_config import notes_of, resolve_alias
from gpulease_gui.services.config_now import as_of_now
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
        names = ", ".join(demo_nodes())
        raise UsageError(Text(f"there is no demo node {target!r}", f"没有演示节点 {target!r}"), next_step=Text(f"the demo nodes are {names}", f"演示节点有：{names}"))
    return DemoBrings(node.terms, f"{DEMO}{node.peer}" if node.peer else None)


def node_of(workspace: Workspace, target: str, identity_file: str = "", *, note: Callable[[Text], None] | None = None) -> Node:
    """The record of a target, made and saved if there is none yet. Raises UsageError.

    `note` is told what the ssh config says of it and we don't follow.
    """
    with workspace.read() as connection:
        known = nodes.list_nodes(connection)
    if is_demo(target):
        demo_brings(target)
        from gpulease_gui.services.demo_data import node_id

        wanted = node_id(target.removeprefix(DEMO))
        return next(node for node in known if node.id == wanted)
    node, record = (_local(known),) * 2 if target == LOCAL else _over_ssh(known, target, identity_file, note or _nobody)
    if record not in known:
        workspace.submit(lambda db: nodes.save_node(db, record)).result()
    return replace(node, name=THIS_COMPUTER.en) if is_own_unnamed(node) else node


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


def _over_ssh(known: Iterable[Node], target: str, identity_file: str, tell: Callable[[Text], None]) -> tuple[Node, Node]:
    """(the node as it is used now, what is kept of it): what the ssh config says today is not written into a record of before."""
    found = _named(known, target)
    if found is not None:
        return _of_before(found, target, identity_file, tell)
    place = _place_of(target, tell)
    here = [node for node in known if _is_at(node, place)]
    found = _its_own(here, target, place)
    if found is None:
        if here:
            tell(_beside(target, here))
        made = _logged_in(_with_way(_new(target, place), place), place, identity_file)
        return made, made
    if _leads_elsewhere(target, place):
        return _of_before(found, target, identity_file, tell)
    # Only a key that the user names now is kept: other names of this address have the same record.
    named = identity_file or (place.identity_file if _is_pasted(target) else "")
    return _logged_in(_with_way(found, place), place, named), _by_key_file(found, named)


def _of_before(node: Node, target: str, identity_file: str, tell: Callable[[Text], None]) -> tuple[Node, Node]:
    """A record with what the config says of its name today, and with the key that is named on the command line."""
    now = as_of_now(node, target)
    for words in (*now.not_followed, *now.differs):
        tell(words)
    used = _by_key_file(now.node, identity_file) if identity_file else _usual(now.node)
    return used, replace(used, host_key_alias=node.host_key_alias, known_hosts=node.known_hosts, ssh_options=node.ssh_options)


def _place_of(target: str, tell: Callable[[Text], None]) -> Target:
    place = parse_target(target) if _is_pasted(target) else resolve_alias(target)
    for words in notes_of(place):
        tell(words)
    if place.password:
        tell(_ASKED)
    return place


def _logged_in(node: Node, place: Target, identity_file: str) -> Node:
    """With the named key, else by the password that stood beside the address, else by the record's key or that of the config."""
    named = identity_file or node.identity_file or (place.identity_file if node.auth is AuthMethod.KEY else "")
    if place.password and not (identity_file or place.identity_file):
        return replace(node, auth=AuthMethod.PASSWORD)
    return _usual(node) if named == node.identity_file else _by_key_file(node, named)


def _by_key_file(node: Node, identity_file: str) -> Node:
    return replace(node, auth=method_for(identity_file), identity_file=identity_file) if identity_file else node


def _usual(node: Node) -> Node:
    return replace(node, auth=usual_login(node)) if node.auth is AuthMethod.KEY and not node.identity_file else node


def _nobody(words: Text) -> None:
    """Nobody is told."""


def _named(known: Iterable[Node], target: str) -> Node | None:
    return next((node for node in known if node.name == target and node.reach is Reach.SSH), None)


def _is_at(node: Node, place: Target) -> bool:
    """A private address means another machine behind every jump host."""
    return (node.address, node.jump) == (place.address, place.jump)


def _its_own(here: Iterable[Node], target: str, place: Target) -> Node | None:
    """The record of a target among those at its address: an alias has one of its own, as it has a login of its own.

    A bare address takes any, that of an alias only where there is no other.
    """
    alias = _alias_of(target)
    if _leads_elsewhere(target, place):
        return next((node for node in here if _alias_of(node.name) == alias), None)
    return min(here, key=lambda node: may_speak_of(node.name), default=None)


def _alias_of(name: str) -> str:
    return name.rpartition("@")[2]


def _beside(target: str, here: Iterable[Node]) -> Text:
    """Said once, where an alias becomes a node beside others of its address."""
    names = ", ".join(node.name for node in here)
    return Text(
        f"{target} is a new node; {names} has the same address: name that to go on with its record",
        f"{target} 记为新节点；{names} 使用相同地址，要沿用其记录请直接写该名称",
    )


def _leads_elsewhere(target: str, place: Target) -> bool:
    """Whether it is an alias: the config makes another host of it, or has a Host line with this very word."""
    word = _alias_of(target)
    if _is_pasted(target) or ":" in word or "[" in word:
        return False
    return place.address.host.lower() != word.lower() or is_alias(word)


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
