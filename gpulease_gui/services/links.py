"""How does the program get a line to a node, and whom does it trust?"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.node import AuthMethod, HostKey, Node, Reach
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.else_password import is_of_keys, without_password
from gpulease_gui.remote.failures import ConnectFailed, HostKeyChanged, Phase, UnknownHostKey, no_password_yet
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.hostkeys import HostTrust, TrustedBy
from gpulease_gui.remote.local import LocalLine
from gpulease_gui.remote.login import TRIES_MAX
from gpulease_gui.remote.masking import Mask, masking
from gpulease_gui.remote.route import STRAIGHT
from gpulease_gui.remote.said_words import in_both
from gpulease_gui.remote.session import Connector, SshSession
from gpulease_gui.remote.transport import Line
from gpulease_gui.reports.known_notes import AS_FOR
from gpulease_gui.services.config_now import named_as_of_now
from gpulease_gui.services.events import (
    Bus,
    ConfigDiffers,
    HostKeyQuestion,
    LinesSkipped,
    NodeState,
    NodeStateChanged,
    RecordsChanged,
    SecretNotKept,
    StatedKey,
)
from gpulease_gui.services.kept_secrets import KeptSecrets
from gpulease_gui.services.neighbours import others_at
from gpulease_gui.services.pin_places import SAME_KEY, moved, place_of, replaced_lately, tell_moved
from gpulease_gui.services.pinned_keys import at_its_place, hop_place, lent_words, once_words, pinned_keys
from gpulease_gui.services.stated_keys import stated_keys
from gpulease_gui.services.system_keyring import KeyringTrouble
from gpulease_gui.services.ways import AskSecret, Ways, WayThere
from gpulease_gui.store import hop_keys, hostkeys, nodes
from gpulease_gui.store.records import KeyDecision, KeyState
from gpulease_gui.store.workspace import Workspace

if TYPE_CHECKING:
    from gpulease_gui.demo.server import DemoServer


_MOST_SKIPPED = 5
# How a login ends that was done by key alone where a password or an answer is wanted, too.
_WANTS_MORE = ("way_barred", "second_factor", "no_password")


class NotConnected(UserFacing):
    """A node that was not reached. `phase` as in the JSON; `offered` is a host key that was shown but not trusted."""

    def __init__(self, node: Node, phase: str, error: UserFacing, offered: HostKey | None = None) -> None:
        super().__init__(error.what_text, error.why_text, error.next_text, error.at_terminal)
        self.node = node
        self.phase = phase
        self.offered = offered


@dataclass(frozen=True, slots=True)
class Opened:
    """An open line to a node; leaving the block closes it."""

    line: Line
    host_key: HostKey | None = None

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.line.close()


class Links:
    """Opens lines to nodes: SSH, this computer, the simulated nodes."""

    def __init__(
        self, workspace: Workspace, bus: Bus, *, ask_secret: AskSecret | None = None, fingerprints: tuple[str, ...] = (),
        deadlines: Deadlines | None = None,
    ) -> None:  # fmt: skip
        self._workspace = workspace
        self._bus = bus
        self._ways = Ways(workspace, ask_secret, fingerprints)
        self._deadlines = deadlines or Deadlines()
        self._connector = Connector()
        self._lock = threading.Lock()
        self._demo: DemoServer | None = None
        self._states: dict[str, NodeState] = {}
        self._told: set[tuple[str, str]] | None = None
        self._once: dict[str, dict[str, HostKey]] = {}
        self._replaced: set[str] = set()
        self._skipped: set[str] = set()

    @property
    def ask_secret(self) -> AskSecret | None:
        """Who is asked for passphrases, passwords and answers to a node's questions; None = nobody."""
        return self._ways.ask_secret

    @ask_secret.setter
    def ask_secret(self, ask: AskSecret | None) -> None:
        self._ways.ask_secret = ask

    def show_while_typed(self, ask: AskSecret | None) -> None:
        """Who is asked where the node says that the answer may be seen; without it `ask_secret` is."""
        self._ways.ask_open = ask

    def follow_config(self) -> None:
        """From now on a record is read anew whenever it is connected to, and where its name is an alias, the ssh config, too."""
        self._told = set()

    def as_written(self, node: Node) -> Node:
        """The record as it is written now, where records are read anew: whoever held it for long may hold an old address of it."""
        if self._told is not None:
            with self._workspace.read() as connection, suppress(UsageError):  # removed meanwhile, or not written yet
                return nodes.get_node(connection, node.id)
        return node

    @property
    def kept(self) -> KeptSecrets:
        """What the system's keyring keeps for nodes."""
        return self._ways.kept

    def know_password(self, node: Node, password: Secret | None) -> None:
        """The password that came with a pasted line, None = none did. It is kept in memory until the program ends."""
        if password:
            self._ways.know(node, password)

    @property
    def states(self) -> Mapping[str, NodeState]:
        """How the connection of each node stood last, by node id."""
        with self._lock:
            return dict(self._states)

    def open(self, node: Node, cancel: CancelToken, *, fingerprints: tuple[str, ...] = ()) -> Opened:
        """Connect; blocks up to the deadlines.

        Raises NotConnected with the phase and what to do, Cancelled. A host key that is unknown or has changed is also
        published as a HostKeyQuestion. On the first connection after a key was replaced no password is sent or asked for.
        """
        node = self.as_written(node)
        self._publish(node, NodeState.CONNECTING)
        with self._lock:
            once = self._once.pop(node.id, {})
        try:
            with cancel.calls.calling():
                opened, lent = self._open(node, cancel, fingerprints, once)
        except ConnectFailed as error:
            if error.phase is Phase.HOST_KEY:  # of another stop: what was decided waits for that one to be decided, too
                with self._lock:
                    self._once[node.id] = {hop: key for hop, key in once.items() if hop != error.hop}
            raise self._refused(node, error) from error
        except UserFacing as error:
            self._publish(node, NodeState.REFUSED, error)
            raise NotConnected(node, "channel", error) from error
        self._publish(node, NodeState.CONNECTED, UserFacing(*once_words(once)) if once else lent)
        return opened

    def _open(
        self, node: Node, cancel: CancelToken, fingerprints: tuple[str, ...], once: Mapping[str, HostKey]
    ) -> tuple[Opened, UserFacing | None]:
        """The line, and what is to be said of its host key."""
        if node.reach is Reach.LOCAL:
            return Opened(LocalLine()), None
        if node.reach is Reach.DEMO:
            return self._open_demo(node, cancel), None
        if node.address is None:
            raise UserFacing(Text(f"{node.name} has no address", f"{node.name} 没有地址"), next_step=Text("edit the node", "请编辑该节点"))
        replaced = node.id in self._replaced
        keys_only = replaced or bool(once)
        now, mask, asking = self._as_of_now(node), Mask(), CancelToken()
        take_back = cancel.on_cancel(asking.cancel)
        try:
            way = self._ways.way_to(now, node.address, fingerprints, asking, keys_only=keys_only).trusting(once)
            cancel.check()
            self._say_skipped(way)
            with masking(mask):
                session = self._connect_past_proxy(node, way.telling(mask), cancel, mask)
        except ConnectFailed as error:
            cancel.check()  # a question that was withdrawn is no answer refused
            if error.phase is Phase.AUTH:
                self._replaced.discard(node.id)
                if (replaced or once) and error.cause in _WANTS_MORE:
                    raise no_password_yet(error, once=bool(once)) from error
                if (replaced or once) and error.hop and is_of_keys(error):
                    raise without_password(error, once=bool(once)) from error.__cause__
            raise
        finally:
            asking.cancel()  # nobody waits any more for what the node asked while it hung up or ran out of time
            take_back()
        session.mask = mask
        self._replaced.discard(node.id)
        lent = self._remember(now, way, session)
        self._keep_secrets(node)
        return Opened(session, session.host_key), UserFacing(lent) if lent is not None else None

    def _as_of_now(self, node: Node) -> Node:
        """What differs is said once."""
        if self._told is None:
            return node
        now = named_as_of_now(node)
        for words in now.differs:
            with self._lock:
                new = (node.id, words.en) not in self._told
                self._told.add((node.id, words.en))
            if new:
                self._bus.publish(ConfigDiffers(node.id, words))
        return now.node

    def _say_skipped(self, way: WayThere) -> None:
        """Lines of known_hosts that can't be used: each once, whichever node it was read for."""
        notes = [note for trust in (way.trust, *(hop.trust for hop in way.route.hops)) for note in trust.notes]
        with self._lock:
            new = [note for note in dict.fromkeys(notes) if note not in self._skipped]
            self._skipped.update(new)
        if new:
            told = [in_both(note) for note in new[:_MOST_SKIPPED]]
            more = len(new) - len(told)
            en, zh = "; ".join(note.en for note in told), "；".join(note.zh for note in told)
            rest, rest_zh = (f"; and {more} more", f"；另有 {more} 行") if more > 0 else ("", "")
            self._bus.publish(LinesSkipped(Text(f"lines that can't be used: {en}{rest}", f"无法使用的行：{zh}{rest_zh}")))

    def _connect_past_proxy(self, node: Node, way: WayThere, cancel: CancelToken, mask: Mask) -> SshSession:
        """A proxy that refuses the password of its user is called again with another, as long as the user types new ones."""
        number = 1
        while True:
            try:
                return self._connect(way, cancel)
            except ConnectFailed as error:
                proxy = way.route.proxy
                if proxy is None or not proxy.user or (error.phase, error.cause) != (Phase.PROXY, "auth"):
                    raise
                number += 1
                other = self._ways.other_proxy_password(node, proxy, number, cancel)
                cancel.check()
                if other is None or number > TRIES_MAX:
                    raise
                mask.add(other.password, other.user)
                way = replace(way, route=replace(way.route, proxy=other))

    def _connect(self, way: WayThere, cancel: CancelToken) -> SshSession:
        return self._connector.connect(way.address, way.credentials, way.trust, self._deadlines, cancel, way.route)

    def _remember(self, node: Node, way: WayThere, session: SshSession) -> Text | None:
        """Pin what was trusted for another reason than a pin of its own; each key with where that reason stands.

        Answers with what is to be said where it was trusted for another node at its place.
        """
        self._pin(node, session.host_key, session.trusted_by, way.trust)
        for hop, (host_port, key, trusted_by) in zip(way.route.hops, session.hop_keys, strict=True):
            self._pin(node, key, trusted_by, hop.trust, host_port)
        if session.trusted_by is not TrustedBy.PIN:
            return None
        with self._workspace.read() as connection:
            lender, edited = pinned_keys(connection, node).lender(session.host_key), moved(connection, node, session.host_key)
            name = nodes.get_node(connection, lender.node_id).name if lender is not None else ""
        if edited is not None and lender is None:  # from now on it is known here: another one will have changed
            self.trust(node, session.host_key, SAME_KEY, by="the same key")
        if lender is None:
            return None
        self.trust(node, session.host_key, f"{AS_FOR}{name}: {lender.compared_with}", by="another record")
        return lent_words(name)

    def _keep_secrets(self, node: Node) -> None:
        try:
            if self._ways.kept.accepted(node):
                self._bus.publish(RecordsChanged(frozenset(["node"])))
        except KeyringTrouble as trouble:
            self._bus.publish(SecretNotKept(node.id, trouble.words))

    def _pin(self, node: Node, key: HostKey, trusted_by: TrustedBy, trust: HostTrust, hop: str = "") -> None:
        if trusted_by is TrustedBy.FINGERPRINT:
            self.trust(node, key, "fingerprint given by the user", hop=hop)
        elif trusted_by is TrustedBy.USER_FILE:
            place = next(placed.place for placed in trust.listed if placed.key == key)
            self.trust(node, key, f"known_hosts, {place}", by="known_hosts", hop=hop)
        elif trusted_by is TrustedBy.AUTHORITY:
            self.trust(node, key, "known_hosts, a certificate of the host's authority", by="known_hosts", hop=hop)

    def _open_demo(self, node: Node, cancel: CancelToken) -> Opened:
        server = self._demo_server()
        credentials = Credentials(AuthMethod.KEY, str(server.client_key_path))
        trust = HostTrust((server.host_key(node.demo_name),))
        session = self._connect(WayThere(server.address(node.demo_name), credentials, trust, STRAIGHT), cancel)
        return Opened(session, session.host_key)

    def _demo_server(self) -> DemoServer:
        from gpulease_gui.demo.server import DemoServer

        with self._lock:
            if self._demo is None:
                self._demo = DemoServer()
                self._demo.start()
            return self._demo

    def trust(
        self, node: Node, key: HostKey, compared_with: str, *, by: str = "user", why: str = "", hop: str = ""
    ) -> None:
        """Pin a host key of the node, or of the jump host `hop` (host:port) on the way to it."""
        self._decide(node, KeyDecision(node.id, key, KeyState.TRUSTED, utc_now(), compared_with, by, why, place_of(node)), hop)

    def trust_once(self, node: Node, key: HostKey, *, hop: str = "") -> None:
        """Trust a host key for the next connection to the node alone, which sends no password; nothing is pinned."""
        with self._lock:
            self._once.setdefault(node.id, {})[hop] = key

    def replace_key(self, node: Node, key: HostKey, why: str, *, hop: str = "") -> None:
        """Trust a pinned key no more; it stays in the history. The next connection to the node sends no password."""
        with self._workspace.read() as connection:
            self._replaced.update({node.id} if hop else {node.id, *(other.id for other in at_its_place(connection, node))})
        self._decide(node, KeyDecision(node.id, key, KeyState.REPLACED, utc_now(), "", "user", why, place_of(node)), hop)

    def _decide(self, node: Node, decision: KeyDecision, hop: str) -> None:
        if hop:
            place = hop_place(node, hop)
            self._workspace.submit(lambda db: hop_keys.save_hop_key_decision(db, place, decision)).result()
        else:
            self._workspace.submit(lambda db: hostkeys.save_key_decision(db, decision)).result()

    def _refused(self, node: Node, error: ConnectFailed) -> NotConnected:
        state, offered = NodeState.REFUSED, None
        if isinstance(error, UnknownHostKey):
            offered, keys = error.key, (error.key, *error.others)
            others = () if error.hop else self._others_at(node, keys)
            edited = self._edited(node, error, *error.known[:1])
            for words in others:
                error.also(words)
            self._bus.publish(HostKeyQuestion(node, keys, error.known, error.hop, others, self._stated(node), 0, edited))
        elif isinstance(error, HostKeyChanged):
            edited, offered = self._edited(node, error, error.old), error.new
            state = NodeState.REFUSED if edited else NodeState.KEY_CHANGED
            with self._workspace.read() as connection:
                lately = 0 if error.hop or edited else replaced_lately(connection, node)
            others = () if error.hop else self._lent_by(node, error)
            for words in others:
                error.also(words)
            self._bus.publish(HostKeyQuestion(node, (error.new,), (error.old,), error.hop, others, self._stated(node), lately, edited))
        was_login = error.phase is Phase.AUTH and error.cause != "no_password_yet"
        if was_login:  # else nobody has judged a password
            self._ways.forget(node, error.hop)
        self._ways.kept.refused(node, login=was_login)
        self._publish(node, state, error)
        return NotConnected(node, str(error.phase), error, offered)

    def _edited(self, node: Node, error: HostKeyChanged | UnknownHostKey, *known: HostKey) -> tuple[str, str] | None:
        """Whether the user edited where the known key of a node is to be met; that is said then, and nobody is accused."""
        if error.hop or not known:
            return None
        with self._workspace.read() as connection:
            edited = moved(connection, node, known[0])
        if edited is not None:
            tell_moved(error, edited)
        return edited

    def _lent_by(self, node: Node, error: HostKeyChanged) -> tuple[Text, ...]:
        with self._workspace.read() as connection:
            lender = pinned_keys(connection, node).lender(error.old)
            if lender is None:
                return ()
            name = nodes.get_node(connection, lender.node_id).name
        return (Text(f"the known key is that of {name}, which has the same address", f"已知密钥属于地址相同的 {name}"),)

    def _stated(self, node: Node) -> tuple[StatedKey, ...]:
        with self._workspace.read() as connection:
            return stated_keys(connection, node)

    def _others_at(self, node: Node, keys: tuple[HostKey, ...]) -> tuple[Text, ...]:
        with self._workspace.read() as connection:
            return others_at(connection, node, keys)

    def tell(self, node: Node, error: ConnectFailed) -> None:
        """Say of a node that let us in that it does not work."""
        self._publish(node, NodeState.REFUSED, error)

    def _publish(self, node: Node, state: NodeState, error: UserFacing | None = None) -> None:
        with self._lock:
            self._states[node.id] = state
        why, step = (error.why_text if error.why else error.what_text, error.next_text) if error is not None else (NO_TEXT, NO_TEXT)
        self._bus.publish(NodeStateChanged(node.id, state, why.en, error.next_step if error is not None else "", why, step))

    def close(self) -> None:
        """Stop the simulated nodes; may be called twice."""
        with self._lock:
            demo, self._demo = self._demo, None
        self._ways.close()
        if demo is not None:
            demo.stop()
