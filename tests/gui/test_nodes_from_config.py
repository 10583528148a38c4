"""Do aliases of an ssh config become nodes as ssh means them, many at once, and without a connection?"""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.node import Address, AuthMethod, Node, Reach
from gpulease_gui.gui.forms.config_nodes import ConfigDialog
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import nodes
from gpulease_gui.gui.pages.nodes import NodesPage
from gpulease_gui.gui.pages.nodes_work import work_of
from gpulease_gui.services.composition import Services
from gpulease_gui.store import nodes as stored


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "id_rent").touch()
    blocks = [f"Host h100-{n:02}\n HostName 203.0.113.{n}\n Port 34446\n ProxyJump gate\n" for n in range(1, 13)]
    tail = f"Host h100-*\n User ops\n IdentityFile {tmp_path}/id_rent\nHost gate\n HostName 198.51.100.9\n User jump\n"
    (tmp_path / "config").write_text("".join(blocks) + tail + "Host odd\n ProxyCommand nc %h %p\n")
    return tmp_path / "config"


@pytest.fixture
def page(services: Services, make_window: Callable[..., MainWindow], qtbot: QtBot) -> NodesPage:
    there = Node("a", "gate-box", Reach.SSH, Address("198.51.100.9", 22, "jump"))
    services.change(lambda db: stored.save_node(db, there), "node").result()
    services.workspace.forbid_main_thread()
    window = make_window(nodes.PAGE)
    window.resize(1440, 900)
    window.attach(services)
    found = window._pages["nodes"]
    assert isinstance(found, NodesPage)
    qtbot.waitUntil(lambda: len(found.model.rows) == 1)
    return found


def opened(page: NodesPage, config: Path, qtbot: QtBot) -> ConfigDialog:
    QTest.mouseClick(page.from_config, Qt.MouseButton.LeftButton)
    dialog = next(d for d in page.window().findChildren(ConfigDialog) if d.isVisible())
    dialog.file.setText(str(config))
    dialog.read()
    qtbot.waitUntil(lambda: len(dialog.model.rows) == 14)
    return dialog


def test_that_many_aliases_become_nodes_at_once_and_go_again_at_once(
    page: NodesPage, services: Services, config: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[object] = []
    monkeypatch.setattr(socket.socket, "connect_ex", lambda _, place: called.append(place) or 111)
    dialog = opened(page, config, qtbot)
    assert (dialog.sums.text(), dialog.errors.text()) == ("13 hosts", "1 refused")
    changes: list[object] = []
    dialog.table.selectionModel().selectionChanged.connect(lambda *_: changes.append(None))
    QTest.mouseClick(dialog.every, Qt.MouseButton.LeftButton)
    assert dialog.save.accessibleName() == "Save 12 nodes" and len(changes) == 1
    QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(page.model.rows) == 13)
    made = {node.name: node for node in services.query(stored.list_nodes).result()}["h100-03"]
    assert made.address == Address("203.0.113.3", 34446, "ops")
    assert (made.auth, made.identity_file) == (AuthMethod.KEY, str(config.parent / "id_rent"))
    assert made.jump == "jump@198.51.100.9:22"
    qtbot.waitUntil(page.undo_band.isVisible)
    assert page.undo_band.headline.text() == "12 nodes were added"
    QTest.mouseClick(page._removed, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: [row.row.node.name for row in page.model.rows] == ["gate-box"])
    assert called == []


def test_that_the_list_is_filtered_and_says_what_is_a_node_and_what_is_refused(page: NodesPage, config: Path, qtbot: QtBot) -> None:
    dialog = opened(page, config, qtbot)
    rows = {row.name: row for row in dialog.model.rows}
    words = {name: str(dialog._result(row).text) for name, row in rows.items()}
    assert words["gate"] == "is a node already" and words["h100-01"] == "read"
    # The reason first: a narrow cell cuts what comes after it.
    assert words["odd"].startswith("odd is reached by ProxyCommand") and words["odd"].endswith(f"({config}:55)")
    dialog.model.find("h100-0")
    assert dialog.model.rowCount() == 9
    QTest.mouseClick(dialog.every, Qt.MouseButton.LeftButton)
    assert len(dialog.chosen) == 9
    dialog.model.find("odd")
    dialog.table.selectAll()
    assert dialog.chosen == () and not dialog.save.isEnabled()
    dialog.reject()


def test_that_a_dialog_that_closes_ends_its_reading(page: NodesPage, services: Services, qtbot: QtBot) -> None:
    QTest.mouseClick(page.from_config, Qt.MouseButton.LeftButton)
    dialog = next(d for d in page.window().findChildren(ConfigDialog) if d.isVisible())
    job = dialog._job
    assert job is not None
    dialog.reject()
    assert job.cancel.cancelled
    qtbot.waitUntil(job.done.done)


def test_that_a_node_that_came_from_the_config_is_reached_as_the_config_says_today(
    page: NodesPage, services: Services, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/nowhere")  # the account's ssh would read the account's config
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    own = tmp_path / "home" / ".ssh" / "config"
    own.write_text("Host gpu\n HostName 127.0.0.1\n Port 1\n")
    QTest.mouseClick(page.from_config, Qt.MouseButton.LeftButton)
    dialog = next(d for d in page.window().findChildren(ConfigDialog) if d.isVisible())
    qtbot.waitUntil(lambda: len(dialog.model.rows) == 1)
    QTest.mouseClick(dialog.every, Qt.MouseButton.LeftButton)
    QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(page.model.rows) == 2)
    (node,) = (node for node in services.query(stored.list_nodes).result() if node.name == "gpu")
    window = page.window()
    assert isinstance(window, MainWindow)
    work = work_of(window)

    def trouble_of_connecting() -> str:
        window.trouble_band.hide()
        work.connect_to(node)
        qtbot.waitUntil(lambda: window.trouble_band.isVisible() and work.job_of(node.id) is None)
        return window.trouble_band.headline.text()

    assert trouble_of_connecting().startswith("gpu: 127.0.0.1:1: ")
    own.write_text("Host gpu\n HostName 127.0.0.1\n Port 1\n ProxyCommand nc %h %p\n")
    assert trouble_of_connecting() == "gpu: gpu is reached by ProxyCommand"
    assert f"{own}:4: a ProxyCommand runs a program" in window.trouble_band.sentence.text()
    own.write_text("")
    assert trouble_of_connecting().startswith("gpu: 127.0.0.1:1: ")


def test_that_a_second_alias_of_an_address_becomes_a_node_too_while_a_node_of_another_name_is_there_already(
    page: NodesPage, services: Services, tmp_path: Path, qtbot: QtBot
) -> None:
    place = " HostName 203.0.113.1\n User ops\n"
    hosts = [f"Host {name}\n{place}" for name in ("first", "second")]
    (tmp_path / "two").write_text("".join(hosts) + "Host gate\n HostName 198.51.100.9\n User jump\n")

    def words() -> dict[str, str]:
        QTest.mouseClick(page.from_config, Qt.MouseButton.LeftButton)
        dialog = next(d for d in page.window().findChildren(ConfigDialog) if d.isVisible())
        dialog.file.setText(str(tmp_path / "two"))
        dialog.read()
        qtbot.waitUntil(lambda: len(dialog.model.rows) == 3)
        found = {row.name: str(dialog._result(row).text) for row in dialog.model.rows}
        dialog.reject()
        return found

    assert words() == {"first": "read", "second": "read", "gate": "is a node already"}
    first = Node("b", "first", Reach.SSH, Address("203.0.113.1", 22, "ops"))
    services.change(lambda db: stored.save_node(db, first), "node").result()
    qtbot.waitUntil(lambda: len(page.model.rows) == 2)
    assert words() == {"first": "is a node already", "second": "read", "gate": "is a node already"}
