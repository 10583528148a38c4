"""A window in which something was typed and not saved; it says so once its draft is written, and waits to be killed.

    python typing_process.py WORKSPACE FOLDER
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gpulease_gui.domain.text import Language
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.workloads import PAGE, WorkloadsPage
from gpulease_gui.gui.preferences import Preferences
from gpulease_gui.gui.theme.theme import Theme, ThemeMode
from gpulease_gui.services.composition import open_services
from gpulease_gui.store.settings import list_drafts


def main(workspace: Path, folder: Path) -> None:
    app = QApplication([])
    translations = Translations(app)
    translations.switch(Language.EN)
    window = MainWindow(Theme(app, folder / "images", ThemeMode.LIGHT), translations, Preferences(folder / "window.ini"), [PAGE], folder)
    services = open_services(workspace)
    window.show()
    window.attach(services)
    page = window.page
    assert isinstance(page, WorkloadsPage)
    page.new()
    QTest.keyClicks(page.form.name, "half typed")
    page.form.hours.line.selectAll()
    QTest.keyClicks(page.form.hours.line, "7.25")
    timer = QTimer()
    timer.timeout.connect(lambda: print("typed", flush=True) if services.query(list_drafts).result() else None)
    timer.start(50)
    app.exec()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
