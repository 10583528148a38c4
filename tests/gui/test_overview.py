"""Does the overview say what needs a decision, at once and in both languages?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.overview import OverviewPage
from gpulease_gui.gui.pages.suppliers import SuppliersPage
from gpulease_gui.gui.theme.theme import Theme, ThemeMode
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.events import NodeState, NodeStateChanged, RunEnded
from gpulease_gui.services.overview import Overview, Standing

from .guards import StallGuard
from .opened import cells, demo_services, fail_power, measured, wait_for, window_on, words_of


@pytest.fixture
def demo(theme: Theme, english: Translations, tmp_path: Path) -> Iterator[MainWindow]:
    with window_on(demo_services(tmp_path), theme, english, tmp_path) as window:
        yield window


@pytest.fixture
def own(theme: Theme, english: Translations, tmp_path: Path) -> Iterator[MainWindow]:
    with window_on(open_services(tmp_path / "own.db"), theme, english, tmp_path) as window:
        yield window


def overview(window: MainWindow, qtbot: QtBot) -> OverviewPage:
    window.go("overview")
    page = window.page
    assert isinstance(page, OverviewPage)
    wait_for(qtbot, lambda: page._seen is not None)
    return page


def test_that_an_empty_workspace_offers_the_first_step(own: MainWindow, qtbot: QtBot) -> None:
    page = overview(own, qtbot)
    assert page._stack.currentIndex() == 1
    button = next(b for b in page.findChildren(Button) if b.accessibleName() == "Add a supplier")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    shown = own.page
    assert isinstance(shown, SuppliersPage)
    wait_for(qtbot, lambda: shown.stack.currentWidget() is shown.forms.supplier)


def test_that_a_broken_promise_stands_first_with_its_node_after_the_run(demo: MainWindow, qtbot: QtBot) -> None:
    page = overview(demo, qtbot)
    assert "Power limit" not in cells(page.decisions, 0)
    fail_power(demo.services)
    demo.services.bus.publish(RunEnded("run-demo-capped", "demo-capped", Verdict.FAIL))
    wait_for(qtbot, lambda: cells(page.decisions, 0)[:1] == ["Power limit"])
    first = page.decisions.model().row_at(0)
    assert first.nodes == ("capped",)
    assert cells(page.decisions, 2)[0] == "350 for 700 W"
    assert [figure._figure.text() for figure in page.figures.figures] == ["1", "1", "0 of 9", "8"]
    line = next(row for row in page._contract_rows.rows if row.contract.number == "BM-0047-1")
    assert (line.standing, line.verdict) == (Standing(kept=1, broken=1, unknown=3), Verdict.FAIL)
    assert line.sentence.en == "0 of 1 accepted, capped fails power.limit"


def test_that_a_row_leads_to_its_place(demo: MainWindow, qtbot: QtBot) -> None:
    page = overview(demo, qtbot)
    place = page._contract_rows.place_of("demo-contract-BM-0047-1")
    assert place is not None
    rect = page.contracts.visualRect(page._contract_rows.index(place, 0))
    qtbot.mouseClick(page.contracts.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    shown = demo.page
    assert isinstance(shown, SuppliersPage)
    wait_for(qtbot, lambda: shown.current is not None and shown.current[1] is not None)
    assert shown.current is not None and shown.current[1] is not None
    assert shown.current[1].number == "BM-0047-1"


def test_that_rows_open_by_the_keyboard_too(demo: MainWindow, qtbot: QtBot) -> None:
    page = overview(demo, qtbot)
    page.contracts.setFocus()
    page.contracts.choose("demo-contract-BM-0047-1")
    QTest.keyClick(page.contracts, Qt.Key.Key_Return)
    assert isinstance(demo.page, SuppliersPage)


def test_that_a_changed_host_key_is_a_decision_at_once(demo: MainWindow, qtbot: QtBot) -> None:
    page = overview(demo, qtbot)
    demo.services.bus.publish(NodeStateChanged("demo-sick", NodeState.KEY_CHANGED))
    demo.services.bus.publish(NodeStateChanged("demo-honest", NodeState.CONNECTED))
    wait_for(qtbot, lambda: cells(page.decisions, 0)[:1] == ["Host key changed, connection refused"])
    assert page.figures.figures[2]._figure.text() == "1 of 9"
    assert page.aside.steps.note.text() == "1 of 5"


def test_that_a_storm_of_events_is_one_look(demo: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    page = overview(demo, qtbot)
    looks: list[int] = []
    page._soon.timeout.connect(lambda: looks.append(1))
    for _ in range(200):
        demo.services.bus.publish(NodeStateChanged("demo-honest", NodeState.CONNECTED))
    wait_for(qtbot, lambda: bool(looks))
    qtbot.wait(50)
    assert len(looks) == 1


def test_that_the_demo_shows_what_to_try_and_an_own_workspace_does_not(demo: MainWindow, qtbot: QtBot) -> None:
    page = overview(demo, qtbot)
    assert page.aside.steps.isVisibleTo(page)
    fail_power(demo.services)
    page.refresh()
    wait_for(qtbot, lambda: page.aside.steps.note.text() == "2 of 5")


def test_that_a_reading_that_was_begun_first_and_comes_last_is_not_shown(demo: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    page = overview(demo, qtbot)
    held: list[Callable[[], None]] = []
    when_done = page.frame.bridge.when_done

    def later(found: Future[Overview], show: Callable[[Overview], object]) -> None:
        when_done(found, lambda seen: held.append(lambda: show(seen)))

    monkeypatch.setattr(page.frame.bridge, "when_done", later)
    for number in (1, 2):
        page.refresh()
        wait_for(qtbot, lambda number=number: len(held) == number)
        if number == 1:
            fail_power(demo.services)
    first, second = held
    second()
    first()
    wait_for(qtbot, lambda: page.aside.steps.note.text() == "2 of 5")
    assert cells(page.decisions, 0)


def test_that_language_and_theme_switch_twice_and_leave_nothing_behind(demo: MainWindow, qtbot: QtBot) -> None:
    fail_power(demo.services)
    page = overview(demo, qtbot)
    wait_for(qtbot, lambda: page.aside.steps.note.text() == "2 of 5")
    qtbot.wait(1)
    before = words_of(page)
    demo.speak(Language.ZH)
    demo.wear(ThemeMode.DARK)
    qtbot.wait(1)
    chinese = words_of(page)
    ours = {"Needs a decision", "Contracts", "Power limit", "Open finding", "Days left", "Fail", "worst first", "Promises broken"}
    assert ours <= set(before) and not ours & set(chinese)
    assert {"需要决定", "功耗上限", "查看结果", "不符"} <= set(chinese)
    demo.speak(Language.EN)
    demo.wear(ThemeMode.LIGHT)
    qtbot.wait(1)
    after = words_of(page)
    assert sorted(set(before) ^ set(after)) == []
    assert after == before


def test_that_the_overview_never_holds_the_window(demo: MainWindow, qtbot: QtBot, stalls: StallGuard) -> None:
    fail_power(demo.services)
    with measured(stalls):
        with stalls.allow("first build of the page"):
            page = overview(demo, qtbot)
            wait_for(qtbot, lambda: page.aside.steps.note.text() == "2 of 5")
            qtbot.wait(100)
        for _ in range(5):
            page.refresh()
            qtbot.wait(40)
