"""Is a checklist answered by mouse and by keyboard, many items at once with one way back, and does a run move it live?"""

from __future__ import annotations

import gc
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QDate, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.answer import AnswerState, AnswerValue
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.forms.checklist_dialogs import ReasonDialog, WaiverDialog
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages.checklist import FAILS, OPEN_MUSTS, ChecklistPage
from gpulease_gui.gui.pages.checklist import PAGE as CHECKLIST
from gpulease_gui.gui.pages.checklist_table import BOX
from gpulease_gui.gui.pages.overview import PAGE as OVERVIEW
from gpulease_gui.services import commerce_undo
from gpulease_gui.services.checklist_view import ChecklistView, Outcome, checklist_in
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.events import RunEnded
from gpulease_gui.store import runs
from gpulease_gui.store.records import Run, RunState

from .guards import StallGuard
from .opened import Hand

AT = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)
DEAL = Subject(HolderOf.CONTRACT, "demo-contract-HG-1204-C")
NODE = "demo-slow-net-a"


@pytest.fixture(scope="module")
def demo_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo workspace, filled once; each test opens a copy."""
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    open_services(path, demo=True).close()
    return path


@pytest.fixture
def window(make_window: Callable[..., MainWindow], demo_file: Path, tmp_path: Path) -> Iterator[MainWindow]:
    """The demo workspace with the overview in sight, which is where every journey begins."""
    services = open_services(Path(shutil.copy(demo_file, tmp_path / "demo.db")), demo=True)
    gc.collect()
    gc.freeze()
    services.workspace.forbid_main_thread()
    made = make_window(OVERVIEW, CHECKLIST)
    made.attach(services)
    yield made
    made.detach()
    services.close()
    gc.unfreeze()


def wait_for(qtbot: QtBot, condition: Callable[[], bool]) -> None:
    qtbot.waitUntil(condition, timeout=8000)


def opened(window: MainWindow, qtbot: QtBot, item: str = "") -> ChecklistPage:
    """The checklist of the contract that two nodes are rented under."""
    window.go("checklist", DEAL.kind, DEAL.id, *([item] if item else []))
    page = window.page
    assert isinstance(page, ChecklistPage)
    wait_for(qtbot, lambda: page.seen is not None and page.seen.view.facts.row.id == DEAL.id and len(page.desk.rows) == 1)
    return page


def view_of(window: MainWindow) -> ChecklistView:
    services = window.services
    return services.query(lambda c: checklist_in(c, DEAL, services.catalogue, date.today())).result()


def outcome(page: ChecklistPage, item: str) -> Outcome:
    assert page.seen is not None
    return page.seen.view.row(item).outcome


def marked(window: MainWindow) -> int:
    return view_of(window).totals.get(Outcome.NOT_APPLICABLE, 0)


def at(page: ChecklistPage, place: int, column: int = 2) -> QPoint:
    return page.table.visualRect(page.model.index(place, column)).center()


def item_places(page: ChecklistPage, count: int) -> list[int]:
    """Where the first items stand, headings left out."""
    return [place for place in range(page.model.rowCount()) if page.model.row_at(place) is not None][:count]


def back_to(window: MainWindow, page: ChecklistPage, qtbot: QtBot) -> None:
    """What a window manager does when a dialog has closed."""
    window.activateWindow()
    page.table.setFocus()
    wait_for(qtbot, page.table.hasFocus)


def reason_field(page: ChecklistPage) -> QWidget:
    """The field that has the keyboard in the dialog that has just opened."""
    dialog = page.findChildren(ReasonDialog)[-1]
    field = dialog.focusWidget()
    assert field is dialog.reason
    return field


# -- the journey: twenty items not applicable with one reason, and back ------------------------------------------------------


def test_that_twenty_items_are_marked_with_one_reason_in_three_clicks_and_taken_back_in_one(
    window: MainWindow, qtbot: QtBot, stalls: StallGuard
) -> None:
    hand, rows = Hand(), window.navigation._lists[0]
    place = next(n for n, entry in enumerate(rows.entries.lines) if entry.id == "checklist")
    qtbot.wait(400)  # the overview has painted what it read: that is its own test's business
    stalls.long.clear()
    with stalls.allow("first build of the page"):
        hand.click(rows.viewport(), rows.visualRect(rows.entries.index(place)).center())
        page = window.page
        assert isinstance(page, ChecklistPage)
        wait_for(qtbot, lambda: page.seen is not None and page.inspector.details.question.text() != "")
        qtbot.wait(100)
    assert page.seen is not None
    before = page.seen.view.totals[Outcome.NOT_APPLICABLE]
    places, viewport = item_places(page, 20), page.table.viewport()
    hand.stroke(viewport, at(page, places[0]), at(page, places[10]), at(page, places[19]))
    items = page.desk.items
    assert len(items) == 20 and page.bulk.isVisible()
    known = {item: page.seen.view.row(item).answer for item in items}
    with stalls.allow("a dialog is built"):
        hand.click(page.bulk.not_applicable)
        reason = reason_field(page)
    assert hand.clicks == 3
    QTest.keyClicks(reason, "no training across nodes")
    with stalls.allow("all rows, bars and scores of the page are drawn anew"):
        QTest.keyClick(reason, Qt.Key.Key_Return)
        wait_for(qtbot, lambda: all(outcome(page, item) is Outcome.NOT_APPLICABLE for item in items))
        wait_for(qtbot, page.undo.isVisible)
    answers = [page.seen.view.row(item).answer for item in items]
    assert {answer.note for answer in answers if answer is not None} == {"no training across nodes"}
    with stalls.allow("and drawn anew"):
        hand.click(page.undo.undo)
        wait_for(qtbot, lambda: page.seen is not None and page.seen.view.totals[Outcome.NOT_APPLICABLE] == before)
        qtbot.wait(100)
    assert {item: page.seen.view.row(item).answer for item in items} == known and hand.clicks == 3 + 1
    stalls._turn()
    stalls._reason = "pytest ends the test"


def test_that_twenty_items_are_marked_in_three_keys_and_taken_back_in_one(window: MainWindow, qtbot: QtBot) -> None:
    hand = Hand()
    hand.press(window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    page = window.page
    assert isinstance(page, ChecklistPage)
    wait_for(qtbot, lambda: page.seen is not None and len(page.desk.rows) == 1)
    hand.hold(window, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier, lambda: len(page.desk.rows) == 20)
    items = page.desk.items
    hand.press(window.focusWidget(), Qt.Key.Key_X)
    reason = reason_field(page)
    QTest.keyClick(reason, Qt.Key.Key_Return)
    assert len(page.desk.rows) == 20 and not page.undo.isVisible(), "without a reason nothing is marked"
    QTest.keyClicks(reason, "one node only")
    QTest.keyClick(reason, Qt.Key.Key_Return)  # ends what is typed
    wait_for(qtbot, lambda: all(outcome(page, item) is Outcome.NOT_APPLICABLE for item in items))
    assert hand.keys == 3 and len(items) == 20
    assert window.services.query(commerce_undo.can_undo).result().words == Text("mark 20 items not applicable", "标记 20 项为不适用")
    window.activateWindow()  # what a window manager does when a dialog has closed
    wait_for(qtbot, page.table.hasFocus)
    hand.press(window.focusWidget(), Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    wait_for(qtbot, lambda: not any(outcome(page, item) is Outcome.NOT_APPLICABLE for item in items))
    assert hand.keys == 3 + 1
    QTest.keySequence(window, QKeySequence(QKeySequence.StandardKey.Redo))
    wait_for(qtbot, lambda: all(outcome(page, item) is Outcome.NOT_APPLICABLE for item in items))


# -- single items ----------------------------------------------------------------------------------------------------------


def test_that_letters_answer_item_after_item_and_keep_how_they_are_proven(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot, "NS-03")
    assert page.desk.rows[0].answer is not None and page.desk.rows[0].answer.state is AnswerState.EVIDENCED
    for key in (Qt.Key.Key_N, Qt.Key.Key_P, Qt.Key.Key_Y):
        QTest.keyClick(page.table, key)
    wait_for(qtbot, lambda: outcome(page, "NS-05") is Outcome.PASS)
    answers = {item: view_of(window).row(item).answer for item in ("NS-03", "NS-04", "NS-05")}
    assert [(a.state, a.value) for a in answers.values() if a is not None] == [
        (AnswerState.EVIDENCED, AnswerValue.NO), (AnswerState.EVIDENCED, AnswerValue.PARTLY), (AnswerState.ANSWERED, AnswerValue.YES),
    ]  # fmt: skip
    assert page.desk.items == ("NS-06",), "the next item waits for its answer"
    page.table.choose("NS-03")
    QTest.keyClick(page.table, Qt.Key.Key_U)
    wait_for(qtbot, lambda: outcome(page, "NS-03") is Outcome.UNKNOWN)


def test_that_boxes_add_to_the_choice_and_take_out_of_it(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot, "IC-01")
    first = item_places(page, 3)
    viewport = page.table.viewport()
    for place in first[1:]:
        QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=at(page, place, BOX))
    assert page.desk.items == ("IC-01", "IC-02", "IC-03") and page.model.marked == {"IC-01", "IC-02", "IC-03"}
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=at(page, first[1], BOX))
    assert page.desk.items == ("IC-01", "IC-03") and page.bulk.isVisible()
    QTest.mouseClick(page.bulk.clear, Qt.MouseButton.LeftButton)
    assert page.desk.items == () and not page.bulk.isVisible()


def test_that_a_note_and_a_file_belong_to_the_item_and_can_be_taken_back(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    page = opened(window, qtbot, "IC-02")
    note = page.inspector.note
    note.setFocus()
    QTest.keyClicks(note, "two sources agreed")
    page.table.choose("IC-03")  # leaving keeps what was typed, for the item that it was typed for
    wait_for(qtbot, lambda: _note(page, "IC-02") == "two sources agreed")
    assert _note(page, "IC-03") == ""
    page.table.choose("NS-01")
    paper = tmp_path / "quote <b>7.pdf"
    paper.write_bytes(b"%PDF-1.4 a quote")
    kept = "quote _b_7.pdf"  # such that each system can save it again
    page.desk.attach(paper)
    wait_for(qtbot, lambda: page.seen is not None and any(f.name == kept for f in page.seen.files.values()))
    answer = view_of(window).row("NS-01").answer
    assert answer is not None and answer.state is AnswerState.EVIDENCED and len(answer.evidence) == 1, "a claim became evidenced"
    QTest.keyClick(page.table, Qt.Key.Key_W)
    dialog = page.findChildren(WaiverDialog)[-1]
    assert dialog.headline.text() == "Waive NS-01" and dialog.focusWidget() is dialog.by, "nobody is named in this workspace yet"
    dialog.reject()
    back_to(window, page, qtbot)
    QTest.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    wait_for(qtbot, lambda: page.seen is not None and not any(f.name == kept for f in page.seen.files.values()))
    answer = view_of(window).row("NS-01").answer
    assert answer is not None and answer.state is AnswerState.ANSWERED and answer.evidence == ()


def _note(page: ChecklistPage, item: str) -> str:
    assert page.seen is not None
    answer = page.seen.view.row(item).answer
    return answer.note if answer is not None else ""


def test_that_a_waiver_needs_a_name_a_reason_and_a_day_and_unblocks_the_item(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot, "NS-05")
    assert outcome(page, "NS-05") is Outcome.UNKNOWN
    dialog = page.desk.ask_waiver()
    assert dialog is not None
    QTest.mouseClick(dialog.keep, Qt.MouseButton.LeftButton)
    assert dialog.isVisible(), "a waiver without a reason is refused"
    dialog.by.setText("Lin")
    QTest.keyClicks(dialog.reason, "tested next week")
    until = dialog.expires.date()
    dialog.expires.setDate(QDate.currentDate().addDays(-1))
    QTest.mouseClick(dialog.keep, Qt.MouseButton.LeftButton)
    assert dialog.isVisible() and "This day is over." in [label.text() for label in dialog._expires.findChildren(QLabel)], "a day that is over is refused at its field"
    dialog.expires.setDate(until)
    QTest.keyClick(dialog.reason, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: outcome(page, "NS-05") is Outcome.WAIVED)
    wait_for(qtbot, lambda: page.inspector.unwaive_button.isVisible())
    QTest.mouseClick(page.inspector.unwaive_button, Qt.MouseButton.LeftButton)
    wait_for(qtbot, lambda: outcome(page, "NS-05") is Outcome.UNKNOWN)


# -- what is shown ---------------------------------------------------------------------------------------------------------


def test_that_chips_dimensions_and_words_narrow_the_items(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot)
    view = view_of(window)

    def shown() -> int:
        return sum(page.model.row_at(place) is not None for place in range(page.model.rowCount()))

    assert shown() == len(view.rows)
    page.chips.choose(OPEN_MUSTS)
    assert shown() == len(view.open_musts) > 0
    page.dimensions.choose("billing")
    assert shown() == sum(row.item.dimension == "billing" for row in view.open_musts)
    page.chips.choose(FAILS)
    page.dimensions.choose("")
    assert shown() == view.totals[Outcome.FAIL]
    page.chips.choose("all")
    page.search("nvlink")
    assert 0 < shown() < 5 and page.desk.items == (), "what is chosen is what is in sight"


def test_that_a_run_moves_items_while_they_are_in_sight(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot, "NS-02")
    services = window.services
    item = services.catalogue.checklist["NS-02"]
    workspace = services.workspace
    workspace.submit(lambda db: runs.save_run(db, Run("run-1", NODE, AT, DEAL.id, demo=True))).result()
    for check in item.checks:
        found = Finding(check, Verdict.FAIL, Text("480 ms away", "相距 480 ms"))
        workspace.submit(lambda db, f=found: runs.save_finding(db, "run-1", f, saved_at=AT)).result()
    workspace.submit(lambda db: runs.finish_run(db, "run-1", RunState.FINISHED, AT, Verdict.FAIL)).result()
    services.bus.publish(RunEnded("run-1", NODE, Verdict.FAIL))
    wait_for(qtbot, lambda: outcome(page, "NS-02") is Outcome.FAIL)
    links = page.inspector.details
    with qtbot.waitSignal(links.opened, timeout=8000) as went:
        wait_for(qtbot, lambda: any("slow-net-a" in button.text() for button in _buttons(links)))
        QTest.mouseClick(next(b for b in _buttons(links) if "slow-net-a" in b.text()), Qt.MouseButton.LeftButton)
    assert went.args == [NODE, item.checks[0]]


def _buttons(root: QWidget) -> list[QWidget]:
    from PySide6.QtWidgets import QPushButton

    return [button for button in root.findChildren(QPushButton) if button.isVisible()]


# -- dialogs ---------------------------------------------------------------------------------------------------------------


def test_that_the_letter_speaks_either_language_is_saved_and_marks_its_questions_as_asked(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    page = opened(window, qtbot)
    page.open_letter()
    dialog = page.letter_dialog
    count = dialog.letter.count
    unknown = [row for row in view_of(window).rows if row.outcome is Outcome.UNKNOWN]
    assert count == sum(not row.item.ours for row in unknown) > 20
    assert "Must · Identity and capacity" in dialog.preview.toPlainText()
    dialog.language.choose(Language.ZH)
    dialog.language.chosen.emit(Language.ZH)
    assert "必须 · 身份与规格" in dialog.preview.toPlainText()
    QTest.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == dialog.preview.toPlainText()
    paper = tmp_path / "letter.txt"
    dialog.save_text(paper)
    wait_for(qtbot, paper.exists)
    assert paper.read_text(encoding="utf-8") == dialog.preview.toPlainText()
    QTest.mouseClick(dialog.mark, Qt.MouseButton.LeftButton)
    wait_for(qtbot, lambda: _asked(page) == count)
    dialog.reject()


def _asked(page: ChecklistPage) -> int:
    assert page.seen is not None
    unknown = [row for row in page.seen.view.rows if row.outcome is Outcome.UNKNOWN]
    return sum(row.answer is not None and row.answer.state is AnswerState.ASKED for row in unknown)


def test_that_weights_move_the_score_at_once_and_are_kept_for_the_use(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot)
    assert page.seen is not None
    before = page.seen.score.score.score_low
    page.edit_weights()
    dialog = page.weights_dialog
    wait_for(qtbot, lambda: dialog.spins["billing"].value() > 0)
    shown = dialog.score.text()
    dialog.spins["identity_capacity"].setValue(50)
    assert dialog.score.text() != shown and dialog.back.isEnabled()
    QTest.mouseClick(dialog.keep, Qt.MouseButton.LeftButton)
    wait_for(qtbot, lambda: page.seen is not None and page.seen.score.score.score_low != before)
    assert page.seen is not None and page.seen.score.weights["identity_capacity"] == 50


def test_that_a_template_hides_rewords_and_adds_items_and_the_checklist_follows(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot)
    page.edit_templates()
    dialog = page.template_dialog
    wait_for(qtbot, lambda: dialog.model.rowCount() > 100)
    assert not dialog.keep.isEnabled(), "a template needs a name"
    QTest.keyClicks(dialog.name, "our cluster")
    dialog.table.choose("IC-01")
    dialog.table.opened.emit(dialog.table.current_row)
    dialog.table.choose("IC-04")
    dialog.text_en.setText("Board form as on the invoice")
    dialog.text_en.editingFinished.emit()
    QTest.mouseClick(dialog.add_own, Qt.MouseButton.LeftButton)
    QTest.keyClicks(dialog.text_en, "Coffee near the hall")
    QTest.mouseClick(dialog.keep, Qt.MouseButton.LeftButton)
    wait_for(qtbot, lambda: page.seen is not None and page.seen.view.template.name == "our cluster")
    assert page.seen is not None
    rows = {row.item.id: row.item for row in page.seen.view.rows}
    assert "IC-01" not in rows and rows["IC-04"].text.en == "Board form as on the invoice"
    assert rows["OWN-01"].text.en == "Coffee near the hall"


def test_that_another_deal_is_found_by_its_supplier(window: MainWindow, qtbot: QtBot) -> None:
    page = opened(window, qtbot)
    page.pick_deal()
    wait_for(qtbot, lambda: page.picker.model.rowCount() > 3)
    page.picker.load("mesa")
    wait_for(qtbot, lambda: len(page.picker.model.rows) == 2)
    QTest.keyClick(page.picker.search, Qt.Key.Key_Return)
    wait_for(qtbot, lambda: page.seen is not None and page.seen.view.facts.row.number == "BM-0047-1")


def test_that_an_empty_workspace_leads_to_the_first_offer_and_everything_is_said_in_chinese(
    make_window: Callable[..., MainWindow], services: object, english: Translations, qtbot: QtBot
) -> None:
    made = make_window(OVERVIEW, CHECKLIST)
    made.attach(services)
    made.go("checklist")
    page = made.page
    assert isinstance(page, ChecklistPage)
    wait_for(qtbot, lambda: page.stack.currentWidget() is page.empty)
    english.switch(Language.ZH)
    wait_for(qtbot, lambda: page.empty.line.text() == "还没有清单")
    assert page.buttons() == ()
