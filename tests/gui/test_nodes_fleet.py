"""Are many nodes verified at once, each seen as it goes, and only what has no answer asked again?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.node import Address, AuthMethod, HostKey, Node, Reach
from gpulease_gui.gui.forms.host_keys_dialog import HostKeysDialog
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import nodes, verification
from gpulease_gui.gui.pages.nodes import NodesPage
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import FactDialog
from gpulease_gui.remote.gate import AT_ONCE
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.events import HostKeyQuestion
from gpulease_gui.services.fleet_run import FleetLine, Phase
from gpulease_gui.services.plan import heavy_rules
from gpulease_gui.store import nodes as stored
from gpulease_gui.store import runs

LONG_MS = 60_000
Flag = QItemSelectionModel.SelectionFlag
DEAD = Node("dead", "dead", Reach.SSH, Address("127.0.0.1", 1), auth=AuthMethod.AGENT)
QUICK = ("capped", "honest", "sick")


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Services]:
    """The simulated nodes and one where nothing listens."""
    opened = open_services(tmp_path / "demo.db", demo=True)

    opened.workspace.submit(lambda db: stored.save_node(db, DEAD)).result()
    opened.workspace.forbid_main_thread()
    yield opened
    opened.close()


def begun(window: MainWindow, services: Services, qtbot: QtBot) -> NodesPage:
    """The page of nodes with four of them chosen and `Verify` pressed once."""
    window.resize(1440, 900)
    window.attach(services)
    page = window._pages["nodes"]
    assert isinstance(page, NodesPage)
    qtbot.waitUntil(lambda: len(page.model.rows) == 10)
    picked = page.table.selectionModel()
    picked.clear()
    for row in range(page.model.rowCount()):
        if page.model.index(row, 1).data() in (*QUICK, "dead"):
            picked.select(page.model.index(row, 0), Flag.Select | Flag.Rows)
    assert page.primary.accessibleName() == "Verify 4 nodes"
    QTest.mouseClick(page.primary, Qt.MouseButton.LeftButton)
    assert page.in_fleet
    return page


def lines(page: NodesPage) -> dict[str, FleetLine]:
    return {line.node.name: line for line in page.fleet.model.rows}


def runs_of(services: Services, name: str) -> int:
    def work(connection: object) -> int:
        node = next(n for n in stored.list_nodes(connection) if n.name == name)  # type: ignore[arg-type]
        return len(runs.list_runs(connection, node_id=node.id, parts=True))  # type: ignore[arg-type]

    return services.query(work).result()


def test_that_one_click_fills_a_table_and_the_dead_node_delays_nobody(
    make_window: Callable[..., MainWindow], demo: Services, qtbot: QtBot
) -> None:
    window = make_window(nodes.PAGE, verification.PAGE)
    page = begun(window, demo, qtbot)
    pane = page.fleet
    assert page.buttons() == (pane.cancel_all,)
    qtbot.waitUntil(lambda: window.task_strip.titles == ("Verify 4 nodes",))
    qtbot.waitUntil(lambda: lines(page)["dead"].phase is Phase.NOT_REACHED, timeout=LONG_MS)
    qtbot.waitUntil(lambda: not pane._clock.isActive(), timeout=LONG_MS)
    assert {name: line.phase for name, line in lines(page).items()} == {
        "capped": Phase.DONE, "honest": Phase.DONE, "sick": Phase.DONE, "dead": Phase.NOT_REACHED}  # fmt: skip
    assert all(line.answered == line.planned > 50 for name, line in lines(page).items() if name != "dead")
    assert lines(page)["capped"].worst_check == "power.limit"
    assert pane.said.text() == "4 of 4 nodes: 1 pass, 2 fail, 1 not reached"
    assert page.buttons() == (pane.rest,) and pane.rest.accessibleName() == "Verify what is not done: 1"
    pane.table.choose("dead")
    assert pane.why.text().startswith("TCP connect: the connection was refused. Next: ")
    # A second round touches only the one that was not reached.
    before = [runs_of(demo, name) for name in QUICK]
    QTest.mouseClick(pane.rest, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not pane._clock.isActive(), timeout=LONG_MS)
    assert [runs_of(demo, name) for name in QUICK] == before == [1, 1, 1]
    # The way to the findings of a node, and back to the table.
    pane.table.choose(lines(page)["capped"].node.id)
    QTest.keyClick(pane.table, Qt.Key.Key_Return)
    assert window._current == "verification"
    window.go("nodes")
    assert page.in_fleet
    QTest.mouseClick(pane.back, Qt.MouseButton.LeftButton)
    assert not page.in_fleet and pane.opener.isVisible() and pane.opener.accessibleName() == "Verified 4 of 4"


@contextmanager
def held_up(services: Services, name: str) -> Iterator[None]:
    """Nobody gets in at that node of the demo meanwhile, however fast it would be asked."""
    place = services.jobs.local(lambda: services.links._demo_server().address(name).host_port).result()
    with held_at(services, place):
        yield


@contextmanager
def held_at(services: Services, place: str) -> Iterator[None]:
    """Nobody gets in at that host:port meanwhile."""
    with ExitStack() as held:
        for _ in range(AT_ONCE):
            held.enter_context(services.links._connector._gate.hold(place, 9, CancelToken()))
        yield


def test_that_one_node_is_cancelled_alone_and_then_asked_again(
    make_window: Callable[..., MainWindow], demo: Services, qtbot: QtBot
) -> None:
    window = make_window(nodes.PAGE, verification.PAGE)
    with held_up(demo, "sick"):
        page = begun(window, demo, qtbot)
        pane = page.fleet
        pane.table.choose(lines(page)["sick"].node.id)
        QTest.mouseClick(pane.cancel, Qt.MouseButton.LeftButton)
        qtbot.waitUntil(lambda: not pane._clock.isActive(), timeout=LONG_MS)
    ended = {name: line.phase for name, line in lines(page).items()}
    assert ended == {"capped": Phase.DONE, "honest": Phase.DONE, "sick": Phase.CANCELLED, "dead": Phase.NOT_REACHED}
    assert pane.rest.accessibleName() == "Verify what is not done: 2"
    QTest.mouseClick(pane.rest, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not pane._clock.isActive(), timeout=LONG_MS)
    assert lines(page)["sick"].phase is Phase.DONE
    assert runs_of(demo, "honest") == 1


def test_that_heavy_checks_come_after_the_rest_are_confirmed_and_join_their_run(
    make_window: Callable[..., MainWindow], demo: Services, qtbot: QtBot
) -> None:
    window = make_window(nodes.PAGE, verification.PAGE)
    page = begun(window, demo, qtbot)
    pane = page.fleet
    assert pane.heavy.isHidden()
    qtbot.waitUntil(lambda: not pane._clock.isActive(), timeout=LONG_MS)
    pane.heavy.click()
    dialog = next(d for d in window.findChildren(FactDialog) if d.isVisible())
    assert dialog.headline.text() == f"{len(heavy_rules())} checks that load 3 nodes"
    QTest.mouseClick(next(b for b in dialog.findChildren(Button) if b.accessibleName() == "Run on 3 nodes"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: pane._clock.isActive() and "dead" not in lines(page))
    qtbot.waitUntil(lambda: {line.phase for line in lines(page).values()} == {Phase.READING})
    assert lines(page)["honest"].planned == len(heavy_rules())
    pane._cancel_all()
    qtbot.waitUntil(lambda: not pane._clock.isActive(), timeout=LONG_MS)
    assert {line.phase for line in lines(page).values()} == {Phase.CANCELLED}
    assert runs_of(demo, "honest") == 2  # the whole run, and the part that joins it


def test_that_keys_of_many_nodes_are_one_question_and_a_changed_one_is_never_trusted_with_others(qtbot: QtBot) -> None:
    old, new, own = (HostKey("ssh-ed25519", "SHA256:" + letter * 43) for letter in "abc")
    questions = [
        HostKeyQuestion(Node("n1", "n1", Reach.SSH, Address("127.0.0.1", 1)), (new,)),
        HostKeyQuestion(Node("n2", "n2", Reach.SSH, Address("127.0.0.1", 2)), (own,)),
        HostKeyQuestion(Node("n3", "n3", Reach.SSH, Address("127.0.0.1", 3)), (new,), (old,)),
    ]
    dialog = HostKeysDialog(questions)
    qtbot.addWidget(dialog)
    decided: list[object] = []
    dialog.decided.connect(decided.append)
    dialog.show()
    assert dialog.headline.text() == "1 node with a changed host key, 2 nodes with a host key that is not known"
    assert dialog.model.row_at(0).question is questions[2]  # the worst first
    assert not dialog.trust.isEnabled()
    dialog.lines.setPlainText(f"n1 {new.fingerprint}\n")
    assert dialog.trust.accessibleName() == "Trust 1 key and verify" and dialog.trust.isEnabled()
    dialog.unable.setChecked(True)
    assert dialog.trust.accessibleName() == "Trust 2 keys and verify"
    QTest.mouseClick(dialog.trust, Qt.MouseButton.LeftButton)
    assert decided == [[(questions[0], new, "fingerprint from the supplier"), (questions[1], own, "not compared")]]
