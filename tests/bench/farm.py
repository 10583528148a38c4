"""Where do the bench's nodes come from? OpenSSH servers on loopback, a port a node, keys and HOME of their own."""

from __future__ import annotations

import contextlib
import ctypes
import getpass
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

SSHD = "/usr/sbin/sshd"
_PR_SET_CHILD_SUBREAPER = 36
AUTOGROUP = Path("/proc/sys/kernel/sched_autogroup_enabled")
PORTS_EACH = 16  # sshd listens on no more
CONFIG = """ListenAddress 127.0.0.1
HostKey {folder}/host_ed25519
HostKey {folder}/host_rsa
AuthorizedKeysFile {folder}/id.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
MaxStartups 2000:30:4000
MaxSessions 100
PrintMotd no
PrintLastLog no
UseDNS no
X11Forwarding no
SetEnv HOME={folder}/home{more}
LogLevel ERROR
"""


@dataclass(frozen=True)
class Farm:
    """Running nodes. `fingerprints` are those of their shared host keys, as ssh-keygen prints them."""

    folder: Path
    ports: tuple[int, ...]
    processes: tuple[subprocess.Popen[bytes], ...]

    def job(self, ports: tuple[int, ...] | None = None) -> dict[str, object]:
        """What a worker needs to know."""
        keys = [(self.folder / f"host_{kind}.pub").read_text().split()[:2] for kind in ("ed25519", "rsa")]
        known = self.folder / f"known_{abs(hash(ports))}"
        ports = ports or self.ports
        known.write_text("".join(f"[127.0.0.1]:{port} {' '.join(key)}\n" for port in ports for key in keys))
        return {"ports": ports, "key": str(self.folder / "id"), "known_hosts": str(known), "user": getpass.getuser()}

    def cpu_s(self) -> float:
        """CPU seconds of the servers and of all that ran in them and has ended."""
        return sum(_cpu_s(process.pid) for process in self.processes)


def _cpu_s(pid: int) -> float:
    words = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def farm(count: int, *, niceness: int = 0, is_aside: bool = False, programs: Path | None = None) -> Iterator[Farm]:
    """`count` nodes; they end with the block. Where a window is watched they are nice: in truth they are elsewhere.

    A nice process still keeps the core that it has for up to 4 ms when another one wakes up. Nodes that are `is_aside` give
    it up at once, but hardly go on beside other work: for a machine that has none. `programs` is a folder that their
    commands are looked for in first.
    """
    with tempfile.TemporaryDirectory(prefix="bench-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        (folder / "home").mkdir()
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
        for key, kind in (("host_ed25519", "ed25519"), ("host_rsa", "rsa"), ("id", "ed25519")):
            subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", folder / key], check=True)
        more = f" PATH={programs}:/usr/bin:/bin" if programs else ""
        if niceness:
            stack.enter_context(niceness_that_counts())
        (folder / "config").write_text(CONFIG.format(folder=folder, more=more))
        ports = _free_ports(count)
        begin = _adopt_aside if is_aside else _adopt
        processes = [_start(folder, ports[i : i + PORTS_EACH], niceness, begin) for i in range(0, count, PORTS_EACH)]
        try:
            for port in ports:
                _await(port)
            yield Farm(folder, ports, tuple(processes))
        finally:
            for process in processes:
                process.terminate()
            for process in processes:
                process.wait(10)


@contextlib.contextmanager
def niceness_that_counts() -> Iterator[None]:
    """Linux shares the cores between sessions first, and sshd makes one for each login: forty of them are then given forty
    shares, nice or not, and the window one. Where we may, it looks at niceness alone until the block ends; else we say so."""
    try:
        is_on = AUTOGROUP.read_text().strip() == "1"
        if is_on:
            AUTOGROUP.write_text("0")
    except OSError:
        is_on = False
        if AUTOGROUP.exists():
            print("the cores are shared between sessions (sched_autogroup): the nodes do not give way", file=sys.stderr)
    try:
        yield
    finally:
        if is_on:
            AUTOGROUP.write_text("1")


def _start(folder: Path, ports: tuple[int, ...], niceness: int, begin: Callable[[], None]) -> subprocess.Popen[bytes]:
    words = [word for port in ports for word in ("-p", str(port))]
    command = ["nice", "-n", str(niceness), SSHD, "-D", "-f", folder / "config", *words, "-E", folder / "log"]
    return subprocess.Popen(command, preexec_fn=begin)


def _adopt() -> None:
    """What a session leaves running comes to its server when it ends, so that `cpu_s` counts it, too."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _adopt_aside() -> None:
    """As `_adopt`; and the server, with all that runs in it, has a core only while nobody else wants it."""
    _adopt()
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _free_ports(count: int) -> tuple[int, ...]:
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return tuple(sock.getsockname()[1] for sock in socks)


def _await(port: int) -> None:
    deadline = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


@contextlib.contextmanager
def far_away(ports: tuple[int, ...], milliseconds: float) -> Iterator[tuple[int, ...]]:
    """Ports that lead to `ports` over a line with that round trip."""
    words = [sys.executable, str(Path(__file__).parent / "delay.py"), str(milliseconds), *map(str, ports)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None and process.stdout is not None
    try:
        yield tuple(int(word) for word in process.stdout.readline().split())
    finally:
        process.stdin.close()
        process.terminate()
        process.wait(10)
        process.stdout.close()
