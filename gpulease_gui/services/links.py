"""How does the program get a line to a node, and whom does it trust?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from gpulease_gui.demo.server import DemoServer
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.node import Address, AuthMethod, HostKey, Node, Reach
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.span import utc_now
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.failures import ConnectFailed, HostKeyChanged, UnknownHostKey
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.hostkeys import HostTrust, TrustedBy
from gpulease_gui.remote.local import LocalLine
from gpulease_gui.remote.session import Connector, SshSession
from gpulease_gui.remote.transport import Line
from gpulease_gui.services.events import Bus, HostKeyQuestion, NodeState, NodeStateChanged
from gpulease_gui.store import hostkeys
from gpulease_gui.store.records import KeyDecision, KeyState
from gpulease_gui.store.workspace import Workspace

# What a question for a secret is about: the node, and "passphrase of PATH" or "password".
AskSecret = Callable[[Node, str], Secret | None]


class NotConnected(UserFacing):
    """A node that was not reached. `phase` as in the JSON; `offered` is a host key that was shown but not trusted."""

    def __init__(self, node: Node, phase: str, what: str, why: str, next_step: str, offered: HostKey | None = None) -> None:
        super().__init__(what, why, next_step)
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
        self.ask_secret = ask_secret
        self._fingerprints = fingerprints
        self._deadlines = deadlines or Deadlines()
        self._connector = Connector()
        self._lock = threading.Lock()
        self._demo: DemoServer | None = None
        self._passwords: dict[str, Secret] = {}

    def open(self, node: Node, cancel: CancelToken, *, fingerprints: tuple[str, ...] = ()) -> Opened:
        """Connect; blocks up to the deadlines.

        Raises NotConnected with the phase and what to do, Cancelled. A host key that is unknown or has changed is also
        published as a HostKeyQuestion.
        """
        self._publish(node, NodeState.CONNECTING)
        try:
            opened = self._open(node, cancel, self._fingerprints + fingerprints)
        except ConnectFailed as error:
            raise self._refused(node, error) from error
        except UserFacing as error:
            self._publish(node, NodeState.REFUSED, error.why or error.what, error.next_step)
            raise NotConnected(node, "channel", error.what, error.why, error.next_step) from error
        self._publish(node, NodeState.CONNECTED)
        return opened

    def _open(self, node: Node, cancel: CancelToken, fingerprints: tuple[str, ...]) -> Opened:
        if node.reach is Reach.LOCAL:
            return Opened(LocalLine())
        if node.reach is Reach.DEMO:
            return self._open_demo(node, cancel)
        if node.address is None:
            raise UserFacing(f"{node.name} has no address", next_step="edit the node")
        trust = HostTrust(self._pins(node), fingerprints)
        session = self._connect(node.address, self._credentials(node), trust, cancel)
        if session.trusted_by is TrustedBy.FINGERPRINT:
            self.trust(node, session.host_key, "fingerprint given by the user")
        return Opened(session, session.host_key)

    def _connect(self, address: Address, credentials: Credentials, trust: HostTrust, cancel: CancelToken) -> SshSession:
        return self._connector.connect(address, credentials, trust, self._deadlines, cancel)

    def _open_demo(self, node: Node, cancel: CancelToken) -> Opened:
        server = self._demo_server()
        credentials = Credentials(AuthMethod.KEY, str(server.client_key_path))
        trust = HostTrust((server.host_key(node.demo_name),))
        session = self._connect(server.address(node.demo_name), credentials, trust, cancel)
        return Opened(session, session.host_key)

    def _demo_server(self) -> DemoServer:
        with self._lock:
            if self._demo is None:
                self._demo = DemoServer()
                self._demo.start()
            return self._demo

    def _pins(self, node: Node) -> tuple[HostKey, ...]:
        with self._workspace.read() as connection:
            return hostkeys.list_trusted_keys(connection, node.id)

    def _credentials(self, node: Node) -> Credentials:
        password = None
        if node.auth is AuthMethod.PASSWORD:
            password = self._password(node)
        ask = self.ask_secret
        passphrase = (lambda path: ask(node, f"passphrase of {path}")) if ask else None
        return Credentials(node.auth, node.identity_file, password=password, ask_passphrase=passphrase)

    def _password(self, node: Node) -> Secret | None:
        """Asked once a session and kept in memory only."""
        with self._lock:
            known = self._passwords.get(node.id)
        if known is None and self.ask_secret is not None:
            known = self.ask_secret(node, "password")
            if known is not None:
                with self._lock:
                    self._passwords[node.id] = known
        return known

    def trust(self, node: Node, key: HostKey, compared_with: str, *, by: str = "user", why: str = "") -> None:
        """Pin a host key; older keys of the same type become history."""
        decision = KeyDecision(node.id, key, KeyState.TRUSTED, utc_now(), compared_with, by, why)
        self._workspace.submit(lambda db: hostkeys.save_key_decision(db, decision)).result()

    def _refused(self, node: Node, error: ConnectFailed) -> NotConnected:
        state, offered = NodeState.REFUSED, None
        if isinstance(error, UnknownHostKey):
            offered = error.key
            self._bus.publish(HostKeyQuestion(node, (error.key, *error.others), error.known))
        elif isinstance(error, HostKeyChanged):
            state, offered = NodeState.KEY_CHANGED, error.new
            self._bus.publish(HostKeyQuestion(node, (error.new,), (error.old,)))
        with self._lock:
            self._passwords.pop(node.id, None)
        self._publish(node, state, str(error.why), error.next_step)
        return NotConnected(node, str(error.phase), error.what, error.why, error.next_step, offered)

    def _publish(self, node: Node, state: NodeState, reason: str = "", next_step: str = "") -> None:
        self._bus.publish(NodeStateChanged(node.id, state, reason, next_step))

    def close(self) -> None:
        """Stop the simulated nodes; may be called twice."""
        with self._lock:
            demo, self._demo = self._demo, None
            self._passwords.clear()
        if demo is not None:
            demo.stop()
