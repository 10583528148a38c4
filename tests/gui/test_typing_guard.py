"""Does a question that opens by itself take nothing that was typed for something else?"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address, HostKey, Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.gui.forms import typing_guard
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.forms.host_key_dialog import ChangedKeyDialog, UnknownKeyDialog
from gpulease_gui.gui.forms.secret_dialog import SecretDialog
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import nodes, verification
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import HostKeyQuestion
from gpulease_gui.services.ways import SecretAsked

A = Node("a", "node-a", address=Address("203.0.113.1"), jump="ops@gate.example", proxy="socks5://127.0.0.1:1080")
B = Node("b", "node-b", address=Address("203.0.113.2"))
KEY, OTHER = HostKey("ssh-ed25519", "SHA256:" + "A" * 43), HostKey("ssh-ed25519", "SHA256:" + "B" * 43)
PROMPT = "203.0.113.1:22 asks: Code:"


def press(dialog: QDialog, words: str, *last: Qt.Key) -> None:
    """Keys as they come from the keyboard: to the window in front, whatever in it has the focus."""
    for one in words:
        QTest.keyClick(dialog.windowHandle(), one)  # type: ignore[call-overload]  # takes a character, which its stub leaves out
    for key in last:
        QTest.keyClick(dialog.windowHandle(), key)


def made(kind: str, parent: QWidget) -> SecretDialog | UnknownKeyDialog | ChangedKeyDialog:
    if kind == "secret":
        return SecretDialog(A, SecretAsked(PROMPT), parent=parent)
    if kind == "unknown":
        return UnknownKeyDialog(HostKeyQuestion(A, (KEY,)), parent=parent)
    return ChangedKeyDialog(HostKeyQuestion(A, (KEY,), (OTHER,)), parent=parent)


@pytest.mark.parametrize("kind", ["secret", "unknown", "changed"])
def test_that_a_question_that_opens_while_the_user_types_takes_no_key_until_he_has_paused(qtbot: QtBot, kind: str) -> None:
    form = QWidget()
    typed = QLineEdit(form)
    QVBoxLayout(form).addWidget(typed)
    qtbot.addWidget(form)
    form.show()
    qtbot.waitUntil(typed.hasFocus)
    QTest.keyClicks(typed, "half a pass")
    dialog = made(kind, form)
    ends: list[int] = []
    dialog.finished.connect(ends.append)
    open_dialog(dialog)
    qtbot.waitUntil(dialog.isActiveWindow)
    lines, note = dialog.findChildren(QLineEdit), next(label for label in dialog.findChildren(QLabel) if "went nowhere" in label.text())
    press(dialog, "word", Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_Escape)
    assert lines and {line.text() for line in lines} == {""} and (ends, dialog.isEnabled()) == ([], False) and note.isVisible()
    qtbot.waitUntil(dialog.isEnabled)
    line = lines[0]
    line.setFocus()
    press(dialog, "mine")
    assert (line.text(), typed.text(), ends) == ("mine", "half a pass", [])


def test_that_each_key_makes_the_question_wait_as_long_again(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typing_guard, "QUIET_MS", 3_600_000)
    dialog = SecretDialog(A, SecretAsked("password"))
    qtbot.addWidget(dialog)
    dialog.show()
    qtbot.waitUntil(dialog.isActiveWindow)
    guard = dialog._guard
    guard._quiet.start(1_000)
    press(dialog, "x")
    assert guard._quiet.remainingTime() > 500 and not dialog.isEnabled() and dialog.line.text() == ""


def test_that_the_question_names_the_node_and_the_way_to_it(qtbot: QtBot) -> None:
    dialog = SecretDialog(A, SecretAsked("password"))
    qtbot.addWidget(dialog)
    said = {label.text() for label in dialog.findChildren(QLabel)}
    assert dialog.windowTitle() == "Password: node-a"
    assert {"node-a asks for a password", "Way there", "socks5://127.0.0.1:1080 → ops@gate.example → root@203.0.113.1:22"} <= said


def test_that_the_rest_of_a_code_whose_question_is_over_reaches_no_other_node(
    services: Services, make_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    window = make_window(nodes.PAGE, verification.PAGE)
    window.attach(services)
    ask, first = services.links.ask_secret, CancelToken()
    assert ask is not None

    def shown() -> list[SecretDialog]:
        return [dialog for dialog in window.findChildren(SecretDialog) if dialog.isVisible()]

    of_a = services.jobs.local(lambda: ask(A, SecretAsked(PROMPT, withdrawn=lambda: first.cancelled)))
    qtbot.waitUntil(lambda: bool(shown()) and shown()[0].isEnabled())
    (dialog,) = shown()
    of_b = services.jobs.local(lambda: ask(B, SecretAsked("password")))
    press(dialog, "first-half")
    assert dialog.line.text() == "first-half"
    first.cancel()
    qtbot.waitUntil(lambda: dialog.headline.text() == "What you typed for node-a was not sent")
    press(dialog, "second-half", Qt.Key.Key_Return)
    assert shown() == [dialog] and (dialog.line.text(), of_a.result(5), of_b.done()) == ("", None, False)
    qtbot.waitUntil(dialog.isEnabled)
    press(dialog, "", Qt.Key.Key_Return)  # read: on with the next
    qtbot.waitUntil(lambda: bool(shown()) and shown() != [dialog])
    (next_one,) = shown()
    qtbot.waitUntil(next_one.isActiveWindow)
    press(next_one, "tail", Qt.Key.Key_Return)
    assert (next_one.line.text(), of_b.done()) == ("", False)
    qtbot.waitUntil(next_one.isEnabled)
    press(next_one, "for-b", Qt.Key.Key_Return)
    assert of_b.result(5) == Secret("for-b")
