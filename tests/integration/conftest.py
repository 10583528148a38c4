"""A private OpenSSH server on loopback: its own keys, its own empty HOME, nothing of the machine's."""

from __future__ import annotations

import contextlib
import getpass
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import Command
from gpulease_gui.domain.node import Address, HostKey
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.hostkeys import HostTrust
from gpulease_gui.remote.session import Connector, SshSession
from gpulease_gui.services.composition import Services
from gpulease_gui.store.workspace import Workspace

SSHD = "/usr/sbin/sshd"
CONFIG = """ListenAddress 127.0.0.1
Port {port}
HostKey {keys}/host_ed25519
HostKey {keys}/host_rsa
AuthorizedKeysFile {keys}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
MaxStartups 200:30:400
LoginGraceTime 30
PrintMotd no
PrintLastLog no
UseDNS no
X11Forwarding no
LogLevel ERROR
"""


# What comes at once as a rule: the limit is for a machine with much else to do, and is no claim.
PATIENCE_S = 60.0


def wait_until(true: Callable[[], object], seconds: float = PATIENCE_S) -> bool:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *children(child)]
    return found


@dataclass(frozen=True)
class Keys:
    """The keys of a test run: two of the host, some of the user (encrypted.* has the passphrase `correct horse`)."""

    folder: Path

    def user(self, name: str) -> Path:
        return self.folder / name

    def host_keys(self) -> tuple[HostKey, ...]:
        return tuple(
            HostKey(kind, self._fingerprint(self.folder / f"host_{name}.pub"))
            for name, kind in (("ed25519", "ssh-ed25519"), ("rsa", "ssh-rsa"))
        )

    @staticmethod
    def _fingerprint(path: Path) -> str:
        done = subprocess.run(["ssh-keygen", "-lf", path], check=True, capture_output=True, text=True)
        return done.stdout.split()[1]


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Keys:
    folder = tmp_path_factory.mktemp("keys")
    wanted = [("host_ed25519", "ed25519", ""), ("host_rsa", "rsa", ""), ("id_ed25519", "ed25519", ""),
              ("id_rsa", "rsa", ""), ("encrypted", "ed25519", "correct horse"), ("stranger", "ed25519", "")]  # fmt: skip
    for name, kind, passphrase in wanted:
        subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-f", folder / name], check=True)
    known = [(folder / f"{name}.pub").read_text() for name in ("id_ed25519", "id_rsa", "encrypted")]
    (folder / "authorized_keys").write_text("".join(known))
    return Keys(folder)


@dataclass
class SshServer:
    """One sshd. `home` is what HOME of its sessions points to; `env` and `extra` go into its configuration.

    `within` are the words that start it elsewhere, such as in a mount namespace.
    """

    keys: Keys
    folder: Path
    extra: str = ""
    env: dict[str, str] = field(default_factory=dict)
    within: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None
    port: int = 0

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def address(self) -> Address:
        return Address("127.0.0.1", self.port, getpass.getuser())

    @property
    def key_file(self) -> str:
        return str(self.keys.user("id_ed25519"))

    @property
    def credentials(self) -> Credentials:
        return Credentials(identity_file=self.key_file)

    @property
    def trust(self) -> HostTrust:
        return HostTrust(pins=self.keys.host_keys())

    def start(self) -> None:
        self.home.mkdir(exist_ok=True)
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        self.port = free_port()
        env = " ".join(f'"{name}={value}"' for name, value in {"HOME": str(self.home), **self.env}.items())
        config = self.folder / "sshd_config"
        # The first value of a keyword wins, so a test's own lines come first.
        config.write_text(self.extra + CONFIG.format(keys=self.keys.folder, port=self.port) + f"SetEnv {env}\n")
        self.process = subprocess.Popen([*self.within, SSHD, "-D", "-f", config, "-E", self.folder / "log"])
        assert wait_until(self._answers, 60), (self.folder / "log").read_text()

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as sock:
                return sock.recv(4) == b"SSH-"
        except OSError:
            return False

    def cut_sessions(self) -> None:
        """Kill the processes that hold the connections, but nothing of what runs in them."""
        assert self.process is not None
        for pid in children(self.process.pid):
            name = Path(f"/proc/{pid}/comm")
            if name.exists() and name.read_text().startswith("sshd"):
                os.kill(pid, signal.SIGKILL)

    @contextlib.contextmanager
    def stalled(self) -> Iterator[None]:
        """A block in which the processes that hold the connections do nothing; what runs in them goes on."""
        assert self.process is not None
        held = [pid for pid in children(self.process.pid) if Path(f"/proc/{pid}/comm").read_text().startswith("sshd")]
        for pid in held:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in held:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(PATIENCE_S)

    def connect(self, cancel: CancelToken | None = None) -> SshSession:
        return Connector().connect(self.address, self.credentials, self.trust, Deadlines(), cancel or CancelToken())


@pytest.fixture(scope="session")
def sshd(keys: Keys, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    """The sshd that most tests share."""
    server = SshServer(keys, tmp_path_factory.mktemp("sshd"))
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def own_tmp_sshd(keys: Keys, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshServer]:
    """The sshd of one file of tests: temporary files of its sessions lie below its folder, so what is left is theirs."""
    folder = tmp_path_factory.mktemp("node")
    (folder / "tmp").mkdir()
    server = SshServer(keys, folder, env={"PATH": os.environ["PATH"], "TMPDIR": str(folder / "tmp")})
    server.start()
    yield server
    server.stop()


@pytest.fixture
def make_sshd(keys: Keys, tmp_path: Path) -> Iterator[Callable[..., SshServer]]:
    """sshds with a configuration of their own: `make_sshd(extra="...", env={...})`."""
    servers: list[SshServer] = []

    def make(extra: str = "", env: dict[str, str] | None = None, within: tuple[str, ...] = ()) -> SshServer:
        folder = tmp_path / f"sshd{len(servers)}"
        folder.mkdir()
        server = SshServer(keys, folder, extra, env or {}, within)
        servers.append(server)
        server.start()
        return server

    yield make
    for server in servers:
        server.stop()


@pytest.fixture
def session(sshd: SshServer) -> Iterator[SshSession]:
    with sshd.connect() as session:
        yield session


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without keys, agent and known_hosts."""
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return tmp_path / "home"


@pytest.fixture
def services(home: Path, tmp_path: Path) -> Iterator[Services]:
    """The program without a window, at that home."""
    services = Services(Workspace.open(tmp_path / "w.db"))
    yield services
    services.close()


@dataclass(frozen=True)
class Marker:
    """A duration that no other process on this machine sleeps: it finds what a test left behind."""

    seconds: str

    def processes(self) -> list[str]:
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if self.seconds in words and path.parent.name != str(os.getpid()):
                found.append(f"{path.parent.name} {words[:200]}")
        return found

    def gone(self, seconds: float = PATIENCE_S) -> bool:
        return wait_until(lambda: not self.processes(), seconds)

    def seen(self, count: int = 1, seconds: float = PATIENCE_S) -> bool:
        return wait_until(lambda: len(self.processes()) >= count, seconds)


@pytest.fixture
def marker() -> Iterator[Marker]:
    marker = Marker(f"600.{secrets.randbelow(10**9):09d}1")
    yield marker
    left = marker.processes()
    for line in left:
        os.kill(int(line.split()[0]), signal.SIGKILL)
    assert not left, "processes left behind"


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """TMPDIR of the local transport; remote sessions get it through `make_sshd(env=...)`."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


@pytest.fixture
def fact() -> Callable[..., Fact]:
    def make(id_: str, script: str, seconds: int = 20, lane: str = "") -> Fact:
        return Fact(id_, Text(id_, id_), Command(script=script), seconds, lane=lane)

    return make


@pytest.fixture
def until() -> Callable[..., bool]:
    """`until(condition, seconds)`: whether the condition came true in time."""
    return wait_until
