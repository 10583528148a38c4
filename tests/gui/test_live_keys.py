"""Can everything on the Live page be done by keys, and does one see where they go?"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.text import Language
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import live
from gpulease_gui.gui.pages.live_nodes import LiveNode, load_nodes
from gpulease_gui.gui.theme.theme import ThemeMode
from gpulease_gui.gui.widgets.navigation import Navigation
from gpulease_gui.services.composition import Services
from gpulease_gui.store.doors import Reader

from .conftest import settle
from .live_data import told_view
from .live_walk import in_reading_order, looks, reached_by_tab, takes_tab

MakeWindow = Callable[..., MainWindow]


@pytest.fixture
def window(make_window: MakeWindow, demo: Services, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> MainWindow:
    """The page with two watched nodes; the first of them is in sight."""
    views = {f"demo-{name}": told_view(name, 90, time.time()) for name in ("capped", "ascend")}
    monkeypatch.setattr(demo.watching, "view", views.get)
    monkeypatch.setattr(demo.watching, "views", lambda: tuple(views.values()))
    made = make_window(live.PAGE)
    made.resize(1440, 900)
    made.attach(demo)
    made.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is made)
    return made


def show(window: MainWindow, where: str, qtbot: QtBot) -> live.LivePage:
    """One node, one that is not watched, or all of them; then the page stands still."""
    window.go("live", *([f"demo-{where}"] if where != "all" else []))
    page = window.page
    assert isinstance(page, live.LivePage)
    qtbot.waitUntil(lambda: page.whole if where == "all" else page.crumbs() == (where,) and page.charted == (where == "capped"))
    for timer in (page._timer, page.all._timer, page.chart._timer):
        timer.stop()
    return page


def controls(window: MainWindow) -> list[QWidget]:
    """What Tab goes through outside the list of pages, which stands at the left over the whole height."""
    return [widget for widget in reached_by_tab(window) if not any(one.isAncestorOf(widget) for one in window.findChildren(Navigation))]


@pytest.mark.parametrize("where", ["capped", "honest", "all"])
@pytest.mark.parametrize("language", list(Language))
def test_that_tab_goes_through_all_controls_in_reading_order(where: str, language: Language, window: MainWindow, qtbot: QtBot) -> None:
    window.speak(language)
    page = show(window, where, qtbot)
    settle()
    chain = controls(window)
    assert [one.accessibleName() for one in chain] == [one.accessibleName() for one in in_reading_order(chain, window)]
    # Of buttons that exclude each other Tab comes to the one that is chosen; the arrows go on from there.
    missed = [one for one in page.findChildren(QWidget) if takes_tab(one) and one not in chain and type(one).__name__ != "_SegmentButton"]
    assert [one.accessibleName() for one in missed] == [] and len(chain) > 6


@pytest.mark.parametrize("where", ["capped", "all"])
def test_that_the_focus_is_seen_on_every_control_in_both_themes(where: str, window: MainWindow, qtbot: QtBot) -> None:
    show(window, where, qtbot)
    for mode in (ThemeMode.LIGHT, ThemeMode.DARK):
        window.wear(mode)
        settle()
        chain = controls(window)
        for place, widget in enumerate(chain):
            chain[place - 1].setFocus(Qt.FocusReason.TabFocusReason)
            without = looks(widget, window)
            widget.setFocus(Qt.FocusReason.TabFocusReason)
            assert looks(widget, window) != without, (mode, widget.accessibleName())


def test_that_without_a_chart_nothing_is_there_that_steers_or_exports_one(window: MainWindow, qtbot: QtBot) -> None:
    bar = show(window, "honest", qtbot).bar
    there = [bar.all_nodes, bar.nodes, bar.more]
    assert [one for one in bar.children() if isinstance(one, QWidget) and one.isVisible()] == there
    window.resize(1024, 768)
    settle()
    assert [one for one in bar.children() if isinstance(one, QWidget) and one.isVisible()] == there
    show(window, "capped", qtbot)
    assert all(one.isVisible() for one in (bar.pause, bar.mode, bar.export)) and bar.span.isVisible() != bar.span_box.isVisible()


@pytest.mark.parametrize("name", ["rack-12.row-b.hall-3.very-long-datacenter-name.example-supplier-000127", "上海浦东金桥数据中心三期训练集群甲八卡整机第一百二十七号节点"])
@pytest.mark.parametrize("language", list(Language))
def test_that_a_long_name_makes_no_window_wider_and_cuts_no_control(name: str, language: Language, make_window: MakeWindow, demo: Services,
                                                                    monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:  # fmt: skip
    def renamed(connection: Reader) -> tuple[LiveNode, ...]:
        return tuple(replace(one, node=replace(one.node, name=name)) if one.node.id == "demo-capped" else one for one in load_nodes(connection))

    monkeypatch.setattr(live, "load_nodes", renamed)
    views = {"demo-capped": told_view("capped", 90, time.time())}
    monkeypatch.setattr(demo.watching, "view", views.get)
    monkeypatch.setattr(demo.watching, "views", lambda: tuple(views.values()))
    window = make_window(live.PAGE)
    window.resize(1024, 768)
    window.attach(demo)
    window.speak(language)
    window.go("live", "demo-capped")
    page = window.page
    assert isinstance(page, live.LivePage)
    qtbot.waitUntil(lambda: page.crumbs() == (name,) and page.charted and page.bar.nodes.count() == 9)
    settle()
    assert window.width() == 1024 and page.watch_button.text().endswith("…")
    whole = [one for one in window.findChildren(QPushButton) if one.isVisible()]
    assert [one.text() for one in whole if one.width() < one.sizeHint().width()] == []
    for row in (whole, [one for one in page.bar.children() if isinstance(one, QWidget) and one.isVisible()]):
        boxes = [QRect(one.mapTo(window, QPoint()), one.size()) for one in row]
        assert [(a, b) for place, a in enumerate(boxes) for b in boxes[:place] if a.intersects(b)] == []
        assert max(box.right() for box in boxes) < 1024
    assert name in page.bar.nodes.toolTip()


def test_that_lanes_out_of_sight_are_come_to_by_keys_and_have_their_axes_at_once(window: MainWindow, qtbot: QtBot) -> None:
    page = show(window, "capped", qtbot)
    below = [lane for lane in page.chart.lanes if lane.visibleRegion().isEmpty()]
    assert len(below) > 3
    for key, there in ((Qt.Key.Key_PageDown, True), (Qt.Key.Key_Up, False), (Qt.Key.Key_Down, True)):
        QTest.keyClick(page.chart, key)
        assert (not below[0].visibleRegion().isEmpty()) is there
    page.chart.step()
    largest = max(value for curve in below[0].lane.curves for value in curve.ring.view().values if value == value)
    assert below[0].values.top > largest > below[0].values.top / 4


def test_that_the_arrows_choose_how_much_time_is_in_sight(window: MainWindow, qtbot: QtBot) -> None:
    page = show(window, "capped", qtbot)
    page.chart.set_window(60.0)
    lit = next(one for one in page.bar.span.children() if isinstance(one, QWidget) and getattr(one, "isChecked", bool)())
    lit.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(lit, Qt.Key.Key_Right)
    assert page.chart.window_s == 300.0
