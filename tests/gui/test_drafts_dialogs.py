"""Does what was typed in the dialogs of weights, templates, rates, waivers, reasons and imports outlive a crash, and go when the dialog is closed?"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.commercial import HolderOf
from gpulease_gui.gui.forms.import_wizard import DOUBTS, MAPPING, ImportWizard
from gpulease_gui.gui.forms.template_dialog import TemplateDialog
from gpulease_gui.gui.forms.weights_dialog import WeightsDialog
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.checklist import PAGE as CHECKLIST
from gpulease_gui.gui.pages.checklist import ChecklistPage
from gpulease_gui.gui.pages.compare import PAGE as COMPARE
from gpulease_gui.gui.pages.compare import ComparePage
from gpulease_gui.services.checklist_templates import templates_in
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.store.reference import list_rates
from gpulease_gui.store.settings import list_drafts

from .opened import wait_for
from .typing_dialogs import CONTRACT, QUOTE, of_two_currencies

OTHERS = ("waiver", "not_applicable", "import")
BACK = "Brought back: typed "


@pytest.fixture(scope="module")
def demo_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo workspace, filled once; each test opens a copy."""
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    open_services(path, demo=True).close()
    return path


def checklist(window: MainWindow, qtbot: QtBot) -> ChecklistPage:
    window.go("checklist", HolderOf.CONTRACT, CONTRACT)
    page = window.page
    assert isinstance(page, ChecklistPage)
    wait_for(qtbot, lambda: page.seen is not None)
    return page


def weights_of(page: ChecklistPage, qtbot: QtBot) -> WeightsDialog:
    page.edit_weights()
    wait_for(qtbot, lambda: page.weights_dialog.drafts.record != "")
    return page.weights_dialog


def template_of(page: ChecklistPage, qtbot: QtBot) -> TemplateDialog:
    page.edit_templates()
    wait_for(qtbot, lambda: page.template_dialog.drafts.record != "")
    return page.template_dialog


def test_that_words_in_six_dialogs_are_there_after_kill_9_and_their_drafts_go_when_saved(
    demo_file: Path, tmp_path: Path, make_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    path = Path(shutil.copy(demo_file, tmp_path))
    command = [sys.executable, "-m", "tests.gui.typing_dialogs", str(path), str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
        assert process.stdout is not None and process.stdout.readline() == "typed\n"
        process.kill()
    services = open_services(path, demo=True)
    window = make_window(CHECKLIST, COMPARE)
    window.attach(services)
    page = checklist(window, qtbot)

    weights = weights_of(page, qtbot)
    wait_for(qtbot, lambda: weights.spins["billing"].value() == 31.5)
    assert weights.band.headline.text().startswith(BACK) and weights.dirty
    QTest.mouseClick(weights.keep, Qt.MouseButton.LeftButton)
    wait_for(qtbot, lambda: kinds(services) == {"template", "rate", *OTHERS})

    template = template_of(page, qtbot)
    wait_for(qtbot, lambda: template.name.text() == "our hall")
    assert template.band.headline.text().startswith(BACK)
    QTest.mouseClick(template.keep, Qt.MouseButton.LeftButton)
    wait_for(qtbot, lambda: kinds(services) == {"rate", *OTHERS})
    (saved,) = services.query(templates_in).result()
    edit = saved.edits["IC-04"].text
    assert (saved.name, edit.en if edit else "") == ("our hall", "Board form as on the inv")

    page.table.choose("IC-03")
    wait_for(qtbot, lambda: page.desk.items == ("IC-03",))
    waiver, reason = page.desk.ask_waiver(), page.desk.ask_reason()
    assert waiver is not None and reason is not None
    wait_for(qtbot, lambda: (waiver.reason.text(), reason.reason.text()) == ("a spare is on its w", "no such ha"))
    assert (waiver.waiver.by, waiver.waiver.expires) == ("Lin", date(2031, 5, 6)) and waiver.band.headline.text().startswith(BACK)
    waiver.reject()
    QTest.mouseClick(reason.mark, Qt.MouseButton.LeftButton)
    wait_for(qtbot, lambda: kinds(services) == {"rate", "import"})

    wizard = ImportWizard(page.frame)
    wizard.open_text("what the clipboard holds now\t5\n")
    wait_for(qtbot, lambda: wizard.stack.currentIndex() == MAPPING)
    assert (wizard.edit.toPlainText(), wizard.mapping.new_name.text()) == (QUOTE, "Haven")
    assert wizard.band.headline.text().startswith(BACK) and wizard.mapping.loaded.layout.columns[0] == "gpu.model"
    QTest.mouseClick(wizard.next, Qt.MouseButton.LeftButton)
    wait_for(qtbot, lambda: wizard.stack.currentIndex() == DOUBTS)
    assert wizard.doubts.choosers[0].current == wizard.doubts.choosers[0].keys[2]
    wizard.reject()
    wait_for(qtbot, lambda: kinds(services) == {"rate"})

    window.go("compare", *of_two_currencies(services))
    compare = window.page
    assert isinstance(compare, ComparePage)
    wait_for(qtbot, lambda: compare.look is not None and compare.choices is not None)
    dialog = compare.dialogs.enter_rate()
    assert dialog is not None
    wait_for(qtbot, lambda: dialog.source.text() == "a bank, half ty")
    assert dialog.band.headline.text().startswith(BACK)
    QTest.mouseClick(dialog.save, Qt.MouseButton.LeftButton)
    wait_for(qtbot, lambda: kinds(services) == set())
    assert (Decimal("7.3"), "a bank, half ty") in [(rate.rate, rate.source) for rate in services.query(list_rates).result()]
    window.detach()
    services.close()


def test_that_cancel_throws_weights_away_and_a_look_at_another_use_does_not(
    demo_file: Path, tmp_path: Path, make_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    services = open_services(Path(shutil.copy(demo_file, tmp_path)), demo=True)
    window = make_window(CHECKLIST)
    window.attach(services)
    page = checklist(window, qtbot)
    weights = weights_of(page, qtbot)
    first, stored = weights.use.current, weights.spins["billing"].value()
    weights.spins["billing"].setValue(31.5)
    other = next(key for key in weights.use.keys if key != first)
    for use in (other, first):
        weights.use.choose(use)
        weights.load(use)
        wait_for(qtbot, lambda use=use: weights.drafts.record == (use or "every use"))
    wait_for(qtbot, lambda: weights.spins["billing"].value() == 31.5)
    weights.reject()
    wait_for(qtbot, lambda: kinds(services) == set())
    again = weights_of(page, qtbot)
    assert again.spins["billing"].value() == stored and not again.dirty
    again.reject()
    window.detach()
    services.close()


def kinds(services: Services) -> set[str]:
    return {draft.kind for draft in services.query(list_drafts).result()}
