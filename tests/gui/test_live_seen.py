"""What does a user see of the Live page at a size, a zoom or a moment where it is easily wrong?"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.node import Address, HostKey, Node, Reach
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.forms.host_keys_dialog import HostKeysDialog
from gpulease_gui.gui.forms.watch_dialog import read_seen, watch_dialog
from gpulease_gui.gui.language import Translations, say
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.pages import live
from gpulease_gui.gui.pages.live_all_parts import NodesBar
from gpulease_gui.gui.pages.live_lanes import Lanes
from gpulease_gui.gui.pages.live_table import FiguresTable, figures_table
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import Theme
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.chart_data import Figures
from gpulease_gui.gui.widgets.chart_figures import Summary
from gpulease_gui.gui.widgets.chart_spec import LaneSpec, Mode, Picture, share_text
from gpulease_gui.gui.widgets.lane import Lane
from gpulease_gui.gui.widgets.lane_stack import LaneStack
from gpulease_gui.gui.widgets.search import SearchBox
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import HostKeyQuestion
from gpulease_gui.services.series import Ring
from gpulease_gui.services.watch import WatchView
from gpulease_gui.store.card_names import get_numbers, keep_numbers
from gpulease_gui.store.nodes import get_node
from gpulease_gui.store.records import EvidenceBlob
from gpulease_gui.store.settings import save_setting
from gpulease_gui.store.watch_events import WatchEvent, save_event

from .conftest import settle
from .live_walk import painted

NOW_S = 1_764_600_000.0
MONTH_S = 30 * 86_400.0


def watched_for(seconds: int) -> WatchView:
    """A card that drew a watt more with each second."""
    view, ring = WatchView("n", 1.0), Ring()
    for second in range(seconds):
        ring.append(NOW_S - seconds + 1 + second, 100.0 + second)
    view.rings["gpu.power_w", "GPU-a"] = ring
    return view


@pytest.fixture
def chart(qtbot: QtBot) -> LaneStack:
    made = LaneStack(lambda: NOW_S)
    qtbot.addWidget(made)
    made.resize(1200, 300)
    made.show()
    made.show_picture(Picture(Lanes(lambda term: None).of(watched_for(60))))
    return made


def test_that_a_month_in_sight_still_tells_the_newest_reading(chart: LaneStack) -> None:
    chart.set_window(MONTH_S)
    assert chart.scale().end_s < NOW_S - 60, "the last pixel, an hour wide, is not whole"
    assert chart.read_at == (False, NOW_S)
    assert chart.lanes[0].readings() == [159.0]
    chart.look_at(NOW_S - 30 - MONTH_S, NOW_S - 30)
    assert chart.read_at == (False, NOW_S - 30) and chart.lanes[0].readings() == [129.0], "nothing of what is later than what is in sight"


def test_that_a_chart_that_stands_still_says_so_and_until_when(
    chart: LaneStack, english: Translations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told() -> set[str]:
        return {words for words in painted(chart, monkeypatch) if words.startswith(("Latest", "Paused", "Looking", "At cursor", "最新", "暂停于", "回看"))}

    time = told().pop().removeprefix("Latest ")
    chart.pause(paused=True)
    assert told() == {f"Paused at {time}"}
    chart.move_by(-10)
    assert {words.split(",")[0] for words in told()} == {"Looking back"}
    english.switch(Language.ZH)
    assert {words.split(" ")[0] for words in told()} == {"回看"}
    chart.pause(paused=False)
    assert told() == {f"最新 {time}"}


@pytest.mark.parametrize("language", list(Language))
def test_that_a_window_of_1280_px_has_room_for_all_figures_and_their_names(language: Language, english: Translations, qtbot: QtBot) -> None:
    english.switch(language)
    table = FiguresTable()
    qtbot.addWidget(table)
    table.resize(1280 - 48, 150)
    table.show()
    assert [str(column.title) for place, column in enumerate(table.figures.columns) if table.isColumnHidden(place)] == []
    header = table.horizontalHeader()
    narrow = [str(column.title) for place, column in enumerate(table.figures.columns)
              if header.fontMetrics().horizontalAdvance(column.title.en if language is Language.EN else column.title.zh) + 16 > table.columnWidth(place)]  # fmt: skip
    assert narrow == []


def test_that_millions_of_samples_are_told_by_their_share_and_missing_ones_round_to_no_whole() -> None:
    lane = LaneSpec("power:gpu.power_w", Text("Power", "功耗"), "W", ())
    cells = [
        figures_table().columns[9].cell(Summary(lane, None, Figures(count), expected)) for count, expected in ((99_000, 99_999), (20_735_999, 20_736_000))
    ]  # fmt: skip
    assert [str(cell.text) for cell in cells] == ["99,000 / 99,999", "99.9\u2009%"]
    assert str(cells[1].tip) == "20,735,999 / 20,736,000"


def test_that_a_filter_with_large_text_leaves_the_stretch_out_and_cuts_no_word(theme: Theme, qtbot: QtBot) -> None:
    bar = NodesBar((("all", Text("All", "全部")), ("below", Text("Below promise", "低于承诺"))))
    tool = Button(Text("Worst first", "问题优先"))
    bar.add_tool(tool)
    bar.range.set_words("last 5 min · 20:21 – 20:26")
    window = QWidget()
    qtbot.addWidget(window)
    bar.setParent(window)
    window.resize(900, 60)
    window.show()
    bar.show()
    whole = bar.row.sizeHint().width()
    seen = []
    for width in (whole, whole - 1):
        bar.resize(width, 40)
        settle()
        parts = [part for place in range(bar.row.count()) if (item := bar.row.itemAt(place)) is not None and (part := item.widget()) is not None]
        assert [part for part in parts if part.isVisible() and part.width() < part.sizeHint().width()] == []
        seen.append(bar.range.isVisible())
    assert seen == [True, False]


def test_that_the_hint_of_a_search_ends_before_the_key_that_leads_there(theme: Theme, qtbot: QtBot) -> None:
    box = SearchBox(keys="Ctrl+K")
    qtbot.addWidget(box)
    box.show()
    before = box.textMargins().right()
    theme.enlarge(4.0)
    try:
        settle()
        assert box.textMargins().right() > before > box.fontMetrics().horizontalAdvance("Ctrl")
        box.setText("n")
        assert box.textMargins().right() == 8, "the key is away while there is text"
    finally:
        theme.enlarge(0.0)


def test_that_of_many_cards_the_lowest_and_the_highest_are_listed_and_the_tip_fits_on_a_screen(qtbot: QtBot) -> None:
    view = WatchView("n", 1.0)
    for card in range(61):
        ring = view.rings["gpu.power_w", f"GPU-{card:02d}"] = Ring()
        for second in range(30):
            ring.append(NOW_S - 29 + second, 500.0 + {26: -2, 47: 2}.get(card, 0))
    (spec,) = Lanes(lambda term: None).of(view)
    lane = Lane(spec, 1.0)
    qtbot.addWidget(lane)
    lane.show_lane(spec, Mode.SPREAD, 1.0, [])
    lines, lowest, _ = lane._lines()
    assert [(line.name, line.value) for line in lines] == [(str(n), "500") for n in range(6)] + [("26", "498"), ("47", "502")]
    assert lowest == "lowest GPU 26" and [line.strong for line in lines] == [False] * 6 + [True, False]
    told = lane.identity_words().split("\n")
    assert len(told) == 25 and told[-1] == "and 37 more"


@pytest.mark.parametrize("language", list(Language))
def test_that_many_host_keys_are_told_in_whole_words_and_a_taller_dialog_shows_more_of_them(
    language: Language, english: Translations, qtbot: QtBot
) -> None:
    english.switch(language)
    new, old = (HostKey("ssh-ed25519", "SHA256:" + letter * 43) for letter in "ab")
    nodes = [Node(f"n{n}", f"n{n}", Reach.SSH, Address("203.0.113.117", 34446)) for n in range(30)]
    dialog = HostKeysDialog([HostKeyQuestion(node, (new,), (old,) if n < 3 else ()) for n, node in enumerate(nodes)])
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.resize(dialog.minimumSize())
    settle()
    table, cut = dialog.table, []
    for column in range(dialog.model.columnCount()):
        cell = dialog.model.cell(dialog.model.index(0, column))
        assert cell is not None
        font = sized(table.font(), TextSize.DENSE, cell.weight)
        needed = QFontMetrics(font).horizontalAdvance(say(cell.text)) + (36 if cell.icon else 16)
        if not cell.code and needed > table.columnWidth(column):
            cut.append(say(cell.text))
    assert cut == []
    before = table.viewport().height()
    dialog.resize(dialog.width(), dialog.height() + 200)
    settle()
    assert table.viewport().height() >= before + 190
    assert dialog.trust.accessibleName() in ("Trust and verify", "信任并验收"), "no number of keys before one is to be trusted"


def test_that_no_share_of_samples_rounds_to_a_whole_that_is_not_there() -> None:
    assert [share_text(*pair) for pair in ((20, 20), (0, 0), (1999, 2000), (2897, 3000), (0, 7))] == [
        f"{share}\u2009%" for share in ("100.0", "100.0", "99.9", "96.5", "0.0")
    ]  # fmt: skip


def test_that_broken_leases_stand_over_warnings_that_came_later(demo: Services) -> None:
    blob = EvidenceBlob.of(b"readings")
    for rule, verdict, began_s in (("watch.floor", Verdict.FAIL, NOW_S - 900), ("watch.hot", Verdict.WARN, NOW_S - 60), ("watch.lost", Verdict.FAIL, NOW_S - 600)):
        finding = Finding(rule, verdict, Text("why", "原因"), "gpu.power_w", evidence=(blob.sha256,))
        event = WatchEvent(rule, "demo-capped", rule, "GPU-a", int(began_s * 1e9), None, False, finding)
        demo.workspace.submit(lambda db, event=event: save_event(db, event, blob)).result()
    rows = demo.query(lambda connection: read_seen(connection, "demo-capped", NOW_S, {})).result().rows
    assert [row.event.rule for row in rows] == ["watch.lost", "watch.floor", "watch.hot"]


def test_that_cards_of_nodes_that_nobody_watches_have_the_numbers_that_they_had_last(demo: Services) -> None:
    blob = EvidenceBlob.of(b"readings")
    for number, card in enumerate(("GPU-0a1b2c3d-4e5f", "GPU-ffff0000-4e5f", "GPU-replaced-long-ago")):
        finding = Finding("watch.floor", Verdict.FAIL, Text("why", "原因"), "gpu.power_w", evidence=(blob.sha256,))
        event = WatchEvent(card, "demo-capped", "watch.floor", card, int((NOW_S - 900 + number) * 1e9), None, False, finding)
        demo.workspace.submit(lambda db, event=event: save_event(db, event, blob)).result()
    keep = demo.workspace.submit
    keep(lambda db: keep_numbers(db, "demo-capped", {"GPU-replaced-long-ago": 3, "GPU-ffff0000-4e5f": 5})).result()
    keep(lambda db: keep_numbers(db, "demo-capped", {"GPU-0a1b2c3d-4e5f": 3})).result()
    for known, names in (({}, ["GPU-replaced", "GPU 5", "GPU 3"]), ({"GPU-ffff0000-4e5f": 6}, ["GPU-replaced", "GPU 6", "GPU 3"])):
        rows = demo.query(lambda connection, known=known: read_seen(connection, "", NOW_S, known)).result().rows
        assert [row.card for row in rows] == names


def test_that_numbers_edited_into_something_else_are_not_known(demo: Services) -> None:
    wrong = "GPU-a\t3\nGPU-b\t-1\nGPU-c\t99999\n\t4\nGPU-d\nGPU-e\t²\n" + "x" * 300 + "\t1"
    demo.workspace.submit(lambda db: save_setting(db, "cards.numbers.n", wrong)).result()
    assert demo.query(lambda connection: get_numbers(connection, "n")).result() == {"GPU-a": 3}


def test_that_a_watch_leaves_the_numbers_of_its_cards_for_the_next_program(demo: Services, qtbot: QtBot) -> None:
    with demo.workspace.read() as connection:
        view = demo.watching.start(get_node(connection, "demo-honest"))
    qtbot.waitUntil(lambda: len(view.numbers) == 8, timeout=20_000)
    demo.watching.close()
    demo.workspace.submit(lambda db: None).result()  # behind what the watch wrote last
    assert demo.query(lambda connection: get_numbers(connection, "demo-honest")).result() == view.numbers


@pytest.mark.parametrize("language", list(Language))
def test_that_in_the_largest_font_the_table_of_broken_rules_is_not_moved_sideways(
    make_window: Callable[..., MainWindow], demo: Services, theme: Theme, english: Translations, qtbot: QtBot, language: Language
) -> None:
    blob = EvidenceBlob.of(b"readings")
    finding = Finding("watch.floor", Verdict.FAIL, Text("why", "原因"), "gpu.power_w", 700, 431.5, "W", evidence=(blob.sha256,))
    event = WatchEvent("e", "demo-capped", "watch.floor", "GPU-a", int((time.time() - 7200) * 1e9), None, False, finding)
    demo.workspace.submit(lambda db: save_event(db, event, blob)).result()
    window = make_window(live.PAGE)
    window.attach(demo)
    theme.enlarge(4.0)
    english.switch(language)
    try:
        dialog = watch_dialog(window, window)
        qtbot.waitUntil(lambda: dialog.save.isEnabled() and dialog.table.isVisible(), timeout=5000)
        settle()
        assert dialog.table.horizontalScrollBar().maximum() == 0
        heads = dialog.table.horizontalHeader()
        last = str(dialog.rows.index(1, 4).data())
        assert heads.sectionSize(4) >= QFontMetrics(dialog.table.font()).horizontalAdvance(last), "it says goes on, whole"
        dialog.close()
    finally:
        theme.enlarge(0.0)
        english.switch(Language.EN)


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize("larger", [0.0, 4.0])
def test_that_the_table_of_broken_rules_cuts_no_verdict_no_act_and_no_length(
    make_window: Callable[..., MainWindow], demo: Services, theme: Theme, english: Translations, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch,
    language: Language, larger: float,
) -> None:  # fmt: skip
    now_s = time.time()
    for place, (rule, verdict, ended_s) in enumerate((("watch.lost", Verdict.FAIL, None), ("watch.hot", Verdict.WARN, now_s - 3600), ("watch.lost", Verdict.FAIL, now_s))):
        blob = EvidenceBlob.of(f"readings {place}".encode())
        finding = Finding(rule, verdict, Text("gone", "丢失"), evidence=(blob.sha256,))
        ended_ns = None if ended_s is None else int(ended_s * 1e9)
        event = WatchEvent(f"e{place}", "demo-capped", rule, f"GPU-{place}", int((now_s - 2 * 86_400 - 1400) * 1e9), ended_ns, verdict is Verdict.FAIL, finding)
        demo.workspace.submit(lambda db, event=event, blob=blob: save_event(db, event, blob)).result()
    window = make_window(live.PAGE)
    window.attach(demo)
    theme.enlarge(larger)
    english.switch(language)
    try:
        said: list[str] = []
        draw = QPainter.drawText

        def listen(painter: QPainter, *told: object) -> object:
            said.extend(one for one in told if isinstance(one, str))
            return draw(painter, *told)  # type: ignore[call-overload]

        monkeypatch.setattr(QPainter, "drawText", listen)  # from the first picture on: cells that were drawn are kept
        dialog = watch_dialog(window, window)
        qtbot.waitUntil(lambda: dialog.save.isEnabled() and dialog.table.isVisible(), timeout=5000)
        settle()
        dialog.grab()
        act, warning, goes_on = {Language.EN: ("Taken away…", "Warning", "48 h 23 min"), Language.ZH: ("已移除…", "警告", "48 时 23 分")}[language]
        assert {act, warning, goes_on} <= set(said)
        dialog.close()
    finally:
        theme.enlarge(0.0)
        english.switch(Language.EN)
