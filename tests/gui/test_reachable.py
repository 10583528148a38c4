"""Can every control of the commerce pages be named by an assistive tool and reached with Tab, and is none a trap?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QScrollBar,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.text import Language
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.checklist import PAGE as CHECKLIST
from gpulease_gui.gui.pages.compare import PAGE as COMPARE
from gpulease_gui.gui.pages.page import PageSpec
from gpulease_gui.gui.pages.suppliers import PAGE as SUPPLIERS
from gpulease_gui.gui.pages.workloads import PAGE as WORKLOADS
from gpulease_gui.gui.preferences import Preferences
from gpulease_gui.gui.theme.theme import Theme

from .opened import demo_services

PAGES: tuple[PageSpec, ...] = (SUPPLIERS, COMPARE, WORKLOADS, CHECKLIST)
VISITS = (
    ("suppliers", "offer", "demo-offer-NL-2026-0311", "fields"), ("suppliers", "offer", "demo-offer-NL-2026-0311", "files"),
    ("suppliers", "supplier", "demo-supplier-Harbor GPU (demo)", "sites"), ("compare",), ("workloads",), ("checklist",),
)  # fmt: skip
CONTROLS = (QAbstractButton, QLineEdit, QComboBox, QAbstractItemView, QAbstractSpinBox, QPlainTextEdit, QAbstractSlider, QTabBar)
MOST_TABS = 120


@pytest.fixture
def demo(theme: Theme, english: Translations, tmp_path: Path) -> Iterator[MainWindow]:
    services = demo_services(tmp_path)
    window = MainWindow(theme, english, Preferences(tmp_path / "window.ini"), PAGES, tmp_path)
    window.resize(1440, 900)
    window.show()
    window.attach(services)
    yield window
    window.detach()
    window.close()
    window.deleteLater()
    services.close()


def controls(root: QWidget) -> list[QWidget]:
    """The controls in sight that a user works with: no scroll bars, no parts that belong to another control."""
    found = [w for w in root.findChildren(QWidget) if isinstance(w, CONTROLS) and w.isVisible() and not isinstance(w, QScrollBar)]
    return [w for w in found if not w.objectName().startswith("qt_") and w.focusPolicy() is not Qt.FocusPolicy.NoFocus]


def is_filled(window: MainWindow) -> bool:
    """Whether the page has all that it asked for, and shows it."""
    assert window.page is not None
    lists = [view for view in window.page.findChildren(QAbstractItemView) if view.isVisible() and view.accessibleName()]
    return window.bridge.is_at_rest and bool(lists) and all(view.model().rowCount() for view in lists)


def is_reached_by_arrows(widget: QWidget) -> bool:
    """One of several buttons that exclude each other: Tab goes to their group, arrows within it."""
    group = widget.group() if isinstance(widget, QAbstractButton) else None
    return group is not None and group.exclusive()


def name_of(widget: QWidget) -> str:
    return widget.accessibleName() or (widget.text() if isinstance(widget, QAbstractButton) else "")


def test_that_every_control_has_a_name_in_both_languages_and_tab_reaches_it(demo: MainWindow, english: Translations, qtbot: QtBot) -> None:
    nameless, unreached = [], []
    for page, *path in VISITS:
        demo.go(page, *path)
        qtbot.waitUntil(lambda: is_filled(demo), timeout=20_000)
        for language in (Language.EN, Language.ZH):
            english.switch(language)
            qtbot.waitUntil(lambda: demo.bridge.is_at_rest)
            nameless += [f"{page} {path[-1:]} {language} {type(w).__name__}" for w in controls(demo) if not name_of(w).strip()]
        shown = demo.page
        assert shown is not None
        wanted = {id(w): w for w in controls(shown) if w.isEnabled() and w.focusPolicy() & Qt.FocusPolicy.TabFocus}
        demo.activateWindow()
        demo.header.search.setFocus()
        seen: set[int] = set()
        for _ in range(MOST_TABS):
            focus = demo.focusWidget()
            assert focus is not None
            if id(focus) in seen and focus is demo.header.search:
                break
            seen.add(id(focus))
            QTest.keyClick(focus, Qt.Key.Key_Tab)
        else:
            unreached.append(f"{page} {path[-1:]}: Tab never came round from {type(demo.focusWidget()).__name__}")
        missed = [w for key, w in wanted.items() if key not in seen and w.isVisible() and not is_reached_by_arrows(w)]
        unreached += [f"{page} {path[-1:]} {type(w).__name__} {name_of(w)!r}" for w in missed]
    assert nameless == [] and unreached == []
