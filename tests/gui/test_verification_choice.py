"""Is the plan chosen by level, use and single check, and does one check join its run when it is asked again?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QMenu
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.finding import CheckState, Verdict
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.forms.plan_dialog import PlanDialog
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import nodes, verification
from gpulease_gui.gui.pages.verification import VerificationPage
from gpulease_gui.gui.widgets.dialogs import FactDialog
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.plan import Level
from gpulease_gui.store import runs
from gpulease_gui.store.records import RunState
from gpulease_gui.store.settings import list_drafts, save_draft

CAPPED = "demo-capped"
LONG = 30_000


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(tmp_path / "demo.db", demo=True)
    opened.workspace.forbid_main_thread()
    yield opened
    opened.close()


@pytest.fixture
def page(demo: Services, make_window: Callable[..., MainWindow], qtbot: QtBot) -> VerificationPage:
    window = make_window(nodes.PAGE, verification.PAGE)
    window.resize(1440, 900)
    window.attach(demo)
    window.go("verification", CAPPED)
    found = window._pages["verification"]
    assert isinstance(found, VerificationPage)
    qtbot.waitUntil(lambda: found._node is not None and found._node.node.id == CAPPED)
    return found


def verified(page: VerificationPage, qtbot: QtBot) -> None:
    page.act("verify")
    qtbot.waitUntil(lambda: page._picture.run is not None and page._picture.run.state is RunState.FINISHED, timeout=LONG)
    qtbot.waitUntil(lambda: page.primary.isEnabled(), timeout=LONG)


def states(page: VerificationPage) -> dict[str, CheckState | Verdict]:
    return {row.info.id: row.verdict or row.state for row in page.model.rows}


def test_that_every_level_says_about_how_long_it_takes(page: VerificationPage) -> None:
    level = page.plan.choice.level
    words = [level.itemText(place) for place in range(level.count())]
    assert [w.split(" · ")[0] for w in words] == ["Trust only", "+ Inventory", "+ Measurements", "+ Load"]
    assert words[0].endswith(" s") and int(words[0].split()[-2]) < 15 and int(words[1].split()[-2]) < 30
    assert words[2].endswith(" min")


def test_that_trust_alone_is_asked_and_the_rest_is_not_run(page: VerificationPage, qtbot: QtBot) -> None:
    page.plan.choice._level_picked(Level.TRUST)
    assert page.plan.read_only.text() == "Read-only, 8 checks"
    verified(page, qtbot)
    run = page._picture.run
    assert run is not None and run.is_part
    assert {row.info.level for row in page.model.rows} == {0}
    assert page.plan.broken_off.text() == "some checks only: accepts no node"


def test_that_measurements_are_confirmed_by_name_with_what_each_writes(page: VerificationPage, qtbot: QtBot) -> None:
    page.plan.choice._level_picked(Level.PROBE)
    assert {"disk.seq", "cpu.steal"} <= set(page.plan.heavy_wanted) and "disk.burst" not in page.plan.heavy_wanted
    page.act("verify")
    dialog = next(d for d in page.window().findChildren(FactDialog) if d.isVisible())
    said = [label.text() for label in dialog.findChildren(QLabel)]
    assert f"{len(page.plan.heavy_wanted)} checks that load capped" in said
    assert "a scratch file of up to 4 GiB, removed at the end (1 min 00 s)" in said
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert page._work.job_of(CAPPED) is None


def test_that_a_use_leaves_out_what_does_not_matter_and_shows_it_as_not_run(page: VerificationPage, qtbot: QtBot) -> None:
    page.plan.choice._profile_picked("graphics")
    assert "drv.gdr" not in page.plan.choice.plan.checks
    assert "not run" in page.plan.choice.summary.text()
    verified(page, qtbot)
    shown = states(page)
    assert shown["drv.gdr"] is CheckState.NOT_RUN and shown["gpu.count"] is Verdict.PASS
    assert page._picture.run is not None and not page._picture.run.is_part


def test_that_single_checks_are_ticked_in_a_list_which_a_crash_does_not_empty(page: VerificationPage, demo: Services, qtbot: QtBot) -> None:
    page.plan.choice.pick.click()
    dialog = next(d for d in page.window().findChildren(PlanDialog) if d.isVisible())
    dialog.table.choose("gpu.count")
    assert dialog.command.toPlainText().startswith("nvidia-smi -q -x")
    QTest.keyClick(dialog.table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: [draft.kind for draft in demo.query(list_drafts).result(10)] == ["plan"])
    (kept,) = demo.query(list_drafts).result(10)
    dialog.reject()
    qtbot.waitUntil(lambda: demo.query(list_drafts).result(10) == ())
    demo.change(lambda db: save_draft(db, kept)).result(10)
    page.plan.choice.pick.click()
    dialog = next(d for d in page.window().findChildren(PlanDialog) if d.isVisible())
    qtbot.waitUntil(lambda: "gpu.count" not in dialog.ticked)
    assert dialog.band.headline.text().startswith("Brought back: typed ")
    dialog.table.choose("disk.burst")
    QTest.keyClick(dialog.table, Qt.Key.Key_Return)
    dialog.accept()
    qtbot.waitUntil(lambda: demo.query(list_drafts).result(10) == ())
    assert "gpu.count" not in page.plan.choice.plan.checks and page.plan.heavy_wanted == ("disk.burst",)
    page.plan.choice.reset()
    assert "gpu.count" in page.plan.choice.plan.checks and page.plan.heavy_wanted == ()


def test_that_one_check_is_asked_again_and_the_run_keeps_its_verdict(
    page: VerificationPage, demo: Services, qtbot: QtBot
) -> None:
    verified(page, qtbot)
    whole = page._picture.run
    assert whole is not None
    page.table.choose(next(row.key for row in page.model.rows if row.info.id == "power.limit"))
    assert "rerun" in page.doable()
    page.act("rerun")
    qtbot.waitUntil(lambda: "power.limit" in page._picture.reruns and page.primary.isEnabled(), timeout=LONG)
    assert page._shown_run == whole.id and page._picture.run == whole
    row = next(row for row in page.model.rows if row.info.id == "power.limit")
    assert row.rerun is not None and row.verdict is Verdict.FAIL
    assert page.detail.rerun_note.text().endswith("Fail; in this run: Fail")
    assert page.plan.broken_off.text().startswith("with 1 check asked again: fail. Only a whole run")
    part = row.rerun.run
    assert demo.query(lambda c: runs.get_run(c, part.id)).result().joins == whole.id
    page.window().speak(Language.ZH)
    qtbot.wait(20)
    assert "重测" in page.detail.rerun_note.text()


def test_that_a_row_has_its_actions_in_a_menu(page: VerificationPage) -> None:
    page.table.choose_first()
    page.findings._menu(page.table.rect().center())
    menu = next(m for m in page.findings.findChildren(QMenu) if m.isVisible())
    assert [action.text() for action in menu.actions()] == ["Run this check again"]
    menu.close()
