"""Do the widgets show what they are told, exactly and as plain text?"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from PySide6.QtCore import QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtTest import QSignalSpy, QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from gpulease_gui.domain.finding import CheckState, Verdict
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.models.cell import NOT_STATED, Cell, Column, Group, action_cell, state_cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.theme.theme import Theme
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.buttons import Button, Segment, Switch
from gpulease_gui.gui.widgets.dialogs import heavy_dialog
from gpulease_gui.gui.widgets.fields import Field, UnitEdit
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel
from gpulease_gui.gui.widgets.raw import RawOutput
from gpulease_gui.gui.widgets.search import FilterBar, SearchBox
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.gui.widgets.task_strip import TaskStrip
from gpulease_gui.pdf.badges import ItemState, State, badge_of
from gpulease_gui.pdf.paint import Promises, Ruler, paint_icon, paint_ruler, ruler_rects, stack_parts
from gpulease_gui.pdf.palette import LIGHT
from gpulease_gui.services.events import JobChanged, NodeState

from .guards import SLACK

RECT = QRect(10, 4, 112, 16)
NASTY = "<b>H100</b><img src='file:///etc/passwd'>\x1b[31m\u202egpj"


@pytest.fixture
def shown() -> Iterator[list[QWidget]]:
    """Widgets to delete after the test."""
    widgets: list[QWidget] = []
    yield widgets
    for widget in widgets:
        widget.deleteLater()


# -- promise ruler -------------------------------------------------------------------------------------------------


def test_that_a_ruler_lies_on_whole_pixels_where_its_figures_say() -> None:
    rects = ruler_rects(RECT, Ruler(100, 25, "fail", tolerance=0.1))
    assert rects is not None
    assert rects.track == QRect(10, 12, 112, 1)
    assert rects.tick == QRect(109, 4, 2, 16)  # 100 of 112 on 112 px, 2 px around it
    assert rects.band == QRect(100, 4, 10, 16)
    assert rects.bar == QRect(10, 9, 25, 6)


def test_that_the_tolerance_lies_beyond_the_tick_where_less_is_better() -> None:
    rects = ruler_rects(RECT, Ruler(100, 104, "warn", tolerance=0.1, less_is_better=True))
    assert rects is not None
    assert rects.band.left() >= rects.tick.left()
    assert rects.band.right() > rects.tick.right()


def test_that_nothing_measured_and_zero_measured_differ() -> None:
    zero, nothing = ruler_rects(RECT, Ruler(900, 0)), ruler_rects(RECT, Ruler(900, None))
    assert zero is not None and nothing is not None
    assert zero.bar.width() == 1
    assert nothing.bar.isEmpty()
    assert ruler_rects(RECT, Ruler(0, 0)) is None


def test_that_the_painted_ruler_has_ink_at_the_promise_and_colour_up_to_the_measurement() -> None:
    image = QImage(132, 24, QImage.Format.Format_RGB32)
    image.fill(QColor("#FFFFFF"))
    painter = QPainter(image)
    paint_ruler(painter, RECT, Ruler(100, 25, "fail"), LIGHT)
    painter.end()
    row = [image.pixelColor(x, 11).name().upper() for x in range(132)]
    assert [x for x in range(132) if row[x] == LIGHT.ink] == [109, 110]
    assert [x for x in range(132) if row[x] == LIGHT.fail] == list(range(10, 35))


# -- badges ---------------------------------------------------------------------------------------------------------


def _silhouette(state: State) -> frozenset[tuple[int, int]]:
    image = QImage(28, 28, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    paint_icon(painter, QRectF(0, 0, 28, 28), badge_of(state).icon, "#000000")
    painter.end()
    return frozenset((x, y) for x in range(28) for y in range(28) if image.pixelColor(x, y).alpha() > 90)


def _differ(states: list[State]) -> None:
    for one, other in itertools.combinations(states, 2):
        mine, theirs = _silhouette(one), _silhouette(other)
        apart = len(mine ^ theirs) / len(mine | theirs)
        assert apart > 0.25, f"{one} and {other} look alike without colour ({apart:.2f})"


def test_that_verdicts_and_states_differ_without_any_colour() -> None:
    _differ([*Verdict, CheckState.NOT_RUN, CheckState.RUNNING, CheckState.ERROR, ItemState.WAIVED])


def test_that_connection_states_differ_without_any_colour() -> None:
    _differ(list(NodeState))


def test_that_every_state_has_a_word_in_both_languages(english: Translations, shown: list[QWidget]) -> None:
    states: list[State] = [*Verdict, *CheckState, *NodeState, ItemState.WAIVED]
    for state in states:
        label = BadgeLabel(state)
        shown.append(label)
        assert label.accessibleName() == badge_of(state).word.en != ""
    english.switch(Language.ZH)
    QTest.qWait(1)
    assert [label.accessibleName() for label in shown] == [badge_of(state).word.zh for state in states]


# -- stacked bar ------------------------------------------------------------------------------------------------------


def test_that_a_stacked_bar_fills_its_width_with_gaps_of_one_pixel() -> None:
    parts = stack_parts(184, Promises(kept=20, broken=1, warned=0, unknown=9, not_applicable=2))
    assert [name for name, _, _ in parts] == ["kept", "broken", "unknown", "na"]
    ends = [left + width for _, left, width in parts]
    assert [left for _, left, _ in parts[1:]] == [end + 1 for end in ends[:-1]]
    assert ends[-1] == 184
    assert min(width for _, _, width in parts) >= 2


def test_that_no_promises_draw_no_bar() -> None:
    assert stack_parts(184, Promises()) == ()


# -- plain text ---------------------------------------------------------------------------------------------------------


def test_that_foreign_words_stay_plain_text_everywhere(shown: list[QWidget]) -> None:
    label, elided, raw = PlainLabel(NASTY), ElidedLabel(NASTY), RawOutput()
    raw.show_bytes(NASTY.encode())
    shown += [label, elided, raw]
    assert label.textFormat() is Qt.TextFormat.PlainText
    assert label.text().startswith("<b>H100</b>")
    assert "\x1b" not in label.text() and "\u202e" not in label.text()
    assert "&lt;b&gt;" in elided.toolTip() and "<img" not in elided.toolTip()
    assert raw.toPlainText() == "<b>H100</b><img src='file:///etc/passwd'>␛[31m⟨U+202E⟩gpj"


def test_that_raw_output_counts_lines_marks_words_and_states_its_cut(shown: list[QWidget]) -> None:
    raw = RawOutput()
    shown.append(raw)
    raw.show_text("one\ntwo GPU\nthree GPU\n")
    raw.mark_lines([("GPU", "fail_bg")])
    assert raw.blockCount() == 4
    assert len(raw.extraSelections()) == 2
    assert not raw.is_cut
    raw.show_text("x" * 1_000_001)
    assert raw.is_cut and len(raw.toPlainText()) == 1_000_000
    assert raw.extraSelections() == []


def test_that_an_ampersand_in_a_name_is_shown(shown: list[QWidget]) -> None:
    button = Button("Verify a&b")
    shown.append(button)
    assert button.text() == "Verify a&&b"
    assert button.accessibleName() == "Verify a&b"


# -- controls -----------------------------------------------------------------------------------------------------------


def test_that_a_field_names_its_editor_and_says_what_is_wrong(shown: list[QWidget], theme: Theme) -> None:
    edit = UnitEdit("100G", "Gbit/s")
    field = Field(Text("Bandwidth", "带宽"), edit, "as in the contract")
    shown.append(field)
    field.set_error("Gbit/s or GB/s?")
    assert (field.error, edit.property("state")) == ("Gbit/s or GB/s?", "error")
    assert (edit.accessibleName(), edit.accessibleDescription()) == ("Bandwidth", "Gbit/s or GB/s?")
    field.set_error("")
    assert (field.error, edit.property("state"), edit.text()) == ("", "", "100G")
    assert edit.accessibleDescription() == "as in the contract"


def test_that_a_switch_is_worked_by_keyboard_and_mouse(shown: list[QWidget], theme: Theme) -> None:
    switch = Switch("only differences")
    shown.append(switch)
    switch.resize(switch.sizeHint())
    QTest.keyClick(switch, Qt.Key.Key_Space)
    assert switch.isChecked()
    QTest.mouseClick(switch, Qt.MouseButton.LeftButton, pos=QPoint(switch.width() - 4, 8))
    assert not switch.isChecked()


def test_that_a_segment_tells_what_was_chosen_but_not_what_was_set(shown: list[QWidget]) -> None:
    segment = Segment([("a", "1 min"), ("b", "5 min")], current="a")
    shown.append(segment)
    spy = QSignalSpy(segment.chosen)
    segment.choose("b")
    assert (segment.current, spy.count()) == ("b", 0)
    QTest.mouseClick(segment.findChildren(type(segment._group.button(0)))[0], Qt.MouseButton.LeftButton)
    assert (segment.current, spy.at(0)) == ("a", ["a"])


def test_that_chips_are_one_at_a_time(shown: list[QWidget]) -> None:
    bar = FilterBar([("all", "All"), ("fail", "Fail")])
    shown.append(bar)
    spy = QSignalSpy(bar.filtered)
    bar.choose("fail")
    assert (bar.current, spy.at(0)) == ("fail", ["fail"])
    bar.choose("all")
    assert bar.current == "all"


def test_that_a_search_waits_for_the_last_key_and_not_after_enter(shown: list[QWidget]) -> None:
    box = SearchBox()
    shown.append(box)
    spy = QSignalSpy(box.searched)
    QTest.keyClicks(box, "gpu")
    assert spy.count() == 0
    QTest.keyClick(box, Qt.Key.Key_Return)
    assert [spy.at(n) for n in range(spy.count())] == [["gpu"]]


def test_that_cancel_is_the_default_of_a_heavy_check(shown: list[QWidget]) -> None:
    dialog = heavy_dialog("Run fio on node-07?", [("Writes", "64 GB")], "Run fio on node-07")
    shown.append(dialog)
    buttons = {button.accessibleName(): button for button in dialog.findChildren(Button)}
    assert buttons["Cancel"].isDefault() and not buttons["Run fio on node-07"].isDefault()
    assert buttons["Run fio on node-07"].property("kind") == "danger_filled"
    dialog.done(0)


def test_that_the_task_strip_follows_its_jobs(shown: list[QWidget]) -> None:
    strip = TaskStrip()
    shown.append(strip)
    cancelled = QSignalSpy(strip.cancelled)
    strip.job_changed(JobChanged("1", "Verify node-07", 3, 45))
    strip.job_changed(JobChanged("2", "Export"))
    assert strip.titles == ("Verify node-07", "Export")
    strip._tasks["1"].close_button.click()
    assert cancelled.at(0) == ["1"]
    strip.job_changed(JobChanged("1", "Verify node-07", ended=True))
    strip.job_changed(JobChanged("2", "Export", ended=True, error="disk full"))
    assert strip.titles == ()
    assert not strip._clock.isActive()


def test_that_the_task_strip_speaks_the_language_of_the_window(shown: list[QWidget], english: Translations) -> None:
    strip = TaskStrip()
    shown.append(strip)
    strip.job_changed(JobChanged("1", Text("Merge", "合并"), 3, 45))
    strip.job_changed(JobChanged("2", Text("Export", "导出")))
    strip.job_changed(JobChanged("2", Text("Export", "导出"), ended=True, error="disk full"))
    said = strip._tasks["1"].findChildren(QLabel), strip._tasks["1"]._bar
    for language, title, note in ((Language.ZH, "合并", "导出：disk full"), (Language.EN, "Merge", "Export: disk full")):
        english.switch(language)
        QApplication.sendPostedEvents()
        assert strip.titles == (title,) and title in [label.text() for label in said[0]] and said[1].accessibleName() == title
        assert strip._note.text() == note
    strip.job_changed(JobChanged("1", Text("Merge", "合并"), ended=True))


# -- table ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Line:
    """A row of the test tables."""

    key: int
    name: str
    value: float
    group: str = "a"
    verdict: Verdict = Verdict.PASS


COLUMNS = [
    Column[Line](Text("Name", "名称"), lambda r: Cell(r.name), lambda r: r.name, stretch=True),
    Column[Line](Text("Value", "数值"), lambda r: Cell(f"{r.value:.1f}") if r.value >= 0 else NOT_STATED, lambda r: r.value, number=True),
    Column[Line](Text("Verdict", "判定"), lambda r: state_cell(badge_of(r.verdict))),
    Column[Line]("", lambda r: action_cell("Ask…", "ask")),
]


def model(*lines: Line, grouped: bool = False) -> TableModel[Line]:
    made = TableModel(
        COLUMNS, lambda r: r.key, search=lambda r: r.name,
        group=(lambda r: Group(r.group, r.group)) if grouped else None, tally=lambda r: badge_of(r.verdict),
    )  # fmt: skip
    made.set_rows(lines)
    return made


def names(table: TableModel[Line]) -> list[str]:
    rows = (table.row_at(place) for place in range(table.rowCount()))
    return [row.name if row else "#" for row in rows]


LINES = (Line(1, "b", 3), Line(2, "a", 1, "z", Verdict.FAIL), Line(3, "c", 2, "a", Verdict.WARN))


def test_that_twenty_thousand_rows_sort_and_filter_at_once() -> None:
    table = model(*[Line(n, f"node-{n * 7919 % 20000:05}", n * 7919 % 1000) for n in range(20_000)])
    table.sort(1)
    took = []
    for work in (lambda: table.sort(1, Qt.SortOrder.DescendingOrder), lambda: table.sort(1), lambda: table.find("node-1"),
                 lambda: table.find("node-19"), lambda: table.find("")):  # fmt: skip
        began = time.thread_time()
        work()
        took.append(time.thread_time() - began)
    assert max(took) < 0.060 * SLACK, took
    assert table.rowCount() == 20_000


def test_that_a_sort_can_be_taken_back_and_unsortable_columns_change_nothing() -> None:
    table = model(*LINES)
    table.sort(1)
    assert names(table) == ["a", "c", "b"]
    table.sort(1, Qt.SortOrder.DescendingOrder)
    assert names(table) == ["b", "c", "a"]
    table.sort(2)
    assert names(table) == ["b", "a", "c"]


def test_that_selection_follows_its_row_through_sort_filter_and_new_rows(shown: list[QWidget]) -> None:
    table = model(*LINES)
    view = TableView(table, "lines")
    shown.append(view)
    view.choose(3)
    table.sort(0, Qt.SortOrder.DescendingOrder)
    assert view.current_row == LINES[2] and view.currentIndex().row() == 0
    table.set_rows([Line(9, "x", 0), *LINES])
    assert [row.key for row in view.selected_rows] == [3]
    table.find("a")
    assert view.selected_rows == ()


def test_that_groups_keep_their_order_count_states_and_fold(shown: list[QWidget]) -> None:
    table = model(*LINES, grouped=True)
    view = TableView(table, "lines")
    shown.append(view)
    assert names(table) == ["#", "b", "c", "#", "a"]
    heading = table.heading_at(0)
    assert heading is not None
    assert [(badge.token, count) for badge, count in heading.tallies] == [("warn", 1), ("pass", 1)]
    assert view.columnSpan(0, 0) == 4 and view.columnSpan(1, 0) == 1
    assert view.rowHeight(0) == view.rowHeight(1) - 2
    table.fold("a", folded=True)
    assert names(table) == ["#", "#", "a"]
    assert view.columnSpan(1, 0) == 4 and view.columnSpan(2, 0) == 1
    assert not table.flags(table.index(0, 0)) & Qt.ItemFlag.ItemIsSelectable


def test_that_one_row_is_replaced_in_place() -> None:
    table = model(*LINES)
    changed = QSignalSpy(table.dataChanged)
    table.put(replace(LINES[1], value=8.5))
    assert changed.count() == 1
    assert table.data(table.index(1, 1)) == "8.5"
    table.put(Line(7, "new", 0))
    assert names(table) == ["b", "a", "c", "new"]


def test_that_renewed_rows_are_drawn_only_where_they_differ() -> None:
    table = model(*LINES, grouped=True)
    changed, moved = QSignalSpy(table.dataChanged), QSignalSpy(table.layoutChanged)
    table.renew_rows(LINES)
    assert (changed.count(), moved.count()) == (0, 0)
    table.renew_rows([LINES[0], replace(LINES[1], value=8.5), *LINES[2:]])
    first, last = changed.at(0)[:2]
    assert (first.row(), first.column(), last.column()) == (table.place_of(LINES[1].key), 1, 1)
    assert (changed.count(), moved.count()) == (1, 0)
    table.renew_rows(LINES[:2])
    assert moved.count() == 1 and len(table.rows) == 2


def test_that_a_click_on_a_link_tells_row_and_action(shown: list[QWidget]) -> None:
    table = model(*LINES)
    view = TableView(table, "lines")
    shown.append(view)
    view.resize(600, 200)
    acted = QSignalSpy(view.acted)
    place = view.visualRect(table.index(1, 3)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert acted.at(0) == [LINES[1], "ask"]


def test_that_copied_rows_are_a_table_and_nothing_breaks_a_line(shown: list[QWidget]) -> None:
    table = model(Line(1, "a\tb\nc", 3))
    view = TableView(table, "lines", many=True)
    shown.append(view)
    view.selectAll()
    assert view.copied_text().splitlines() == ["Name\tValue\tVerdict\t", "a b c\t3.0\tPass\tAsk…"]


def test_that_what_is_missing_is_a_word(english: Translations) -> None:
    table = model(Line(1, "a", -1))
    assert table.data(table.index(0, 1)) == "not stated"
    english.switch(Language.ZH)
    assert table.data(table.index(0, 1)) == "未说明"
    assert table.headerData(1, Qt.Orientation.Horizontal) == "数值"
