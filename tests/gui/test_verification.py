"""Does the page of verification tell what was found, when it was saved, and what proves it?"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.finding import CheckState, Verdict
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import nodes, verification
from gpulease_gui.gui.pages.nodes import NodesPage
from gpulease_gui.gui.pages.verification import VerificationPage
from gpulease_gui.gui.pages.verification_detail import HISTORY, RAW
from gpulease_gui.gui.pages.verification_state import FindingRow
from gpulease_gui.gui.theme.theme import ThemeMode
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import FactDialog
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.events import Event, FindingSaved
from gpulease_gui.store import runs
from gpulease_gui.store.nodes import get_node, save_node
from gpulease_gui.store.records import Run, RunState
from gpulease_gui.store.runs import save_run

from .guards import SLACK

FRAUD = "demo-pcie-as-sxm"
LONG = 30_000


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(tmp_path / "demo.db", demo=True)
    opened.workspace.forbid_main_thread()
    yield opened
    opened.close()


@pytest.fixture
def window(demo: Services, make_window: Callable[..., MainWindow]) -> MainWindow:
    made = make_window(nodes.PAGE, verification.PAGE)
    made.resize(1440, 900)
    made.attach(demo)
    return made


def nodes_page(window: MainWindow) -> NodesPage:
    page = window._pages["nodes"]
    assert isinstance(page, NodesPage)
    return page


def page_of(window: MainWindow) -> VerificationPage:
    page = window._pages["verification"]
    assert isinstance(page, VerificationPage)
    return page


def visit(window: MainWindow, qtbot: QtBot, node_id: str) -> VerificationPage:
    window.go("verification", node_id)
    page = page_of(window)
    qtbot.waitUntil(lambda: page._node is not None and page._node.node.id == node_id)
    return page


def is_done(page: VerificationPage) -> bool:
    run = page._picture.run
    return run is not None and run.state is not RunState.RUNNING and page.primary.isEnabled()


def verify(window: MainWindow, qtbot: QtBot, node_id: str) -> VerificationPage:
    page = visit(window, qtbot, node_id)
    QTest.mouseClick(page.primary, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: is_done(page), timeout=LONG)
    return page


def row_of(page: VerificationPage, check: str) -> FindingRow:
    return next(row for row in page.model.rows if row.info.id == check)


def cells_of(page: VerificationPage, check: str) -> list[str]:
    place = page.model.place_of(row_of(page, check).key)
    assert place is not None
    return [page.model.index(place, column).data() or "" for column in range(page.model.columnCount())]


def words_of(widget: QWidget) -> list[str]:
    """Everything that stands in sight below `widget`."""
    words = [label.text() for label in widget.findChildren(QLabel)]
    words += [field.toPlainText() for field in widget.findChildren(QPlainTextEdit)]
    return words + [box.itemText(place) for box in widget.findChildren(QComboBox) for place in range(box.count())]


def click_row(page: VerificationPage, check: str) -> None:
    place = page.model.place_of(row_of(page, check).key)
    assert place is not None
    page.table.scrollTo(page.model.index(place, 0))
    rect = page.table.visualRect(page.model.index(place, 0))
    QTest.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())


# -- the journey ------------------------------------------------------------------------------------------------------


def test_that_three_actions_lead_from_the_nodes_to_a_verdict(window: MainWindow, qtbot: QtBot) -> None:
    window.go("nodes")
    table = nodes_page(window)
    qtbot.waitUntil(lambda: table.model.place_of(FRAUD) is not None)
    place = table.model.place_of(FRAUD)
    assert place is not None
    QTest.mouseClick(table.table.viewport(), Qt.MouseButton.LeftButton, pos=table.table.visualRect(table.model.index(place, 1)).center())
    assert table.primary.accessibleName() == "Verify pcie-as-sxm"
    QTest.mouseClick(table.primary, Qt.MouseButton.LeftButton)
    assert window._current == "verification"
    page = page_of(window)
    qtbot.waitUntil(lambda: page._node is not None and is_done(page), timeout=LONG)
    assert cells_of(page, "gpu.form_factor")[1:3] == ["SXM", "PCIe"]
    assert cells_of(page, "gpu.form_factor")[-1] == "Fail"
    click_row(page, "gpu.form_factor")
    assert [page.detail.promised.value.text(), page.detail.measured.value.text()] == ["SXM", "PCIe"]
    assert page.detail.badge.word == "Fail"


@pytest.mark.parametrize("name", ["rack-12.row-b.hall-3.very-long-datacenter-name.example-supplier-000127", "上海浦东金桥数据中心三期训练集群甲八卡整机第一百二十七号节点"])
def test_that_a_long_name_of_a_node_makes_the_window_no_wider(name: str, window: MainWindow, demo: Services, qtbot: QtBot) -> None:
    demo.workspace.submit(lambda db: save_node(db, replace(get_node(db.conn, FRAUD), name=name))).result()
    window.resize(1024, 768)
    page = visit(window, qtbot, FRAUD)
    qtbot.waitUntil(lambda: page.crumbs()[-1:] == (name,) or name in str(page.target()))
    assert window.width() == 1024 and page.primary.text().endswith("…")


def test_that_no_finding_is_shown_before_it_is_saved(window: MainWindow, demo: Services, qtbot: QtBot) -> None:
    page = visit(window, qtbot, FRAUD)
    assert {row.state for row in page.model.rows} == {CheckState.NOT_RUN}
    unsaved: list[str] = []

    def saved_already(event: Event) -> None:
        if isinstance(event, FindingSaved):
            stored = demo.query(lambda c: runs.list_findings(c, event.run_id)).result()
            if event.finding.check not in {s.finding.check for s in stored}:
                unsaved.append(event.finding.check)

    leave = demo.bus.subscribe(saved_already)
    page.act("verify")
    qtbot.waitUntil(lambda: is_done(page), timeout=LONG)
    leave()
    assert not unsaved
    run = page._picture.run
    assert run is not None
    kept = demo.query(lambda c: runs.list_current_findings(c, run.id)).result()
    assert len(kept) == len(page._picture.findings) > 20


def test_that_before_the_first_run_the_promises_stand_beside_the_plan(window: MainWindow, qtbot: QtBot) -> None:
    page = visit(window, qtbot, FRAUD)
    assert cells_of(page, "gpu.count")[1:] == ["8", "–", "", "", "Not run"]
    assert cells_of(page, "gpu.model")[1] == "H100 SXM5 80GB"
    assert page.primary.accessibleName() == "Verify pcie-as-sxm"
    click_row(page, "gpu.count")
    assert page.plan.command.toPlainText() == "nvidia-smi -q -x\n\nnvidia-smi -L"


def test_that_raw_output_is_one_click_away_as_plain_text(window: MainWindow, qtbot: QtBot) -> None:
    page = verify(window, qtbot, FRAUD)
    click_row(page, "gpu.form_factor")
    tabs = page.detail.tabs
    QTest.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=tabs.tabRect(RAW).center())
    raw = page.detail.raw.raw
    qtbot.waitUntil(lambda: bool(raw.toPlainText()))
    assert "<product_name>NVIDIA H100 PCIe</product_name>" in raw.toPlainText()
    assert raw.isReadOnly()
    assert "nvidia-smi -q -x" in words_of(page.detail.raw)
    tabs.setCurrentIndex(HISTORY)
    qtbot.waitUntil(lambda: len(page.detail.history.rows) == 1)


def test_that_the_question_to_the_supplier_can_be_copied(window: MainWindow, qtbot: QtBot) -> None:
    page = verify(window, qtbot, FRAUD)
    click_row(page, "gpu.form_factor")
    QTest.mouseClick(page.detail.ask, Qt.MouseButton.LeftButton)
    assert "Promised: SXM\nFound: PCIe" in QGuiApplication.clipboard().text()


def test_that_language_and_theme_switch_under_a_finished_run(window: MainWindow, qtbot: QtBot) -> None:
    page = verify(window, qtbot, FRAUD)
    click_row(page, "gpu.form_factor")
    key = row_of(page, "gpu.form_factor").key
    window.speak(Language.ZH)
    window.wear(ThemeMode.DARK)
    qtbot.wait(20)
    assert page.table.current_row.key == key
    assert cells_of(page, "gpu.form_factor")[-1] == "不符"
    assert page.detail.badge.word == "不符"
    assert page.primary.accessibleName() == "验收 pcie-as-sxm"
    assert page.filters.chips["promise"].text().startswith("有承诺")
    window.speak(Language.EN)
    window.wear(ThemeMode.LIGHT)
    assert cells_of(page, "gpu.form_factor")[-1] == "Fail"


def test_that_filters_keep_what_they_say(window: MainWindow, qtbot: QtBot) -> None:
    page = verify(window, qtbot, FRAUD)
    for key, keep in (("fail", lambda r: r.verdict is Verdict.FAIL), ("promise", lambda r: r.has_promise)):
        QTest.mouseClick(page.filters.chips[key], Qt.MouseButton.LeftButton)
        shown = [row for place in range(page.model.rowCount()) if (row := page.model.row_at(place)) is not None]
        assert shown == [row for row in page.model.rows if keep(row)]
        assert page.filters.chips[key].text().endswith(str(len(shown)))
    assert not page.filters.chips["changed"].isEnabled()


# -- hostile words ----------------------------------------------------------------------------------------------------


def test_that_words_of_a_hostile_node_are_text_and_nothing_else(window: MainWindow, qtbot: QtBot) -> None:
    page = verify(window, qtbot, "demo-hostile")
    seen: list[str] = []
    for row in page.model.rows:
        page.table.choose(row.key)
        page.detail.tabs.setCurrentIndex(RAW)
        qtbot.waitUntil(lambda: bool(page.detail.raw.raw.toPlainText()) or page.detail.raw.which.count() == 0)
        seen += words_of(window)
    assert any("<b>miner</b>" in words for words in seen)
    assert all(label.textFormat() is Qt.TextFormat.PlainText for label in window.findChildren(QLabel) if label.text())
    hidden = ("\x1b", "\u202e", "\u202d", "\u2066", "\u200b", "\x07")
    assert not [words for words in seen if any(mark in words for mark in hidden)]


# -- load and cancel --------------------------------------------------------------------------------------------------


def dialog_of(window: MainWindow) -> FactDialog:
    return next(dialog for dialog in window.findChildren(FactDialog) if dialog.isVisible())


def tick(page: VerificationPage, check: str) -> None:
    place = page.plan.heavy.place_of(check)
    assert place is not None
    rect = page.plan.heavy_view.visualRect(page.plan.heavy.index(place, 0))
    QTest.mouseClick(page.plan.heavy_view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(rect.left() + 20, rect.center().y()))


def test_that_a_check_with_load_asks_first_and_names_node_and_length(window: MainWindow, qtbot: QtBot) -> None:
    page = visit(window, qtbot, "demo-slow-net-a")
    tick(page, "net.iperf_multi")
    assert page.plan.peer_field.isVisibleTo(page)
    assert page.primary.accessibleName() == "Verify slow-net-a with load…"
    QTest.mouseClick(page.primary, Qt.MouseButton.LeftButton)
    dialog = dialog_of(window)
    said = {label.text() for label in dialog.findChildren(QLabel)}
    assert {"Node-to-node bandwidth on slow-net-a", "2 min 00 s", "slow-net-b (demo:slow-net-b)"} <= said
    buttons = {button.accessibleName(): button for button in dialog.findChildren(Button)}
    assert buttons["Cancel"].isDefault() and "Run on slow-net-a" in buttons
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert page._work.job_of("demo-slow-net-a") is None
    assert page._picture.run is None


def test_that_a_cancelled_run_keeps_its_findings_and_says_so(window: MainWindow, demo: Services, qtbot: QtBot) -> None:
    page = visit(window, qtbot, "demo-slow-net-a")
    tick(page, "disk.seq")
    page.act("verify")
    dialog_of(window).accept()
    qtbot.waitUntil(lambda: page._picture.live is not None and page._picture.live.running == "disk.seq", timeout=LONG)
    qtbot.waitUntil(lambda: window.target_band.risk.accessibleName() == "Light load")
    assert page.primary.accessibleName() == "Verifying slow-net-a…" and not page.primary.isEnabled()
    found = len(page._picture.findings)
    visit(window, qtbot, FRAUD)
    window.go("verification", "demo-slow-net-a")
    qtbot.waitUntil(lambda: page._node is not None and page._node.node.id == "demo-slow-net-a")
    QTest.mouseClick(page.plan.cancel, Qt.MouseButton.LeftButton)
    assert page.plan.now.text() == "Cancelling…"
    qtbot.waitUntil(lambda: is_done(page), timeout=LONG)
    run = page._picture.run
    assert run is not None and run.state is RunState.CANCELLED
    assert len(page._picture.findings) >= found > 20
    assert row_of(page, "disk.seq").state is CheckState.CANCELLED
    assert page.plan.ended.word == "Cancelled"
    assert page.plan.broken_off.text().startswith("cancelled")
    kept = demo.query(lambda c: runs.list_current_findings(c, run.id)).result()
    assert len(kept) == len(page._picture.findings)


def test_that_a_run_that_a_killed_program_left_is_labelled(demo: Services, window: MainWindow, qtbot: QtBot) -> None:
    page = verify(window, qtbot, FRAUD)
    run = page._picture.run
    assert run is not None
    demo.workspace.submit(lambda db: db.conn.execute("UPDATE runs SET state = 'running' WHERE id = ?", (run.id,))).result()
    page.visit((FRAUD,))
    qtbot.waitUntil(lambda: page.plan.ended.word == "Interrupted")
    assert page.plan.broken_off.text().startswith("interrupted")
    assert not page._picture.is_running


def test_that_a_path_with_a_run_opens_that_run_and_not_the_newest(demo: Services, window: MainWindow, qtbot: QtBot) -> None:
    for day, id_ in ((1, "older"), (2, "newer")):
        demo.change(lambda db, d=day, i=id_: save_run(db, Run(i, FRAUD, datetime(2026, 1, d, tzinfo=UTC), state=RunState.CANCELLED, demo=True)), "run").result(10)
    page = visit(window, qtbot, FRAUD)
    qtbot.waitUntil(lambda: page._shown_run == "newer")
    window.go("verification", FRAUD, "", "older")
    qtbot.waitUntil(lambda: page._shown_run == "older")


def test_that_findings_are_drawn_in_batches_of_a_tenth_of_a_second(window: MainWindow, qtbot: QtBot) -> None:
    page = visit(window, qtbot, FRAUD)
    drawn: list[float] = []
    page.model.layoutChanged.connect(lambda: drawn.append(time.monotonic()))
    began = time.monotonic()
    page.act("verify")
    qtbot.waitUntil(lambda: is_done(page), timeout=LONG)
    assert len(page._picture.findings) > 40
    assert len(drawn) <= 10 * (time.monotonic() - began) + 6  # four more: the start, the end, the filter, the contract


def test_that_a_batch_or_a_selection_costs_the_page_less_than_a_frame(window: MainWindow, qtbot: QtBot) -> None:
    page = verify(window, qtbot, FRAUD)
    spent: list[float] = []
    for row in page.model.rows[:12]:
        began = time.thread_time()
        page._draw()
        page.table.choose(row.key)
        spent.append(time.thread_time() - began)
        qtbot.wait(5)
    assert statistics.median(spent) < 0.016 * SLACK


def test_that_every_part_can_be_reached_by_keys(window: MainWindow, qtbot: QtBot) -> None:
    page = verify(window, qtbot, FRAUD)
    page.table.setFocus()
    before = page.table.current_row
    QTest.keyClick(page.table, Qt.Key.Key_Down)
    assert page.table.current_row != before
    reached: set[QWidget | None] = set()
    page.plan.node.setFocus()
    for _ in range(30):
        reached.add(QApplication.focusWidget())
        QTest.keyClick(QApplication.focusWidget() or page, Qt.Key.Key_Tab)
    assert {page.plan.node, page.plan.heavy_view, page.table, page.detail.tabs, page.detail.ask} <= reached
