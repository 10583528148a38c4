"""Is nobody asked for a secret that no work waits for any more?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address, AuthMethod, Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.gui.forms import secret_dialog
from gpulease_gui.gui.forms.secret_dialog import SecretDialog
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import nodes, verification
from gpulease_gui.gui.pages.nodes import NodesPage
from gpulease_gui.services.composition import Services
from gpulease_gui.services.ways import SecretAsked
from gpulease_gui.store import nodes as stored

if TYPE_CHECKING:
    from sqlite_utils import Database

# The node is told to be `cancelling` for no longer.
CANCEL_MS = 2_000
PLACE = Address("127.0.0.1", 9)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the nodes whose dialogs were made."""
    names: list[str] = []

    class Told(SecretDialog):
        def __init__(self, node: Node, *words: object, **how: object) -> None:
            names.append(node.name)
            super().__init__(node, *words, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(secret_dialog, "SecretDialog", Told)
    return names


@pytest.fixture
def page(services: Services, make_window: Callable[..., MainWindow]) -> NodesPage:
    window = make_window(nodes.PAGE, verification.PAGE)
    window.attach(services)
    found = window._pages["nodes"]
    assert isinstance(found, NodesPage)
    return found


def put(services: Services, made: list[Node]) -> list[Node]:
    def work(db: Database) -> None:
        for node in made:
            stored.save_node(db, node)

    services.workspace.submit(work).result()
    return made


def dialogs(page: NodesPage) -> list[SecretDialog]:
    return [dialog for dialog in page.window().findChildren(SecretDialog) if dialog.isVisible() and dialog.isEnabled()]


def test_that_cancel_all_closes_the_question_of_a_node_and_opens_that_of_none(
    services: Services, page: NodesPage, asked: list[str], qtbot: QtBot
) -> None:
    three = put(services, [Node(f"n{i}", f"pw-{i}", address=PLACE, auth=AuthMethod.PASSWORD) for i in range(3)])
    fleet = page._work.verify_many(three)
    qtbot.waitUntil(lambda: bool(dialogs(page)))
    qtbot.waitUntil(lambda: len(page._work._questions) == 3)
    fleet.cancel_all()
    qtbot.waitUntil(lambda: not fleet.running, timeout=CANCEL_MS)
    qtbot.waitUntil(lambda: not page._work._questions)
    assert (dialogs(page), len(asked)) == ([], 1)


def test_that_a_question_for_several_nodes_stays_until_the_last_of_them_is_cancelled(
    services: Services, page: NodesPage, asked: list[str], qtbot: QtBot
) -> None:
    made = [Node(f"n{i}", f"by-{i}", address=PLACE, auth=AuthMethod.AGENT, proxy="http://anna@127.0.0.1:9") for i in range(3)]
    fleet = page._work.verify_many(put(services, made))
    qtbot.waitUntil(lambda: bool(dialogs(page)))
    first = next(node for node in made if node.name == asked[0])
    qtbot.waitUntil(lambda: all(fleet.job_of(node.id) is not None for node in made))
    (dialog,) = dialogs(page)
    dialog.line.setText("half a pass")
    (question,) = page._work._questions
    fleet.cancel(first.id)
    qtbot.waitUntil(lambda: fleet.job_of(first.id) is None, timeout=CANCEL_MS)
    qtbot.waitUntil(lambda: page._work._questions not in ([], [question]))
    # The next of them goes on with what was typed so far.
    assert (dialogs(page), len(asked), dialog.line.text()) == ([dialog], 1, "half a pass")
    labels = {label.text() for label in dialog.findChildren(QLabel)}
    assert {"Proxy 127.0.0.1:9 asks for a password", "Asked first for", asked[0]} <= labels
    fleet.cancel_all()
    qtbot.waitUntil(lambda: not fleet.running, timeout=CANCEL_MS)
    # What was typed is not gone without a word.
    qtbot.waitUntil(lambda: dialog.is_over and dialog.isEnabled())
    assert dialog.headline.text() == f"What you typed for {asked[0]} was not sent"
    dialog.cancel.click()
    qtbot.waitUntil(lambda: not page._work._questions)
    assert (dialogs(page), len(asked)) == ([], 1)


def test_that_what_is_typed_after_the_first_of_several_was_cancelled_is_for_the_others(
    services: Services, page: NodesPage, asked: list[str], qtbot: QtBot
) -> None:
    ask, first, wanted = services.links.ask_secret, CancelToken(), []
    assert ask is not None
    nodes = [Node(f"n{i}", f"of-{i}", address=PLACE) for i in range(2)]
    of_first = SecretAsked("password of the proxy a@b:1", withdrawn=lambda: first.cancelled, shared=("proxy", "b"))
    gone = services.jobs.local(lambda: ask(nodes[0], of_first))
    qtbot.waitUntil(lambda: bool(dialogs(page)))
    first.cancel()
    assert gone.result(CANCEL_MS / 1000) is None
    other = SecretAsked(of_first.what, shared=("proxy", "another way"))
    for about in (other, SecretAsked(of_first.what, shared=of_first.shared)):
        wanted.append(services.jobs.local(partial(ask, nodes[1], about)))
        qtbot.waitUntil(lambda: any(getattr(question, "asked", None) is about for question in page._work._questions))  # noqa: B023
    (dialog,) = dialogs(page)
    assert asked == ["of-0"]
    dialog.line.setText("word")
    dialog.go_on.click()
    assert wanted[1].result(CANCEL_MS / 1000) == Secret("word")
    assert not wanted[0].done()  # behind another way the same name may be another machine
    qtbot.waitUntil(lambda: asked == ["of-0", "of-1"] and bool(dialogs(page)))
    dialogs(page)[0].reject()
    assert wanted[0].result(CANCEL_MS / 1000) is None
