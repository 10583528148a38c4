"""Does the stretch in sight leave as file and in the report; are lost cards, broken rules and quiet hours told?"""

from __future__ import annotations

import csv
import io
import time
from array import array
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.task import TaskPhase, TaskPoint, TaskProgress
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.forms.away_dialog import AwayDialog
from gpulease_gui.gui.forms.retention_dialog import RetentionDialog
from gpulease_gui.gui.forms.watch_dialog import WatchDialog
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.models.stored import read_stored
from gpulease_gui.gui.pages import live
from gpulease_gui.gui.pages.live_lanes import Lanes
from gpulease_gui.gui.pages.live_log import LogDialog, said_of
from gpulease_gui.gui.pages.live_report import ReportDialog
from gpulease_gui.gui.pages.live_table import figures_table, title_of
from gpulease_gui.gui.widgets.chart_spec import Mode, Picture
from gpulease_gui.services.composition import Services
from gpulease_gui.services.events import TaskProgressed
from gpulease_gui.services.live_csv import readings_csv
from gpulease_gui.services.live_events import happened
from gpulease_gui.services.live_export import (
    STRETCHES,
    put_into_report,
    stretches_in_report,
    take_out_of_report,
)
from gpulease_gui.services.live_stretches import live_stretches
from gpulease_gui.services.log_words import LOG_MARK, log_mark
from gpulease_gui.services.notices import get_notices
from gpulease_gui.services.series import Ring
from gpulease_gui.services.watch import WatchView
from gpulease_gui.services.watch_rules import WATCH_MARK, end_mark
from gpulease_gui.store import runs, watch_events
from gpulease_gui.store.kept_state import kept_states
from gpulease_gui.store.records import EvidenceBlob, Gap, Mark, Run, RunState, SampleBlock, Series
from gpulease_gui.store.retention import get_retention
from gpulease_gui.store.samples import append_blocks, append_gap, save_mark

NODE, START_S = "demo-capped", 1_764_600_000
NS = 1_000_000_000


@pytest.fixture
def stored(demo: Services) -> Services:
    """Twenty seconds of two cards; five seconds of the second one were not read."""
    blocks = [
        SampleBlock(Series(NODE, "gpu.power_w", card, "W"), START_S * NS, NS, array("f", values))
        for card, values in (("GPU-a", [500.0] * 20), ("GPU-b", [490.0] * 10 + [float("nan")] * 5 + [480.5] * 5))
    ]  # fmt: skip
    demo.workspace.submit(lambda db: append_blocks(db, blocks)).result()
    demo.workspace.submit(lambda db: append_gap(db, Gap(NODE, (START_S + 20) * NS, (START_S + 20) * NS + NS // 5, "=cmd"))).result()
    return demo


def test_that_a_stretch_is_a_table_with_units_times_of_utc_and_empty_cells_for_what_was_not_read(stored: Services) -> None:
    ring = Ring()
    ring.append(START_S + 19.0, 1.0)  # stored already
    ring.append(START_S + 20.25, 477.0)
    with stored.workspace.read() as connection:
        content = readings_csv(connection, NODE, START_S, START_S + 30, {("gpu.power_w", "GPU-a"): ring}, Language.EN)
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
    assert rows[0] == ["time (UTC)", "gpu.power_w GPU-a [W]", "gpu.power_w GPU-b [W]", "gap", "event"]
    assert rows[1] == ["2025-12-01 14:40:00.000", "500", "490", "", ""]
    assert rows[21] == ["2025-12-01 14:40:20.000", "", "", "'=cmd", ""]
    assert rows[11] == ["2025-12-01 14:40:10.000", "500", "", "", ""]
    assert rows[-1] == ["2025-12-01 14:40:20.250", "477", "", "", "read again after: =cmd"] and len(rows) == 23


def test_that_nothing_read_makes_no_file(demo: Services) -> None:
    with demo.workspace.read() as connection, pytest.raises(UserFacing, match="nothing was read"):
        readings_csv(connection, NODE, START_S, START_S + 30, {}, Language.EN)


def test_that_a_stretch_put_into_the_report_is_what_it_shows_and_is_evidence(stored: Services) -> None:
    with pytest.raises(UserFacing, match="not verified yet"):
        stored.workspace.submit(lambda db: put_into_report(db, NODE, START_S, START_S + 12)).result()
    at = datetime.fromtimestamp(START_S + 5, UTC)
    stored.workspace.submit(lambda db: runs.save_run(db, Run("r1", NODE, at, "demo-contract-BM-0047-1", demo=True))).result()
    stored.workspace.submit(lambda db: runs.finish_run(db, "r1", RunState.FINISHED, at, Verdict.FAIL)).result()
    first = stored.workspace.submit(lambda db: put_into_report(db, NODE, START_S, START_S + 12)).result()
    second = stored.workspace.submit(lambda db: put_into_report(db, NODE, START_S + 2, START_S + 12)).result()
    again = stored.workspace.submit(lambda db: put_into_report(db, NODE, START_S + 2, START_S + 12)).result()
    assert len(first) == len(second) == 64 and again == second
    with stored.workspace.read() as connection:
        held = stretches_in_report(connection, NODE, "r1")
        shown = live_stretches(connection, runs.get_run(connection, "r1"), {"gpu.power_w": 700})
        spans = [(one.start_s, one.end_s) for one in read_stored(connection, NODE, START_S + 60.0).happenings if str(one.words) == "in the report"]
    assert held == ((START_S * NS, (START_S + 12) * NS), ((START_S + 2) * NS, (START_S + 12) * NS))
    assert [(one.start_s, one.end_s, one.contract) for one in shown] == [(START_S, START_S + 12, 700.0), (START_S + 2, START_S + 12, 700.0)]
    assert spans == [(START_S, START_S + 12), (START_S + 2, START_S + 12)]
    assert stored.workspace.submit(lambda db: take_out_of_report(db, NODE)).result() == 2
    with stored.workspace.read() as connection:
        assert stretches_in_report(connection, NODE, "r1") == ()


def test_that_one_stretch_leaves_the_report_and_the_others_stay(make_window: Callable[..., MainWindow], stored: Services, qtbot: QtBot) -> None:
    at = datetime.fromtimestamp(START_S + 5, UTC)
    stored.workspace.submit(lambda db: runs.save_run(db, Run("r1", NODE, at, demo=True))).result()
    stored.workspace.submit(lambda db: runs.finish_run(db, "r1", RunState.FINISHED, at, Verdict.FAIL)).result()
    for first in (0, 2, 4):
        stored.workspace.submit(lambda db, first=first: put_into_report(db, NODE, START_S + first, START_S + 12)).result()
    window = make_window(live.PAGE)
    window.attach(stored)
    dialog = ReportDialog(window, (NODE, "capped"), parent=window)
    qtbot.waitUntil(lambda: len(dialog.rows.rows) == 3, timeout=5000)
    dialog.show()
    assert [(row.start_s - START_S, row.run_at) for row in dialog.rows.rows] == [(4, at), (2, at), (0, at)]
    seen: list[tuple[float, float]] = []
    dialog.shown.connect(lambda *span: seen.append(span))
    dialog.table.acted.emit(dialog.rows.rows[1], "remove")
    qtbot.waitUntil(lambda: [row.start_s - START_S for row in dialog.rows.rows] == [4, 0], timeout=5000)
    with stored.workspace.read() as connection:
        assert [span[0] // NS - START_S for span in stretches_in_report(connection, NODE, "r1")] == [0, 4]
    QTest.keyClick(dialog, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: [row.start_s - START_S for row in dialog.rows.rows] == [0], timeout=5000)
    dialog.look.click()
    assert seen == [(START_S, START_S + 12)] and not dialog.isVisible()


def test_that_a_stretch_up_to_now_is_kept_as_far_as_it_is_stored_and_a_changed_one_is_told(
    make_window: Callable[..., MainWindow], stored: Services, qtbot: QtBot, tmp_path: Path
) -> None:
    at = datetime.fromtimestamp(START_S + 5, UTC)
    stored.workspace.submit(lambda db: runs.save_run(db, Run("r1", NODE, at, "demo-contract-BM-0047-1", demo=True))).result()
    stored.workspace.submit(lambda db: runs.finish_run(db, "r1", RunState.FINISHED, at, Verdict.FAIL)).result()
    stored.workspace.submit(lambda db: put_into_report(db, NODE, START_S, START_S + 28)).result()

    def titles() -> tuple[bool | None, list[str]]:
        with stored.workspace.read() as connection:
            (state,) = kept_states(connection, "r1")
            shown = live_stretches(connection, runs.get_run(connection, "r1"), {})
            return state.fits, [one.title.en for one in shown]

    def add(at_s: float) -> None:
        more = SampleBlock(Series(NODE, "gpu.power_w", "GPU-a", "W"), int(at_s * NS), NS, array("f", [1.0] * 5))
        stored.workspace.submit(lambda db: append_blocks(db, [more])).result()

    add(START_S + 19.6)
    assert titles() == (True, ["Power"])
    add(START_S + 7.5)
    assert titles() == (False, ["Power: not the readings that were kept"])
    window = make_window(live.PAGE)
    window.attach(stored)
    dialog = ReportDialog(window, (NODE, "capped"), parent=window)
    dialog.show()
    qtbot.waitUntil(dialog.altered.isVisible, timeout=5000)
    assert "blocks: 1 added, the first at 2025-12-01 14:40:07 UTC" in dialog.altered.text()
    dialog.save_kept(tmp_path)
    qtbot.waitUntil(lambda: len(list(tmp_path.glob("readings-*.bin"))) == 1, timeout=5000)


def test_that_a_report_is_not_filled_with_stretches_without_end(stored: Services) -> None:
    at = datetime.fromtimestamp(START_S + 5, UTC)
    stored.workspace.submit(lambda db: runs.save_run(db, Run("r1", NODE, at, "demo-contract-BM-0047-1", demo=True))).result()
    stored.workspace.submit(lambda db: runs.finish_run(db, "r1", RunState.FINISHED, at, Verdict.FAIL)).result()
    for number in range(STRETCHES):
        stored.workspace.submit(lambda db, number=number: put_into_report(db, NODE, START_S + number, START_S + 12)).result()
    with pytest.raises(UserFacing, match="6 stretches already"):
        stored.workspace.submit(lambda db: put_into_report(db, NODE, START_S + 9, START_S + 12)).result()


def test_that_of_more_than_a_day_lowest_mean_and_highest_of_each_slice_are_told(stored: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpulease_gui.services.live_csv.SLICES", 4)
    more = SampleBlock(Series(NODE, "gpu.power_w", "GPU-a", "W"), (START_S + 40) * NS, NS, array("f", [100.0, 300.0, 500.0, 700.0]))
    stored.workspace.submit(lambda db: append_blocks(db, [more])).result()
    with stored.workspace.read() as connection:
        content = readings_csv(connection, NODE, START_S - 2e6, START_S + 2e6, {}, Language.ZH)
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
    assert rows[0][:4] == ["时间（UTC）", "gpu.power_w GPU-a 最低 [W]", "gpu.power_w GPU-a 均值 [W]", "gpu.power_w GPU-a 最高 [W]"]
    (held,) = [row for row in rows[1:] if row[1]]
    assert held[1:4] == ["100", "483.3333", "700"], "twenty readings of 500 W and four more"
    assert float(held[5]) == pytest.approx((490 * 10 + 480.5 * 5) / 15)


def lost_view(now_s: float) -> WatchView:
    view = WatchView(NODE, 1.0)
    for number, card in enumerate(("GPU-a", "GPU-b")):
        ring = view.rings["gpu.power_w", card] = Ring()
        for second in range(30):
            ring.append(now_s - 30 + second, 500.0 if number == 0 or second < 20 else None)
    view.indexes, view.lost = {"GPU-a": 1, "GPU-b": 0}, {"GPU-b": "fell off the bus"}
    return view


def test_that_a_lost_card_is_told_with_its_reason_and_is_no_nought(qtbot: QtBot) -> None:
    from gpulease_gui.gui.widgets.chart_figures import summaries
    from gpulease_gui.gui.widgets.chart_scale import TimeScale
    from gpulease_gui.gui.widgets.lane import Lane, Moment

    now_s = time.time()
    (spec,) = Lanes(lambda term: None).of(lost_view(now_s))
    lane = Lane(spec, 1.0)
    qtbot.addWidget(lane)
    lane.show_lane(spec, Mode.ALL, 1.0, [])
    lines, lowest, _ = lane._lines()
    assert [(line.name, line.value, line.token) for line in lines] == [("0", "500", "t1"), ("1", "lost", "fail")]
    assert lane.accessibleDescription() == "GPU 1 lost: fell off the bus"
    assert lane.identity_words().split("\n") == [
        "GPU 0: GPU-a, index 1 on the node", "GPU 1: GPU-b, index 0 on the node, lost: fell off the bus",
    ]  # fmt: skip
    lane.show_moment(Moment(TimeScale.ending(now_s, 60.0, 300), now_s, cursor_s=now_s - 40))
    assert [line.value for line in lane._lines()[0]] == ["–", "–"], "before its first reading it was not lost"
    (row,) = summaries(spec, now_s - 30, now_s, 1.0)
    whole = Text("Power, 2 GPUs, GPU 1 lost, W", "功耗，2 卡，GPU 1 丢失，W")
    assert title_of(row) == whole
    cell = figures_table().columns[0].cell(row)
    assert (cell.text, cell.tip) == (Text("Power, 1 of 2 GPUs, W", "功耗，1 / 2 卡，W"), whole), "what has no room is under the pointer"
    assert Picture((spec,)).lanes[0].curves[1].lost == "fell off the bus"


@pytest.fixture
def window(make_window: Callable[..., MainWindow], demo: Services) -> MainWindow:
    made = make_window(live.PAGE)
    made.attach(demo)
    return made


def test_that_broken_rules_are_listed_and_quiet_hours_kept(window: MainWindow, demo: Services, qtbot: QtBot) -> None:
    blob, now_s = EvidenceBlob.of(b"readings"), time.time()
    finding = Finding("watch.floor", Verdict.FAIL, Text("below", "低于"), "gpu.power_w", evidence=(blob.sha256,))
    event = watch_events.WatchEvent("e", NODE, "watch.floor", "GPU-0a1b2c3d-4e5f", int((now_s - 7200) * NS), int((now_s - 3600) * NS), True, finding)
    mark = Mark(end_mark("e"), NODE, datetime.fromtimestamp(now_s - 3600, UTC), WATCH_MARK)
    demo.workspace.submit(lambda db: (watch_events.save_event(db, event, blob), save_mark(db, mark))).result()
    dialog = WatchDialog(window, (NODE, "capped"), {"GPU-0a1b2c3d-4e5f": 3}, lambda: now_s, parent=window)
    qtbot.waitUntil(dialog.save.isEnabled, timeout=5000)
    model = dialog.rows
    assert str(model.index(0, 0).data()) == "Under the contract", "episodes stand under their rule"
    shown = [str(model.index(1, place).data() or "") for place in range(model.columnCount())]
    assert (shown[1], shown[3]) == ("GPU 3", "1 h 0 min") and dialog.whole.text() == "GPU 3 · GPU-0a1b2c3d-4e5f: below"
    assert dialog.sums.text().startswith("capped: 1.00 card-hours under promise, ")
    dialog.quiet_from.setText("25:00")
    dialog.save.click()
    assert dialog.result() == 0 and dialog._fields[0].error
    dialog.quiet_from.setText("22:30")
    dialog.quiet_to.setText("7:00")
    dialog.of_node.setChecked(False)
    dialog.save.click()
    qtbot.waitUntil(lambda: demo.query(get_notices).result().nodes_off == {NODE}, timeout=5000)
    assert f"{demo.query(get_notices).result().quiet_from:%H:%M}" == "22:30"


def test_that_the_retention_is_kept_with_for_ever_as_a_word(window: MainWindow, demo: Services, qtbot: QtBot) -> None:
    dialog = RetentionDialog(window, parent=window)
    qtbot.waitUntil(dialog.save.isEnabled, timeout=5000)
    assert [spin.value() for spin in dialog.spins.values()] == [30, 90, 365, 1095]
    dialog.spins["five_minutes"].setValue(0)
    assert dialog.spins["five_minutes"].text() == "for ever"
    dialog.spins["readings"].setValue(7)
    dialog.save.click()
    qtbot.waitUntil(lambda: demo.query(get_retention).result().readings == 7, timeout=5000)
    assert demo.query(get_retention).result().five_minutes == 0


def log_dialog(page: live.LivePage) -> LogDialog:
    """Opened from the menu, as the user does."""
    next(action for action in page.bar.more_menu.actions() if action.text() == "Follow a log…").trigger()
    return next(one for one in page.findChildren(LogDialog) if one.isVisible())


def test_that_a_log_on_the_node_is_followed_beside_its_hardware_and_let_go_of(window: MainWindow, demo: Services, qtbot: QtBot) -> None:
    window.go("live", "demo-honest")
    page = window.page
    assert isinstance(page, live.LivePage)
    qtbot.waitUntil(lambda: page.crumbs() == ("honest",), timeout=5000)
    dialog = log_dialog(page)
    dialog.follow.click()
    assert dialog.path_row.error.text().startswith("Write the log's path")
    dialog.path.setText("/workspace/train.log")
    dialog.pattern.setText("(")
    dialog.follow.click()
    qtbot.waitUntil(lambda: bool(dialog.pattern_row.error.text()), timeout=5000)
    assert dialog.isVisible() and demo.watching.views() == ()
    dialog.pattern.setText("")
    dialog.follow.click()
    qtbot.waitUntil(page.log.band.isVisible, timeout=5000)
    assert page.running and page.log.band.headline.text() == "Following /workspace/train.log"
    qtbot.waitUntil(lambda: "tokens/s" in page.log.band.sentence.text(), timeout=30_000)
    qtbot.waitUntil(lambda: any(lane.lane.id.startswith("task_tokens") for lane in page.chart.lanes), timeout=20_000)
    other = log_dialog(page)
    assert not other.follow.isEnabled() and other.path_row.error.text().startswith("Something else runs")
    other.reject()
    page.show_all(whole=True)
    assert not page.log.band.isVisible(), "the band speaks of the node in sight"
    page.open("demo-honest")
    page.log.detach_button.click()
    qtbot.waitUntil(lambda: not page.log.band.isVisible(), timeout=20_000)
    assert page.running, "the hardware is watched on"


def test_that_what_became_of_a_followed_log_stands_in_the_chart_and_in_the_list_of_events(window: MainWindow) -> None:
    at = datetime(2026, 12, 2, 8, tzinfo=UTC)
    mark = Mark("m", NODE, at, LOG_MARK, log_mark("shorter", "/run/train.log"))
    workspace, now_s = window.services.workspace, at.timestamp()
    workspace.submit(lambda db: save_mark(db, mark)).result()
    said = Text("the log was cut short and begins anew: /run/train.log", "日志被截短，重新开始：/run/train.log")
    with workspace.read() as connection:
        shown = [(one.start_s, one.words) for one in read_stored(connection, NODE, now_s + 60).happenings if one.icon == "document"]
        told = [one.words for one in happened(connection, NODE, now_s - 1, now_s + 1, ())]
    assert (shown, told) == ([(now_s, said)], [said])


def test_that_the_band_says_that_a_log_is_waited_for_until_its_file_is_there(window: MainWindow, qtbot: QtBot) -> None:
    window.go("live", NODE)
    page = window.page
    assert isinstance(page, live.LivePage)
    qtbot.waitUntil(lambda: page.crumbs() == ("capped",), timeout=5000)
    page.log._paths[NODE] = "/run/train.log"
    words = page.log.band.headline
    for waits, headline, icon in (("missing", "Waiting for /run/train.log", "clock"), ("", "Following /run/train.log", "check")):
        page.log.handle(TaskProgressed(TaskProgress("r", NODE, TaskPhase.RUNNING, waits=waits)))
        assert (words.text(), page.log.band._mark._name, page.log.detach_button.isVisible()) == (headline, icon, True)


def test_that_the_words_of_a_followed_log_are_its_last_figures_or_that_there_are_none() -> None:
    running = TaskProgress("r", NODE, TaskPhase.RUNNING, log_lines=1200)
    assert said_of(None, None).en == "opening…"
    assert said_of(running, None).en.startswith("1,200 lines, none of progress so far")
    waits = replace(running, waits="missing")
    assert said_of(waits, None) == Text("there is no such file on the node; it is read as soon as it can be", "节点上没有此文件；一旦可读即开始读取")
    point = TaskPoint(3.0, 1200, 2.13456, (("tokens/s", 61_000.4), ("s/step", 0.25)))
    assert said_of(running, point) == Text("step 1,200 · 61,000 tokens/s · 0.250 s/step · loss 2.135", "第 1,200 步 · 61,000 tokens/s · 0.250 s/step · 损失 2.135")


def test_that_the_chart_is_saved_as_a_picture(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    window.go("live", NODE)
    page = window.page
    assert isinstance(page, live.LivePage)
    qtbot.waitUntil(lambda: page.crumbs() == ("capped",), timeout=5000)
    page.acts.save(tmp_path / "chart.png", "png")
    qtbot.waitUntil((tmp_path / "chart.png").exists, timeout=5000)


def test_that_cards_that_break_one_rule_together_are_one_stretch_of_the_chart(demo: Services) -> None:
    blob, now_s = EvidenceBlob.of(b"readings"), time.time()
    finding = Finding("watch.hot", Verdict.WARN, Text("hot", "热"), evidence=(blob.sha256,))
    begun = int((now_s - 600) * NS)
    cases = (("GPU-a", 0, 60), ("GPU-b", 4, None), ("GPU-c", 200, 260))
    for number, (card, after, ended) in enumerate(cases):
        event = watch_events.WatchEvent(f"e{number}", NODE, "watch.hot", card, begun + after * NS, ended and begun + ended * NS, False, finding)
        demo.workspace.submit(lambda db, event=event: watch_events.save_event(db, event, blob)).result()
    with demo.workspace.read() as connection:
        happenings = read_stored(connection, NODE, now_s).happenings
    assert [(str(one.words), one.end_s is None, one.token) for one in happenings] == [("Too hot, 2 cards", True, "warn"), ("Too hot, GPU-c, not seen to its end", False, "warn")]


def test_that_an_episode_whose_watch_was_killed_lasted_at_least_as_long_as_was_seen(window: MainWindow, demo: Services, qtbot: QtBot) -> None:
    blob, now_s = EvidenceBlob.of(b"readings"), time.time()
    finding = Finding("watch.hot", Verdict.WARN, Text("hot", "热"), evidence=(blob.sha256,))
    for number, (code, told) in enumerate((("", False), ("cut", True), ("", True))):
        begun_ns = int((now_s - 3600 * (number + 1)) * NS)
        event = watch_events.WatchEvent(f"e{number}", NODE, "watch.hot", "GPU-a", begun_ns, begun_ns + 75 * NS, False, replace(finding, reason_code=code))
        mark = Mark(end_mark(event.id), NODE, datetime.fromtimestamp(begun_ns / NS + 75, UTC), WATCH_MARK)
        demo.workspace.submit(lambda db, event=event: watch_events.save_event(db, event, blob)).result()
        if told:
            demo.workspace.submit(lambda db, mark=mark: save_mark(db, mark)).result()
    dialog = WatchDialog(window, (NODE, "capped"), {"GPU-a": 3}, lambda: now_s, parent=window)
    qtbot.waitUntil(dialog.save.isEnabled, timeout=5000)
    assert [str(dialog.rows.index(place, 3).data()) for place in (1, 2, 3)] == ["at least 1 min 15 s", "at least 1 min 15 s", "1 min 15 s"]
    assert ". Lasted at least 1 min 15 s, not seen to its end (to " in dialog.whole.text()
    with demo.workspace.read() as connection:
        shown = [str(one.words).removeprefix("Too hot, GPU-a") for one in read_stored(connection, NODE, now_s).happenings]
    assert shown == ["", ", not seen to its end", ", not seen to its end"]


def test_that_a_lost_card_is_recorded_as_taken_away_and_that_is_taken_back(window: MainWindow, demo: Services, qtbot: QtBot) -> None:
    blob, now_s = EvidenceBlob.of(b"readings"), time.time()
    finding = Finding("watch.lost", Verdict.FAIL, Text("gone", "丢失"), evidence=(blob.sha256,))
    event = watch_events.WatchEvent("e", NODE, "watch.lost", "GPU-0a1b2c3d-4e5f", int((now_s - 7200) * NS), None, True, finding)
    demo.workspace.submit(lambda db: watch_events.save_event(db, event, blob)).result()
    dialog = WatchDialog(window, (NODE, "capped"), {}, lambda: now_s - 3600, parent=window)
    qtbot.waitUntil(dialog.save.isEnabled, timeout=5000)

    def told(place: int) -> str:
        return str(dialog.rows.index(1, place).data() or "")

    assert (told(3), told(5)) == ("goes on", "Taken away…")
    dialog.table.acted.emit(dialog.rows.rows[0], "away")
    (asked,) = dialog.findChildren(AwayDialog)
    assert asked.by.text() == "me" and not asked.record.isEnabled()
    asked.note.setText("back to the shop")
    asked.record.click()
    qtbot.waitUntil(lambda: told(5) == "Expect again", timeout=5000)
    assert told(4) == "taken away by agreement: back to the shop (me)" and told(3) == "1 h 0 min"
    assert dialog.sums.text().startswith("capped: 1.00 card-hours under promise, ")
    dialog.table.acted.emit(dialog.rows.rows[0], "expect")
    qtbot.waitUntil(lambda: told(3) == "goes on", timeout=5000)
