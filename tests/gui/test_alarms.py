"""Does the user see what a watched node broke: in the window, in the chart, and nothing of it in quiet hours?"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from time import time, time_ns

from pytestqt.qtbot import QtBot

from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.alarms import Alarms, headline_of
from gpulease_gui.gui.forms.watch_dialog import sum_words
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.models.stored import read_stored
from gpulease_gui.gui.pages import live
from gpulease_gui.gui.recording_line import RecordingLine, rate_words, recorded_words, watched_words
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.degraded import Degraded
from gpulease_gui.services.events import WatchAlarm
from gpulease_gui.store import watch_events
from gpulease_gui.store.nodes import get_node
from gpulease_gui.store.recorded import recorded_bytes
from gpulease_gui.store.records import EvidenceBlob, SampleBlock, Series
from gpulease_gui.store.samples import append_blocks

NODE = "demo-capped"
WORDS = Text("<b>under the contract</b>", "低于合同")


def test_that_an_alarm_is_told_once_in_plain_words_and_never_in_quiet_hours(make_window: Callable[..., MainWindow], tmp_path: Path, qtbot: QtBot) -> None:
    services = open_services(tmp_path / "demo.gpulease.db", demo=True)
    window = make_window(live.PAGE)
    Alarms(window)
    window.attach(services)
    services.bus.publish(WatchAlarm(NODE, "watch.floor", "GPU-0a1b2c3d-4e5f", 0, None, WORDS, disturb=False))
    services.bus.publish(WatchAlarm(NODE, "watch.floor", "GPU-0a1b2c3d-4e5f", 0, 5, WORDS, disturb=True))
    qtbot.wait(100)
    assert window.trouble_band.isHidden()
    services.bus.publish(WatchAlarm(NODE, "watch.floor", "GPU-0a1b2c3d-4e5f", 0, None, WORDS, disturb=True))
    qtbot.waitUntil(lambda: not window.trouble_band.isHidden(), timeout=5000)
    assert window.trouble_band.headline.text() == "Under the contract: capped · GPU-0a1b2c3d"
    assert window.trouble_band.property("band") == "fail"
    services.bus.publish(WatchAlarm(NODE, "watch.idle", "GPU-0a1b2c3d-4e5f", 0, None, WORDS, disturb=True))
    qtbot.waitUntil(lambda: window.trouble_band.property("band") == "warn", timeout=5000)
    window.trouble("The file can't be written")
    assert window.trouble_band.property("band") == "fail", "a fault after a warning is told as a fault"
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
        ("Under the contract, GPU-0a1b2c3d", False, "fail", "gpu.power_w"), ("Under the contract, GPU-0a1b2c3d", True, "fail", "gpu.power_w")
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
