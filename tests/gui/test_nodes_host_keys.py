"""Is a host key trusted only by someone who saw it, against a real sshd?"""

from __future__ import annotations

import getpass
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address, HostKey, Node, Reach
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.host_key_dialog import COMPARED, NOT_COMPARED, ChangedKeyDialog, UnknownKeyDialog
from gpulease_gui.gui.forms.host_key_words import grouped, matching, randomart
from gpulease_gui.gui.forms.node_form import NodeForm
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import nodes, verification
from gpulease_gui.gui.pages.nodes import NodesPage
from gpulease_gui.gui.pages.verification_acts import give_contract
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import HostKeyQuestion, NodeState, StatedKey
from gpulease_gui.services.links import NotConnected
from gpulease_gui.services.plan import Choice
from gpulease_gui.store import hostkeys
from gpulease_gui.store import nodes as stored
from gpulease_gui.store.records import KeyDecision, KeyState
from gpulease_gui.store.runs import list_runs

CONFIG = """ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host_ed25519
HostKey {folder}/host_rsa
AuthorizedKeysFile {folder}/id_ed25519.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
UseDNS no
LogLevel ERROR
"""
STRANGER = HostKey("ssh-ed25519", "SHA256:" + "A" * 43)


@dataclass(frozen=True)
class Sshd:
    """A server on loopback with keys of its own."""

    folder: Path
    port: int

    @property
    def node(self) -> Node:
        """The record of this server."""
        address = Address("127.0.0.1", self.port, getpass.getuser())
        return Node("real", "node-11", Reach.SSH, address, identity_file=str(self.folder / "id_ed25519"))

    def fingerprint(self, kind: str) -> str:
        """What `ssh-keygen -lf` says of a host key."""
        done = subprocess.run(["ssh-keygen", "-lf", self.folder / f"host_{kind}.pub"], check=True, capture_output=True, text=True)
        return done.stdout.split()[1]


@pytest.fixture(scope="module")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    folder = tmp_path_factory.mktemp("sshd")
    for name, kind in (("host_ed25519", "ed25519"), ("host_rsa", "rsa"), ("id_ed25519", "ed25519")):
        subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", folder / name], check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        server = Sshd(folder, int(free.getsockname()[1]))
    Path("/run/sshd").mkdir(parents=True, exist_ok=True)
    (folder / "config").write_text(CONFIG.format(port=server.port, folder=folder))
    process = subprocess.Popen(["/usr/sbin/sshd", "-D", "-f", folder / "config", "-E", folder / "log"])
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", server.port)) == 0:
                break
        time.sleep(0.02)
    yield server
    process.terminate()
    process.wait(10)


@pytest.fixture
def window(sshd: Sshd, services: Services, make_window: Callable[..., MainWindow], qtbot: QtBot) -> MainWindow:
    services.workspace.submit(lambda db: stored.save_node(db, sshd.node)).result()
    services.workspace.forbid_main_thread()
    made = make_window(nodes.PAGE, verification.PAGE)
    made.attach(services)
    page = made._pages["nodes"]
    assert isinstance(page, NodesPage)
    qtbot.waitUntil(lambda: page.table.current_row is not None)
    return made


def connect(window: MainWindow) -> None:
    assert window.page is not None
    window.page.act("connect")


def state(window: MainWindow) -> NodeState | None:
    page = window._pages["nodes"]
    assert isinstance(page, NodesPage)
    reached = page._work.state_of("real")
    return reached.state if reached else None


def unknown_dialog(window: MainWindow, qtbot: QtBot) -> UnknownKeyDialog:
    qtbot.waitUntil(lambda: any(d.isVisible() and d.isEnabled() for d in window.findChildren(UnknownKeyDialog)), timeout=20_000)
    return next(d for d in window.findChildren(UnknownKeyDialog) if d.isVisible())


def decisions(services: Services) -> tuple[KeyDecision, ...]:
    return services.query(lambda connection: hostkeys.list_key_decisions(connection, "real")).result()


def test_that_the_suppliers_rsa_fingerprint_vouches_though_ed25519_was_offered(
    window: MainWindow, sshd: Sshd, services: Services, qtbot: QtBot
) -> None:
    connect(window)
    dialog = unknown_dialog(window, qtbot)
    assert not dialog.trust.isEnabled() and dialog.cancel.isDefault()
    dialog.line.setText("SHA256:" + "B" * 43)
    assert dialog.verdict.text() == "None of the node's keys has this fingerprint" and not dialog.trust.isEnabled()
    dialog.line.setText(f"2048 {sshd.fingerprint('rsa')} root@node (RSA)")
    assert dialog.verdict.text() == "The same as the node's ssh-rsa key"
    QTest.mouseClick(dialog.trust, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: state(window) is NodeState.CONNECTED, timeout=20_000)
    first = decisions(services)[0]
    assert (first.key, first.compared_with) == (HostKey("ssh-rsa", sshd.fingerprint("rsa")), COMPARED)


def test_that_trust_without_a_fingerprint_needs_a_tick_and_is_kept_as_not_compared(
    window: MainWindow, services: Services, qtbot: QtBot
) -> None:
    connect(window)
    dialog = unknown_dialog(window, qtbot)
    QTest.mouseClick(dialog.unable, Qt.MouseButton.LeftButton, pos=dialog.unable.rect().center() / 8)
    assert dialog.trust.isEnabled()
    QTest.mouseClick(dialog.trust, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: state(window) is NodeState.CONNECTED, timeout=20_000)
    assert [decision.compared_with for decision in decisions(services)] == [NOT_COMPARED]


def test_that_connecting_once_pins_nothing_and_the_inspector_says_so(
    window: MainWindow, sshd: Sshd, services: Services, qtbot: QtBot
) -> None:
    connect(window)
    dialog = unknown_dialog(window, qtbot)
    dialog.line.setText("SHA256:" + "B" * 43)
    assert not dialog.connect_once.isEnabled()
    dialog.line.setText("")
    QTest.mouseClick(dialog.connect_once, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: state(window) is NodeState.CONNECTED, timeout=20_000)
    page = window._pages["nodes"]
    assert isinstance(page, NodesPage)
    said = f"connected once: its host key is not pinned ({sshd.fingerprint('ed25519')})"
    qtbot.waitUntil(lambda: page._work.job_of("real") is None and page.inspector.reason.text() == said)
    assert decisions(services) == ()
    connect(window)
    QTest.keyClick(unknown_dialog(window, qtbot), Qt.Key.Key_Escape)


def test_that_a_fingerprint_on_record_stands_beside_the_offered_key_and_is_filled_in(qtbot: QtBot) -> None:
    node = Node("real", "node-11", Reach.SSH, Address("203.0.113.9"), jump="ops@198.51.100.9,inner")
    rsa, where = HostKey("ssh-rsa", "SHA256:" + "R" * 43), Text("contract HT-1", "合同 HT-1")
    stated = (StatedKey("SHA256:" + "S" * 43, where), StatedKey(rsa.fingerprint, where))
    shown = UnknownKeyDialog(HostKeyQuestion(node, (STRANGER, rsa), stated=stated))
    qtbot.addWidget(shown)
    said = {label.text() for label in shown.findChildren(QLabel)}
    assert {"Named by the supplier", "contract HT-1", "the same as the node's ssh-rsa key", grouped(rsa.fingerprint)} <= said
    assert "ops@198.51.100.9 → inner → root@203.0.113.9:22" in said
    assert shown.line.text() == rsa.fingerprint and shown.trust.isEnabled() and not shown.unable.isEnabled()
    other = UnknownKeyDialog(HostKeyQuestion(node, (STRANGER, rsa), stated=stated[:1]))
    qtbot.addWidget(other)
    assert "not the key offered now" in {label.text() for label in other.findChildren(QLabel)}
    assert other.line.text() == stated[0].fingerprint and not other.trust.isEnabled() and not other.connect_once.isEnabled()
    # The keys of other nodes of a contract say nothing of this one, nor do those of nodes of a jump host.
    many = UnknownKeyDialog(HostKeyQuestion(node, (STRANGER,), stated=stated))
    hop = UnknownKeyDialog(HostKeyQuestion(node, (STRANGER,), hop="198.51.100.9:22", stated=stated[:1]))
    for dialog in (many, hop):
        qtbot.addWidget(dialog)
        assert dialog.line.text() == "" and dialog.unable.isEnabled()
    assert "Named by the supplier" not in {label.text() for label in hop.findChildren(QLabel)}


def test_that_a_changed_key_says_which_of_both_the_supplier_named_and_how_often_it_changed(qtbot: QtBot) -> None:
    node, new = Node("real", "node-11", Reach.SSH, Address("203.0.113.9"), jump="bastion"), HostKey("ssh-ed25519", "SHA256:" + "N" * 43)
    stated = (StatedKey(STRANGER.fingerprint, Text("contract HT-1", "合同 HT-1")),)
    dialog = ChangedKeyDialog(HostKeyQuestion(node, (new,), (STRANGER,), stated=stated, replaced=1))
    qtbot.addWidget(dialog)
    said = [label.text() for label in dialog.findChildren(QLabel)]
    assert "the supplier named it" in said
    assert "met for the first time · not one that the supplier named" in said
    assert "Change number 2 of this node's host key in 30 days" in said
    assert any(words.startswith("root@203.0.113.9:22 via bastion. The connection was closed") for words in said)
    back = ChangedKeyDialog(HostKeyQuestion(node, (new,), (STRANGER,), stated=(StatedKey(new.fingerprint, Text("x", "x")),)))
    qtbot.addWidget(back)
    assert "met for the first time · the supplier named it" in [label.text() for label in back.findChildren(QLabel)]


def ask_beside(services: Services, node: Node) -> None:
    """As a watch does, or a peer: its question for a host key belongs to no work of the page."""

    def work() -> None:
        with suppress(NotConnected):
            services.links.open(node, CancelToken()).line.close()

    services.jobs.local(work)


def test_that_a_decided_key_of_a_node_that_was_edited_is_followed_by_a_call_of_its_new_address(
    window: MainWindow, sshd: Sshd, services: Services, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was to be done again held the record as it was before, and called the old address, whose key it asked about next."""
    page = window._pages["nodes"]
    assert isinstance(page, NodesPage)
    with socket.socket() as dead:
        dead.bind(("127.0.0.1", 0))
        before = replace(sshd.node, address=Address("127.0.0.1", int(dead.getsockname()[1]), getpass.getuser()))
        services.workspace.submit(lambda db: stored.save_node(db, before)).result()
        page._work.connect_to(before)
        qtbot.waitUntil(lambda: state(window) is NodeState.REFUSED and page._work.job_of("real") is None)
        services.workspace.submit(lambda db: stored.save_node(db, sshd.node)).result()
        called: list[int] = []
        really = services.links._connector.connect
        monkeypatch.setattr(services.links._connector, "connect", lambda address, *more: called.append(address.port) or really(address, *more))
        ask_beside(services, before)  # a watch that began before the edit
        dialog = unknown_dialog(window, qtbot)
        assert f"127.0.0.1:{sshd.port}" in "".join(label.text() for label in dialog.findChildren(QLabel))
        dialog.line.setText(sshd.fingerprint("ed25519"))
        QTest.mouseClick(dialog.trust, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: state(window) is NodeState.CONNECTED and page._work.job_of("real") is None)
    assert called == [sshd.port, sshd.port]


def test_that_a_line_of_the_fleet_is_edited_as_its_record_is_now(
    window: MainWindow, sshd: Sshd, services: Services, qtbot: QtBot
) -> None:
    """It holds the record of when the round began: saving that would take an edit back; so would giving it a contract."""
    page = window._pages["nodes"]
    assert isinstance(page, NodesPage)
    old = replace(sshd.node, address=Address("203.0.113.7", 22, "root"))
    page.fleet.edited.emit(old)
    dialog = window.findChildren(NodeForm)[-1]
    assert str(sshd.node.address) in {line.text() for line in dialog.findChildren(QLineEdit)}
    dialog.reject()
    give_contract(page.frame, replace(old, contract_id=None), None)  # type: ignore[arg-type]  # no contract is there to be given
    services.workspace.submit(lambda db: None).result()
    assert services.query(lambda connection: stored.get_node(connection, "real")).result().address == sshd.node.address


def test_that_a_key_decided_for_a_watch_does_not_do_again_what_was_done_before(
    window: MainWindow, sshd: Sshd, services: Services, qtbot: QtBot
) -> None:
    """A load that was confirmed an hour ago began anew, unasked, where a watch met a new key."""
    page = window._pages["nodes"]
    assert isinstance(page, NodesPage)
    first = KeyDecision("real", HostKey("ssh-ed25519", sshd.fingerprint("ed25519")), KeyState.TRUSTED, datetime(2026, 11, 28, tzinfo=UTC))
    services.workspace.submit(lambda db: hostkeys.save_key_decision(db, first)).result()
    page._work.verify(sshd.node, Choice(only=("trust.clock",)))
    count = lambda: len(services.query(lambda connection: list_runs(connection, node_id="real", parts=True)).result())  # noqa: E731
    qtbot.waitUntil(lambda: count() == 1 and page._work.job_of("real") is None)
    gone = replace(first, state=KeyState.REPLACED)
    services.workspace.submit(lambda db: hostkeys.save_key_decision(db, gone)).result()
    ask_beside(services, sshd.node)
    dialog = unknown_dialog(window, qtbot)
    dialog.line.setText(sshd.fingerprint("ed25519"))
    QTest.mouseClick(dialog.trust, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: state(window) is NodeState.CONNECTED and page._work.job_of("real") is None)
    assert count() == 1


def test_that_cancel_trusts_nothing(window: MainWindow, services: Services, qtbot: QtBot) -> None:
    connect(window)
    dialog = unknown_dialog(window, qtbot)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible() and decisions(services) == ()
    assert state(window) is NodeState.REFUSED


def test_that_a_changed_key_is_replaced_only_with_name_and_reason(
    window: MainWindow, sshd: Sshd, services: Services, qtbot: QtBot
) -> None:
    old = KeyDecision("real", STRANGER, KeyState.TRUSTED, datetime(2026, 11, 28, tzinfo=UTC), COMPARED, "user")
    services.workspace.submit(lambda db: hostkeys.save_key_decision(db, old)).result()
    connect(window)
    qtbot.waitUntil(lambda: any(d.isVisible() and d.isEnabled() for d in window.findChildren(ChangedKeyDialog)), timeout=20_000)
    dialog = next(d for d in window.findChildren(ChangedKeyDialog) if d.isVisible())
    assert dialog.keep.isDefault() and not dialog.replace.isEnabled()
    said = "\n".join(label.text() for label in dialog.findChildren(QLabel))
    assert "node-11 answered with a different host key" in said and "since 2026-11-28, compared" in said
    QTest.keyClicks(dialog.name, "node-11")
    assert not dialog.replace.isEnabled()
    QTest.keyClicks(dialog.why, "board swapped, ticket 88213")
    assert dialog.replace.isEnabled()
    dialog.name.setText("node-1")
    assert not dialog.replace.isEnabled()
    dialog.name.setText("node-11")
    QTest.mouseClick(dialog.replace, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: state(window) is NodeState.CONNECTED, timeout=20_000)
    kept = [(d.key, d.state, d.why) for d in decisions(services)]
    new = HostKey("ssh-ed25519", sshd.fingerprint("ed25519"))
    assert kept[1:] == [
        (new, KeyState.TRUSTED, "board swapped, ticket 88213"), (STRANGER, KeyState.REPLACED, "board swapped, ticket 88213")
    ]  # fmt: skip
    trusted = services.query(lambda connection: hostkeys.list_trusted_keys(connection, "real")).result()
    assert trusted == (new,)


def test_that_keeping_the_old_key_changes_nothing(window: MainWindow, services: Services, qtbot: QtBot) -> None:
    old = KeyDecision("real", STRANGER, KeyState.TRUSTED, datetime(2026, 11, 28, tzinfo=UTC), COMPARED, "user")
    services.workspace.submit(lambda db: hostkeys.save_key_decision(db, old)).result()
    connect(window)
    qtbot.waitUntil(lambda: any(d.isVisible() and d.isEnabled() for d in window.findChildren(ChangedKeyDialog)), timeout=20_000)
    dialog = next(d for d in window.findChildren(ChangedKeyDialog) if d.isVisible())
    QTest.keyClick(dialog.keep, Qt.Key.Key_Return)
    assert not dialog.isVisible()
    assert [d.key for d in decisions(services)] == [STRANGER]
    assert state(window) is NodeState.KEY_CHANGED


def test_that_a_key_is_read_aloud_in_fours_and_found_in_what_was_pasted() -> None:
    key = HostKey("ssh-ed25519", "SHA256:" + "abcd" * 10 + "xyz")
    assert grouped(key.fingerprint).splitlines()[0] == "abcd abcd abcd abcd"
    assert matching("  " + grouped(key.fingerprint, lines=1), [key]) == key
    assert matching("SHA256:" + "abcd" * 10 + "xyw", [key]) is None
    assert [len(line) for line in randomart(key).splitlines()] == [17] * 9
    assert randomart(key).count("S") == 1 or randomart(key).count("E") == 1


def test_that_ux_19_another_node_at_the_address_is_told_before_its_key_is_trusted(qtbot: QtBot) -> None:
    node = Node("real", "node-11", Reach.SSH, Address("203.0.113.9"))
    words = Text("node-03 has the same address and another key", "node-03 使用相同地址，但密钥不同")
    dialog = UnknownKeyDialog(HostKeyQuestion(node, (STRANGER,), others=(words,)))
    qtbot.addWidget(dialog)
    assert {"Same address", "node-03 has the same address and another key"} <= {label.text() for label in dialog.findChildren(QLabel)}


def test_that_the_headline_names_the_jump_host_whose_key_it_is(qtbot: QtBot) -> None:
    node, hop = Node("n11", "node-11", Reach.SSH, Address("203.0.113.41"), jump="gate"), "198.51.100.9:22"
    other = HostKey("ssh-ed25519", "SHA256:" + "B" * 43)
    new, kind = HostKeyQuestion(node, (other,), hop=hop), HostKeyQuestion(node, (other,), (HostKey("ssh-rsa", STRANGER.fingerprint),), hop)
    for question, said in ((new, "is not known yet"), (kind, "shows a new type of host key")):
        unknown = UnknownKeyDialog(question)
        qtbot.addWidget(unknown)
        assert unknown.headline.text() == f"Jump host {hop} {said}"
    changed = ChangedKeyDialog(HostKeyQuestion(node, (other,), (STRANGER,), hop))
    qtbot.addWidget(changed)
    assert f"Jump host {hop} answered with a different host key" in [label.text() for label in changed.findChildren(QLabel)]


def test_that_an_edited_address_is_told_as_that_and_the_key_is_still_asked_for(qtbot: QtBot) -> None:
    node, key = Node("real", "node-11", Reach.SSH, Address("203.0.113.9")), HostKey("ssh-ed25519", "SHA256:" + "B" * 43)
    places = ("203.0.113.7:22", "203.0.113.9:22")
    changed = ChangedKeyDialog(HostKeyQuestion(node, (key,), (STRANGER,), replaced=0, edited=places))
    qtbot.addWidget(changed)
    said = "\n".join(label.text() for label in changed.findChildren(QLabel))
    assert "The address of node-11 was edited since its key was pinned" in said and "203.0.113.7:22 → 203.0.113.9:22. The connection" in said
    assert "Keep the old key, and correct the address." in said
    assert "different host key" not in said and "rebuilt" not in said and "sits between" not in said
    assert changed.keep.isDefault() and not changed.replace.isEnabled()
    ask = next(button for button in changed.findChildren(Button) if button.accessibleName() == "Copy question to supplier")
    QTest.mouseClick(ask, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text().startswith("Please name the fingerprints of the SSH host keys of root@203.0.113.9:22")
    unknown = UnknownKeyDialog(HostKeyQuestion(node, (key,), (HostKey("ssh-rsa", STRANGER.fingerprint),), edited=places))
    qtbot.addWidget(unknown)
    assert unknown.headline.text() == "node-11 is not known yet at its new address"
    assert {"Address edited", "203.0.113.7:22 → 203.0.113.9:22"} <= {label.text() for label in unknown.findChildren(QLabel)}
    assert not unknown.trust.isEnabled()
