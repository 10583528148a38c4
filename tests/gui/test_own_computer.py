"""Is this computer called in the language of the window, whatever program made its record, unless the user gave it a name?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.own_computer import OwnComputer
from gpulease_gui.gui.pages import live
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.events import RecordsChanged
from gpulease_gui.services.targets import LOCAL, node_of
from gpulease_gui.store.nodes import list_nodes, save_node

from .conftest import settle


def names(services: Services) -> list[str]:
    with services.workspace.read() as connection:
        return [node.name for node in list_nodes(connection)]


@pytest.fixture
def made_by_the_command_line(tmp_path: Path) -> Services:
    services = open_services(tmp_path / "own.gpulease.db")
    assert node_of(services.workspace, LOCAL).name == "this computer"
    services.close()
    return open_services(tmp_path / "own.gpulease.db")


def test_that_the_record_of_the_command_line_has_the_name_of_the_windows_language(
    make_window: Callable[..., MainWindow], made_by_the_command_line: Services, english: Translations, qtbot: QtBot
) -> None:
    services, window = made_by_the_command_line, make_window(live.PAGE)
    own = OwnComputer(window)
    english.switch(Language.ZH)
    window.attach(services)
    own.look()
    qtbot.waitUntil(lambda: names(services) == ["本机"], timeout=5000)
    assert node_of(services.workspace, LOCAL).name == "this computer", "the command line speaks English"
    assert names(services) == ["本机"], "and writes nothing"
    english.switch(Language.EN)
    qtbot.waitUntil(lambda: names(services) == ["this computer"], timeout=5000)
    window.detach()
    services.close()


def test_that_a_name_of_the_user_stays_in_any_language(
    make_window: Callable[..., MainWindow], made_by_the_command_line: Services, english: Translations, qtbot: QtBot
) -> None:
    services, window = made_by_the_command_line, make_window(live.PAGE)
    with services.workspace.read() as connection:
        (node,) = list_nodes(connection)
    other = Node("n2", "this computer", Reach.SSH)
    services.workspace.submit(lambda db: (save_node(db, replace(node, name="desk")), save_node(db, other))).result()
    own = OwnComputer(window)
    window.attach(services)
    told: list[object] = []
    services.bus.subscribe(told.append)
    english.switch(Language.ZH)
    own.look()
    services.change(lambda db: None, "marker").result()
    qtbot.waitUntil(lambda: bool(told), timeout=5000)
    settle()
    assert names(services) == ["desk", "this computer"] and told == [RecordsChanged(frozenset(["marker"]))]
    assert node_of(services.workspace, LOCAL).name == "desk"
    english.switch(Language.EN)
    window.detach()
    services.close()
