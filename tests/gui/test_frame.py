"""Does the frame of the window keep its promises: pages, keys, languages, first paint, the end?"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QLineEdit, QMenu, QWidget
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.actions import ACTIONS, Scope
from gpulease_gui.gui.app import Program
from gpulease_gui.gui.bridge import Bridge
from gpulease_gui.gui.first_run import Start
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import find_pages
from gpulease_gui.gui.pages.page import Frame, NavGroup, Page, PageSpec, Target
from gpulease_gui.gui.preferences import Preferences
from gpulease_gui.gui.theme.theme import Theme, ThemeMode
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.navigation import entries_of
from gpulease_gui.gui.window_dialogs import WINDOW_DIALOGS
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.events import Bus, Event, JobChanged, NodeState, RecordsChanged

from .guards import StallGuard

ROOT = Path(__file__).resolve().parents[2]


class Desk(Page):
    """A page that writes down what the window tells it."""

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        self.visits: list[tuple[str, ...]] = []
        self.words: list[str] = []
        self.events: list[Event] = []
        self.done: list[str] = []
        self.free = True
        self.column.addWidget(PlainLabel(Text("Desk", "书桌")))

    def crumbs(self) -> tuple[Words, ...]:
        return ("HT-7",)

    def target(self) -> Target | None:
        return Target("node-07", "203.0.113.17:34446", "HT-7", state=NodeState.CONNECTED, impact=Impact.ACTIVE)

    def doable(self) -> frozenset[str]:
        return frozenset(["verify"])

    def act(self, action: str) -> None:
        self.done.append(action)

    def visit(self, path: tuple[str, ...]) -> None:
        self.visits.append(path)

    def search(self, words: str) -> None:
        self.words.append(words)

    def handle(self, event: Event) -> None:
        self.events.append(event)

    def may_leave(self) -> bool:
        return self.free


class Shelf(Page):
    """A page with a primary button and a narrow navigation."""

    narrow_navigation = True

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        self.primary = Button(Text("Verify node-07", "验收 node-07"), kind="primary")

    def buttons(self) -> tuple[Button, ...]:
        return (self.primary,)


PAGES = (
    PageSpec("desk", Text("Desk", "书桌"), "nav-overview", NavGroup.TOP, 10, Desk),
    PageSpec("shelf", Text("Shelf", "书架"), "nav-verify", NavGroup.USE, 20, Shelf),
)


@pytest.fixture
def window(make_window: Callable[..., MainWindow]) -> MainWindow:
    return make_window(*PAGES)


@pytest.fixture
def opened(window: MainWindow, services: Services) -> MainWindow:
    window.attach(services)
    return window


def desk(window: MainWindow) -> Desk:
    page = window._pages["desk"]
    assert isinstance(page, Desk)
    return page


# -- pages ------------------------------------------------------------------------------------------------------------


def test_that_headings_stand_only_over_pages_that_exist() -> None:
    lines, foot = entries_of(PAGES)
    assert [(line.title.en, line.id) for line in lines] == [("Desk", "desk"), ("Use", ""), ("Shelf", "shelf")]
    assert foot == []


def test_that_pages_are_found_by_looking_in_their_folder() -> None:
    found = find_pages()
    assert [spec.order for spec in found] == sorted(spec.order for spec in found)
    assert len({spec.id for spec in found}) == len(found)


def test_that_a_page_is_built_at_its_first_visit_only(opened: MainWindow) -> None:
    assert set(opened._pages) == {"desk"}
    first = desk(opened)
    opened.go("shelf")
    opened.go("desk", "record-9")
    assert desk(opened) is first
    assert first.visits == [(), ("record-9",)]


def test_that_an_unknown_page_is_no_page(opened: MainWindow) -> None:
    opened.go("nowhere")
    assert opened.page is desk(opened)


def test_that_a_page_with_unsaved_words_is_not_left_and_the_window_not_closed(opened: MainWindow) -> None:
    desk(opened).free = False
    opened.go("shelf")
    assert opened.page is desk(opened)
    opened.close()
    assert opened.isVisible()
    desk(opened).free = True


def test_that_header_and_band_name_the_subject_and_the_target(opened: MainWindow) -> None:
    labels = [label.text() for label in opened.header.findChildren(QLabel) if not label.isHidden()]
    assert labels == ["Desk", "/", "HT-7"]
    assert opened.windowTitle() == "node-07 · 203.0.113.17:34446 · HT-7 – GPULease"
    assert opened.target_band.risk.accessibleName() == "Light load"
    opened.go("shelf")
    assert opened.target_band.isHidden()
    shelf = opened._pages["shelf"]
    assert isinstance(shelf, Shelf) and shelf.primary.isVisibleTo(opened)
    opened.go("desk")
    assert not shelf.primary.isVisibleTo(opened)


def test_that_the_navigation_is_narrow_where_the_page_wants_it_until_the_user_says_otherwise(opened: MainWindow) -> None:
    assert opened.navigation.is_wide
    opened.go("shelf")
    assert not opened.navigation.is_wide
    QTest.keyClick(opened, Qt.Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert opened.navigation.is_wide


def test_that_the_header_searches_the_page_in_sight(opened: MainWindow, qtbot: QtBot) -> None:
    opened.header.search.setFocus()
    QTest.keyClicks(opened.header.search, "h100")
    QTest.keyClick(opened.header.search, Qt.Key.Key_Return)
    assert desk(opened).words == ["h100"]


def test_that_a_trouble_takes_the_place_of_the_demo_band_and_gives_it_back(window: MainWindow, tmp_path: Path) -> None:
    demo = open_services(tmp_path / "demo.db", demo=True)
    try:
        window.attach(demo)
        assert window.demo_band.isVisible()
        window.bridge.troubled.emit(UserFacing("The export failed", "the disk is full", "free some space"))
        assert not window.demo_band.isVisible()
        assert window.trouble_band.headline.text() == "The export failed"
        assert window.trouble_band.sentence.text() == "the disk is full. free some space"
        window._close_trouble()
        assert window.demo_band.isVisible()
    finally:
        window.detach()
        demo.close()


# -- actions ----------------------------------------------------------------------------------------------------------


def test_that_no_two_actions_share_their_keys(window: MainWindow) -> None:
    keys = Counter(sequence.toString() for action in window.menus.all_actions() for sequence in action.shortcuts())
    assert [key for key, count in keys.items() if count > 1] == []
    assert keys["Ctrl+1"] == keys["Ctrl+2"] == keys["Ctrl+K"] == 1


def test_that_every_action_of_the_window_is_done_by_somebody() -> None:
    special = ("theme", "language")
    for spec in ACTIONS:
        if spec.scope is Scope.WINDOW and spec.id not in ("find", "go_to") and spec.id.partition("_")[0] not in special:
            assert spec.id in WINDOW_DIALOGS or callable(getattr(MainWindow, f"_do_{spec.id}", None)), spec.id


def test_that_actions_of_a_page_work_only_while_it_names_them(opened: MainWindow) -> None:
    actions = {spec.id: action for spec, action in opened.menus.shown()}
    assert actions["verify"].isEnabled() and not actions["save"].isEnabled()
    actions["verify"].trigger()
    assert desk(opened).done == ["verify"]
    opened.go("shelf")
    assert not actions["verify"].isEnabled()


def test_that_the_list_of_keys_is_read_from_the_real_actions(opened: MainWindow) -> None:
    opened._do_shortcuts()
    dialog = next(child for child in opened.children() if isinstance(child, QWidget) and child.windowTitle() == "Keyboard shortcuts")
    words = {label.text() for label in dialog.findChildren(QLabel)}
    assert {"Ctrl+K", "Go to…", "Ctrl+2", "Shelf"} <= words
    dialog.close()


# -- languages ----------------------------------------------------------------------------------------------------------

SAME_IN_BOTH = {"GPULease", "English", "中文", "简体中文", "Language · 语言", "/", "node-07", "HT-7", "–", "Data folder · 数据文件夹"}


def said(root: QWidget) -> list[str]:
    """Every string that a widget below `root` shows or tells."""
    words: list[str] = [root.windowTitle()]
    for widget in root.findChildren(QWidget):
        words += [widget.accessibleName(), widget.accessibleDescription(), widget.toolTip()]
        if isinstance(widget, QAbstractButton | QLabel):
            words.append(widget.text())
        if isinstance(widget, QLineEdit):
            words.append(widget.placeholderText())
        if isinstance(widget, QComboBox):
            words += [widget.itemText(n) for n in range(widget.count())]
        if isinstance(widget, QMenu):
            words.append(widget.title())
    words += [action.text() for action in root.findChildren(QAction)]
    return [word.replace("\u00a0", "") for word in words]


def _settled(words: list[str]) -> list[str]:
    return [word for word in words if word not in SAME_IN_BOTH and any("a" <= letter.lower() <= "z" for letter in word)]


@pytest.mark.parametrize("with_page", [False, True], ids=["first run", "page"])
def test_that_two_switches_of_language_leave_no_string_behind(
    window: MainWindow, services: Services, with_page: bool, qtbot: QtBot
) -> None:
    if with_page:
        window.attach(services)
    qtbot.wait(1)
    english = said(window)
    window.speak(Language.ZH)
    qtbot.wait(1)
    chinese = said(window)
    left = set(_settled(english)) & set(_settled(chinese))
    assert {word for word in left if " " in word and "HT-7" not in word} == set()
    assert any("视图" in word for word in chinese) and any("体验演示" in word for word in chinese)
    window.speak(Language.EN)
    qtbot.wait(1)
    assert said(window) == english


def test_that_qt_speaks_chinese_too(english: Translations) -> None:
    english.switch(Language.ZH)
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "取消"
    english.switch(Language.EN)
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "Cancel"


def test_that_the_compiled_strings_are_those_of_the_source_and_none_is_unfinished() -> None:
    spec = importlib.util.spec_from_file_location("make_translations", ROOT / "packaging" / "make_translations.py")
    assert spec is not None and spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    ts, qm = tool.fresh()
    assert tool.unfinished(tool.TS) == []
    assert tool.TS.read_bytes() == ts, "run packaging/make_translations.py"
    assert tool.QM.read_bytes() == qm, "run packaging/make_translations.py"


# -- workers ------------------------------------------------------------------------------------------------------------


def test_that_events_and_results_of_any_thread_arrive_on_the_main_thread(qtbot: QtBot) -> None:
    bus, bridge = Bus(), Bridge()
    bridge.attach(bus)
    threads: list[threading.Thread] = []
    bridge.arrived.connect(lambda _: threads.append(threading.current_thread()))
    future: Future[int] = Future()
    bridge.when_done(future, lambda value: threads.append(threading.current_thread()))
    worker = threading.Thread(target=lambda: (bus.publish(RecordsChanged(frozenset(["node"]))), future.set_result(3)))
    worker.start()
    worker.join()
    assert threads == []
    qtbot.waitUntil(lambda: len(threads) == 2)
    assert set(threads) == {threading.main_thread()}
    bridge.detach()
    bridge.deleteLater()


def test_that_nothing_of_a_workspace_comes_after_it_was_left(qtbot: QtBot) -> None:
    bus, bridge = Bus(), Bridge()
    bridge.attach(bus)
    heard: list[object] = []
    bridge.arrived.connect(heard.append)
    future: Future[int] = Future()
    bridge.when_done(future, heard.append)
    bus.publish(RecordsChanged(frozenset(["node"])))
    bridge.detach()
    future.set_result(1)
    bus.publish(RecordsChanged(frozenset(["offer"])))
    qtbot.wait(1)
    assert heard == []
    bridge.deleteLater()


def test_that_a_failure_nobody_takes_is_told(qtbot: QtBot) -> None:
    bridge = Bridge()
    spy = QSignalSpy(bridge.troubled)
    failed: Future[int] = Future()
    failed.set_exception(UserFacing("no"))
    bridge.when_done(failed, lambda value: None)
    qtbot.waitUntil(lambda: spy.count() == 1)
    bridge.deleteLater()


def test_that_jobs_are_shown_and_events_reach_built_pages(opened: MainWindow, services: Services, qtbot: QtBot) -> None:
    services.bus.publish(JobChanged("j", "Verify node-07", 1, 3))
    qtbot.waitUntil(lambda: opened.task_strip.titles == ("Verify node-07",))
    assert desk(opened).events == [JobChanged("j", "Verify node-07", 1, 3)]
    services.bus.publish(JobChanged("j", "Verify node-07", ended=True))
    qtbot.waitUntil(lambda: opened.task_strip.titles == ())


def test_that_closing_with_work_under_way_asks_and_keeps_on_by_default(opened: MainWindow, services: Services, qtbot: QtBot) -> None:
    job = services.jobs.start("Verify node-07", lambda token: token.wait(30))
    opened.close()
    assert opened.isVisible()
    dialog = next(child for child in opened.children() if isinstance(child, QWidget) and child.windowTitle() == "Quit")
    assert "Verify node-07" in {label.text() for label in dialog.findChildren(QLabel)}
    buttons = {button.accessibleName(): button for button in dialog.findChildren(Button)}
    assert buttons["Cancel"].isDefault()
    buttons["Stop the work and quit"].click()
    assert not opened.isVisible()
    job.cancel.cancel()
    with contextlib.suppress(CancelledError):  # it may not have begun yet
        job.done.result(timeout=10)


# -- start and end --------------------------------------------------------------------------------------------------------


@pytest.mark.allows_log("a slot broke")
def test_that_a_fault_of_ours_is_logged_and_said_and_the_window_lives_on(theme: Theme, qapp: QApplication, tmp_path: Path) -> None:
    program = Program(qapp, tmp_path / "config")
    program.show()
    program._broken(ValueError, ValueError("a bug"), None)
    assert program.window.trouble_band.sentence.text() == "ValueError: a bug"
    assert program.window.isVisible()
    program.close()
    program.window.close()
    program.window.deleteLater()
    program.deleteLater()


def test_that_the_first_paint_needs_qt_only(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib\n"
        "from gpulease_gui.gui.app import Program, make_application\n"
        "app = make_application()\n"
        f"program = Program(app, pathlib.Path({str(tmp_path)!r}))\n"
        "program.show(); app.processEvents()\n"
        "assert program.window.isVisible()\n"
        "print(sorted({'numpy', 'pyqtgraph', 'paramiko', 'sqlite_utils', 'keyring'} & set(sys.modules)))\n"
        "program.close()\n"
    )
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, env=environment, timeout=60)
    assert run.stdout.strip() == "[]", run.stderr


def test_that_the_first_run_opens_an_own_workspace_and_the_next_start_finds_it(
    theme: Theme, qapp: QApplication, tmp_path: Path, qtbot: QtBot
) -> None:
    program = Program(qapp, tmp_path / "config")
    program.show()
    assert program.window.stack.currentWidget() is program.window.first_run
    program.window.first_run.started.emit(Start(False, tmp_path))
    qtbot.waitUntil(lambda: program._services is not None, timeout=20_000)
    assert program.window.services.workspace.path == tmp_path / "workspace.gpulease.db"
    with pytest.raises(RuntimeError), program.window.services.workspace.read():
        pass
    assert Preferences(tmp_path / "config" / "window.ini").workspace == tmp_path / "workspace.gpulease.db"
    own = program._services
    program.window._do_open_own()
    program.window._do_open_demo()  # while one is being opened, a second wish is not heard
    qtbot.waitUntil(lambda: program._opening is None, timeout=20_000)
    assert program._services is own
    program.window._do_open_demo()
    qtbot.waitUntil(lambda: program._services is not own, timeout=20_000)
    assert program.window.services.demo and program.window.demo_band.isVisible()
    program.close()
    program.close()
    program.window.close()
    program.window.deleteLater()
    program.deleteLater()


@pytest.mark.parametrize("demo", [True, False], ids=["demo", "own"])
def test_that_one_click_leads_from_the_first_run_into_a_workspace(
    demo: bool, theme: Theme, qapp: QApplication, tmp_path: Path, qtbot: QtBot
) -> None:
    program = Program(qapp, tmp_path / "config")
    program.show()
    first = program.window.first_run
    first._folder.setText(str(tmp_path))
    QTest.mouseClick(first.demo if demo else first.empty, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: program._services is not None, timeout=20_000)
    assert program.window.services.demo is demo
    assert program.window.stack.currentWidget() is not first
    program.close()
    program.window.close()
    program.window.deleteLater()
    program.deleteLater()


def test_that_a_workspace_that_cannot_be_opened_is_told_with_its_reason(
    theme: Theme, qapp: QApplication, tmp_path: Path, qtbot: QtBot
) -> None:
    wrong = tmp_path / "letter.txt"
    wrong.write_text("Dear supplier")
    program = Program(qapp, tmp_path / "config", wrong)
    program.show()
    qtbot.waitUntil(program.window.trouble_band.isVisible, timeout=20_000)
    assert "letter.txt" in program.window.trouble_band.sentence.text()
    assert program.window.stack.currentWidget() is program.window.first_run
    program.close()
    program.window.close()
    program.window.deleteLater()
    program.deleteLater()


def test_that_the_open_workspace_stays_when_another_cannot_be_opened(
    theme: Theme, qapp: QApplication, tmp_path: Path, qtbot: QtBot
) -> None:
    wrong = tmp_path / "letter.txt"
    wrong.write_text("Dear supplier")
    program = Program(qapp, tmp_path / "config", tmp_path / "own.db")
    program.show()
    qtbot.waitUntil(lambda: program._services is not None, timeout=20_000)
    program.open(wrong, False)
    qtbot.waitUntil(program.window.trouble_band.isVisible, timeout=20_000)
    assert program.window.services.workspace.path == tmp_path / "own.db"
    program.close()
    program.window.close()
    program.window.deleteLater()
    program.deleteLater()


def test_that_the_choices_of_the_first_run_take_effect_and_are_kept(window: MainWindow, tmp_path: Path) -> None:
    window.first_run.language_chosen.emit("zh")
    window.first_run.theme_chosen.emit("dark")
    kept = Preferences(tmp_path / "window.ini")
    assert (kept.language, kept.theme) == (Language.ZH, ThemeMode.DARK)
    checked = {spec.id for spec, action in window.menus.shown() if spec.choice and action.isChecked()}
    assert checked == {"theme_dark", "language_zh"}


def test_that_the_window_stays_awake_while_pages_change(opened: MainWindow, stalls: StallGuard, qtbot: QtBot) -> None:
    with stalls.allow("first build of a page"):
        opened.go("shelf")
        qtbot.wait(5)
    for _ in range(10):
        opened.go("desk")
        qtbot.wait(5)
        opened.go("shelf")
        qtbot.wait(5)
    with stalls.allow("switch of theme"):
        opened.wear(ThemeMode.DARK)
        qtbot.wait(5)
    with stalls.allow("switch of language"):
        opened.speak(Language.ZH)
        qtbot.wait(5)
    assert len(stalls.turns) > 20
