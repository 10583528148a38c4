"""How do the simulated nodes answer SSH on this computer?"""

from __future__ import annotations

import logging
import os
import selectors
import shutil
import socket
import stat
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

import paramiko
from paramiko.common import (
    AUTH_FAILED,
    AUTH_SUCCESSFUL,
    OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED,
    OPEN_SUCCEEDED,
)

from gpulease_gui.demo.active import Meeting
from gpulease_gui.demo.keys import host_key_of, new_client_key
from gpulease_gui.demo.nodes import DemoNode, demo_nodes
from gpulease_gui.demo.session import Clock, Park, serve, speaks
from gpulease_gui.domain.node import Address, HostKey
from gpulease_gui.domain.span import utc_now

# A client that hangs up is no event for our standard error.
logging.getLogger("paramiko").addHandler(logging.NullHandler())

USER = "demo"
LOOPBACK = "127.0.0.1"
FOLDER_PREFIX = "gpulease-demo-"


class DemoServer:
    """All simulated nodes: one loopback port each, one client key for all, no shell behind any of them.

    `pace` scales the time that commands take (0 = answer at once). `now` stops the nodes' clocks.
    """

    def __init__(
        self, nodes: Mapping[str, DemoNode] | None = None, *, pace: float = 0.2, now: datetime | None = None
    ) -> None:
        self._nodes = MappingProxyType(dict(demo_nodes() if nodes is None else nodes))
        self._pace = pace
        self._clock: Clock = utc_now if now is None else lambda: now
        self._lock = threading.Lock()
        self._running: _Running | None = None

    @property
    def nodes(self) -> Mapping[str, DemoNode]:
        """The nodes by name."""
        return self._nodes

    def start(self) -> None:
        """Listen on free loopback ports; does nothing when already started. Raises OSError."""
        with self._lock:
            if self._running is None:
                self._running = _Running(self._nodes, self._pace, self._clock)

    def stop(self) -> None:
        """End every session and thread and remove the client key; does nothing when not started."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running.stop()

    def __enter__(self) -> DemoServer:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def address(self, name: str) -> Address:
        """Where the node answers. Raises KeyError for an unknown name, RuntimeError when not started."""
        return self._started.addresses[name]

    def host_key(self, name: str) -> HostKey:
        """The key to pin for the node. Raises KeyError."""
        return self._nodes[name].host_key

    @property
    def client_key_path(self) -> Path:
        """The private key (OpenSSH form, no passphrase) that every node accepts. Raises RuntimeError when stopped."""
        return self._started.client_key_path

    def cut(self, name: str) -> None:
        """Hang up on every client of the node, as a broken network would; it can be reached again at once."""
        self._started.cut(name)

    @property
    def _started(self) -> _Running:
        if self._running is None:
            raise RuntimeError("the simulated nodes are not started")
        return self._running


class _Running:
    """The sockets, threads and key file between one start and its stop."""

    def __init__(self, nodes: Mapping[str, DemoNode], pace: float, clock: Clock) -> None:
        self.park = Park(pace, clock, Meeting(nodes))
        sweep_folders(Path(tempfile.gettempdir()))
        self._folder = tempfile.TemporaryDirectory(prefix=f"{FOLDER_PREFIX}{os.getpid()}-")
        self.client_key_path = Path(self._folder.name) / "id_ed25519"
        self.client_key = new_client_key(self.client_key_path)
        self._connections: set[_Connection] = set()
        self._lock = threading.Lock()
        self._listeners = {name: _listen() for name in nodes}
        self.addresses = {name: Address(LOOPBACK, s.getsockname()[1], USER) for name, s in self._listeners.items()}
        self._wake, self._bell = socket.socketpair()
        self._door = threading.Thread(target=self._accept, args=(nodes,), name="demo-door", daemon=True)
        self._door.start()

    def _accept(self, nodes: Mapping[str, DemoNode]) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake, selectors.EVENT_READ)
            for name, listener in self._listeners.items():
                selector.register(listener, selectors.EVENT_READ, nodes[name])
            while True:
                for key, _ in selector.select():
                    if key.data is None:
                        return
                    self._welcome(key.fileobj, key.data)  # type: ignore[arg-type]

    def _welcome(self, listener: socket.socket, node: DemoNode) -> None:
        with suppress(OSError):  # the caller hung up before we picked up
            caller, _ = listener.accept()
            caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = _Connection(self, node, caller)
            with self._lock:
                gone = {c for c in self._connections if c.over}
                self._connections = (self._connections - gone) | {connection}
            for old in gone:
                old.join()
            connection.start()

    def cut(self, name: str) -> None:
        with self._lock:
            connections = [c for c in self._connections if c.node.name == name]
        for connection in connections:
            connection.close()

    def stop(self) -> None:
        self._bell.close()
        self._door.join()
        self._wake.close()
        for listener in self._listeners.values():
            listener.close()
        for connection in self._connections:
            connection.close()
        for connection in self._connections:
            connection.join()
        self._folder.cleanup()


class _Connection(paramiko.ServerInterface):
    """One client on one node; the transport's thread asks it what is allowed."""

    def __init__(self, running: _Running, node: DemoNode, caller: socket.socket) -> None:
        self._running = running
        self.node = node
        self._workers: list[threading.Thread] = []
        self._transport = paramiko.Transport(caller)
        self._transport.local_version = "SSH-2.0-OpenSSH_9.6 (simulated)"
        self._transport.add_server_key(host_key_of(node.name))
        self._ready = threading.Event()

    @property
    def over(self) -> bool:
        """Whether the client is gone and all its commands have ended."""
        return not self._transport.is_alive() and not any(w.is_alive() for w in self._workers)

    def start(self) -> None:
        """Begin the handshake on the transport's own thread."""
        self._transport.start_server(event=self._ready, server=self)

    def close(self) -> None:
        """Hang up."""
        self._transport.close()
        self._transport.sock.close()

    def join(self) -> None:
        """Wait until every thread of this client has ended."""
        for thread in (self._transport, *self._workers):
            if thread.ident is not None:
                thread.join()
        # A client that left in mid-handshake leaves the library's clock of it running.
        self._transport.packetizer.complete_handshake()

    def get_allowed_auths(self, username: str) -> str:
        """Keys only."""
        return "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        """One user, one key."""
        known = username == USER and key.asbytes() == self._running.client_key.asbytes()
        return AUTH_SUCCESSFUL if known else AUTH_FAILED

    def check_channel_request(self, kind: str, chanid: int) -> int:
        """Sessions only: nothing is forwarded."""
        if kind == "session":
            return OPEN_SUCCEEDED
        return OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        """Our own protocol and nothing else."""
        words = command.decode("utf-8", "replace")
        if not speaks(words):
            return False
        where = (channel, words, self.node, self._running.park)
        worker = threading.Thread(target=serve, args=where, name=f"demo-{self.node.name}", daemon=True)
        self._workers = [w for w in self._workers if w.is_alive()] + [worker]
        worker.start()
        return True


def sweep_folders(place: Path) -> None:
    """Remove the client keys below `place` that killed processes of this user left behind."""
    if sys.platform == "win32":  # there asking for a process by its number can end it
        return
    for folder in place.glob(f"{FOLDER_PREFIX}*-*"):
        pid = folder.name.removeprefix(FOLDER_PREFIX).partition("-")[0]
        # An own folder, no link to one, whose process is gone.
        if pid.isdecimal() and _own_folder(folder) and not _runs(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def _own_folder(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except OSError:  # another one of us was quicker
        return False
    return sys.platform != "win32" and stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _listen() -> socket.socket:
    return socket.create_server((LOOPBACK, 0), backlog=32)
