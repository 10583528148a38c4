"""A demo window in whose dialogs of weights, templates, rates, waivers, reasons and imports something was typed; it says so, and waits to be killed.

    python -m tests.gui.typing_dialogs WORKSPACE FOLDER
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import QDate, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from gpulease_gui.domain.commercial import HolderOf
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.forms.import_wizard import DOUBTS, MAPPING, ImportWizard
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.checklist import PAGE as CHECKLIST
from gpulease_gui.gui.pages.checklist import ChecklistPage
from gpulease_gui.gui.pages.compare import PAGE as COMPARE
from gpulease_gui.gui.pages.compare import ComparePage
from gpulease_gui.gui.preferences import Preferences
from gpulease_gui.gui.theme.theme import Theme, ThemeMode
from gpulease_gui.services.commerce import offers_in
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.store.settings import list_drafts

QUOTE = "规格\t单价(元/卡/时)\t带宽\nA100 80G\t12\t100G\n"
CONTRACT = "demo-contract-HG-1204-C"


def until(condition: Callable[[], bool]) -> None:
    """Let the window work until `condition` holds."""
    while not condition():
        QTest.qWait(5)


def of_two_currencies(services: Services) -> tuple[str, str]:
    """The first offers of the demo in yuan and in dollars, as the window's ways name them."""
    rows = services.query(offers_in).result()
    first = {row.price_currency: row.id for row in reversed(rows)}
    return f"{HolderOf.OFFER}:{first['CNY']}", f"{HolderOf.OFFER}:{first['USD']}"


def type_over(line: QLineEdit, words: str) -> None:
    """Write a line anew."""
    line.selectAll()
    QTest.keyClicks(line, words)


def main(workspace: Path, folder: Path) -> None:
    app = QApplication([])
    translations = Translations(app)
    translations.switch(Language.EN)
    theme = Theme(app, folder / "images", ThemeMode.LIGHT)
    window = MainWindow(theme, translations, Preferences(folder / "window.ini"), [CHECKLIST, COMPARE], folder)
    services = open_services(workspace, demo=True)
    window.show()
    window.attach(services)
    window.go("checklist", HolderOf.CONTRACT, CONTRACT)
    page = window.page
    assert isinstance(page, ChecklistPage)
    until(lambda: page.seen is not None)
    page.edit_weights()
    weights = page.weights_dialog
    until(lambda: weights.drafts.record != "")
    type_over(weights.spins["billing"].lineEdit(), "31.5")
    page.edit_templates()
    template = page.template_dialog
    until(lambda: template.drafts.record != "")
    QTest.keyClicks(template.name, "our hall")
    template.table.choose("IC-04")
    type_over(template.text_en, "Board form as on the inv")
    page.table.choose("IC-03")
    until(lambda: page.desk.items == ("IC-03",))
    waiver, reason = page.desk.ask_waiver(), page.desk.ask_reason()
    assert waiver is not None and reason is not None
    type_over(waiver.by, "Lin")
    type_over(waiver.reason, "a spare is on its w")
    waiver.expires.setDate(QDate(2031, 5, 6))
    type_over(reason.reason, "no such ha")
    wizard = ImportWizard(page.frame)
    wizard.open_text(QUOTE)
    until(lambda: wizard.stack.currentIndex() == MAPPING)
    wizard.mapping.table.choose(0)
    wizard.mapping.target.picked.emit("gpu.model")
    wizard.mapping.supplier.choose("new")
    type_over(wizard.mapping.new_name, "Haven")
    QTest.mouseClick(wizard.next, Qt.MouseButton.LeftButton)
    until(lambda: wizard.stack.currentIndex() == DOUBTS)
    doubt = wizard.doubts.choosers[0]
    doubt.choose(doubt.keys[2])
    doubt.picked.emit(doubt.keys[2])
    window.go("compare", *of_two_currencies(services))
    compare = window.page
    assert isinstance(compare, ComparePage)
    until(lambda: compare.look is not None and compare.choices is not None)
    rate = compare.dialogs.enter_rate()
    assert rate is not None
    type_over(rate.rate, "7.3")
    QTest.keyClicks(rate.source, "a bank, half ty")
    until(lambda: len(services.query(list_drafts).result()) == 6)
    print("typed", flush=True)
    app.exec()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
