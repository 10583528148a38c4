"""From a click on Verify to the verdict of a node with a password behind a jump host with a password: real sshds, the whole window."""

from __future__ import annotations

import getpass
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.node import AuthMethod, Node
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.forms.secret_dialog import SecretDialog
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import nodes, verification
from gpulease_gui.gui.pages.nodes import NodesPage
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import NodeState
from gpulease_gui.store import nodes as stored
from gpulease_gui.store import runs
from gpulease_gui.store.records import Run, RunState
from tests.integration.conftest import home, keys, make_sshd
from tests.integration.password_sshds import PASSWORD, make_password_sshd

__all__ = ["home", "keys", "make_password_sshd", "make_sshd"]
pytestmark = pytest.mark.sshd

LEFT = Qt.MouseButton.LeftButton
ONLY_PASSWORD = "PasswordAuthentication yes\nPubkeyAuthentication no\n"
PATIENCE_MS = 120_000


def asked(window: MainWindow, qtbot: QtBot) -> SecretDialog:
    """The dialog that is open; it has the keys of the keyboard, and its words hide what is typed."""
    found: list[SecretDialog] = []

    def is_open() -> bool:
        found[:] = [dialog for dialog in window.findChildren(SecretDialog) if dialog.isVisible() and dialog.isEnabled()]
        return bool(found)

    qtbot.waitUntil(is_open, timeout=PATIENCE_MS)
    (dialog,) = found
    assert dialog.line.echoMode() is dialog.line.EchoMode.Password
    return dialog


def words_of(dialog: SecretDialog) -> set[str]:
    return {label.text() for label in dialog.findChildren(QLabel) if label.isVisible()}


def type_in(dialog: SecretDialog, words: str, qtbot: QtBot) -> None:
    QTest.keyClicks(dialog.line, words)
    QTest.mouseClick(dialog.go_on, LEFT)
    qtbot.waitUntil(lambda: not dialog.isVisible())


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("language", list(Language))
def test_that_verify_asks_for_the_password_of_the_jump_host_by_its_name_and_then_verifies(
    services: Services, make_window: Callable[..., MainWindow], make_password_sshd: Callable[..., object], english: Translations,
    qtbot: QtBot, tmp_path: Path, language: Language,
) -> None:  # fmt: skip
    english.switch(language)
    gate, server = make_password_sshd(ONLY_PASSWORD), make_password_sshd(ONLY_PASSWORD)
    node = Node("n1", "node-07", address=server.address, auth=AuthMethod.PASSWORD, jump=str(gate.address))  # type: ignore[attr-defined]
    services.workspace.submit(lambda db: stored.save_node(db, node)).result()
    key, place = server.keys.host_keys()[0], gate.address.host_port  # type: ignore[attr-defined]
    services.links.trust(node, key, "by the test")
    services.links.trust(node, key, "by the test", hop=place)
    window = make_window(nodes.PAGE, verification.PAGE)
    window.attach(services)
    page = window._pages["nodes"]
    assert isinstance(page, NodesPage)
    qtbot.waitUntil(lambda: page.table.choose("n1"))
    QTest.mouseClick(page.primary, LEFT)

    dialog = asked(window, qtbot)
    said = {Language.EN: "node-07 asks for a password", Language.ZH: "node-07 需要密码"}[language]
    assert said in words_of(dialog) and place not in words_of(dialog)
    type_in(dialog, PASSWORD, qtbot)

    dialog = asked(window, qtbot)
    said = {Language.EN: f"Jump host {place} asks for a password", Language.ZH: f"跳板机 {place} 需要密码"}[language]
    assert {said, f"{getpass.getuser()}@{place}", "node-07"} <= words_of(dialog)
    type_in(dialog, "wrong", qtbot)

    dialog = asked(window, qtbot)
    again = {Language.EN: "the login was refused; try 2 of 3", Language.ZH: "登录被拒绝；第 2 次，共 3 次"}[language]
    assert {said, again} <= words_of(dialog) and dialog.line.text() == ""
    type_in(dialog, PASSWORD, qtbot)

    qtbot.waitUntil(lambda: bool(ended(services)), timeout=PATIENCE_MS)
    (run,) = ended(services)
    assert run.node_id == "n1" and run.state is RunState.FINISHED and run.host_key == key
    assert services.links.states["n1"] is NodeState.CONNECTED
    log = (gate.folder / "log").read_text()  # type: ignore[attr-defined]
    assert (log.count("Failed password for "), log.count("Accepted password for ")) == (1, 1)
    assert not [path for path in tmp_path.glob("own.db*") if PASSWORD.encode() in path.read_bytes()]


def ended(services: Services) -> list[Run]:
    return [run for run in services.query(lambda connection: runs.list_runs(connection)).result() if run.state is not RunState.RUNNING]
