"""What does the table of nodes keep in sight where it is narrow?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import nodes
from gpulease_gui.gui.pages.nodes import NodesPage
from gpulease_gui.services.acceptance import Acceptance, NodeAcceptance
from gpulease_gui.services.composition import open_services

HEADS = ("State", "Node", "Endpoint", "Host key", "GPUs", "Clock, s", "Verified", "Last run")


def test_that_the_last_verdict_stays_in_sight_in_a_small_window_and_nothing_is_scrolled_sideways(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    demo = open_services(tmp_path / "demo.db", demo=True)
    demo.workspace.forbid_main_thread()
    window = make_window(nodes.PAGE)
    window.attach(demo)
    try:
        page = window._pages["nodes"]
        assert isinstance(page, NodesPage)
        qtbot.waitUntil(lambda: len(page.model.rows) == 9)
        seen = {}
        for width in (1440, 1280, 960):
            window.resize(width, 800)
            qtbot.waitUntil(lambda wanted=width: window.width() == wanted)
            qtbot.wait(0)
            assert page.table.horizontalScrollBar().maximum() == 0, width
            seen[width] = [head for place, head in enumerate(HEADS) if not page.table.isColumnHidden(place)]
        assert seen[1440] == list(HEADS)
        assert seen[1280] == ["State", "Node", "Endpoint", "Host key", "GPUs", "Last run"]
        assert seen[960][0:2] == ["State", "Node"] and seen[960][-1] == "Last run"
    finally:
        window.detach()
        demo.close()


@pytest.mark.parametrize(("failing", "said"), [(1, "n0 fails gpu.count"), (2, "n0 fails gpu.count and 1 more node fails"), (3, "n0 fails gpu.count and 2 more nodes fail")])
def test_that_one_more_node_fails_and_two_more_nodes_fail(failing: int, said: str) -> None:
    made = Acceptance(tuple(NodeAcceptance(f"n{number}", f"n{number}", Verdict.FAIL, ("gpu.count",)) for number in range(failing)))
    assert made.sentence.en == f"0 of {failing} accepted, {said}"
