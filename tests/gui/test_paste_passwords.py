"""A password that is pasted with its node logs in and is kept nowhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.node import Address, AuthMethod, Node, Reach
from gpulease_gui.domain.secret import Secret
from gpulease_gui.gui.forms.node_form import NodeForm
from gpulease_gui.gui.forms.paste_nodes import PasteDialog
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import nodes
from gpulease_gui.gui.pages.nodes import NodesPage
from gpulease_gui.services.composition import Services
from gpulease_gui.store import nodes as stored

WORD = "PlantedHorse-4711"


def test_that_a_line_that_is_pasted_into_the_form_of_a_node_brings_its_options_and_no_password(qtbot: QtBot) -> None:
    form = NodeForm(Node("a", "n1", Reach.SSH, Address("203.0.113.1"), ssh_options=""), ())
    qtbot.addWidget(form)
    made: list[Node] = []
    form.saved.connect(made.append)
    form.address.setText(f"sshpass -p {WORD} ssh -4 -p 34446 root@203.0.113.9")
    form.save.click()
    (node,) = made
    assert (node.address, node.auth, node.ssh_options) == (Address("203.0.113.9", 34446), AuthMethod.PASSWORD, "AddressFamily inet")
    assert WORD not in repr(node)


def opened(make_window: Callable[..., MainWindow], services: Services) -> NodesPage:
    window = make_window(nodes.PAGE)
    window.attach(services)
    page = window._pages["nodes"]
    assert isinstance(page, NodesPage)
    return page


def in_no_file(folder: Path) -> bool:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return bool(files) and not any(WORD.encode() in path.read_bytes() for path in files)


def test_that_a_pasted_password_reaches_the_login_and_no_record(
    services: Services, make_window: Callable[..., MainWindow], qtbot: QtBot, tmp_path: Path
) -> None:
    page = opened(make_window, services)
    QTest.mouseClick(page.paste, Qt.MouseButton.LeftButton)
    dialog = next(d for d in page.window().findChildren(PasteDialog) if d.isVisible())
    dialog.text.setPlainText(f"主机：203.0.113.9\n端口：34446\n密码：{WORD}\nssh -A root@203.0.113.8\n")
    dialog.read_now()
    said = [str(cell.text) for cell in (dialog.model.columns[3].cell(row) for row in dialog.model.rows)]
    assert said == ["read, with its password", "read; -A is not taken over: the agent is never forwarded"]
    QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(services.query(stored.list_nodes).result()) == 2)
    first, second = sorted(services.query(stored.list_nodes).result(), key=lambda node: node.name, reverse=True)
    assert (first.address, first.auth, second.auth) == (Address("203.0.113.9", 34446), AuthMethod.PASSWORD, AuthMethod.KEY)
    assert first.address is not None
    assert services.links._ways.way_to(first, first.address, ()).credentials.password == Secret(WORD)
    assert WORD not in repr(first) and in_no_file(tmp_path)


def test_that_the_line_of_one_node_shows_dots_for_its_password(
    services: Services, make_window: Callable[..., MainWindow], qtbot: QtBot, tmp_path: Path
) -> None:
    page = opened(make_window, services)
    bar = page.add_bar
    bar.line.setText(f"sshpass -p {WORD} ssh -v -p 1 root@127.0.0.1")
    assert bar.answer.text() == "host 127.0.0.1 · port 1 · user root · ••• · -v is not taken over: it changes nothing here"
    QTest.keyClick(bar.line, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: len(services.query(stored.list_nodes).result()) == 1)
    (node,) = services.query(stored.list_nodes).result()
    assert node.address is not None
    assert services.links._ways.way_to(node, node.address, ()).credentials.password == Secret(WORD)
    assert WORD not in repr(node) and in_no_file(tmp_path)
