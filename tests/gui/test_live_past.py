"""Does the Live page show what was stored: before a restart, over days, with gaps, runs, notes and figures of all readings?"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from datetime import UTC, datetime
from time import time

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.models.past import Wish, read_past
from gpulease_gui.gui.models.stored import read_stored
from gpulease_gui.gui.models.unwatched import NOT_RECORDED
from gpulease_gui.gui.pages import live
from gpulease_gui.gui.pages.live_note import NoteDialog
from gpulease_gui.gui.theme.theme import Theme, colours
from gpulease_gui.gui.widgets import chart_data as data
from gpulease_gui.gui.widgets.chart_scale import TimeScale, ValueScale
from gpulease_gui.gui.widgets.chart_spec import Curve, Happening, LaneSpec, Mode
from gpulease_gui.gui.widgets.live_tail import LiveTail
from gpulease_gui.gui.widgets.slowdowns import slowdowns
from gpulease_gui.services.composition import Services
from gpulease_gui.services.recall import recall
from gpulease_gui.services.series import Ring
from gpulease_gui.services.watch import WatchView
from gpulease_gui.store import runs, samples
from gpulease_gui.store.records import EvidenceBlob, Gap, Run, RunState, SampleBlock, Series
from gpulease_gui.store.watch_events import WatchEvent, save_event

from .guards import StallGuard

NODE = "demo-capped"
_NS = 1_000_000_000
MakeWindow = Callable[..., MainWindow]


def keep(services: Services, start_s: float, seconds: int, metric: str = "gpu.power_w", subjects: tuple[str, ...] = ("GPU-a",)) -> None:
    """Store 350 W, with 100 W at every hundredth second, in blocks of ten seconds."""
    values = [100.0 if second % 100 == 50 else 350.0 for second in range(seconds)]
    blocks = [
        SampleBlock(Series(NODE, metric, subject, "W"), int((start_s + n) * _NS), _NS, array("f", values[n : n + 10]))
        for subject in subjects for n in range(0, seconds, 10)
    ]  # fmt: skip
    services.workspace.submit(lambda db: samples.append_blocks(db, blocks)).result()


# -- reading ----------------------------------------------------------------------------------------------------------


def test_that_a_day_is_read_as_lowest_highest_and_mean_of_each_column(demo: Services) -> None:
    keep(demo, 1_000_800.0, 20_000)
    wish = Wish(NODE, 1_000_800.0, 1_020_800.0, 200, (1_000_800.0, 1_010_820.0))
    with demo.workspace.read() as connection:
        past = read_past(connection, wish, {})
    read = data.read(past.view.rings["gpu.power_w", "GPU-a"])
    assert len(read.times_s) == 603 and past.view.interval_s == pytest.approx(100.0), "and the last reading itself"
    assert read.values[:3].tolist() == pytest.approx([100.0, 350.0, 347.5], rel=2e-3)
    assert np.all(np.diff(read.times_s) > 0)


def test_that_figures_are_of_all_readings_and_not_of_the_points_drawn(demo: Services) -> None:
    keep(demo, 1_000_800.0, 20_000, subjects=("GPU-a", "GPU-b"))
    wish = Wish(NODE, 1_000_800.0, 1_020_800.0, 200, (1_000_800.0, 1_010_820.0))
    with demo.workspace.read() as connection:
        past = read_past(connection, wish, {})
    figures, expected = past.figures["gpu.power_w", ""]
    assert (figures.count, expected) == (20_040, 20_040)
    assert (figures.low, figures.p5, figures.p95, figures.high) == (100.0, 350.0, 350.0, 350.0)
    assert figures.mean == pytest.approx(347.505, abs=1e-3)
    assert figures.estimated


@pytest.mark.parametrize("columns", [4000, 40])
def test_that_a_lost_card_is_missing_among_the_expected_samples(demo: Services, columns: int) -> None:
    """As on the live page: two cards of 1,200 s, one of which is lost after 600 s."""
    keep(demo, 1_000_800.0, 7800, subjects=("GPU-a",))
    keep(demo, 1_000_800.0, 600, subjects=("GPU-b",))
    blob = EvidenceBlob.of(b"seen")
    finding = Finding("watch.lost", Verdict.FAIL, Text("gone", "丢失"), evidence=(blob.sha256,))
    event = WatchEvent("e1", NODE, "watch.lost", "GPU-b", 1_001_400 * _NS, None, True, finding)
    demo.workspace.submit(lambda db: save_event(db, event, blob)).result()

    def samples_of(start_s: float, end_s: float) -> tuple[int, int]:
        with demo.workspace.read() as connection:
            figures, expected = read_past(connection, Wish(NODE, start_s, end_s, columns, (start_s, end_s)), {}).figures["gpu.power_w", ""]
        return figures.count, expected

    assert samples_of(1_000_800.0, 1_002_000.0) == (1800, 2400)
    assert samples_of(1_001_400.0, 1_001_800.0) == (400, 800)
    assert samples_of(1_006_800.0, 1_008_000.0) == (1200, 2400), "nothing of the card is near"


def test_that_noted_gaps_keep_their_reason_and_silences_get_one(demo: Services) -> None:
    for start_s in (1_000_000.0, 1_000_400.0, 1_001_000.0):
        keep(demo, start_s, 300)
    demo.workspace.submit(lambda db: samples.append_gap(db, Gap(NODE, 1_000_300 * _NS, 1_000_400 * _NS, "connection_lost"))).result()
    with demo.workspace.read() as connection:
        past = read_past(connection, Wish(NODE, 1_000_000.0, 1_001_300.0, 900, (1_000_000.0, 1_001_300.0)), {})
    assert [(gap.start_s, gap.end_s, gap.reason) for gap in past.view.gaps] == [
        (1_000_300.0, 1_000_400.0, "connection_lost"), (1_000_700.0, 1_001_000.0, NOT_RECORDED)
    ]  # fmt: skip


def test_that_what_is_not_stored_yet_comes_from_the_rings(demo: Services) -> None:
    keep(demo, 1_000_000.0, 100)
    ring = Ring()
    for second in range(90, 120):
        ring.append(1_000_000.0 + second, 7.0)
    with demo.workspace.read() as connection:
        past = read_past(connection, Wish(NODE, 1_000_000.0, 1_000_200.0, 900, (1_000_000.0, 1_000_200.0)), {("gpu.power_w", "GPU-a"): ring})
    read = data.read(past.view.rings["gpu.power_w", "GPU-a"])
    assert read.times_s.tolist() == [1_000_000.0 + second for second in range(120)]
    assert read.values[98:102].tolist() == [350.0, 350.0, 7.0, 7.0]


def test_that_the_store_tells_when_it_was_read_and_what_happened(demo: Services) -> None:
    now_s = time()
    keep(demo, now_s - 7200.0, 600)
    keep(demo, now_s - 3600.0, 600)
    at = datetime.fromtimestamp(now_s - 3500, UTC)
    demo.workspace.submit(lambda db: runs.save_run(db, Run("run-1", NODE, at, demo=True))).result()
    demo.workspace.submit(lambda db: runs.finish_run(db, "run-1", RunState.FINISHED, at, Verdict.FAIL)).result()
    with demo.workspace.read() as connection:
        stored = read_stored(connection, NODE, now_s, frozenset(["gpu.power_w"]))
    assert [(round(now_s - a), round(now_s - b)) for a, b in stored.recorded_s] == [(7200, 6600), (3600, 3000)]
    assert stored.holds(now_s - 3700, now_s - 3500) and not stored.holds(now_s - 6500, now_s - 3700)
    assert (stored.metric, max(stored.high)) == ("gpu.power_w", 350.0)
    assert [str(one.words) for one in stored.happenings] == ["Verification: Fail"]


def test_that_a_restarted_watch_begins_with_the_last_hour(demo: Services) -> None:
    keep(demo, 1_000_000.0, 300)
    keep(demo, 1_000_400.0, 100)
    with demo.workspace.read() as connection:
        rings, gaps, paces = recall(connection, NODE, 1_000_600.0, 1.0)
    ring = rings["gpu.power_w", "GPU-a"]
    read = data.read(ring)
    assert gaps == () and ring.total == 401 and paces == ((1_000_000.0, 1.0),)
    assert np.isnan(read.values[300]) and read.times_s[300] == 1_000_300.0, "no line is drawn over the silence"


def test_that_slots_between_slow_readings_end_no_line_and_a_silence_does(demo: Services) -> None:
    values = [3.0 if n % 10 == 0 and not 200 < n < 290 else float("nan") for n in range(591)]
    block = SampleBlock(Series(NODE, "gpu.processes", "GPU-a", ""), 1_000_000 * _NS, _NS // 10, array("f", values))
    demo.workspace.submit(lambda db: samples.append_blocks(db, [block])).result()
    with demo.workspace.read() as connection:
        rings, _, paces = recall(connection, NODE, 1_000_060.0, 0.1)
        past = read_past(connection, Wish(NODE, 1_000_000.0, 1_000_060.0, 900, (1_000_000.0, 1_000_060.0), 0.1), {})
    for read in (data.read(rings["gpu.processes", "GPU-a"]), data.read(past.view.rings["gpu.processes", "GPU-a"])):
        known = ~np.isnan(read.values)
        assert np.count_nonzero(data.breaks(read, 0.1) & known) == 2, "the first reading, and the one after nine seconds"
        assert np.count_nonzero(known) == 52
    assert paces == ((1_000_000.0, 0.1),) and past.figures["gpu.processes", ""][1] == 59


def test_that_half_of_the_readings_of_the_store_are_half_of_what_was_asked(demo: Services) -> None:
    for start_s, step_s in ((1_000_000, 1), (1_000_300, 5)):
        values = [float("nan") if n % 2 else 500.0 for n in range(300 // step_s)]
        block = SampleBlock(Series(NODE, "gpu.power_w", "GPU-a", "W"), start_s * _NS, step_s * _NS, array("f", values))
        demo.workspace.submit(lambda db, block=block: samples.append_blocks(db, [block])).result()
    with demo.workspace.read() as connection:
        past = read_past(connection, Wish(NODE, 1_000_000.0, 1_000_600.0, 900, (1_000_000.0, 1_000_600.0)), {})
    figures, expected = past.figures["gpu.power_w", ""]
    assert (figures.count, expected) == (180, 359)


# -- the page ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def page(make_window: MakeWindow, demo: Services, qtbot: QtBot) -> live.LivePage:
    """The page on a node of which two hours were stored, until ten minutes ago."""
    keep(demo, time() - 7800.0, 7200)
    window = make_window(live.PAGE)
    window.resize(1440, 900)
    window.attach(demo)
    window.go("live", NODE)
    made = window.page
    assert isinstance(made, live.LivePage)
    qtbot.waitUntil(lambda: made.charted, timeout=8000)
    return made


def test_that_a_node_that_is_not_watched_shows_the_end_of_what_was_stored(page: live.LivePage) -> None:
    assert not page.running
    start_s, end_s = page.chart.span_s
    assert end_s == pytest.approx(time() - 600.0, abs=60) and end_s - start_s == pytest.approx(1800.0)
    assert [lane.lane.id for lane in page.chart.lanes] == ["power:gpu.power_w"]
    assert page.chart.navigator.isVisible()
    assert page.table.rows[0].figures.count == pytest.approx(1800, abs=2)


def test_that_dragging_the_navigator_scrubs_through_the_store(page: live.LivePage, qtbot: QtBot, stalls: StallGuard) -> None:
    stalls.turns.clear()
    begin_s = time() - 7700.0
    page.chart.navigator.range.setRegion([begin_s + offset - page.chart.navigator.stored.span_s[0] for offset in (0, 600)])  # type: ignore[union-attr]
    qtbot.waitUntil(lambda: page.table.rows[0].figures.count == pytest.approx(600, abs=2), timeout=8000)
    assert page.chart.span_s == pytest.approx((begin_s, begin_s + 600), abs=1)
    assert page.chart.lanes[0].readings() == [350.0]


def test_that_a_chosen_range_has_figures_of_its_own(page: live.LivePage, qtbot: QtBot) -> None:
    start_s = page.chart.span_s[0]
    page.chart.choose(start_s + 100, start_s + 300)
    qtbot.waitUntil(lambda: page.table.rows[0].figures.count == pytest.approx(200, abs=2), timeout=8000)
    assert str(page.table.columns[0].title).startswith("Range ")
    page.chart.setFocus()
    QTest.keyClick(page.chart, Qt.Key.Key_Escape)
    assert str(page.table.columns[0].title) == "In sight"
    qtbot.waitUntil(lambda: page.table.rows[0].figures.count > 1000, timeout=8000)


def test_that_a_window_of_a_day_reads_the_store(page: live.LivePage, qtbot: QtBot) -> None:
    page.bar.span.choose("24h")
    page.bar.windowed.emit(86_400.0)
    qtbot.waitUntil(lambda: page.table.rows[0].figures.count == pytest.approx(7200, abs=2), timeout=8000)
    assert page.chart.picture.interval_s > 60


def test_that_a_note_is_kept_and_shown_where_it_belongs(page: live.LivePage, qtbot: QtBot) -> None:
    at_s = page.chart.span_s[0] + 60
    page.chart.set_cursor(at_s)
    page.note_button.click()
    dialog = page.findChild(NoteDialog)
    assert dialog is not None and not dialog.add.isEnabled()
    QTest.keyClicks(dialog.edit, "<b>checkpoint</b>")
    dialog.add.click()
    qtbot.waitUntil(lambda: bool(page.chart.picture.happenings), timeout=8000)
    (note,) = page.chart.picture.happenings
    assert note.start_s == pytest.approx(at_s, abs=1) and str(note.words) == "note: <b>checkpoint</b>"


def test_that_watching_goes_on_after_what_was_stored(page: live.LivePage, qtbot: QtBot) -> None:
    page.watch()
    view = page._view
    assert view is not None
    qtbot.waitUntil(lambda: bool(view.gaps) and view.gaps[-1].end_s is not None, timeout=20000)
    assert view.gaps[-1].reason == "not_watched"
    assert not page.chart.paused
    page.chart.drag_by(-900.0)
    page.look()
    assert page.bar.pause.text().strip() == "Back to live"
    page.bar.pause.click()
    assert not page.chart.paused and page.bar.pause.text().strip() == "Pause"
    stored, live = WatchView("n", 60.0), WatchView("n", 1.0, {("gpu.power_w", "GPU-a"): Ring()}, lost={"GPU-a": "gone"}, indexes={"GPU-a": 3})
    stored.numbers, live.numbers = {"GPU-before": 3, "GPU-a": 3}, {"GPU-a": 4}
    live.rings["gpu.power_w", "GPU-a"].append(page.chart.span_s[1], 500.0)
    page._sight._tell_cards(stored, live)
    assert (stored.lost, stored.indexes) == (live.lost, live.indexes), "a long window comes from the store, which knows of no loss"
    assert stored.numbers == {"GPU-before": 3, "GPU-a": 4}, "cards of before keep their names"
    page.chart.drag_by(-900.0)
    page._sight._tell_cards(stored, live)
    assert stored.lost == {}, "a stretch of before was not lost then"


# -- events -----------------------------------------------------------------------------------------------------------


def card(number: int, watts: float, masks: list[float]) -> Curve:
    power, reasons = Ring(), Ring()
    for second, mask in enumerate(masks):
        power.append(1000.0 + second, watts)
        reasons.append(1000.0 + second, mask)
    return Curve(f"GPU-{number}", number, f"GPU-{number}", power, reasons)


def slow(cards: list[Curve], promised_w: float | None = None) -> list[tuple[str, float, float]]:
    names = {reason.bit: reason.name for reason in load_catalogue().xids.clock_reasons}
    made: tuple[Happening, ...] = slowdowns(cards, names, 0.0, 1.0, promised_w, "gpu.power_w")
    return [(str(one.words), one.start_s, one.end_s or 0.0) for one in made]


def test_that_cards_that_are_held_back_are_named_with_the_reason() -> None:
    idle = [1.0] * 40
    held = [0.0] * 10 + [4.0] * 20 + [0.0] * 10
    assert slow([card(0, 300, idle), card(2, 300, held), card(5, 300, held)]) == [("power cap, GPU 2, 5", 1010.0, 1030.0)]
    hot = [0.0] * 10 + [0x40] * 20 + [0.0] * 10
    assert slow([card(0, 300, held), card(1, 300, hot)]) == [("all 2 GPUs: power cap, thermal slowdown by hardware", 1010.0, 1030.0)]


def test_that_a_card_that_draws_what_was_promised_is_not_held_back() -> None:
    held = [4.0] * 30
    assert slow([card(0, 699, held), card(1, 350, held)], 680.0) == [("power cap, GPU 1", 1000.0, 1030.0)]
    assert slow([card(0, 699, [8.0] * 30)], 680.0) != []


def test_that_one_odd_sample_is_no_event() -> None:
    assert slow([card(0, 300, [0.0, 4.0, 4.0, 0.0, 0.0])]) == []


def test_that_stored_days_are_drawn_as_a_band_around_the_mean(theme: Theme) -> None:
    times, values = array("d"), array("f")
    for slot in range(100):
        times.extend(1000.0 + slot * 10 + share for share in (0.1, 0.2, 0.3))
        values.extend((10.0, 90.0, 50.0))
    curve = Curve("a", 0, "a", Ring.of(times, values, outlined=True))
    tail = LiveTail(LaneSpec("disk:", Text("Disk", "磁盘"), "MB/s", (curve,)), 10.0, Mode.ALL)
    tail.frame(TimeScale.ending(2000.0, 1000.0, 400), ValueScale(100.0, 100.0), 101, 1.0)
    image = tail.image.toImage()
    column = [image.pixelColor(203, y) for y in range(100)]
    assert column[50].name().upper() == colours().series[0].colour.upper() and column[50].alpha() == 255
    assert {column[20].alpha(), column[80].alpha()} == {column[30].alpha()} and 40 < column[30].alpha() < 90
    assert column[5].alpha() == column[95].alpha() == 0


@pytest.mark.parametrize(("outlined", "last"), [(True, 396), (False, 395)])
def test_that_the_spread_of_stored_time_reaches_to_the_newest_reading(theme: Theme, outlined: bool, last: int) -> None:
    """A pixel of a month is three quarters of an hour; what a watch goes on with is drawn when its slot is over."""
    times, values = array("d"), array("f")
    for slot in range(387):
        times.extend(400.0 + slot * 40 + share for share in (0.4, 0.8, 1.2))
        values.extend((10.0, 90.0, 50.0))
    times.extend((15_851.998, 15_851.999, 15_852.0))
    values.extend((20.0, 20.0, 20.0))
    curves = tuple(Curve(name, number, name, Ring.of(times, values, outlined=outlined)) for number, name in enumerate("ab"))
    tail = LiveTail(LaneSpec("gpu.power_w", Text("Power", "功率"), "W", curves, alike=True), 40.0, Mode.SPREAD)
    tail.frame(TimeScale.ending(16_000.0, 16_000.0, 400), ValueScale(100.0, 100.0), 101, 1.0)
    image = tail.image.toImage()
    band = [x for x in range(400) if image.pixelColor(x, 30).alpha()]
    assert band == list(range(10, last + 1))


def test_that_days_and_drags_do_not_stall_the_window(page: live.LivePage, qtbot: QtBot, stalls: StallGuard) -> None:
    """Readings come from workers; what they bring is drawn one lane a turn."""
    with stalls.allow("another window draws all lanes anew"):
        page._set_window(86_400.0)
        qtbot.wait(1500)
        stalls.turns.clear()  # the building of the fixtures is no turn of the window
    for _ in range(20):
        page.chart.drag_by(-600.0)
        qtbot.wait(40)
    qtbot.wait(1000)
    assert page.chart.away


def test_that_slots_with_several_samples_know_their_lowest_and_highest() -> None:
    samples = data.Samples(np.arange(10.0), np.array([1.0, np.nan, 9.0, 4.0, 5.0, 2.0, 7.0, np.nan, np.nan, 3.0]))
    low, high = data.held(samples, data.Grid(0, 4, 3.0), 1.0)
    assert low.tolist() == [1.0, 2.0, 7.0, 3.0] and high.tolist() == [9.0, 5.0, 7.0, 3.0]
