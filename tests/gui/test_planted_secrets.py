"""Does anything typed into the window as a secret stand anywhere afterwards, or while it is used?

A password, a passphrase, a proxy's password, the answer to a node's question and a variable of a task are typed and used
over SSH, a run and the whole workspace are exported, a job breaks with a secret in its hands. Then everything that could hold
them is searched, and the same search finds words that may stand there.
"""

from __future__ import annotations

import base64
import getpass
import logging
import os
import socket
import sqlite3
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import paramiko
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address, AuthMethod, HostKey, Node, Reach
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.domain.task import SourceKind, TaskSource, TaskSpec, variable
from gpulease_gui.gui.forms.secret_dialog import SecretDialog
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import nodes, verification
from gpulease_gui.gui.pages.nodes_work import work_of
from gpulease_gui.remote.hostkeys import host_key_of
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import NodeState
from gpulease_gui.services.plan import Choice
from gpulease_gui.store import nodes as stored
from gpulease_gui.store import runs, suppliers
from gpulease_gui.store.records import Run
from gpulease_gui.store.task_runs import list_task_runs
from tests.integration.listening import listening
from tests.keyrings import MemoryKeyring, system_keyring

pytestmark = pytest.mark.sshd

PASSPHRASE, PASSWORD, ANSWER, TOKEN, OF_PROXY = "pp-Vz81qLx0", "pw-Jt55nRw3", "otp-Qm904417", "hf_Kd72bYc6", "px-Hs39dTo5"
# As the proxy gets it: what leads to a secret is as bad as the secret.
BASIC = base64.b64encode(f"anna:{OF_PROXY}".encode()).decode()
SECRETS = (PASSPHRASE, PASSWORD, ANSWER, TOKEN, OF_PROXY, BASIC)
NOTE, NUMBER, PLAIN = "note-Ws60pGh9", "NO-Xa48fEu2", "plain-Bk17jTi5"
PATIENCE = 30_000


class Doorman(paramiko.ServerInterface):
    """Asks for the password and then for a code."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def get_allowed_auths(self, username: str) -> str:
        return "keyboard-interactive"

    def check_auth_interactive(self, username: str, submethods: str) -> paramiko.InteractiveQuery:
        return paramiko.InteractiveQuery("", "", ("Password:", False))

    def check_auth_interactive_response(self, responses: list[str]) -> int | paramiko.InteractiveQuery:
        self.heard += [word.decode() if isinstance(word, bytes) else word for word in responses]
        if len(self.heard) == 1:
            return paramiko.InteractiveQuery("", "second step", ("Code:", True))
        return paramiko.AUTH_SUCCESSFUL if self.heard == [PASSWORD, ANSWER] else paramiko.AUTH_FAILED


@contextmanager
def gate(doorman: Doorman) -> Iterator[tuple[Address, HostKey]]:
    key, ended = paramiko.ECDSAKey.generate(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            caller, _ = listener.accept()
            transport = paramiko.Transport(caller)
            transport.add_server_key(key)
            transport.start_server(event=threading.Event(), server=doorman)
            ended.wait(60)
            transport.close()
            transport.join(3)
            transport.packetizer.complete_handshake()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield Address("127.0.0.1", listener.getsockname()[1], "anna"), host_key_of(key)
        finally:
            ended.set()
            thread.join()


@contextmanager
def sshd(folder: Path) -> Iterator[tuple[Node, HostKey, int]]:
    """A real server, its node with an encrypted key, and its process."""
    for name, words in (("host", ""), ("user", PASSPHRASE)):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", words, "-f", folder / name], check=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    Path("/run/sshd").mkdir(parents=True, exist_ok=True)
    said = f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\nPidFile none\n"
    (folder / "config").write_text(f"{said}StrictModes no\nUsePAM no\nPermitRootLogin yes\nUseDNS no\nLogLevel DEBUG\n")
    process = subprocess.Popen(["/usr/sbin/sshd", "-D", "-f", folder / "config", "-E", folder / "log"])
    address = Address("127.0.0.1", port, getpass.getuser())
    key = host_key_of(paramiko.PKey.from_path(str(folder / "host")))
    try:
        yield Node("real", "node-11", Reach.SSH, address, "c1", identity_file=str(folder / "user"), note=NOTE), key, process.pid
    finally:
        process.terminate()
        process.wait(10)


@contextmanager
def proxy(port: int) -> Iterator[tuple[int, list[bytes]]]:
    """An HTTP proxy that leads to `port` of this computer; its own port, and what it was asked."""
    heard = list[bytes]()

    def agree(caller: socket.socket) -> Address:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += caller.recv(1)
        heard.append(head)
        caller.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        return Address("127.0.0.1", port)

    with listening(agree) as place:
        yield place.port, heard


class Watcher:
    """Reads argv and environment of this process and of all below it, again and again; those of a node its argv only."""

    def __init__(self, node_pid: int) -> None:
        self._node_pid, self._over = node_pid, threading.Event()
        self.argv: set[bytes] = set()
        self.environ: set[bytes] = set()
        self.nodes_environ: set[bytes] = set()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Watcher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.1):
            self._look(os.getpid(), self.environ)

    def _look(self, pid: int, environ: set[bytes]) -> None:
        here = Path(f"/proc/{pid}")
        try:
            self.argv.add((here / "cmdline").read_bytes())
            environ.add((here / "environ").read_bytes())
            below = [int(child) for task in here.glob("task/*/children") for child in task.read_text().split()]
        except OSError:  # it ended
            return
        for child in below:
            self._look(child, self.nodes_environ if child == self._node_pid else environ)


def unpacked(database: Path) -> Iterator[bytes]:
    """What is stored compressed."""
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for value in (value for table in tables for row in connection.execute(f'SELECT * FROM "{table}"') for value in row):
            if isinstance(value, bytes) and value[:1] == b"x":
                yield zlib.decompress(value)


def typed(window: MainWindow, qtbot: QtBot, words: str, *, shown: bool = False, keep: bool = False) -> None:
    """Answer the next question."""
    qtbot.waitUntil(lambda: any(d.isVisible() and d.isEnabled() for d in window.findChildren(SecretDialog)), timeout=PATIENCE)
    dialog = next(d for d in window.findChildren(SecretDialog) if d.isVisible())
    assert (dialog.line.echoMode() is dialog.line.EchoMode.Normal) is shown
    assert dialog.keep.isVisible() is not shown
    dialog.keep.setChecked(keep)
    QTest.keyClicks(dialog.line, words)
    QTest.mouseClick(dialog.go_on, Qt.MouseButton.LeftButton)


def exported(workspace: Path, folder: Path) -> bytes:
    """The evaluation in every format and the bundle of all, as their words; each is written by a child process, as from the window."""
    outs = [folder / f"evaluation.{kind}" for kind in ("pdf", "html", "json")]
    start, place = [sys.executable, "-m", "gpulease_gui.cli.main"], ["--workspace", str(workspace)]
    children = [subprocess.Popen([*start, "export", "--contract", NUMBER, *place, "--out", str(out)], stdout=subprocess.DEVNULL) for out in outs]
    outs.append(folder / "bundle.json")
    children.append(subprocess.Popen([*start, "export-data", *place, "--out", str(outs[-1])], stdout=subprocess.DEVNULL))
    assert [child.wait(60) for child in children] == [0, 0, 0, 0]
    pdf = subprocess.run(["pdftotext", outs[0], "-"], check=True, capture_output=True).stdout
    return b"".join([pdf, *(out.read_bytes() for out in outs[1:])])


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    """Everything that any part of the program logs, the SSH library's smallest words too."""
    place, root = tmp_path / "all.log", logging.getLogger()
    handler, before = logging.FileHandler(place), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield place
    root.setLevel(before)
    root.removeHandler(handler)
    handler.close()


@pytest.mark.allows_log("job break broke")
def test_that_no_planted_secret_stands_anywhere(
    services: Services, make_window: Callable[..., MainWindow], log: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory,
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("GPULEASE_TEST_WORD", PLAIN)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    far, doorman, memory = tmp_path_factory.mktemp("far"), Doorman(), MemoryKeyring()
    with system_keyring(memory), sshd(far) as (bare, key, node_pid), gate(doorman) as (place, gate_key), Watcher(node_pid) as watcher, proxy(
        bare.address.port if bare.address else 0
    ) as (port, proxied):
        real = replace(bare, proxy=f"http://anna@127.0.0.1:{port}")
        asks = Node("asks", "node-12", Reach.SSH, place, auth=AuthMethod.PASSWORD)
        services.workspace.submit(lambda db: suppliers.save_supplier(db, Supplier("s1", "Sesame"))).result()
        services.workspace.submit(lambda db: suppliers.save_contract(db, Contract("c1", "s1", NUMBER))).result()
        for node, pinned in ((real, key), (asks, gate_key)):
            services.workspace.submit(lambda db, node=node: stored.save_node(db, node)).result()
            services.links.trust(node, pinned, "by the test")
        window = make_window(nodes.PAGE, verification.PAGE)
        window.attach(services)
        work = work_of(window)

        def idle(node: Node) -> bool:
            return work.job_of(node.id) is None

        work.connect_to(asks)
        typed(window, qtbot, PASSWORD, keep=True)
        typed(window, qtbot, ANSWER, shown=True)
        qtbot.waitUntil(lambda: idle(asks), timeout=PATIENCE)
        assert services.links.states["asks"] is NodeState.CONNECTED and doorman.heard == [PASSWORD, ANSWER]
        work.verify(real, Choice(only=("trust.clock", "cpu.model")))
        typed(window, qtbot, OF_PROXY, keep=True)
        typed(window, qtbot, PASSPHRASE, keep=True)
        qtbot.waitUntil(lambda: idle(real) and bool(services.query(run_list).result()), timeout=PATIENCE)
        (tmp_path / "task.sh").write_text(f"echo got $HF_TOKEN and {PLAIN}; sleep 0.2\n")
        source, environment = TaskSource(SourceKind.SCRIPT, str(tmp_path / "task.sh")), (variable("HF_TOKEN", TOKEN),)
        work.run_task(real, TaskSpec("nightly", source, "sh ./task.sh", environment), {}, ("c1", NUMBER))
        qtbot.waitUntil(lambda: bool(services.query(list_task_runs).result()) and idle(real), timeout=PATIENCE)
        services.jobs.start("break", lambda _: fail(Secret(PASSWORD))).done.exception(10)
        words = exported(services.workspace.path, tmp_path)
    stored_words = [*unpacked(tmp_path / "own.db"), words]
    everywhere = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()] + stored_words
    assert TOKEN.encode() in b"".join(watcher.nodes_environ), "the task on the node did not get it"
    for secret in (word.encode() for word in SECRETS):
        assert not [data for data in everywhere if secret in data]
        assert not [data for data in watcher.argv | watcher.environ if secret in data]
        assert secret not in (far / "log").read_bytes()
    assert sorted(memory.held.values()) == [PASSPHRASE, PASSWORD, OF_PROXY]
    assert proxied and all(f"Basic {BASIC}".encode() in head for head in proxied)
    # The same search finds what may be there; of the two ends of SSH only the one of the test words a log.
    assert NOTE.encode() in b"".join(path.read_bytes() for path in tmp_path.glob("own.db*"))
    assert f"got ••• and {PLAIN}".encode() in b"".join(stored_words)
    assert NUMBER.encode() in words and b"Secret(\xe2\x80\xa2" in log.read_bytes() and b"Auth granted" in log.read_bytes()
    assert NUMBER.encode() in b"".join(watcher.argv) and PLAIN.encode() in b"".join(watcher.environ)


def run_list(connection: sqlite3.Connection) -> tuple[Run, ...]:
    return runs.list_runs(connection, parts=True)


def fail(secret: Secret) -> CancelToken:
    raise RuntimeError(f"broken with {secret!r} in hand: {secret}")
