"""Do offers stand beside each other so that what differs, what is missing and what was measured can't be overlooked?"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.commercial import HolderOf, Stated, Subject
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import FxRate, Offer, Supplier
from gpulease_gui.domain.text import Language
from gpulease_gui.economics.workload import equal_sessions
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.compare import PAGE, ComparePage, key_of
from gpulease_gui.gui.pages.page import NavGroup, Page, PageSpec
from gpulease_gui.gui.pages.suppliers import PAGE as SUPPLIERS
from gpulease_gui.gui.pages.suppliers import SuppliersPage
from gpulease_gui.services.commerce_cost import SavedWorkload, save_workload
from gpulease_gui.services.commerce_edit import delete, save_offer, save_rate, save_supplier, state_fields
from gpulease_gui.services.compare_kept import KeptChoice, kept_choice_in
from gpulease_gui.services.compare_sheet import csv_bytes, tsv_text
from gpulease_gui.services.composition import Services
from gpulease_gui.store import claims
from gpulease_gui.store.claims import Holder

from .guards import StallGuard
from .opened import Hand, demo_services, fail_power, measured, wait_for

LEFT = Qt.MouseButton.LeftButton
EVIL = "=HYPERLINK(1)<b>x</b>\t\n\u202ecod.exe"
OTHER = PageSpec("other", PAGE.title, "nav-overview", NavGroup.TOP, 1, Page)


def offer(services: Services, name: str, amount: str, currency: str = "CNY", **terms: object) -> Subject:
    """A supplier with one offer of 8 cards."""
    subject = Subject(HolderOf.OFFER, f"o-{name}")
    said = {key.replace("__", "."): Stated(value) for key, value in terms.items()}  # type: ignore[arg-type]
    services.change(lambda db: save_supplier(db, Supplier(f"s-{name}", name))).result(10)
    services.change(lambda db: save_offer(db, Offer(subject.id, f"s-{name}", f"Q-{name}", price=Money(Decimal(amount), currency)))).result(10)
    claim = Claim("gpu.count", 8, ClaimState.ANSWERED)
    at = datetime(2026, 12, 1, tzinfo=UTC)
    services.change(lambda db: claims.save_claim(db, Holder.offer(subject.id), claim, by="t", at=at)).result(10)
    if said:
        services.change(lambda db: state_fields(db, subject, said, services.catalogue), "terms").result(10)
    return subject


@pytest.fixture
def three(services: Services) -> tuple[Subject, ...]:
    return (
        offer(services, "Ash", "15.20", billing__granularity_s=3600, billing__whole_node_only=True, sla__replace_s=14400),
        offer(services, "Birch", "14.50", billing__granularity_s=1, sla__replace_s=7200),
        offer(services, "Cedar", "16.00", billing__granularity_s=1),
    )


@pytest.fixture
def window(make_window: Callable[..., MainWindow], services: Services, three: tuple[Subject, ...]) -> Iterator[MainWindow]:
    services.workspace.forbid_main_thread()
    made = make_window(OTHER, PAGE)
    made.resize(1440, 900)
    made.attach(services)
    yield made


def page_of(window: MainWindow) -> ComparePage:
    page = window.page
    assert isinstance(page, ComparePage)
    return page


def comparing(window: MainWindow, qtbot: QtBot, *subjects: Subject) -> ComparePage:
    window.go("compare", *(key_of(subject) for subject in subjects))
    page = page_of(window)
    wait_for(qtbot, lambda: page.look is not None and len(page.look.comparison.heads) == len(subjects) and page.choices is not None)
    return page


def said(page: ComparePage, key: str) -> list[str]:
    """The words of a line, the label first."""
    place = page.rows.place_of(key)
    assert place >= 0, f"{key} is not shown"
    return [str(page.rows.index(place, column).data()) for column in range(page.rows.columnCount())]


def tick(page: ComparePage, place: int, qtbot: QtBot) -> None:
    rect = page.picker.visualRect(page.picker.rows.index(place))
    qtbot.mouseClick(page.picker.viewport(), LEFT, pos=rect.center())


# -- the journey -------------------------------------------------------------------------------------------------------------


def test_that_three_offers_are_compared_by_their_differences_in_five_clicks(window: MainWindow, qtbot: QtBot) -> None:
    hand = Hand()
    nav = window.navigation._lists[0]
    hand.click(nav.viewport(), nav.visualRect(nav.entries.index(nav.entries.rowCount() - 1)).center())
    page = page_of(window)
    assert page.stack.currentWidget() is page.empty and page.look is None
    wait_for(qtbot, lambda: len(page.picker.rows.lines) == 3)
    for place in range(3):
        hand.click(page.picker.viewport(), page.picker.visualRect(page.picker.rows.index(place)).center())
    wait_for(qtbot, lambda: page.look is not None and len(page.look.comparison.heads) == 3)
    whole = page.rows.counts[1]
    hand.click(page.bar.differences, QPoint(14, page.bar.differences.height() // 2))
    assert hand.clicks <= 5 and page.rows.differences_only
    assert said(page, "billing.granularity_s")[1:] == ["1 h", "1 s ▲ best", "1 s ▲ best"]
    assert page.rows.place_of("billing.min_billed_s") == -1, "nobody states it: it does not differ"
    assert page.bar.count.text() == f"{page.rows.counts[0]} of {whole} rows" and page.rows.counts[0] < whole


def test_that_ticks_in_the_list_of_suppliers_lead_to_the_comparison(
    make_window: Callable[..., MainWindow], services: Services, three: tuple[Subject, ...], qtbot: QtBot
) -> None:
    window = make_window(SUPPLIERS, PAGE)
    window.resize(1440, 900)
    window.attach(services)
    page = window.page
    assert isinstance(page, SuppliersPage)
    wait_for(qtbot, lambda: page.list.deals.count == 6 and page.list.isVisible())
    for number, subject in enumerate(three):
        place = page.list.deals.place_of(key_of(subject))
        if number == 1:  # the second one by the keyboard
            page.list.setCurrentIndex(page.list.deals.index(place))
            QTest.keyClick(page.list, Qt.Key.Key_Space)
        else:
            box = page.list.visualRect(page.list.deals.index(place)).topLeft() + QPoint(22, 14)
            qtbot.mouseClick(page.list.viewport(), LEFT, pos=box)
        assert page.ticks.isVisible() and page.ticks.compare.isEnabled() is (number > 0)
    assert page.ticks.compare.text().strip() == "Compare 3"
    qtbot.wait(20)  # the foot finds its place under the list
    qtbot.mouseClick(page.ticks.compare, LEFT)
    compare = page_of(window)
    wait_for(qtbot, lambda: compare.look is not None)
    assert compare.subjects == three and compare.pick_pane.isHidden()
    qtbot.mouseClick(compare.bar.differences, LEFT, pos=QPoint(14, 10))  # the fifth click
    assert compare.rows.differences_only


def test_that_three_offers_are_compared_by_their_differences_in_five_keys(window: MainWindow, qtbot: QtBot) -> None:
    hand = Hand()
    hand.press(window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    page = page_of(window)
    wait_for(qtbot, lambda: len(page.picker.rows.lines) == 3)
    for _ in range(2):
        hand.press(window.focusWidget(), Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    hand.press(window.focusWidget(), Qt.Key.Key_Space)
    wait_for(qtbot, lambda: page.look is not None and len(page.look.comparison.heads) == 3)
    hand.press(window.focusWidget(), Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert hand.keys <= 5 and page.rows.differences_only and page.bar.differences.isChecked()
    assert said(page, "billing.granularity_s")[1:] == ["1 h", "1 s ▲ best", "1 s ▲ best"]
    QTest.keyClick(window.focusWidget(), Qt.Key.Key_Space)
    assert page.subjects == (), "the same lines once more: they are unticked"


def test_that_the_comparison_is_worked_by_the_keyboard_alone(window: MainWindow, three: tuple[Subject, ...], qtbot: QtBot) -> None:
    page = comparing(window, qtbot, *three)
    reached = []
    for _ in range(20):
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
        reached.append(window.focusWidget())
    assert {page.bar.scenario, page.bar.workload, page.bar.currency, page.bar.differences, page.matrix.main, page.bar.columns} <= set(reached)
    page.bar.differences.setFocus()
    QTest.keyClick(page.bar.differences, Qt.Key.Key_Space)
    assert page.rows.differences_only
    page.matrix.main.setFocus()
    page.matrix.main.setCurrentIndex(page.rows.index(0, 1))
    QTest.keyClick(page.matrix.main, Qt.Key.Key_Left)
    heading = page.rows.heading_at(0)
    assert heading is not None and not heading.is_open, "Left folds a heading"
    QTest.keyClick(page.matrix.main, Qt.Key.Key_Right)
    heading = page.rows.heading_at(0)
    assert heading is not None and heading.is_open


# -- what cells say ------------------------------------------------------------------------------------------------------------


def test_that_no_cell_is_blank_and_nothing_stated_is_never_the_best(window: MainWindow, three: tuple[Subject, ...], qtbot: QtBot) -> None:
    page = comparing(window, qtbot, *three)
    page.rows.fold_all(folded=False)
    rows, columns = page.rows.rowCount(), page.rows.columnCount()
    lines = [row for row in range(rows) if page.rows.heading_at(row) is None]
    assert len(lines) > 200
    assert all(str(page.rows.index(row, column).data()).strip() for row in lines for column in range(columns))
    assert said(page, "sla.replace_s")[1:] == ["4 h", "2 h ▲ best", "not stated"]
    look = page.look
    assert look is not None
    cedar = look.comparison.heads[2]
    assert "no_replacement_time" in {found.flag.id for found in cedar.raised}
    row = look.comparison.row("sla.replace_s")
    assert row is not None and [bool(cell.flag.en) for cell in row.cells] == [False, False, True]
    page.bar.unstated.setChecked(False)
    assert page.rows.place_of("billing.min_billed_s") == -1 and page.rows.place_of("sla.replace_s") > 0


def test_that_a_broken_promise_stands_struck_out_beside_what_was_measured(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    services = demo_services(tmp_path)
    try:
        fail_power(services)
        window = make_window(PAGE)
        window.attach(services)
        found = (Subject(HolderOf.OFFER, "demo-offer-BM-0047"), Subject(HolderOf.OFFER, "demo-offer-NL-2026-0311"))
        page = comparing(window, qtbot, *found)
        assert "[measured 350" in said(page, "gpu.power_w")[1]
        place = page.rows.place_of("gpu.power_w")
        assert "700 W claimed / 350 measured" in str(page.rows.index(place, 1).data(Qt.ItemDataRole.ToolTipRole))
        assert "[" not in said(page, "gpu.power_w")[2]
        assert not page.matrix.main.grab().isNull()
        window.detach()
    finally:
        services.close()


def test_that_foreign_words_stay_words_on_the_screen_and_in_files(
    window: MainWindow, services: Services, three: tuple[Subject, ...], qtbot: QtBot
) -> None:
    evil = offer(services, EVIL, "9.00", offer__quoted_by=EVIL)
    page = comparing(window, qtbot, evil, three[0])
    look = page.look
    assert look is not None
    cell = said(page, "offer.quoted_by")[1]
    assert "<b>x</b>" in cell and "\u202e" not in cell
    place = page.rows.place_of("offer.quoted_by")
    assert "&lt;b&gt;" in str(page.rows.index(place, 1).data(Qt.ItemDataRole.ToolTipRole))
    lines = tsv_text(look.comparison, Language.EN).split("\n")
    assert {line.count("\t") for line in lines} == {6}
    assert not any(part.startswith("=") for line in lines for part in line.split("\t"))
    sheet = csv.reader(io.StringIO(csv_bytes(look.comparison, Language.EN).decode("utf-8-sig"), newline=""))
    cells = [cell for line in sheet for cell in line]
    assert any("HYPERLINK" in cell for cell in cells) and not any(cell.startswith("=") for cell in cells)
    assert not page.grab().isNull()


# -- one currency --------------------------------------------------------------------------------------------------------------


def test_that_the_next_start_goes_on_where_the_last_one_compared(
    window: MainWindow, make_window: Callable[..., MainWindow], services: Services, three: tuple[Subject, ...], qtbot: QtBot
) -> None:
    page = comparing(window, qtbot, *three)
    page.bar.scenario.choose("inference")
    page.bar.scenario.picked.emit("inference")
    page.bar.differences.click()
    wait_for(qtbot, lambda: (services.query(kept_choice_in).result() or KeptChoice()).scenario == "inference")
    page.columns.move_column(3, 1)
    wait_for(qtbot, lambda: (services.query(kept_choice_in).result() or KeptChoice()).subjects == (three[2], *three[:2]))
    services.change(lambda db: delete(db, HolderOf.OFFER, three[0].id), "offer").result()
    again = make_window(OTHER, PAGE)
    again.attach(services)
    again.go("compare")
    fresh = page_of(again)
    wait_for(qtbot, lambda: fresh.look is not None)
    assert [head.row.subject for head in fresh.look.comparison.heads] == [three[2], three[1]], "less the one that is in the trash"
    assert fresh.bar.scenario.current == "inference" and fresh.bar.differences.isChecked() and fresh.rows.differences_only


def test_that_a_missing_rate_is_asked_for_and_shown_with_its_day(window: MainWindow, services: Services, three: tuple[Subject, ...], qtbot: QtBot) -> None:
    dollar = offer(services, "Dune", "2.00", "USD")
    page = comparing(window, qtbot, three[0], dollar)
    assert said(page, "price.gpu_hour")[1:] == ["CNY 15.20", "USD 2.00 (no rate)"], "not converted is not cheaper"
    assert page.bar.enter_rate.isVisible() and "USD" in page.bar.enter_rate.text()
    dialog = page.dialogs.enter_rate()
    assert dialog is not None
    dialog.rate.setText("0")
    dialog.day.setText("2026-11-30")
    qtbot.mouseClick(dialog.save, LEFT)
    assert dialog._rate.error.isVisible(), "a rate of nothing is refused"
    wait_for(qtbot, lambda: dialog.height() >= dialog.layout().totalHeightForWidth(dialog.width()))  # what complains has room
    dialog.rate.setText("7.10")
    dialog.source.setText("bank")
    dialog.surcharge.setText("300")
    qtbot.mouseClick(dialog.save, LEFT)
    assert dialog._surcharge.error.isVisible() and not dialog._rate.error.isVisible(), "more than the price itself is no surcharge"
    dialog.surcharge.setText("3 %")
    qtbot.mouseClick(dialog.save, LEFT)
    wait_for(qtbot, lambda: page.look is not None and not page.look.comparison.missing_rates)
    assert said(page, "price.gpu_hour")[1:] == ["CNY 15.200", "CNY 14.626 (USD 2.00) △ best, with assumptions"], "its tax is not stated"
    assert page.bar.rate.text() == "1 USD = 7.10 CNY + 3 % surcharge (2026-11-30, bank)"


def test_that_a_currency_is_found_that_every_price_converts_to(window: MainWindow, services: Services, qtbot: QtBot) -> None:
    subjects = (offer(services, "Elm", "2.00", "USD"), offer(services, "Fir", "1.90", "EUR"))
    for code, rate in (("USD", "7.10"), ("EUR", "7.70")):
        services.change(lambda db, c=code, r=rate: save_rate(db, FxRate(c, "CNY", Decimal(r), date(2026, 11, 30)))).result(10)
    page = comparing(window, qtbot, *subjects)
    assert page.look is not None and page.look.comparison.currency == "CNY" and page.bar.currency.current == "CNY"
    assert said(page, "price.gpu_hour")[1:] == ["CNY 14.20 (USD 2.00) △ best, with assumptions", "CNY 14.63 (EUR 1.90)"]


def test_that_a_workload_turns_the_order_of_prices_round(window: MainWindow, services: Services, three: tuple[Subject, ...], qtbot: QtBot) -> None:
    minimum = offer(services, "Gum", "10.00", billing__min_billed_s=86400, billing__min_scope="session")
    saved = SavedWorkload("w", "ten runs", equal_sessions(8, 10, 3600))
    services.change(lambda db: save_workload(db, saved), "workload").result(10)
    page = comparing(window, qtbot, three[1], minimum)
    assert page.look is not None and [f.cheapest for f in page.look.figures] == [False, True]
    wait_for(qtbot, lambda: page.bar.workload.count() == 3)
    page.bar.workload.setCurrentIndex(1)
    page.bar.workload.activated.emit(1)
    wait_for(qtbot, lambda: page.rows.place_of("price.effective") > 0)
    look = page.look
    assert look is not None and [f.cheapest for f in look.figures] == [True, False]
    assert said(page, "price.effective")[1:] == ["CNY 14.50 △ best, with assumptions", "CNY 240.00"]  # 24 h billed for each hour
    assert look.figures[1].hidden_pct == Decimal(2300) and look.figures[1].assumed > 0, "unstated terms: the cost is the least"
    assert look.front.names == (str(look.comparison.heads[0].row.deal),)


# -- columns, files --------------------------------------------------------------------------------------------------------------


def test_that_columns_move_and_stay_pinned_and_leave_in_that_order(window: MainWindow, three: tuple[Subject, ...], qtbot: QtBot) -> None:
    page = comparing(window, qtbot, *three)
    page.matrix.choose_column(3)
    both = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(page.matrix.main, Qt.Key.Key_Left, both)
    names = [head.row.supplier for head in page.look.comparison.heads] if page.look else []
    assert names == ["Ash", "Cedar", "Birch"] and page.matrix.column == 2
    QTest.keyClick(page.matrix.main, Qt.Key.Key_P, both)
    assert not page.matrix.frozen.isColumnHidden(2) and page.matrix.main.isColumnHidden(2)
    assert page.matrix.frozen.isColumnHidden(1) and not page.matrix.main.isColumnHidden(1)
    page.matrix.main.head.moveSection(1, 3)  # as a drag of the first offer to the end does
    names = [head.row.supplier for head in page.look.comparison.heads] if page.look else []
    assert names == ["Cedar", "Birch", "Ash"]
    page.export.copy()
    wait_for(qtbot, lambda: QGuiApplication.clipboard().text().startswith("Supplier"))
    assert QGuiApplication.clipboard().text().split("\n")[0].split("\t")[1::3] == ["Cedar", "Birch", "Ash"]
    page.columns.remove_column(1)
    wait_for(qtbot, lambda: page.look is not None and len(page.look.comparison.heads) == 2)


def test_that_files_hold_what_the_window_shows(window: MainWindow, three: tuple[Subject, ...], tmp_path: Path, qtbot: QtBot) -> None:
    import openpyxl

    page = comparing(window, qtbot, *three)
    page.bar.differences.setChecked(True)
    for kind in ("csv", "xlsx", "png"):
        page.export.save(tmp_path / f"c.{kind}", kind)
        wait_for(qtbot, lambda kind=kind: (tmp_path / f"c.{kind}").exists() and (tmp_path / f"c.{kind}").stat().st_size > 0)
    lines = list(csv.reader(io.StringIO((tmp_path / "c.csv").read_bytes().decode("utf-8-sig"), newline="")))
    assert lines[0][1::3] == ["Ash", "Birch", "Cedar"] and lines[-1][0] and len({len(line) for line in lines}) == 1
    line = next(line for line in lines if line[0] == said(page, "billing.granularity_s")[0])
    assert "3600" in line[1::3] and "s" in line[2::3], "a sheet counts with figures"
    sheet = openpyxl.load_workbook(tmp_path / "c.xlsx").active
    assert sheet.freeze_panes == "B2", "first column and head stay"
    cells = [[cell.value if cell.value is not None else "" for cell in row] for row in sheet.iter_rows()]
    numbers = [(value, said) for row, line in zip(cells, lines, strict=True) for value, said in zip(row, line, strict=True) if value != said]
    assert len(numbers) > 5 and all(float(said) == value for value, said in numbers), "figures are numbers, all else the same words"
    wait_for(qtbot, lambda: not QImage(str(tmp_path / "c.png")).isNull())
    assert QImage(str(tmp_path / "c.png")).height() > 200 + 28 * page.rows.rowCount()


def test_that_a_picture_that_can_not_be_written_leaves_the_old_file(
    window: MainWindow, three: tuple[Subject, ...], tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, target = comparing(window, qtbot, *three), tmp_path / "c.png"
    target.write_bytes(b"the picture of yesterday")
    tried: list[Path] = []

    def full(part: Path, _: Path) -> None:
        tried.append(part)
        assert part.read_bytes().startswith(b"\x89PNG") and target.read_bytes() == b"the picture of yesterday"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gpulease_gui.services.whole_file.os.replace", full)
    page.export.save(target, "png")
    wait_for(qtbot, lambda: bool(tried) and not tried[0].exists())
    assert target.read_bytes() == b"the picture of yesterday" and list(tmp_path.glob(".c.png*")) == []


# -- the whole ---------------------------------------------------------------------------------------------------------------------


def test_that_six_offers_with_every_row_scroll_without_a_stall(window: MainWindow, services: Services, stalls: StallGuard, qtbot: QtBot) -> None:
    six = tuple(offer(services, f"N{n}", f"{10 + n}.00") for n in range(6))
    with stalls.allow("first build of the page"):
        page = comparing(window, qtbot, *six)
        qtbot.wait(150)
    with stalls.allow("every group is opened"):
        page.rows.fold_all(folded=False)
        qtbot.wait(50)
    bar = page.matrix.main.verticalScrollBar()
    assert bar.maximum() > 5000
    with measured(stalls):
        for place in range(0, bar.maximum(), bar.maximum() // 100):  # about a notch of the wheel
            bar.setValue(place)
            qtbot.wait(2)
        assert page.matrix.frozen.verticalScrollBar().value() == bar.value()


def test_that_every_word_follows_the_language(window: MainWindow, three: tuple[Subject, ...], english: Translations, qtbot: QtBot) -> None:
    page = comparing(window, qtbot, *three)
    english.switch(Language.ZH)
    qtbot.wait(20)
    heading = page.rows.heading_at(0)
    assert heading is not None and said(page, "sla.replace_s")[1:] == ["4 小时", "2 小时 ▲ 最优", "未约定"]
    words = [page.bar.differences.text(), page.bar.unstated.text(), page.export_button.accessibleName(), page.matrix.main.accessibleName()]
    assert words == ["只看差异", "未约定项", "导出", "对比"]
    nameless = [w for w in page.findChildren(QWidget) if w.focusPolicy() & Qt.FocusPolicy.TabFocus and w.isVisible() and not _named(w)]
    assert not nameless


def _named(widget: QWidget) -> bool:
    text = getattr(widget, "text", None)
    return bool(widget.accessibleName() or (callable(text) and text()) or widget.objectName().startswith("qt_") or type(widget).__name__ == "QScrollArea")


def test_that_a_column_moved_while_the_comparison_is_read_stays_where_it_was_put(
    window: MainWindow, services: Services, three: tuple[Subject, ...], qtbot: QtBot
) -> None:
    page = comparing(window, qtbot, *three)
    before = page.look
    page.refresh()
    page.columns.move_column(3, 1)
    moved = page.look
    wait_for(qtbot, lambda: page.look is not before and page.look is not moved)
    assert [head.row.subject for head in page.look.comparison.heads] == [three[2], *three[:2]]
