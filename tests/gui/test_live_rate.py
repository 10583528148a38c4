"""Can the user choose how often a node is read, and does the page go on with it?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.gui.forms.sampling_dialog import SamplingDialog
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import live
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.watch_rate import get_rates
from gpulease_gui.store.nodes import save_node


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Services]:
    services = open_services(tmp_path / "own.gpulease.db")
    services.workspace.submit(lambda db: save_node(db, Node("here", "here", Reach.LOCAL))).result()
    yield services
    services.close()


def test_that_a_rate_out_of_bounds_is_refused_and_the_page_goes_on_at_another_one(
    own: Services, make_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    window = make_window(live.PAGE)
    window.attach(own)
    window.go("live", "here")
    page = window.page
    assert isinstance(page, live.LivePage)
    qtbot.waitUntil(lambda: page.crumbs() == ("here",), timeout=5000)
    page.watch()
    next(action for action in page.bar.more_menu.actions() if action.text() == "Sampling rate…").trigger()
    (dialog,) = page.findChildren(SamplingDialog)
    assert dialog.rate.text() == "1" and page.view is not None
    dialog.rate.setText("20")
    dialog.save.click()
    assert dialog.field.error == "Write a number from 0.2 to 10, such as 2" and page.view.interval_s == 1.0
    dialog.rate.setText("5")
    dialog.save.click()
    assert page.running and page.view.interval_s == 0.2
    qtbot.waitUntil(lambda: own.query(get_rates).result() == {"here": 5.0}, timeout=10_000)
