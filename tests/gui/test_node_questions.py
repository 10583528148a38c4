"""How is a question of the node's own answered, and when is nothing an answer?"""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.node import Address, Node, Reach
from gpulease_gui.domain.secret import Secret
from gpulease_gui.gui.forms.secret_dialog import SecretDialog
from gpulease_gui.services.ways import SecretAsked

NODE = Node("a", "node-01", Reach.SSH, Address("203.0.113.1"))
PUSH = "203.0.113.1:22 asks: <b>Press Enter</b> once you confirmed on your phone (Gate)"


def opened(qtbot: QtBot, what: str, *, shown: bool = False) -> SecretDialog:
    dialog = SecretDialog(NODE, SecretAsked(what), shown=shown)
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.isEnabled() and dialog.line.hasFocus())
    return dialog


def test_that_ux_13_enter_alone_answers_a_question_of_the_node_with_nothing(qtbot: QtBot) -> None:
    dialog = opened(qtbot, PUSH)
    ends: list[int] = []
    dialog.finished.connect(ends.append)
    assert PUSH in {label.text() for label in dialog.findChildren(QLabel) if label.textFormat() is Qt.TextFormat.PlainText}
    QTest.keyClick(dialog.line, Qt.Key.Key_Return)
    assert ends == [SecretDialog.DialogCode.Accepted] and dialog.secret == Secret("")


@pytest.mark.parametrize("what", ["password", "passphrase of /keys/id", "password of the proxy anna@gw:1080"])
def test_that_enter_alone_is_no_password(qtbot: QtBot, what: str) -> None:
    dialog = opened(qtbot, what)
    ends: list[int] = []
    dialog.finished.connect(ends.append)
    assert not dialog.go_on.isEnabled()
    QTest.keyClick(dialog.line, Qt.Key.Key_Return)
    assert SecretDialog.DialogCode.Accepted not in ends
    QTest.keyClicks(dialog.line, "x")
    assert dialog.go_on.isEnabled()


@pytest.mark.parametrize(("shown", "mode"), [(True, QLineEdit.EchoMode.Normal), (False, QLineEdit.EchoMode.Password)])
def test_that_ux_13_what_the_node_lets_be_seen_is_seen_and_nothing_else(qtbot: QtBot, shown: bool, mode: QLineEdit.EchoMode) -> None:
    assert opened(qtbot, PUSH, shown=shown).line.echoMode() is mode


def test_that_the_password_of_a_jump_host_is_asked_for_in_its_name_and_a_refused_one_is_told(qtbot: QtBot) -> None:
    asked = SecretAsked("password of the jump host ops@gw.example:2222", "gw.example:2222", 2)
    dialog = SecretDialog(NODE, asked, keepable=True)
    qtbot.addWidget(dialog)
    said = {label.text() for label in dialog.findChildren(QLabel)}
    assert {"Jump host gw.example:2222 asks for a password", "ops@gw.example:2222", "node-01"} <= said
    assert "the login was refused; try 2 of 3" in said
    assert dialog.line.echoMode() is QLineEdit.EchoMode.Password and not dialog.go_on.isEnabled() and not dialog.keep.isHidden()


def test_that_the_password_of_a_proxy_is_asked_for_in_its_name_and_not_in_that_of_one_node(qtbot: QtBot) -> None:
    dialog = SecretDialog(NODE, SecretAsked("password of the proxy anna@gw.example:1080", number=2))
    qtbot.addWidget(dialog)
    said = {label.text() for label in dialog.findChildren(QLabel)}
    assert {"Proxy gw.example:1080 asks for a password", "anna@gw.example:1080", "the login was refused; try 2 of 3"} <= said
