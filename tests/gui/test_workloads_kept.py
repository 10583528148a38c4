"""Does a workload stay as it was stored where nobody touched it, and does what was typed outlive the program?"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.text import Language
from gpulease_gui.economics.workload import Session, Workload
from gpulease_gui.economics.workload_pattern import Pattern, workload_of
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.workloads import PAGE, WorkloadsPage
from gpulease_gui.services.commerce_cost import SavedWorkload, save_workload, workloads_in
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.workload_plan import ModelPlan
from gpulease_gui.store.settings import list_drafts

from .opened import wait_for

LEFT = Qt.MouseButton.LeftButton
THIRD = Pattern(1, Decimal("6.3333"), 1, 20, 2, Decimal("10.125"), Decimal("0.0005"), Decimal("0.66667"))
ODD = Workload(8, (Session(3601), Session(59, ready=False)), stopped_s=77, storage_gb=Decimal("12.5"), storage_hours=Decimal("1000"),
               egress_gb=Decimal(100), busy_fraction=Decimal("0.3333333"), span_hours=Decimal("2300"))  # fmt: skip


def keep(services: Services, *saved: SavedWorkload) -> None:
    for workload in saved:
        services.change(lambda db, w=workload: save_workload(db, w), "workload").result(10)


def shown(make_window: Callable[..., MainWindow], services: Services, qtbot: QtBot, key: str = "") -> WorkloadsPage:
    services.workspace.forbid_main_thread()
    window = make_window(PAGE)
    window.attach(services)
    page = window.page
    assert isinstance(page, WorkloadsPage)
    wait_for(qtbot, lambda: page.stack.currentWidget() is not page.waiting)
    if key:
        window.go("workloads", key)
        wait_for(qtbot, lambda: page.form.record_id == key)
    return page


def stored(services: Services, key: str) -> SavedWorkload:
    return next(w for w in services.query(workloads_in).result(10) if w.id == key)


def save_by_key(page: WorkloadsPage, qtbot: QtBot) -> None:
    QTest.keyClick(page.form.name, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: not page.form.dirty)


def test_that_a_new_name_changes_nothing_else_of_a_workload(services: Services, make_window: Callable[..., MainWindow], qtbot: QtBot) -> None:
    a, b = SavedWorkload("a", "a", workload_of(THIRD), THIRD, model=None), SavedWorkload("b", "b", ODD, None, tax_recoverable=False)
    keep(services, a, b)
    page = shown(make_window, services, qtbot, "a")
    assert page.form.hours.line.text() == "6.33"
    QTest.keyClicks(page.form.name, "1")
    save_by_key(page, qtbot)
    assert stored(services, "a") == replace(a, name="a1")
    page.frame.go("workloads", "b")
    wait_for(qtbot, lambda: page.form.record_id == "b")
    QTest.keyClicks(page.form.name, "1")
    save_by_key(page, qtbot)
    assert stored(services, "b") == replace(b, name="b1")


def test_that_only_the_field_that_was_edited_changes_a_list_of_sessions(services: Services, make_window: Callable[..., MainWindow], qtbot: QtBot) -> None:
    keep(services, SavedWorkload("b", "b", ODD))
    page = shown(make_window, services, qtbot, "b")
    page.form.storage.line.selectAll()
    QTest.keyClicks(page.form.storage.line, "20")
    save_by_key(page, qtbot)
    assert stored(services, "b").workload == replace(ODD, storage_gb=Decimal(20))
    page.form.months.line.selectAll()
    QTest.keyClicks(page.form.months.line, "1")
    save_by_key(page, qtbot)
    after = stored(services, "b").workload
    assert (after.span_hours, after.storage_hours, after.stopped_s) == (730, 730, 730 * 3600 - 3660)
    assert after.sessions == ODD.sessions and after.busy_fraction == ODD.busy_fraction


def test_that_the_list_shows_the_hours_that_were_typed_before_it(services: Services, make_window: Callable[..., MainWindow], qtbot: QtBot) -> None:
    days = Pattern(1, Decimal(6), 1, 20)
    keep(services, SavedWorkload("a", "a", workload_of(days), days))
    page = shown(make_window, services, qtbot, "a")
    page.form.hours.line.selectAll()
    QTest.keyClicks(page.form.hours.line, "8")
    qtbot.mouseClick(page.form.way._group.buttons()[1], LEFT)
    assert page.form.sessions.toPlainText() == "20 x 8 h"


def test_that_the_model_belongs_to_the_workload_and_can_be_taken_back(services: Services, make_window: Callable[..., MainWindow], qtbot: QtBot) -> None:
    days = Pattern(1, Decimal(6), 1, 20)
    keep(services, SavedWorkload("a", "a", workload_of(days), days), SavedWorkload("b", "b", workload_of(days), days))
    page = shown(make_window, services, qtbot, "a")
    page.work.tabs.setCurrentIndex(1)
    model = page.work.sizing.form
    assert not page.form.dirty, "a look at the model is no change"
    model.sequence.line.selectAll()
    QTest.keyClicks(model.sequence.line, "8192")
    assert page.form.dirty
    save_by_key(page, qtbot)
    kept = stored(services, "a").model
    assert kept == ModelPlan("finetune", "llama3.1-8b", "lora", "bf16", "bf16", 8192, 1, 16, 4096)
    page.frame.go("workloads", "b")
    wait_for(qtbot, lambda: page.form.record_id == "b" and model.sequence.line.text() == "4096")
    page.frame.go("workloads", "a")
    wait_for(qtbot, lambda: page.form.record_id == "a" and model.sequence.line.text() == "8192")
    model.sequence.line.selectAll()
    QTest.keyClicks(model.sequence.line, "0")
    page.work.tabs.setCurrentIndex(0)
    page.act("save")
    assert page.work.sizes_model and model.sequence.error.isVisible() and page.form.dirty
    page.form.discard()
    assert model.sequence.line.text() == "8192"


def test_that_a_wrong_line_is_named_in_chinese(services: Services, make_window: Callable[..., MainWindow], qtbot: QtBot, english: Translations) -> None:
    english.switch(Language.ZH)
    keep(services, SavedWorkload("b", "b", ODD))
    page = shown(make_window, services, qtbot, "b")
    page.form.sessions.setPlainText("later")
    wait_for(qtbot, lambda: page.form._sessions.error.text().startswith("第 1 行"))
    page.form.discard()


def test_that_a_half_typed_workload_is_there_after_kill_9(tmp_path: Path, make_window: Callable[..., MainWindow], qtbot: QtBot) -> None:
    path = tmp_path / "own.db"
    command = [sys.executable, "-m", "tests.gui.typing_process", str(path), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
        assert process.stdout is not None and process.stdout.readline() == "typed\n"
        process.kill()
    again = open_services(path)
    page = shown(make_window, again, qtbot)
    wait_for(qtbot, lambda: page.form.name.text() == "half typed")
    assert page.form.hours.line.text() == "7.25" and page.form.band.headline.text().startswith("Brought back: typed ")
    save_by_key(page, qtbot)
    wait_for(qtbot, lambda: again.query(list_drafts).result() == ())
    (saved,) = again.query(workloads_in).result(10)
    assert saved.pattern is not None and saved.pattern.hours_per_day == Decimal("7.25")
    window = page.window()
    assert isinstance(window, MainWindow)
    window.detach()
    again.close()
