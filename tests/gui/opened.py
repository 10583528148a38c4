"""Windows of the tests that show real pages over a real workspace."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QLineEdit, QTableView, QWidget
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.two_lines import LinesView
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.overview import PAGE as OVERVIEW
from gpulease_gui.gui.pages.page import PageSpec
from gpulease_gui.gui.pages.reports import PAGE as REPORTS
from gpulease_gui.gui.pages.suppliers import PAGE as SUPPLIERS
from gpulease_gui.gui.preferences import Preferences
from gpulease_gui.gui.theme.theme import Theme
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.store import claims, runs
from gpulease_gui.store.records import Run, RunState

from .guards import StallGuard

AT = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
SAID = Text("350 W in place of 700 W", "350 W，应为 700 W")
PAGES: tuple[PageSpec, ...] = (OVERVIEW, SUPPLIERS, REPORTS)


@contextmanager
def window_on(services: Services, theme: Theme, translations: Translations, folder: Path) -> Iterator[MainWindow]:
    """The window at 1440 x 900 with the pages of this folder over an open workspace.

    What the test run itself keeps alive is no garbage of the window: it is kept out of the collector meanwhile, whose
    full turn over it would take 60 ms of the main thread.
    """
    gc.collect()
    gc.freeze()
    services.workspace.forbid_main_thread()
    window = MainWindow(theme, translations, Preferences(folder / "window.ini"), PAGES, folder)
    try:
        window.resize(1440, 900)
        window.show()
        window.attach(services)
        yield window
    finally:
        window.detach()
        window.close()
        window.deleteLater()
        services.close()
        gc.unfreeze()


def demo_services(folder: Path) -> Services:
    """The demo workspace as it is before anything was verified."""
    return open_services(folder / "demo.db", demo=True)


def fail_power(services: Services, node: str = "demo-capped", contract: str = "demo-contract-BM-0047-1") -> None:
    """A finished run of a demo node with one broken promise, one kept one and one open must, saved as a run saves it."""
    findings = (
        Finding("power.limit", Verdict.FAIL, SAID, "gpu.power_w", 700, 350, "W", required=True),
        Finding("gpu.count", Verdict.PASS, Text("8 GPUs", "8 张卡"), "gpu.count", 8, 8, "GPUs", required=True),
        Finding("health.xid", Verdict.INCONCLUSIVE, Text("log denied", "日志被拒"), required=True),
    )
    workspace = services.workspace
    workspace.submit(lambda db: runs.save_run(db, Run(f"run-{node}", node, AT, contract, demo=True))).result()
    for finding in findings:
        workspace.submit(lambda db, f=finding: runs.save_finding(db, f"run-{node}", f, saved_at=AT)).result()
        workspace.submit(lambda db, f=finding: claims.apply_finding(db, contract, node, f, at=AT)).result()
    workspace.submit(lambda db: runs.finish_run(db, f"run-{node}", RunState.FINISHED, AT, Verdict.FAIL)).result()


class Hand:
    """Counts what the user does: clicks, and keys that are pressed to do something. A stroke or a held key is one."""

    def __init__(self) -> None:
        self.clicks = self.keys = 0

    def click(self, widget: QWidget, at: QPoint | None = None) -> None:
        """Press and let go of the left button."""
        self.clicks += 1
        QTest.mouseClick(widget, _LEFT) if at is None else QTest.mouseClick(widget, _LEFT, pos=at)

    def stroke(self, widget: QWidget, *places: QPoint) -> None:
        """Press at the first place, move over the others, let go at the last."""
        self.clicks += 1
        QTest.mousePress(widget, _LEFT, pos=places[0])
        for place in places[1:]:
            QTest.mouseMove(widget, place)
        QTest.mouseRelease(widget, _LEFT, pos=places[-1])

    def press(self, widget: QWidget | None, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        """Press a key where the keyboard is."""
        assert widget is not None, "something has the keyboard"
        self.keys += 1
        QTest.keyClick(widget, key, modifier)

    def hold(self, window: QWidget, key: Qt.Key, modifier: Qt.KeyboardModifier, until: Callable[[], bool]) -> None:
        """Keep a key down, which repeats itself, until something is reached."""
        self.press(window.focusWidget(), key, modifier)
        for _ in range(200):
            if until():
                return
            focus = window.focusWidget()
            assert focus is not None, "something has the keyboard"
            QApplication.sendEvent(focus, QKeyEvent(QEvent.Type.KeyPress, key, modifier, "", True))


_LEFT = Qt.MouseButton.LeftButton


def wait_for(qtbot: QtBot, condition: Callable[[], bool]) -> None:
    """Let the window work until `condition` holds: at once as a rule, the limit is for a loaded machine."""
    qtbot.waitUntil(condition, timeout=60_000)


@contextmanager
def measured(stalls: StallGuard) -> Iterator[None]:
    """Count the turns of the window only: what pytest does before and after them is not the window's work."""
    stalls.long.clear()
    stalls._since = time.thread_time()
    yield
    stalls._turn()
    stalls._reason = "pytest ends the test"


def cells(table: QTableView, column: int) -> list[str]:
    """The words of a column, headings included."""
    model = table.model()
    return [str(model.index(row, column).data() or "") for row in range(model.rowCount())]


def words_of(root: QWidget) -> list[str]:
    """Every string that is shown below `root`, tables and lists too."""
    words: list[str] = []
    for widget in root.findChildren(QWidget):
        if not widget.isVisibleTo(root):
            continue
        words += [widget.accessibleName(), widget.toolTip()]
        if isinstance(widget, QAbstractButton | QLabel):
            words.append(widget.text())
        if isinstance(widget, QLineEdit):
            words.append(widget.placeholderText())
        if isinstance(widget, QComboBox):
            words += [widget.itemText(place) for place in range(widget.count())]
        if isinstance(widget, QTableView):
            words += [word for column in range(widget.model().columnCount()) for word in cells(widget, column)]
            words += [str(widget.model().headerData(n, widget.horizontalHeader().orientation()))
                      for n in range(widget.model().columnCount())]  # fmt: skip
        if isinstance(widget, LinesView):
            words += [str(widget.rows.index(n, 0).data()) for n in range(widget.rows.rowCount())]
    return [word for word in words if word]
