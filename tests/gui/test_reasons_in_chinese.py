"""Why nodes are not reached, as a window in Chinese says it: is any English sentence of ours left?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import live, nodes, verification
from gpulease_gui.gui.pages.nodes import NodesPage
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import NodeState
from gpulease_gui.store import nodes as stored
from tests.reliability import OTHER, QUICK, World, world

pytestmark = pytest.mark.sshd
_CHINESE = re.compile("[\u4e00-\u9fff]")
_SENTENCE = re.compile(r"[A-Za-z][A-Za-z']*(?: [A-Za-z][A-Za-z']*){2,}")


@pytest.fixture(scope="module")
def faulty() -> Iterator[World]:
    with world() as made:
        yield made


def nodes_of(faulty: World) -> dict[str, Node]:
    """A node for each fault, by its name; all but one of them are known by their key."""
    places, key = faulty.addresses, str(faulty.folder / "id")
    made = {name: Node(name, name, address=place, identity_file=key) for name, place in places.items()}
    plain, hop = made["plain"], lambda name: str(replace(places[name], user="anna"))
    extra = {
        "changed": plain, "unknown": made["shell"], "stranger": replace(plain, identity_file=str(faulty.folder / "stranger")),
        "no-key": replace(plain, identity_file=str(faulty.folder / "none")), "no-address": replace(plain, address=None),
        "nowhere": replace(plain, address=replace(places["plain"], host="nowhere.invalid")),
        "closed-hop": replace(plain, jump=hop("closed")), "hop-forwards-nothing": replace(plain, jump=str(places["narrow"])),
        "hop-is-no-ssh": replace(plain, jump=hop("garbage")), "proxy-hangs-up": replace(plain, proxy=f"socks5://127.0.0.1:{places['deaf'].port}"),
        "silent-proxy": replace(plain, proxy=f"http://127.0.0.1:{places['silent'].port}"),
    }  # fmt: skip
    made |= {name: replace(node, id=name, name=name) for name, node in extra.items()}
    for good in ("plain", "narrow", "shell", "strict", "talkative", "trap"):
        made.pop(good)
    return made


@pytest.fixture
def window(
    faulty: World, services: Services, make_window: Callable[..., MainWindow], english: Translations, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[MainWindow]:  # fmt: skip
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    services.links._deadlines = QUICK
    for node in nodes_of(faulty).values():
        services.workspace.submit(lambda db, node=node: stored.save_node(db, node)).result()
        if node.id != "unknown":
            services.links.trust(node, OTHER if node.id == "changed" else faulty.trust.pins[0], "the test")
        if node.id == "hop-forwards-nothing":
            services.links.trust(node, faulty.trust.pins[0], "the test", hop=faulty.addresses["narrow"].host_port)
    services.workspace.forbid_main_thread()
    made = make_window(nodes.PAGE, verification.PAGE, live.PAGE)
    english.switch(Language.ZH)
    made.attach(services)
    yield made
    for view in services.watching.views():
        services.watching.stop(view.node_id)


def english_of(words: str) -> list[str]:
    """What of these words is an English sentence."""
    return _SENTENCE.findall(words) if _CHINESE.search(words) else [words]


def state(page: NodesPage, node_id: str) -> NodeState | None:
    reached = page._work.state_of(node_id)
    return reached.state if reached else None


def test_that_each_reason_of_a_node_that_is_not_reached_is_chinese_in_table_and_inspector(
    window: MainWindow, faulty: World, qtbot: QtBot
) -> None:
    page, wanted = window._pages["nodes"], nodes_of(faulty)
    assert isinstance(page, NodesPage)
    qtbot.waitUntil(lambda: len(page.model.rows) == len(wanted))
    page.table.selectAll()
    QTest.mouseClick(page.primary, Qt.MouseButton.LeftButton)
    fleet = page._work.fleet
    assert fleet is not None
    qtbot.waitUntil(lambda: not fleet.running)
    lines = {line.node.id: line for line in fleet.lines()}
    assert set(lines) == set(wanted)
    for id_, line in lines.items():
        assert english_of(line.reason.zh) == [] and english_of(line.next_step.zh) == [], (id_, line.reason.zh, line.next_step.zh)
    qtbot.waitUntil(lambda: all(state(page, id_) in (NodeState.REFUSED, NodeState.KEY_CHANGED) for id_ in wanted))
    QTest.mouseClick(page.fleet.back, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: all(row.reached is not None for row in page.model.rows))
    shown: set[str] = set()
    for row in page.model.rows:
        page.table.choose(row.row.node.id)
        inspector = page.inspector
        assert inspector.connection.isVisibleTo(inspector), row.row.node.id
        said = (inspector.reason.text(), inspector.step.text())
        assert all(english_of(words) == [] for words in said), (row.row.node.id, said)
        shown.add(said[0])
    assert len(shown) > 10


def test_that_the_reason_why_a_watched_node_was_not_reached_is_chinese_too(
    window: MainWindow, services: Services, faulty: World, qtbot: QtBot
) -> None:
    page = window._pages["nodes"]
    assert isinstance(page, NodesPage)
    node = nodes_of(faulty)["stranger"]
    view = services.watching.start(node)
    qtbot.waitUntil(lambda: view.state is NodeState.REFUSED and state(page, "stranger") is NodeState.REFUSED)
    assert view.why.zh == "节点拒绝该用户使用此密钥" and view.gaps[0].reason == "not_reached_auth"
    reached = page._work.state_of("stranger")
    assert reached is not None and reached.reason == view.why and english_of(reached.next_step.zh) == []
