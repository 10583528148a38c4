"""Does anything of a workspace go on after the window let go of it, and is anything lost that was typed just before?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QLabel
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.bridge import Bridge
from gpulease_gui.gui.forms.drafts import DraftKeeper
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.page import Frame, NavGroup, Page, PageSpec
from gpulease_gui.gui.pages.suppliers import PAGE as SUPPLIERS
from gpulease_gui.gui.pages.suppliers import SuppliersPage
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.store.settings import get_setting, list_drafts, save_setting

from .conftest import settle
from .opened import wait_for


class LatePage(Page):
    """A page that still does things when it is put away, and once more a turn later."""

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame)
        self.asked: list[Future[object]] = []
        self.told: list[object] = []

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.act("at once")
        QTimer.singleShot(0, self, lambda: self.act("later"))

    def act(self, action: str) -> None:
        future: Future[object] = self.frame.services.change(lambda db: save_setting(db, action, True), "setting")
        self.asked.append(future)
        self.frame.bridge.when_done(future, self.told.append)
        self.frame.note(action)
        self.frame.go("other")


PAGES = (
    PageSpec("late", Text("Late", "迟"), "edit", NavGroup.USE, 1, LatePage), PageSpec("other", Text("Other", "他"), "edit", NavGroup.USE, 2, Page),
)  # fmt: skip


def acts_in(services: Services) -> list[str]:
    """What a late page wrote into a workspace."""
    return [act for act in ("at once", "later") if services.query(partial(get_setting, key=act, default=False)).result(10)]


@pytest.fixture
def second(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(tmp_path / "second.db")
    yield opened
    opened.close()


def test_that_a_page_of_a_workspace_that_was_left_reaches_neither_the_window_nor_the_next_workspace(
    services: Services, second: Services, make_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    window = make_window(*PAGES)
    window.attach(services)
    page = window.page
    assert isinstance(page, LatePage)
    window.attach(second)
    qtbot.waitUntil(lambda: window.page is not page and len(page.asked) == 2)
    settle()
    assert all(future.result(10) is None for future in page.asked) and page.told == []
    assert acts_in(services) == ["at once", "later"] and acts_in(second) == []
    assert isinstance(window.page, LatePage) and window.task_strip._note.text() == ""
    window.detach()


def test_that_services_that_are_closed_cancel_what_is_asked_of_them(services: Services) -> None:
    services.close()
    asked: tuple[Future[object], ...] = (
        services.query(list_drafts), services.change(lambda db: save_setting(db, "late", True), "setting"), services.jobs.local(lambda: 1),
    )  # fmt: skip
    for future in asked:
        with pytest.raises(CancelledError):
            future.result(1)


@pytest.mark.parametrize("kind", ["bound", "closure", "partial"])
def test_that_a_result_for_a_dialog_that_was_thrown_away_is_dropped_and_its_trouble_told(kind: str, qtbot: QtBot) -> None:
    bridge, dialog, kept = Bridge(), QLabel("open"), QLabel("open")
    troubles: list[UserFacing] = []
    bridge.troubled.connect(troubles.append)
    calls: dict[str, Callable[[str], None]] = {
        "bound": dialog.setText, "closure": lambda words: dialog.setText(words), "partial": partial(QLabel.setText, dialog),
    }  # fmt: skip
    good, bad = Future[str](), Future[str]()
    bridge.when_done(good, lambda _: kept.setToolTip(late))  # a name that has its value only when the result comes
    late = "late"
    bridge.when_done(good, calls[kind])
    bridge.when_done(bad, kept.setText, lambda trouble: dialog.setText(trouble.what))
    bridge.when_done(good, kept.setText)
    delete(dialog)
    good.set_result("answered")
    bad.set_exception(UserFacing("The disk is full", "no room"))
    qtbot.waitUntil(lambda: bridge.is_at_rest)
    assert (kept.text(), kept.toolTip()) == ("answered", "late") and [trouble.what for trouble in troubles] == ["The disk is full"]
    for left in (kept, bridge):
        left.deleteLater()


@pytest.mark.parametrize("how", ["close", "attach"])
def test_that_what_was_typed_a_moment_before_the_end_is_in_the_draft(
    how: str, services: Services, second: Services, make_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    window = make_window(SUPPLIERS)
    window.attach(services)
    page = window.page
    assert isinstance(page, SuppliersPage)
    page.forms.new_supplier()
    form = page.forms.supplier
    keeper = form.findChild(DraftKeeper)
    assert isinstance(keeper, DraftKeeper)
    wait_for(qtbot, lambda: window.bridge.is_at_rest)
    QTest.keyClicks(form.name, "Haven")
    assert services.query(list_drafts).result(10) == ()
    window.attach(second) if how == "attach" else window.detach()
    services.change(lambda _: None).result(10)  # what was handed in before is written
    (draft,) = services.query(list_drafts).result(10)
    assert (draft.kind, draft.record_id) == ("supplier", "new") and "Haven" in [words for _, words in draft.fields]
    window.detach()


def test_that_dialogs_of_a_workspace_end_with_it(services: Services, second: Services, make_window: Callable[..., MainWindow], qtbot: QtBot) -> None:
    window = make_window(*PAGES)
    window.attach(services)
    window._act_here("trash")
    (dialog,) = window.findChildren(QDialog)
    assert dialog.isVisible()
    window.attach(second)
    settle()
    assert window.findChildren(QDialog) == []
    window.detach()
