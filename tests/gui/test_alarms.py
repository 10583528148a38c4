"""Does the user see what a watched node broke: in the window, in the chart, and nothing of it in quiet hours?"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from datetime import time as dtime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from time import time, time_ns

import pytest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.alarms import Alarms, headline_of, notice_of
from gpulease_gui.gui.forms.watch_dialog import sum_words
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.models.stored import read_stored
from gpulease_gui.gui.pages import live
from gpulease_gui.gui.recording_line import RecordingLine, rate_words, recorded_words, watched_words
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.degraded import Degraded
from gpulease_gui.services.events import ReadingsNotKept, WatchAlarm
from gpulease_gui.services.notice_gate import GATHER_S, Heard
from gpulease_gui.services.notices import Notices, save_notices
from gpulease_gui.store import watch_events
from gpulease_gui.store.nodes import get_node, list_nodes, save_node
from gpulease_gui.store.recorded import recorded_bytes
from gpulease_gui.store.records import EvidenceBlob, SampleBlock, Series
from gpulease_gui.store.samples import append_blocks

from .conftest import settle

NODE = "demo-capped"
WORDS = Text("<b>under the contract</b>", "低于合同")


def test_that_an_alarm_is_told_once_in_plain_words_and_never_in_quiet_hours(make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot) -> None:
    services = open_services(tmp_path / "demo.gpulease.db", demo=True)
    window = make_window(live.PAGE)
    now_s = [1000.0]
    alarms = Alarms(window, clock=lambda: now_s[0])
    window.attach(services)
    services.bus.publish(WatchAlarm(NODE, "watch.floor", "GPU-0a1b2c3d-4e5f", 0, None, WORDS, disturb=False))
    services.bus.publish(WatchAlarm(NODE, "watch.floor", "GPU-0a1b2c3d-4e5f", 0, 5, WORDS, disturb=True))
    qtbot.wait(100)
    assert window.trouble_band.isHidden()
    services.bus.publish(WatchAlarm(NODE, "watch.floor", "GPU-0a1b2c3d-4e5f", 0, None, WORDS, disturb=True))
    qtbot.wait(100)
    now_s[0] += GATHER_S
    alarms.look()
    qtbot.waitUntil(lambda: not window.trouble_band.isHidden(), timeout=5000)
    assert window.trouble_band.headline.text() == "Under the contract: capped · GPU-0a1b2c3d"
    assert window.trouble_band.property("band") == "fail"
    services.bus.publish(WatchAlarm(NODE, "watch.idle", "GPU-0a1b2c3d-4e5f", 0, None, WORDS, disturb=True))
    qtbot.wait(100)
    alarms.look()
    qtbot.wait(100)
    assert window.trouble_band.property("band") == "fail", "not within a minute of the one before"
    now_s[0] += 63.0
    alarms.look()
    qtbot.waitUntil(lambda: window.trouble_band.headline.text() == "2 rules are broken: capped", timeout=5000)
    assert window.trouble_band.property("band") == "fail", "the first one goes on"
    services.bus.publish(WatchAlarm(NODE, "watch.floor", "GPU-0a1b2c3d-4e5f", 0, 5, WORDS))
    qtbot.waitUntil(lambda: window.trouble_band.property("band") == "warn", timeout=5000)
    window.trouble("The file can't be written")
    assert window.trouble_band.property("band") == "fail", "a fault after a warning is told as a fault"
    window.detach()
    services.close()


def test_that_a_band_says_when_all_it_tells_is_over_and_another_band_is_left_alone(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    services = open_services(tmp_path / "demo.gpulease.db", demo=True)
    window, now_s = make_window(live.PAGE), [1000.0]
    alarms = Alarms(window, clock=lambda: now_s[0])
    window.attach(services)
    ended_ms = int(datetime(2026, 12, 1, 10, 20, 30).timestamp() * 1000)

    def tell(card: str, over_ms: int | None) -> None:
        services.bus.publish(WatchAlarm(NODE, "watch.lost", card, 0, over_ms, WORDS, disturb=over_ms is None))

    band = window.trouble_band
    for card in ("GPU-a", "GPU-b"):
        tell(card, None)
    qtbot.waitUntil(lambda: alarms._gate.next_s() is not None and len(alarms._going) == 2, timeout=5000)
    now_s[0] += GATHER_S
    alarms.look()
    qtbot.waitUntil(lambda: not band.isHidden(), timeout=5000)
    headline = band.headline.text()
    tell("GPU-a", ended_ms)
    qtbot.waitUntil(lambda: len(alarms._going) == 1, timeout=5000)
    assert band.property("band") == "fail" and "Not seen" not in band.sentence.text(), "one of both goes on"
    tell("GPU-b", ended_ms)
    qtbot.waitUntil(lambda: band.property("band") == "warn", timeout=5000)
    assert band.headline.text() == headline and band.sentence.text().startswith("Over since 12-01 10:20:30. ")
    now_s[0] += 700.0
    tell("GPU-c", None)
    qtbot.waitUntil(lambda: alarms._gate.next_s() is not None, timeout=5000)
    now_s[0] += GATHER_S
    alarms.look()
    qtbot.waitUntil(lambda: window.bridge.is_at_rest)  # what was looked up is told
    assert (band.headline.text(), band.property("band")) == ("GPU lost: capped · GPU-c", "fail")
    window.trouble("The file can't be written")
    tell("GPU-c", ended_ms)
    qtbot.waitUntil(lambda: not alarms._going, timeout=5000)
    assert (band.headline.text(), band.property("band")) == ("The file can't be written", "fail")
    window.detach()
    services.close()


def test_that_the_band_says_what_is_broken_now_not_what_was_told_last(make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot) -> None:
    services = open_services(tmp_path / "demo.gpulease.db", demo=True)
    window, now_s = make_window(live.PAGE), [1000.0]
    alarms = Alarms(window, clock=lambda: now_s[0])
    window.attach(services)
    band, ended_ms = window.trouble_band, int(datetime(2026, 12, 1, 10, 20, 30).timestamp() * 1000)

    def tell(rule: str, card: str, over_ms: int | None = None, *, disturb: bool = True) -> None:
        services.bus.publish(WatchAlarm(NODE, rule, card, 0, over_ms, WORDS, disturb=disturb and over_ms is None))

    def shows(headline: str, kind: str, sentence: str = WORDS.en) -> None:
        qtbot.waitUntil(lambda: (band.headline.text(), band.property("band"), band.sentence.text()) == (headline, kind, sentence), timeout=5000)

    def look(after_s: float) -> None:
        now_s[0] += after_s
        alarms.look()

    for rule, card in (("watch.lost", "GPU-a"), ("watch.lost", "GPU-b"), ("watch.hot", "GPU-c"), ("watch.floor", "GPU-d")):
        tell(rule, card)
    qtbot.waitUntil(lambda: len(alarms._going) == 4, timeout=5000)
    tell("watch.floor", "GPU-d", ended_ms)
    qtbot.waitUntil(lambda: len(alarms._going) == 3, timeout=5000)
    look(GATHER_S)
    listed = "All of them are in the list of events of each node."
    shows("2 rules are broken: capped", "fail", f"GPU lost (1), Too hot (1): capped. {listed} Over: Under the contract.")
    tell("watch.hot", "GPU-c", ended_ms)
    shows("GPU lost: capped · 2 cards", "fail", f"{WORDS.en} Over: Under the contract, Too hot.")
    tell("watch.lost", "GPU-a", ended_ms)
    shows("GPU lost: capped · GPU-b", "fail", f"{WORDS.en} Over: Under the contract, Too hot.")
    tell("watch.hot", "GPU-e", disturb=False)
    shows("2 rules are broken: capped", "fail", f"GPU lost (1), Too hot (1): capped. {listed} Over: Under the contract.")
    tell("watch.lost", "GPU-b", ended_ms)
    shows("Too hot: capped · GPU-e", "warn", f"{WORDS.en} Over: GPU lost, Under the contract.")
    tell("watch.idle", "GPU-f")
    qtbot.waitUntil(lambda: len(alarms._going) == 2, timeout=5000)
    look(63.0)
    qtbot.waitUntil(lambda: band.headline.text() == "2 rules are broken: capped", timeout=5000)
    assert band.sentence.text() == f"Idle while billed (1), Too hot (1): capped. {listed}", "what was told before and goes on is told with it"
    tell("watch.hot", "GPU-e", ended_ms)
    tell("watch.idle", "GPU-f", ended_ms)
    qtbot.waitUntil(lambda: band.sentence.text().startswith("Over since 12-01 10:20:30. "), timeout=5000)
    assert band.headline.text() == "2 rules were broken: capped"
    tell("watch.hot", "GPU-e")
    shows("Too hot: capped · GPU-e", "warn", f"{WORDS.en} Over: Idle while billed.")
    window.trouble_band.hide()
    tell("watch.hot", "GPU-e", ended_ms)
    qtbot.waitUntil(lambda: not alarms._going, timeout=5000)
    assert band.isHidden(), "who closed it is not told of an end"
    window.detach()
    services.close()


def test_that_what_is_over_before_it_is_told_is_told_as_over(make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot) -> None:
    services = open_services(tmp_path / "demo.gpulease.db", demo=True)
    window, now_s = make_window(live.PAGE), [1000.0]
    alarms = Alarms(window, clock=lambda: now_s[0])
    window.attach(services)
    ended_ms = int(datetime(2026, 12, 1, 10, 20, 30).timestamp() * 1000)
    for over_ms in (None, ended_ms):
        services.bus.publish(WatchAlarm(NODE, "watch.lost", "GPU-a", 0, over_ms, WORDS, disturb=over_ms is None))
    qtbot.waitUntil(lambda: bool(alarms._ends), timeout=5000)
    now_s[0] += GATHER_S
    alarms.look()
    qtbot.waitUntil(lambda: not window.trouble_band.isHidden(), timeout=5000)
    band = window.trouble_band
    assert (band.headline.text(), band.property("band")) == ("GPU lost: capped · GPU-a", "warn")
    assert band.sentence.text() == f"Over since 12-01 10:20:30. {WORDS.en}"
    window.detach()
    services.close()


def test_that_many_nodes_in_trouble_are_one_notice_and_what_waited_into_quiet_hours_disturbs_nobody(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    services = open_services(tmp_path / "demo.gpulease.db", demo=True)
    window, now_s, wall = make_window(live.PAGE), [1000.0], [datetime(2026, 12, 2, 21, 0)]
    alarms = Alarms(window, clock=lambda: now_s[0], wall=lambda: wall[0])
    window.attach(services)
    services.workspace.submit(lambda db: save_notices(db, Notices(quiet_from=dtime(22), quiet_to=dtime(7)))).result()
    with services.workspace.read() as connection:
        nodes = list_nodes(connection)[:6]
    for node in nodes:
        for card in ("GPU-a", "GPU-b"):
            services.bus.publish(WatchAlarm(node.id, "watch.floor", card, 0, None, WORDS, disturb=True))
    qtbot.wait(100)
    now_s[0] += GATHER_S
    alarms.look()
    qtbot.waitUntil(lambda: not window.trouble_band.isHidden(), timeout=5000)
    assert window.trouble_band.headline.text() == "Under the contract: 6 nodes"
    shown = ", ".join(node.name for node in nodes[:4])
    assert window.trouble_band.sentence.text() == f"{shown} and 2 more; 12 events. All of them are in the list of events of each node."
    window.trouble_band.hide()
    services.bus.publish(WatchAlarm(nodes[0].id, "watch.lost", "GPU-a", 0, None, WORDS, disturb=True))
    qtbot.wait(100)
    wall[0], now_s[0] = datetime(2026, 12, 2, 22, 0), now_s[0] + 100.0
    alarms.look()
    qtbot.wait(200)
    assert window.trouble_band.isHidden(), "it waited until the quiet hours had begun"
    window.detach()
    services.close()


def test_that_several_rules_are_told_together_and_how_often_one_was_broken() -> None:
    def heard(node: str, rule: str, times: int = 1) -> Heard:
        return Heard(WatchAlarm(node, rule, "GPU-a", 0, None, WORDS), times, ("GPU-a",))

    names = {"1": "node-1", "2": "node-\x1b2"}
    said = notice_of([heard("1", "watch.floor"), heard("2", "watch.floor"), heard("2", "watch.hot")], names, {})
    assert [str(words) for words in said] == [
        "2 rules are broken: 2 nodes", "Under the contract (2), Too hot (1): node-1, node-␛2. All of them are in the list of events of each node.",
    ]  # fmt: skip
    assert [words.zh for words in notice_of([heard("1", "watch.hot", 7)], names, {"GPU-a": 3})][1] == "低于合同（自上次提示以来共 7 次）"


def test_that_readings_that_were_not_kept_are_told(make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot) -> None:
    services = open_services(tmp_path / "demo.gpulease.db", demo=True)
    window = make_window(live.PAGE)
    alarms = Alarms(window)
    window.attach(services)
    services.bus.publish(ReadingsNotKept(NODE, "r1", Text("the disk is full", "磁盘已满")))
    qtbot.waitUntil(lambda: not window.trouble_band.isHidden(), timeout=5000)
    assert window.trouble_band.sentence.text() == "the disk is full" and alarms.parent() is window
    window.detach()
    services.close()


@pytest.mark.parametrize(("cut", "begins"), [(False, "Over since "), (True, "Not seen to its end, looked at up to ")])
def test_that_the_band_calls_a_node_by_its_new_name_and_leaves_another_band_alone(
    make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot, cut: bool, begins: str
) -> None:
    services = open_services(tmp_path / "demo.gpulease.db", demo=True)
    window, now_s = make_window(live.PAGE), [1000.0]
    alarms = Alarms(window, clock=lambda: now_s[0])
    window.attach(services)
    band = window.trouble_band

    def rename(name: str) -> None:
        with services.workspace.read() as connection:
            node = replace(get_node(connection, NODE), name=name)
        services.change(lambda db: save_node(db, node), "node").result()

    services.bus.publish(WatchAlarm(NODE, "watch.lost", "GPU-a", 0, None, WORDS, disturb=True))
    qtbot.waitUntil(lambda: alarms._gate.next_s() is not None, timeout=5000)
    now_s[0] += GATHER_S
    alarms.look()
    qtbot.waitUntil(lambda: band.headline.text() == "GPU lost: capped · GPU-a" and not band.isHidden(), timeout=5000)
    rename("west-7")
    qtbot.waitUntil(lambda: band.headline.text() == "GPU lost: west-7 · GPU-a", timeout=5000)
    assert (band.sentence.text(), band.property("band")) == (WORDS.en, "fail")
    services.bus.publish(WatchAlarm(NODE, "watch.lost", "GPU-a", 0, 5000, WORDS, cut=cut))
    qtbot.waitUntil(lambda: band.property("band") == "warn", timeout=5000)
    over = band.sentence.text()
    rename("west-8")
    qtbot.waitUntil(lambda: band.headline.text() == "GPU lost: west-8 · GPU-a", timeout=5000)
    assert (band.sentence.text(), band.property("band")) == (over, "warn") and over.startswith(begins)
    window.trouble("The file can't be written")
    rename("west-9")
    services.query(lambda connection: None).result()
    settle()
    assert band.headline.text() == "The file can't be written"
    window.detach()
    services.close()


def test_that_a_node_can_not_write_into_the_headline() -> None:
    alarm = WatchAlarm(NODE, "watch.lost", "\x1b[31mGPU\n" + "x" * 500, 0, None, WORDS)
    assert len(str(headline_of(alarm, "n" * 500, {}))) < 120 and "\x1b" not in str(headline_of(alarm, "a", {}))


def test_that_broken_rules_are_stretches_of_the_chart(tmp_path: Path) -> None:
    services = open_services(tmp_path / "demo.gpulease.db", demo=True)
    blob, now_s = EvidenceBlob.of(b"readings"), time()
    finding = Finding("watch.floor", Verdict.FAIL, WORDS, "gpu.power_w", evidence=(blob.sha256,))
    begun = int((now_s - 600) * 1e9)
    for number, ended in enumerate((begun + 60_000_000_000, None)):
        event = watch_events.WatchEvent(f"e{number}", NODE, "watch.floor", "GPU-0a1b2c3d-4e5f", begun + number, ended, True, finding)
        services.workspace.submit(lambda db, event=event: watch_events.save_event(db, event, blob)).result()
    with services.workspace.read() as connection:
        happenings = read_stored(connection, NODE, now_s).happenings
    assert [(str(one.words), one.end_s is None, one.token, one.concerns) for one in happenings] == [
        ("Under the contract, GPU-0a1b2c3d, not seen to its end", False, "fail", "gpu.power_w"), ("Under the contract, GPU-0a1b2c3d", True, "fail", "gpu.power_w")
    ]  # fmt: skip
    services.close()


def test_that_the_foot_of_the_window_says_what_is_watched_and_recorded_today(make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot) -> None:
    services = open_services(tmp_path / "demo.gpulease.db", demo=True)
    window = make_window(live.PAGE)
    line = RecordingLine(window)
    window.attach(services)
    strip = window.task_strip
    line.look()
    assert strip.watched.isHidden() and strip._recorded.isHidden()
    now_s, yesterday_s = time(), time() - 86_400
    blocks = [
        SampleBlock(Series(NODE, "gpu.power_w", "GPU-a", "W"), int(at_s * 1e9), 10**9, array("f", range(count)))
        for at_s, count in ((yesterday_s - 60, 50), (now_s - 2, 2))
    ]  # fmt: skip
    services.workspace.submit(lambda db: append_blocks(db, blocks)).result()
    with services.workspace.read() as connection:
        services.watching.start(get_node(connection, NODE))
        size, newest = recorded_bytes(connection, int((now_s - 60) * 1e9), time_ns())
        assert 0 < size < recorded_bytes(connection, 0, time_ns())[0] and recorded_bytes(connection, newest, time_ns()) == (0, newest)
    line.look()
    qtbot.waitUntil(lambda: not strip._recorded.isHidden(), timeout=5000)
    assert not strip.watched.isHidden()
    assert [label.text() for label in strip.watched.findChildren(PlainLabel)] == ["Watching 1 node", "1 Hz"]
    assert strip._recorded.text() == "Recording, 0 kB today"
    window.detach()
    services.close()


def test_that_rates_and_sizes_are_words() -> None:
    assert rate_words([1.0, 0.1, 1.0, 5.0]) == "0.2–10 Hz" and rate_words([]) == ""
    assert str(watched_words(18)) == "Watching 18 nodes" and not str(watched_words(0))
    assert [str(recorded_words(size)) for size in (99_000, 100_000, 9_940_000, 41_400_000)] == [
        "Recording, 99 kB today", "Recording, 0.1 MB today", "Recording, 9.9 MB today", "Recording, 41 MB today",
    ]  # fmt: skip


def test_that_what_a_sum_of_money_assumes_stands_beside_it() -> None:
    found = Degraded(Fraction(1), Money(Decimal("10.00"), "CNY"), None, (Text("a month has 730 hours", "每月按 730 小时"),))
    said = sum_words("n", found)
    assert said.en == "n: 1.00 card-hours under promise, CNY\u202f10.00 (a month has 730 hours)"
    assert said.zh == "n：低于承诺 1.00 卡时，CNY\u202f10.00（每月按 730 小时）"
