"""Is a report made beside the window, listed with its hash, and its file watched?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.text import Language
from gpulease_gui.gui.forms import export_dialog
from gpulease_gui.gui.forms.export_dialog import ask_file, proposed_name
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.reports import ReportsPage
from gpulease_gui.gui.pages.reports_parts import FileState, state_of
from gpulease_gui.gui.theme.theme import Theme, ThemeMode
from gpulease_gui.services.composition import open_services

from .opened import cells, demo_services, fail_power, wait_for, window_on, words_of

CONTRACT = "demo-contract-BM-0047-1"


@pytest.fixture
def demo(theme: Theme, english: Translations, tmp_path: Path) -> Iterator[MainWindow]:
    with window_on(demo_services(tmp_path), theme, english, tmp_path) as window:
        yield window


def reports(window: MainWindow, qtbot: QtBot, *path: str) -> ReportsPage:
    window.go("reports", *path)
    page = window.page
    assert isinstance(page, ReportsPage)
    wait_for(qtbot, lambda: page.current is not None and bool(page.proof_rows.rows))
    return page


def test_that_an_empty_workspace_says_what_a_report_is_made_from(
    theme: Theme, english: Translations, tmp_path: Path, qtbot: QtBot
) -> None:
    with window_on(open_services(tmp_path / "own.db"), theme, english, tmp_path) as window:
        window.go("reports")
        page = window.page
        assert isinstance(page, ReportsPage)
        wait_for(qtbot, lambda: page.stack.currentIndex() == 1)
        assert page.buttons() == () and page.doable() == frozenset()


def test_that_the_page_opens_at_the_contract_that_was_asked_for(demo: MainWindow, qtbot: QtBot) -> None:
    fail_power(demo.services)
    page = reports(demo, qtbot, CONTRACT)
    assert page.current is not None and page.current.contract.number == "BM-0047-1"
    assert page.card.badge.word == "Fail"
    assert page.card.sentence.text() == "0 of 1 accepted, capped fails power.limit"
    assert "350" in cells(page.proof, 3)


def test_that_ctrl_e_writes_the_report_in_a_child_and_lists_it_with_its_hash(
    demo: MainWindow, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_power(demo.services)
    page = reports(demo, qtbot, CONTRACT)
    target = tmp_path / "evaluation.pdf"
    monkeypatch.setattr("gpulease_gui.gui.pages.reports.ask_file", lambda name, parent: target)
    QTest.keyClick(demo, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: len(page.made.rows) == 1, timeout=60000)
    line = page.made.rows[0]
    assert target.read_bytes().startswith(b"%PDF")
    assert (line.report.sha256, line.contract) == (hashlib.sha256(target.read_bytes()).hexdigest(), "BM-0047-1")
    assert cells(page.table, 4) == ["file unchanged"]
    target.write_bytes(b"something else")
    page.refresh()
    wait_for(qtbot, lambda: cells(page.table, 4) == ["file changed"])
    target.unlink()
    page.refresh()
    wait_for(qtbot, lambda: cells(page.table, 4) == ["file not there"])


def test_that_a_report_that_cannot_be_written_is_told(demo: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    page = reports(demo, qtbot, CONTRACT)
    assert page.current is not None
    page.start_export(page.current, Language.EN, tmp_path / "nowhere" / "a.pdf")
    qtbot.waitUntil(demo.trouble_band.isVisible, timeout=60000)
    assert demo.trouble_band.headline.text() == "The report a.pdf was not written"
    assert page.made.rows == ()


def test_that_the_states_of_a_file_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"report")
    good = hashlib.sha256(b"report").hexdigest()
    assert state_of(path, good) is FileState.UNCHANGED
    assert state_of(path, "0" * 64) is FileState.CHANGED
    assert state_of(tmp_path / "b.pdf", good) is FileState.MISSING
    assert state_of(tmp_path, good) is FileState.UNREADABLE


def test_that_a_foreign_number_makes_a_plain_file_name() -> None:
    day = date(2026, 12, 1)
    assert proposed_name("HT-7", Language.ZH, day) == "HT-7-2026-12-01-zh.pdf"
    assert proposed_name("../../etc/passwd\n", Language.EN, day) == "etc-passwd-2026-12-01-en.pdf"
    assert proposed_name("///", Language.EN, day) == "contract-2026-12-01-en.pdf"
    assert proposed_name("合同 7", Language.EN, day) == "合同-7-2026-12-01-en.pdf"


@pytest.mark.parametrize(("chosen", "path"), [("", None), ("/tmp/a", Path("/tmp/a.pdf")), ("/tmp/a.PDF", Path("/tmp/a.PDF"))])
def test_that_the_file_ends_in_pdf(
    demo: MainWindow, monkeypatch: pytest.MonkeyPatch, chosen: str, path: Path | None
) -> None:
    monkeypatch.setattr(export_dialog.QFileDialog, "getSaveFileName", lambda *_: (chosen, ""))
    assert ask_file("a.pdf", demo) == path


def test_that_language_and_theme_switch_twice_and_leave_nothing_behind(demo: MainWindow, qtbot: QtBot) -> None:
    fail_power(demo.services)
    page = reports(demo, qtbot, CONTRACT)
    qtbot.wait(1)
    before = words_of(page)
    demo.speak(Language.ZH)
    demo.wear(ThemeMode.DARK)
    qtbot.wait(1)
    chinese = words_of(page)
    ours = {"Scope", "Promised and measured", "What it holds", "Fail", "Promises", "Term", "Last finding"}
    assert ours <= set(before) and not ours & set(chinese)
    demo.speak(Language.EN)
    demo.wear(ThemeMode.LIGHT)
    qtbot.wait(1)
    assert words_of(page) == before


