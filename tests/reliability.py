"""What can go wrong with a connection, is it survived, and is anything left over? `python -m tests.reliability [--count 200]`

Each fault is injected in turn, sixteen connects at once, against real OpenSSH servers on loopback or a scripted one.
A fault is survived when the program says what it should say; a number behind its name is that of the line in the list of
SSH pitfalls. Then threads, sockets, file handles and processes that were not there before are counted, ours and those on
the node.
"""

from __future__ import annotations

import argparse
import contextlib
import getpass
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import paramiko

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import Command
from gpulease_gui.domain.errors import Cancelled
from gpulease_gui.domain.frame import COLLECT, Frame
from gpulease_gui.domain.node import Address, AuthMethod, HostKey, Node, Reach
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.remote.collect import collect
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.failures import ConnectFailed
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.hostkeys import HostTrust, host_key_of
from gpulease_gui.remote.known_hosts import known_name, known_of
from gpulease_gui.remote.proxy import Proxy, ProxyKind
from gpulease_gui.remote.route import STRAIGHT, Hop, Route
from gpulease_gui.remote.session import Connector, SshSession
from gpulease_gui.remote.stream import SILENT_LEAST_S, Stream
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.timeline import Clock
from gpulease_gui.services.watch import Watching
from gpulease_gui.store.nodes import save_node

AT_ONCE = 16
OTHER = HostKey("ssh-ed25519", "SHA256:" + "A" * 43)
CONFIG = """ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/id.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
MaxStartups 2000:30:4000
UseDNS no
SetEnv HOME={folder}/home
LogLevel ERROR
"""
QUICK = Deadlines(banner_s=1.0, kex_s=1.0, proxy_s=1.0)


# -- what is connected to -----------------------------------------------------------------------------------------------


@dataclass
class World:
    """The servers, and what every connect needs."""

    folder: Path
    marker: str
    connector: Connector = field(default_factory=Connector)
    addresses: dict[str, Address] = field(default_factory=dict)
    trust: HostTrust = HostTrust()
    scripted_key: paramiko.PKey = field(default_factory=paramiko.ECDSAKey.generate)
    trapped: Counter[str] = field(default_factory=Counter)
    agent: str = ""

    def credentials(self, key: str = "id") -> Credentials:
        return Credentials(identity_file=str(self.folder / key))

    def connect(
        self, place: str, deadlines: Deadlines | None = None, *, trust: HostTrust | None = None, key: str = "id",
        route: Route = STRAIGHT, cancel: CancelToken | None = None,
    ) -> SshSession:  # fmt: skip
        return self.connector.connect(
            self.addresses[place], self.credentials(key), trust or self.trust, deadlines or Deadlines(), cancel or CancelToken(), route
        )

    def run(self, script: str, seconds: int = 20, cancel: CancelToken | None = None) -> tuple[list[Frame], list[str]]:
        """The frames of one fact, and the reasons of what is missing."""
        frames: list[Frame] = []
        fact = Fact("it", Text("it", "it"), Command(script=script), seconds)
        with self.connect("plain") as session:
            end = collect(session, [fact], frames.append, cancel or CancelToken())
        return frames, ["cancelled" if end.cancelled else str(missing.reason) for missing in end.missing]


@contextlib.contextmanager
def world() -> Iterator[World]:
    """All servers; they end with the block."""
    with tempfile.TemporaryDirectory(prefix="reliability-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        (folder / "home").mkdir()
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        for key in ("host", "id", "stranger"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key], check=True)
        made = World(folder, f"600.{secrets.randbelow(10**9):09d}1")
        made.trust = HostTrust((host_key_of(paramiko.PKey.from_path(str(folder / "host"))),))
        for place, extra in SSHDS.items():
            made.addresses[place] = stack.enter_context(_sshd(folder, place, extra))
        for place, talk in TALKS.items():
            made.addresses[place] = stack.enter_context(_listener(talk))
        made.addresses["trap"] = stack.enter_context(_trap(made))
        made.addresses["door"] = stack.enter_context(_scripted(made, _Door, lambda transport: None))
        made.agent = stack.enter_context(_full_agent(folder))
        _write_known_hosts(made)
        with socket.create_server(("127.0.0.1", 0)) as closed:
            made.addresses["closed"] = Address("127.0.0.1", closed.getsockname()[1])
        yield made


@contextlib.contextmanager
def _sshd(folder: Path, name: str, extra: str) -> Iterator[Address]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    config = folder / f"{name}.config"
    config.write_text(extra + CONFIG.format(port=port, folder=folder))
    process = subprocess.Popen(["/usr/sbin/sshd", "-D", "-f", config, "-E", folder / f"{name}.log"])
    try:
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        yield Address("127.0.0.1", port, getpass.getuser())
    finally:
        process.terminate()
        process.wait(10)


SSHDS = {
    "plain": "", "narrow": "MaxSessions 1\nAllowTcpForwarding no\n", "shell": "ForceCommand /bin/false\n", "strict": "MaxAuthTries 1\n",
    "talkative": "ForceCommand printf 'Welcome to node-07\\nno newline'; exec $SSH_ORIGINAL_COMMAND\n",
}  # fmt: skip


@contextlib.contextmanager
def _full_agent(folder: Path) -> Iterator[str]:
    """An agent with eight keys; the node knows the last one."""
    place = str(folder / "agent")
    process = subprocess.Popen(["ssh-agent", "-D", "-a", place], stdout=subprocess.DEVNULL)
    try:
        while not Path(place).exists() and process.poll() is None:
            time.sleep(0.02)
        for number in range(7):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / f"other{number}"], check=True)
        for key in (*(f"other{number}" for number in range(7)), "id"):
            subprocess.run(["ssh-add", "-q", folder / key], check=True, capture_output=True, env={**os.environ, "SSH_AUTH_SOCK": place})
        yield place
    finally:
        process.terminate()
        process.wait(10)


def _write_known_hosts(made: World) -> None:
    """Lines that stop the library's own reader, around the good one; and a file that revokes the key."""
    key = " ".join((made.folder / "host.pub").read_text().split()[:2])
    name = known_name(made.addresses["plain"])
    odd = f"@cert-authority * {key[:40]}\n\n\n{name}  ssh-ed25519  %%%\n# Büro\n@odd {name} {key}\n".encode("latin-1")
    (made.folder / "known").write_bytes(odd + f"{name} {key}\n".encode())
    (made.folder / "revoked").write_text(f"{name} {key}\n@revoked * {key}\n")


def _flood(caller: socket.socket) -> None:
    caller.settimeout(5)
    with contextlib.suppress(OSError):
        while True:
            caller.sendall(b"x" * 65536)


TALKS: dict[str, Callable[[socket.socket], None]] = {
    "silent": lambda caller: None,
    "garbage": lambda caller: caller.sendall(b"HTTP/1.1 400 Bad Request\r\n" * 100),
    "flood": _flood,
    "stalled": lambda caller: caller.sendall(b"SSH-2.0-slow\r\n"),
    "cut": lambda caller: (caller.sendall(b"SSH-2.0-cut\r\n"), caller.recv(1024), caller.close()) and None,
    "deaf": lambda caller: caller.close(),
}


@contextlib.contextmanager
def _listener(talk: Callable[[socket.socket], None]) -> Iterator[Address]:
    """A port on which something else than SSH answers, each caller in a thread of its own."""
    callers: list[socket.socket] = []
    threads: list[threading.Thread] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer(caller: socket.socket) -> None:
            with contextlib.suppress(OSError):
                talk(caller)

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    caller, _ = server.accept()
                    callers.append(caller)
                    threads.append(threading.Thread(target=answer, args=(caller,)))
                    threads[-1].start()

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield Address("127.0.0.1", server.getsockname()[1])
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for caller in callers:
                with contextlib.suppress(OSError):
                    caller.shutdown(socket.SHUT_RDWR)
                caller.close()
            for one in threads:
                one.join()


class _Rules(paramiko.ServerInterface):
    """Lets everyone in."""

    def get_allowed_auths(self, username: str) -> str:
        return "password"

    def check_auth_password(self, username: str, password: str) -> int:
        return paramiko.AUTH_SUCCESSFUL


class _Door(paramiko.ServerInterface):
    """Wants a key, then that a push is confirmed, then a code; all on one connection."""

    def __init__(self) -> None:
        self.key_seen = False

    def get_allowed_auths(self, username: str) -> str:
        return "keyboard-interactive" if self.key_seen else "publickey"

    def check_auth_publickey(self, username: str, key: paramiko.PKey) -> int:
        self.key_seen = True
        return paramiko.AUTH_PARTIALLY_SUCCESSFUL

    def check_auth_interactive(self, username: str, submethods: str) -> paramiko.InteractiveQuery:
        return paramiko.InteractiveQuery("", "confirm on your phone")

    def check_auth_interactive_response(self, responses: list[str]) -> int | paramiko.InteractiveQuery:
        if not responses:
            return paramiko.InteractiveQuery("", "", ("Code:", False))
        return paramiko.AUTH_SUCCESSFUL if responses in (["otp"], [b"otp"]) else paramiko.AUTH_FAILED


@contextlib.contextmanager
def _scripted(
    made: World, rules: Callable[[], paramiko.ServerInterface], then: Callable[[paramiko.Transport], None]
) -> Iterator[Address]:
    """A server of the library's own: who gets in by `rules`, and what it does `then`."""
    key = made.scripted_key

    def serve(caller: socket.socket) -> None:
        transport = paramiko.Transport(caller)
        transport.add_server_key(key)
        transport.start_server(event=threading.Event(), server=rules())
        deadline = time.monotonic() + 20
        while not transport.is_authenticated() and time.monotonic() < deadline and transport.is_alive():
            time.sleep(0.01)
        then(transport)
        while transport.is_alive() and time.monotonic() < deadline:
            time.sleep(0.01)
        transport.close()
        transport.join(3)
        transport.packetizer.complete_handshake()

    with _listener(serve) as address:
        yield replace(address, user="anna")


def _trap(made: World) -> contextlib.AbstractContextManager[Address]:
    """A server that wants our agent and ports of ours as soon as we are in; `trapped` counts how it was refused."""

    def reach_out(transport: paramiko.Transport) -> None:
        for kind in ("auth-agent@openssh.com", "forwarded-tcpip", "x11"):
            try:
                transport.open_channel(kind, ("127.0.0.1", 1), ("127.0.0.1", 1), timeout=5)
                made.trapped["opened"] += 1
            except paramiko.ChannelException:
                made.trapped["refused"] += 1
        transport.close()

    return _scripted(made, _Rules, reach_out)


# -- what goes wrong ----------------------------------------------------------------------------------------------------


def _cause(work: Callable[[], object]) -> str:
    """The phase and cause of the refusal, or that there was none."""
    try:
        done = work()
    except ConnectFailed as error:
        return f"{error.phase}/{error.cause}"
    if isinstance(done, SshSession):
        done.close()
    return "connected"


def _good(w: World) -> str:
    frames, _ = w.run("echo fine")
    return frames[0].output.text.strip()


def _server_of(marker: str) -> int:
    """The server's process of just the session in which a command with that marker runs."""
    deadline = time.monotonic() + 15
    while not (found := _marked(marker)) and time.monotonic() < deadline:
        time.sleep(0.02)
    pid = int(found[0])
    while not Path(f"/proc/{pid}/comm").read_text().startswith("sshd"):
        pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    return pid


def _own_marker(w: World) -> str:
    return f"{w.marker}{secrets.randbelow(10**6):06d}"


def _killed(w: World) -> str:
    marker = _own_marker(w)
    killer = threading.Thread(target=lambda: os.kill(_server_of(marker), signal.SIGKILL))
    killer.start()
    _, missing = w.run(f"sleep {marker}", 60)
    killer.join()
    return missing[0] if missing else "nothing missing"


def _fell_silent(w: World) -> str:
    """A cable that is pulled: the node's side says nothing any more, and the connection stands."""
    marker = _own_marker(w)
    ends: list[str] = []
    with w.connect("plain") as session:
        stream = Stream(session, [("still", f"sleep {marker}")], 0.2, lambda *_: None)
        thread = threading.Thread(target=lambda: ends.append(str(stream.run().ending)))
        thread.start()
        server = _server_of(marker)
        os.kill(server, signal.SIGSTOP)
        try:
            thread.join(3 * 0.2 + SILENT_LEAST_S + 5)
            stood = session.alive
        finally:
            os.kill(server, signal.SIGCONT)
        stream.close()
        thread.join()
    return f"{ends[0]}, {'the connection stood' if stood else 'the connection ended'}"


def _slept(w: World) -> str:
    """This computer sleeps for an hour while it watches, and the connection does not outlive it."""
    asleep_s, marker = [0.0], secrets.token_hex(4)
    services = open_services(w.folder / f"{marker}.gpulease.db")
    watching = Watching(services.workspace, services.bus, services.links, Clock(wall=lambda: time.time() + asleep_s[0]))
    try:
        node = Node(marker, marker, Reach.SSH, w.addresses["plain"], identity_file=str(w.folder / "id"))
        services.workspace.submit(lambda db: save_node(db, node)).result()
        services.links.trust(node, w.trust.pins[0], "reliability")
        view = watching.start(node)
        _settled(lambda: {"no reading": not any(ring.last for ring in list(view.rings.values()))}, 60)
        asleep_s[0] = 3600.0
        _settled(lambda: {"no gap": not (view.gaps and view.gaps[-1].end_s)}, 60)
        gap = view.gaps[-1] if view.gaps else None
    finally:
        watching.close()
        services.close()
    hours = round((gap.end_s - gap.start_s) / 3600, 1) if gap and gap.end_s else 0
    return f"{gap.reason}, {hours} h" if gap else "no gap"


def _known(w: World, file: str) -> str:
    here = known_of(w.addresses["plain"], "", [str(w.folder / file)])
    said = _cause(lambda: w.connect("plain", trust=HostTrust(listed=here.listed, revoked=here.revoked)))
    return f"{said}, {len(here.skipped)} lines told"


def _talkative(w: World) -> str:
    frames: list[Frame] = []
    with w.connect("talkative") as session:
        end = collect(session, [Fact("it", Text("it", "it"), Command(script="echo fine"), 20)], frames.append, CancelToken())
    return f"{frames[0].output.text.strip()}, {'noise' if end.noise_bytes else 'no noise'}"


def _two_factors(w: World) -> str:
    credentials = replace(w.credentials(), ask_prompt=lambda prompt: Secret("otp" if prompt.words == "Code:" else ""))
    trust = HostTrust((host_key_of(w.scripted_key),))
    return _cause(lambda: w.connector.connect(w.addresses["door"], credentials, trust, Deadlines(), CancelToken()))


def _picked(w: World, place: str, key: str = "") -> str:
    credentials = Credentials(AuthMethod.AGENT, str(w.folder / key) if key else "", agent=w.agent)
    return _cause(lambda: w.connector.connect(w.addresses[place], credentials, w.trust, Deadlines(), CancelToken()))


def _endless(w: World) -> str:
    frames, missing = w.run(f"sleep {w.marker}", 1)
    return str(frames[0].output.exit_code) if frames else missing[0]


def _cancelled(w: World) -> str:
    cancel = CancelToken()
    timer = threading.Timer(0.5, cancel.cancel)
    timer.start()
    try:
        _, missing = w.run(f"sleep {w.marker}", 60, cancel)
    except Cancelled:
        missing = ["cancelled"]
    timer.join()
    return missing[0] if missing else "nothing missing"


def _flooded(w: World) -> str:
    frames, _ = w.run("head -c 12000000 /dev/zero")
    return f"cut at {len(frames[0].output.stdout) >> 20} MiB" if frames[0].output.stdout_cut else "not cut"


def _too_many(w: World) -> str:
    with w.connect("narrow") as session:
        first = session.open(COLLECT)
        said = _cause(lambda: session.open(COLLECT))
        first.close()
    return said


def _no_commands(w: World) -> str:
    with w.connect("shell") as session:
        channel = session.open(COLLECT)
        code = channel.exit_status(10)
        channel.close()
    return f"exit code {code}"


def _called_back(w: World) -> str:
    credentials = Credentials(AuthMethod.PASSWORD, password=Secret("any"))
    before = w.trapped["refused"]
    session = w.connector.connect(w.addresses["trap"], credentials, HostTrust((host_key_of(w.scripted_key),)), Deadlines(), CancelToken())
    with session:
        deadline = time.monotonic() + 10
        while w.trapped["refused"] < before + 3 and not w.trapped["opened"] and time.monotonic() < deadline:
            time.sleep(0.01)
    return "opened" if w.trapped["opened"] else "refused" if w.trapped["refused"] > before else "never asked"


def _given_up(w: World) -> str:
    cancel = CancelToken()
    timer = threading.Timer(0.1, cancel.cancel)
    timer.start()
    try:
        return _cause(lambda: w.connect("silent", cancel=cancel))
    except Cancelled:
        return "cancelled"
    finally:
        timer.join()


def _over(w: World, place: str, *, key: str = "id", trust: HostTrust | None = None) -> Route:
    return Route((Hop(w.addresses[place], w.credentials(key), w.trust if trust is None else trust),))


def _by_proxy(w: World, place: str) -> Route:
    return Route(proxy=Proxy(ProxyKind.SOCKS5, "127.0.0.1", w.addresses[place].port))


# Name -> how it is injected, and what the program has to say.
FAULTS: dict[str, tuple[Callable[[World], str], str]] = {
    "no fault: connect, one command": (_good, "fine"),
    "nobody listens": (lambda w: _cause(lambda: w.connect("closed")), "tcp/refused"),
    "silence in place of a banner": (lambda w: _cause(lambda: w.connect("silent", QUICK)), "banner/timeout"),
    "a web server": (lambda w: _cause(lambda: w.connect("garbage", QUICK)), "banner/not_ssh"),
    "endless bytes before the banner": (lambda w: _cause(lambda: w.connect("flood", QUICK)).split("/")[0], "banner"),
    "hang-up before the banner, four times": (lambda w: _cause(lambda: w.connect("deaf", QUICK)), "banner/hung_up"),
    "stall after the banner": (lambda w: _cause(lambda: w.connect("stalled", QUICK)), "kex/timeout"),
    "cut in the key exchange": (lambda w: _cause(lambda: w.connect("cut", QUICK)), "kex/hung_up"),
    "an unknown host key": (lambda w: _cause(lambda: w.connect("plain", trust=HostTrust())), "host_key/unknown"),
    "a changed host key": (lambda w: _cause(lambda: w.connect("plain", trust=HostTrust((OTHER,)))), "host_key/changed"),
    "a key that the node refuses": (lambda w: _cause(lambda: w.connect("plain", key="stranger")), "auth/key_refused"),
    "lines of known_hosts that can't be read (17)": (lambda w: _known(w, "known"), "connected, 2 lines told"),
    "a key that known_hosts revokes (17)": (lambda w: _known(w, "revoked"), "host_key/revoked, 0 lines told"),
    "eight keys in the agent, the chosen one is the last (12)": (lambda w: _picked(w, "strict", "id.pub"), "connected"),
    "eight keys in the agent, none chosen (12)": (lambda w: _picked(w, "plain"), "auth/too_many_failures"),
    "a key, a push and a code on one connection (13)": (_two_factors, "connected"),
    "words of the node before ours, without a line end (20)": (_talkative, "fine, noise"),
    "a node that falls silent while its connection stands (10)": (_fell_silent, "silent, the connection stood"),
    "this computer sleeps for an hour (11)": (_slept, "computer_slept, 1.0 h"),
    "the session is killed while a command runs": (_killed, "connection_lost"),
    "a command that never ends": (_endless, "124"),
    "a command that is cancelled": (_cancelled, "cancelled"),
    "12 MB of output": (_flooded, "cut at 8 MiB"),
    "a session too many": (_too_many, "channel/no_channel"),
    "a node that runs no commands": (_no_commands, "exit code 1"),
    "the node asks for agent, ports and X11": (_called_back, "refused"),
    "the user gives up while it connects": (_given_up, "cancelled"),
    "a jump host that is closed": (lambda w: _cause(lambda: w.connect("plain", route=_over(w, "closed"))), "tcp/refused"),
    "a jump host that forwards nothing": (lambda w: _cause(lambda: w.connect("plain", route=_over(w, "narrow"))), "tcp/tunnel_refused"),
    "a jump host with an unknown key": (lambda w: _cause(lambda: w.connect("plain", route=_over(w, "plain", trust=HostTrust()))), "host_key/unknown"),
    "a jump host with a changed key": (lambda w: _cause(lambda: w.connect("plain", route=_over(w, "plain", trust=HostTrust((OTHER,))))), "host_key/changed"),
    "a jump host that refuses our key": (lambda w: _cause(lambda: w.connect("plain", route=_over(w, "plain", key="stranger"))), "auth/key_refused"),
    "a closed port behind a jump host": (lambda w: _cause(lambda: w.connect("closed", route=_over(w, "plain"))), "tcp/tunnel_refused"),
    "a proxy that hangs up": (lambda w: _cause(lambda: w.connect("plain", route=_by_proxy(w, "deaf"))), "proxy/hung_up"),
    "a silent proxy": (lambda w: _cause(lambda: w.connect("plain", QUICK, route=_by_proxy(w, "silent"))), "proxy/timeout"),
}  # fmt: skip


# -- what is left over --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Held:
    """What this process holds."""

    threads: frozenset[int]
    handles: Counter[str]

    @classmethod
    def now(cls) -> Held:
        kinds: Counter[str] = Counter()
        for handle in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(OSError):
                kinds["sockets" if str(handle.readlink()).startswith("socket:") else "file handles"] += 1
        return cls(frozenset(thread.ident or 0 for thread in threading.enumerate()), kinds)


def _marked(marker: str) -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if marker.encode() in path.read_bytes() and path.parent.name != str(os.getpid()):
                found.append(path.parent.name)
    return found


def _more(before: Held) -> dict[str, int]:
    now = Held.now()
    more = {kind: max(0, now.handles[kind] - before.handles[kind]) for kind in ("sockets", "file handles")}
    return {"threads": len(now.threads - before.threads), **more}


def _settled(count: Callable[[], Mapping[str, int]], seconds: float = 10.0) -> Mapping[str, int]:
    """What is left over once nothing of it goes any more by itself."""
    deadline = time.monotonic() + seconds
    while any((left := count()).values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


@dataclass(frozen=True)
class Report:
    """Faults by name: how often injected, how often survived, the first wrong answer; and what is left over."""

    faults: dict[str, tuple[int, int, str]]
    left: dict[str, int]

    @property
    def good(self) -> bool:
        return all(injected == survived for injected, survived, _ in self.faults.values()) and not any(self.left.values())

    def __str__(self) -> str:
        lines = [f"{'injected':>8} {'survived':>8}  fault"]
        for name, (injected, survived, wrong) in self.faults.items():
            lines.append(f"{injected:>8} {survived:>8}  {name}{f' (said {wrong})' if wrong else ''}")
        return "\n".join([*lines, "", *(f"leaked {kind}: {count}" for kind, count in self.left.items())])


def inject(count: int) -> Report:
    """`count` connects, the faults in turn. Processes are counted while the nodes still run."""
    before = Held.now()
    with world() as made:
        names = [list(FAULTS)[n % len(FAULTS)] for n in range(count)]

        def one(name: str) -> str:
            work, wanted = FAULTS[name]
            said = work(made)
            return "" if said == wanted else said

        with ThreadPoolExecutor(AT_ONCE) as pool:
            answers = list(pool.map(one, names))
        remote = _settled(lambda: {"remote processes": len(_marked(made.marker))})
    left = {**_settled(lambda: _more(before)), **remote}
    wrong = {name: [said for n, said in zip(names, answers, strict=True) if n == name and said] for name in names}
    return Report({name: (names.count(name), names.count(name) - len(bad), bad[0] if bad else "") for name, bad in wrong.items()}, left)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.reliability", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="connects (default 200)")
    started = time.monotonic()
    report = inject(parser.parse_args().count)
    print(report)
    print(f"{sum(injected for injected, _, _ in report.faults.values())} connects in {time.monotonic() - started:.0f} s")
    return 0 if report.good else 1


if __name__ == "__main__":
    sys.exit(main())
