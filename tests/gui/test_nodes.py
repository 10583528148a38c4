"""Does the page of nodes add, change, remove and name machines as it says?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest
from keyring.backends import fail
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLabel
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.node import Address, AuthMethod, Node, Reach
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.forms.node_form import NodeForm
from gpulease_gui.gui.forms.paste_nodes import PasteDialog
from gpulease_gui.gui.forms.secret_dialog import SecretDialog
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import nodes, verification
from gpulease_gui.gui.pages.nodes import NodesPage
from gpulease_gui.gui.pages.nodes_work import trouble_words
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.ways import SecretAsked
from gpulease_gui.store import nodes as stored
from tests.keyrings import MemoryKeyring, system_keyring

if TYPE_CHECKING:
    from sqlite_utils import Database

D = TypeVar("D", bound=QDialog)
LINES = "\n".join(f"ssh -p 34446 root@203.0.113.{n}" for n in range(1, 33))


@pytest.fixture
def own(services: Services, make_window: Callable[..., MainWindow]) -> MainWindow:
    services.workspace.forbid_main_thread()
    made = make_window(nodes.PAGE, verification.PAGE)
    made.resize(1440, 900)
    made.attach(services)
    return made


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(tmp_path / "demo.db", demo=True)
    opened.workspace.forbid_main_thread()
    yield opened
    opened.close()


def page_of(window: MainWindow) -> NodesPage:
    page = window._pages["nodes"]
    assert isinstance(page, NodesPage)
    return page


def dialog_of(window: MainWindow, kind: type[D]) -> D:
    return next(dialog for dialog in window.findChildren(kind) if dialog.isVisible())


def saved(services: Services) -> tuple[Node, ...]:
    return services.query(stored.list_nodes).result()


def put(services: Services, *made: Node) -> None:
    def work(db: Database) -> None:
        for node in made:
            stored.save_node(db, node)

    services.change(work, "node").result()


def shown_names(page: NodesPage) -> list[str]:
    return [row.row.node.name for row in page.model.rows]


# -- pasting ------------------------------------------------------------------------------------------------------------


def test_that_thirty_two_lines_become_thirty_two_nodes_and_a_bad_one_is_told(own: MainWindow, services: Services, qtbot: QtBot) -> None:
    QTest.mouseClick(page_of(own).paste, Qt.MouseButton.LeftButton)
    dialog = dialog_of(own, PasteDialog)
    dialog.text.setPlainText(LINES + "\nssh -Z root@203.0.113.99\n")
    qtbot.waitUntil(lambda: len(dialog.model.rows) == 33)
    assert dialog.save.accessibleName() == "Save 32 nodes"
    assert dialog.errors.text() == "1 line with an error"
    bad = dialog.model.rows[-1]
    assert bad.number == 33 and "-Z" in bad.error
    dialog.login.auth.choose(AuthMethod.AGENT)
    QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    page = page_of(own)
    qtbot.waitUntil(lambda: len(page.model.rows) == 32)
    kept = saved(services)
    assert {node.address.port for node in kept if node.address} == {34446}
    assert {node.auth for node in kept} == {AuthMethod.AGENT}


def test_that_a_pasted_line_is_saved_and_connected_at_once(own: MainWindow, services: Services, qtbot: QtBot) -> None:
    put(services, Node("a", "node-01", Reach.SSH, Address("203.0.113.1")))
    page = page_of(own)
    qtbot.waitUntil(lambda: shown_names(page) == ["node-01"])
    page.add_bar.line.setFocus()
    QTest.keyClicks(page.add_bar.line, "ssh -p 1 root@127.0.0.1")
    assert page.add_bar.answer.text() == "host 127.0.0.1 · port 1 · user root"
    QTest.keyClick(page.add_bar.line, Qt.Key.Key_Return)
    qtbot.waitUntil(own.trouble_band.isVisible, timeout=20_000)
    assert own.trouble_band.headline.text().startswith("127.0.0.1: 127.0.0.1:1: ")
    assert Address("127.0.0.1", 1, "root") in {node.address for node in saved(services)}
    qtbot.waitUntil(lambda: any(row.badge.word.en == "Refused" for row in page.model.rows))
    words = {row.row.node.name: row.badge.word.en for row in page.model.rows}
    assert words == {"node-01": "Never seen", "127.0.0.1": "Refused"}


def test_that_a_line_that_is_no_address_is_not_taken(own: MainWindow, services: Services, qtbot: QtBot) -> None:
    put(services, Node("a", "node-01", Reach.SSH, Address("203.0.113.1")))
    page = page_of(own)
    qtbot.waitUntil(lambda: shown_names(page) == ["node-01"])
    QTest.keyClicks(page.add_bar.line, "ssh -Z root@203.0.113.9")
    assert "-Z" in page.add_bar.answer.text()
    assert not page.add_bar.button.isEnabled()


# -- changing -----------------------------------------------------------------------------------------------------------


def test_that_a_node_is_edited_and_a_wrong_address_is_told_beside_it(own: MainWindow, services: Services, qtbot: QtBot) -> None:
    put(services, Node("a", "node-01", Reach.SSH, Address("203.0.113.1")))
    page = page_of(own)
    qtbot.waitUntil(lambda: shown_names(page) == ["node-01"])
    page.act("edit")
    form = dialog_of(own, NodeForm)
    form.name.setText("node-07")
    form.address.setText("root@203.0.113.17:99999")
    QTest.mouseClick(form.save, Qt.MouseButton.LeftButton)
    assert "not a port from 1 to 65535" in form.address_field.error.text() and form.isVisible()
    form.address.setText("root@203.0.113.17:34446")
    QTest.mouseClick(form.save, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: shown_names(page) == ["node-07"])
    assert saved(services)[0].address == Address("203.0.113.17", 34446, "root")
    assert page.primary.accessibleName() == "Verify node-07"


def test_that_proxy_and_certificate_are_edited_and_a_password_in_the_proxy_is_refused(own: MainWindow, services: Services, qtbot: QtBot) -> None:
    put(services, Node("a", "node-01", Reach.SSH, Address("203.0.113.1")))
    page = page_of(own)
    qtbot.waitUntil(lambda: shown_names(page) == ["node-01"])
    page.act("edit")
    form = dialog_of(own, NodeForm)
    form.proxy.setText("socks5://anna:geheim@10.0.0.1")
    form.jump.setText("-oProxyCommand=x")
    QTest.mouseClick(form.save, Qt.MouseButton.LeftButton)
    assert "would be saved in the clear" in form.proxy_field.error.text() and "not a host name" in form.jump_field.error.text()
    form.proxy.setText("socks5://anna@10.0.0.1")
    form.jump.setText("")
    form.certificate.setText("~/.ssh/id-cert.pub")
    QTest.mouseClick(form.save, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: saved(services)[0].proxy == "socks5://anna@10.0.0.1")
    assert (saved(services)[0].certificate_file, saved(services)[0].jump) == ("~/.ssh/id-cert.pub", "")


def test_that_a_removed_node_comes_back_by_undo(own: MainWindow, services: Services, qtbot: QtBot) -> None:
    node = Node("a", "node-01", Reach.SSH, Address("203.0.113.1"), note="row 4")
    put(services, node, replace(node, id="b", name="node-02"))
    page = page_of(own)
    qtbot.waitUntil(lambda: shown_names(page) == ["node-01", "node-02"])
    page.table.choose("a")
    page.act("delete")
    qtbot.waitUntil(lambda: shown_names(page) == ["node-02"])
    assert page.undo_band.isVisible() and page.undo_band.headline.text() == "node-01 was removed"
    page.undo_band.findChildren(type(page.paste))[0].click()
    qtbot.waitUntil(lambda: shown_names(page) == ["node-01", "node-02"])
    assert saved(services)[0] == node


def test_that_the_header_names_what_it_verifies(own: MainWindow, services: Services, qtbot: QtBot) -> None:
    put(services, *(Node(f"{n}", f"node-0{n}", Reach.SSH, Address(f"203.0.113.{n}")) for n in range(5)))
    page = page_of(own)
    qtbot.waitUntil(lambda: len(page.model.rows) == 5)
    assert page.primary.accessibleName() == "Verify node-00"
    page.table.selectAll()
    assert page.primary.accessibleName() == "Verify 5 nodes"
    own.speak(Language.ZH)
    page.table.choose("3")
    assert page.primary.accessibleName() == "验收 node-03"


def test_that_this_computer_is_added_once(own: MainWindow, services: Services, qtbot: QtBot) -> None:
    put(services, Node("a", "node-01", Reach.SSH, Address("203.0.113.1")))
    page = page_of(own)
    qtbot.waitUntil(lambda: page.local.isVisibleTo(own))
    QTest.mouseClick(page.local, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: shown_names(page) == ["node-01", "this computer"])
    assert not page.local.isVisibleTo(own)


def test_that_a_page_without_nodes_says_what_to_do(own: MainWindow, qtbot: QtBot) -> None:
    page = page_of(own)
    qtbot.waitUntil(lambda: page._stack.currentIndex() == 1)
    assert "No nodes yet" in {label.text() for label in page.findChildren(QLabel) if label.isVisibleTo(own)}


def test_that_contracts_head_their_nodes_with_one_sentence(demo: Services, make_window: Callable[..., MainWindow], qtbot: QtBot) -> None:
    window = make_window(nodes.PAGE, verification.PAGE)
    window.attach(demo)
    page = page_of(window)
    qtbot.waitUntil(lambda: len(page.model.rows) == 9)
    headings = [page.model.heading_at(place) for place in page.model.heading_places()]
    notes = {heading.group.key: str(heading.group.note) for heading in headings if heading}
    assert notes["demo-contract-HG-1204-C"] == "0 of 2 accepted"
    page.search("slow-net")
    assert [row.row.node.name for place in range(page.model.rowCount()) if (row := page.model.row_at(place))] == ["slow-net-a", "slow-net-b"]


# -- secrets ------------------------------------------------------------------------------------------------------------


def test_that_a_worker_waits_for_the_secret_and_the_window_does_not(own: MainWindow, services: Services, qtbot: QtBot) -> None:
    node = Node("a", "node-<b>01</b>", Reach.SSH, Address("203.0.113.1"))
    ask = services.links.ask_secret
    assert ask is not None
    answer = services.jobs.local(lambda: ask(node, SecretAsked("passphrase of /keys/id_ed25519")))
    qtbot.waitUntil(lambda: any(d.isVisible() and d.isEnabled() for d in own.findChildren(SecretDialog)))
    dialog = dialog_of(own, SecretDialog)
    said = {label.text() for label in dialog.findChildren(QLabel)}
    assert {"The key for node-<b>01</b> is encrypted", "/keys/id_ed25519"} <= said
    assert not answer.done() and not dialog.go_on.isEnabled()
    QTest.keyClicks(dialog.line, "correct horse")
    QTest.mouseClick(dialog.go_on, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(answer.done)
    assert answer.result() == Secret("correct horse")


def test_that_questions_come_one_after_the_other_and_cancel_is_no_secret(own: MainWindow, services: Services, qtbot: QtBot) -> None:
    node = Node("a", "node-01", Reach.SSH, Address("203.0.113.1"))
    ask = services.links.ask_secret
    assert ask is not None
    answers = [services.jobs.local(lambda: ask(node, SecretAsked("password"))) for _ in range(2)]
    def answered() -> int:
        return sum(answer.done() for answer in answers)

    for _ in answers:
        before = answered()
        qtbot.waitUntil(lambda: any(d.isVisible() for d in own.findChildren(SecretDialog)))
        assert sum(d.isVisible() for d in own.findChildren(SecretDialog)) == 1
        dialog_of(own, SecretDialog).reject()
        qtbot.waitUntil(lambda: answered() > before)  # noqa: B023 - called before the next round
    assert [answer.result() for answer in answers] == [None, None]


def test_that_the_keyring_is_offered_where_there_is_one_and_the_node_forgets(own: MainWindow, services: Services, qtbot: QtBot) -> None:
    node = Node("a", "node-01", Reach.SSH, Address("203.0.113.1"))
    put(services, node)
    page, memory = page_of(own), MemoryKeyring()
    qtbot.waitUntil(lambda: shown_names(page) == ["node-01"])
    with system_keyring(memory):
        ask = services.links.ask_secret
        assert ask is not None
        answer = services.jobs.local(lambda: ask(node, SecretAsked("password")))
        qtbot.waitUntil(lambda: any(d.isVisible() and d.isEnabled() for d in own.findChildren(SecretDialog)))
        dialog = dialog_of(own, SecretDialog)
        assert dialog.keep.isVisible() and not dialog.keep.isChecked()
        QTest.keyClicks(dialog.line, "correct horse")
        dialog.keep.click()
        QTest.mouseClick(dialog.go_on, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(answer.done)
        services.jobs.local(lambda: services.links.kept.accepted(node)).result()
        assert list(memory.held.values()) == ["correct horse"]
        page.visit(("a",))
        qtbot.waitUntil(lambda: not page.inspector.forget.isHidden())
        assert "password" in {label.text() for label in page.inspector.facts.findChildren(QLabel)}
        memory.locked = True
        page.inspector.forget.click()
        qtbot.waitUntil(own.trouble_band.isVisible)
        assert own.trouble_band.headline.text() == "node-01: the system keyring still has its secrets" and memory.held
        memory.locked = False
        page.inspector.forget.click()
        qtbot.waitUntil(lambda: page.inspector.forget.isHidden())
    assert memory.held == {}


def test_that_no_keyring_is_offered_where_there_is_none(own: MainWindow, services: Services, qtbot: QtBot) -> None:
    node = Node("a", "node-01", Reach.SSH, Address("203.0.113.1"))
    ask = services.links.ask_secret
    assert ask is not None
    with system_keyring(fail.Keyring()):
        answer = services.jobs.local(lambda: ask(node, SecretAsked("password")))
        qtbot.waitUntil(lambda: any(d.isVisible() and d.isEnabled() for d in own.findChildren(SecretDialog)))
    dialog = dialog_of(own, SecretDialog)
    assert dialog.keep.isHidden()
    dialog.reject()
    qtbot.waitUntil(answer.done)


def test_that_a_closed_workspace_lets_the_waiting_worker_go(own: MainWindow, services: Services, qtbot: QtBot) -> None:
    node = Node("a", "node-01", Reach.SSH, Address("203.0.113.1"))
    ask = services.links.ask_secret
    assert ask is not None
    answer = services.jobs.local(lambda: ask(node, SecretAsked("password")))
    qtbot.waitUntil(lambda: any(d.isVisible() and d.isEnabled() for d in own.findChildren(SecretDialog)))
    own.detach()
    assert answer.result(timeout=5) is None
    assert not any(dialog.isVisible() for dialog in own.findChildren(SecretDialog)), "its question goes with it"


def test_that_a_trouble_without_its_own_words_is_told_as_it_is() -> None:
    headline, sentence = trouble_words(UserFacing("it broke", "a cable", "plug it in"))
    assert (headline.zh, sentence.zh) == ("it broke", "a cable. plug it in")


def test_that_a_passphrase_for_a_jump_host_is_asked_for_in_its_name_and_a_wrong_one_is_told(qtbot: QtBot) -> None:
    node = Node("a", "node-01", Reach.SSH, Address("203.0.113.1"))
    dialog = SecretDialog(node, SecretAsked("passphrase of /keys/gate", "gw.example:2222", 2))
    qtbot.addWidget(dialog)
    said = {label.text() for label in dialog.findChildren(QLabel)}
    assert {"The key for jump host gw.example:2222 is encrypted", "/keys/gate", "node-01"} <= said
    assert "it does not open this key; try 2 of 3" in said
    first = SecretDialog(node, SecretAsked("passphrase of /keys/gate"))
    qtbot.addWidget(first)
    words = {label.text() for label in first.findChildren(QLabel)}
    assert "The key for node-01 is encrypted" in words and not any("jump host" in w.lower() or "does not open" in w for w in words)
