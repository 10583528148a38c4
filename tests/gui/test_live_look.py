"""Is one thing called by one name on the Live page, is nothing cut to a stump, and is unknown time hatched everywhere?"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime

import pytest
from PySide6.QtCore import QCoreApplication, QRect, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QHBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.help import shortcuts_dialog
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.models.cards import OfCards, card_name, card_place
from gpulease_gui.gui.models.local_times import in_local_time
from gpulease_gui.gui.models.stored import Stored, between_recorded
from gpulease_gui.gui.models.verified import Verified, cards_found
from gpulease_gui.gui.pages.live_bar import WINDOWS_S, LiveBar
from gpulease_gui.gui.pages.live_holes import NO_READING, NOT_RECORDED, unknown_holes
from gpulease_gui.gui.pages.live_lanes import Lanes
from gpulease_gui.gui.pages.live_unwatched import samples_words
from gpulease_gui.gui.pages.page import Target
from gpulease_gui.gui.theme.theme import Theme, ThemeMode, colours
from gpulease_gui.gui.widgets.chart_keys import KEYS
from gpulease_gui.gui.widgets.chart_pens import IDLE, KEPT, paint_strip
from gpulease_gui.gui.widgets.chart_scale import moment_text, range_text
from gpulease_gui.gui.widgets.chart_spec import Hole, LaneSpec, Picture
from gpulease_gui.gui.widgets.fitted import FittedBand
from gpulease_gui.gui.widgets.header import TargetBand
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.lane import Lane
from gpulease_gui.gui.widgets.lane_stack import LaneStack
from gpulease_gui.services.events import NodeState
from gpulease_gui.services.series import Ring
from gpulease_gui.services.watch import WatchView

from .conftest import settle

NOW_S = 1_764_600_000.0


@pytest.fixture
def in_shanghai() -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Asia/Shanghai"
    time.tzset()
    yield
    if before is None:
        del os.environ["TZ"]
    else:
        os.environ["TZ"] = before
    time.tzset()


def view_with(times_s: list[float], card: str = "GPU-a") -> WatchView:
    view = WatchView("n", 1.0, state=NodeState.CONNECTED)
    ring = view.rings["gpu.power_w", card] = Ring()
    for at_s in times_s:
        ring.append(at_s, 500.0)
    return view


def lanes_of(view: WatchView) -> tuple[LaneSpec, ...]:
    return Lanes(lambda term: None).of(view)


# -- names --------------------------------------------------------------------------------------------------------------


def test_that_a_card_keeps_its_name_by_uuid_whatever_number_the_node_gives_it_later() -> None:
    view = WatchView("n", 1.0)
    for card, index in (("GPU-a", 0), ("GPU-b", 1), ("GPU-b", 0), ("GPU-c", 1)):
        view.number(card, index)
    assert view.indexes == {"GPU-a": 0, "GPU-b": 0, "GPU-c": 1}
    assert view.numbers == {"GPU-a": 0, "GPU-b": 1, "GPU-c": 2}


def test_that_lanes_call_a_card_as_its_watch_does_and_number_the_others_around_it() -> None:
    view = view_with([NOW_S], "GPU-x")
    for card in ("GPU-b", "GPU-c"):
        view.rings["gpu.power_w", card] = view.rings["gpu.power_w", "GPU-x"]
    view.numbers = {"GPU-b": 1}
    lanes = Lanes(lambda term: None)
    (spec,) = lanes.of(view)
    assert {curve.subject: curve.number for curve in spec.curves} == {"GPU-x": 0, "GPU-b": 1, "GPU-c": 2} == lanes.numbers


def test_that_events_name_cards_like_the_readout() -> None:
    numbers, hot = {"GPU-a": 2, "GPU-b": 5}, Text("Too hot", "过热")
    assert OfCards(hot, ("GPU-b", "GPU-a")).words(numbers, 8) == Text("Too hot, GPU 2, 5", "过热，GPU 2、5")
    assert OfCards(hot, ("GPU-b", "GPU-a")).words(numbers, 2) == Text("Too hot, all 2 GPUs", "过热，全部 2 卡")
    assert OfCards(hot, ("GPU-b", "GPU-z")).words(numbers, 8) == Text("Too hot, 2 cards", "过热，2 张卡")
    assert OfCards(hot, ("",)).words(numbers, 8) == hot
    assert card_name("\x1bGPU", {}) == "␛GPU"


def test_that_the_chip_of_an_npu_has_one_name_in_chart_readout_events_and_lists(english: Translations, qtbot: QtBot) -> None:
    view, hot = view_with([NOW_S]), Text("Too hot", "过热")
    ring = view.rings.pop(("gpu.power_w", "GPU-a"))
    for chip in ("0/0", "0/1", "10/0", "2/0"):
        view.rings["npu.power_w", chip] = ring
    lanes = Lanes(lambda term: None)
    (spec,) = lanes.of(view)
    assert [spec.name(curve.number) for curve in spec.curves] == [card_name(curve.subject, lanes.numbers) for curve in spec.curves]
    assert [spec.name(curve.number) for curve in spec.curves] == ["NPU 0/0", "NPU 0/1", "NPU 10/0", "NPU 2/0"]
    lane = Lane(spec, 1.0)
    qtbot.addWidget(lane)
    assert [line.name for line in lane._lines()[0]] == ["0/0", "0/1", "10/0", "2/0"]
    assert lane.identity_words() == "NPU 0/0\nNPU 0/1\nNPU 10/0\nNPU 2/0"
    assert OfCards(hot, ("10/0",)).words(lanes.numbers, 4) == Text("Too hot, NPU 10/0", "过热，NPU 10/0")
    assert OfCards(hot, ("10/0", "2/0")).words({}, 4) == Text("Too hot, NPU 2/0, 10/0", "过热，NPU 2/0、10/0")
    assert OfCards(hot, tuple(lanes.numbers)).words(lanes.numbers, 4) == Text("Too hot, all 4 NPUs", "过热，全部 4 张 NPU")
    assert sorted(["10/0", "2/0", "2/1"], key=lambda chip: card_place(chip, {})) == ["2/0", "2/1", "10/0"]


def test_that_times_in_words_are_those_of_the_users_clock(in_shanghai: None) -> None:
    said = in_local_time(Text("slow, since 2020-05-01 20:30:05 UTC", "慢，自 2020-05-01 20:30:05 UTC 起"))
    assert said == Text("slow, since 2020-05-02 04:30:05 UTC+8", "慢，自 2020-05-02 04:30:05 UTC+8 起")
    odd = Text("slow, since 2020-99-01 20:30:05 UTC", "慢，自 2020-99-01 20:30:05 UTC 起")
    assert in_local_time(odd) == odd
    beside = in_local_time(Text("slow, since 2020-05-01 20:30:05 UTC", "慢，自 2020-05-01 20:30:05 UTC 起"), zoned=False)
    assert beside == Text("slow, since 2020-05-02 04:30:05", "慢，自 2020-05-02 04:30:05 起")


def test_that_times_in_the_words_of_a_node_stay_as_it_wrote_them(in_shanghai: None) -> None:
    said = "NVRM since 2020-05-01 09:00:00 UTC, 自 2020-05-01 09:00:00 UTC 起"
    told = in_local_time(Text(f"lost, since 2020-05-01 20:30:05 UTC: {said}", f"丢失，自 2020-05-01 20:30:05 UTC 起：{said}"))
    assert told == Text(f"lost, since 2020-05-02 04:30:05 UTC+8: {said}", f"丢失，自 2020-05-02 04:30:05 UTC+8 起：{said}")


def test_that_a_time_of_another_day_has_its_day(in_shanghai: None) -> None:
    assert moment_text(1_588_365_005.0) == "05-02 04:30:05"
    assert range_text(1_588_365_005.0, 1_588_368_605.0) == "05-02 04:30:05 – 05:30:05"
    assert range_text(1_588_365_005.0, 1_588_451_405.0) == "05-02 04:30 – 05-03 04:30"
    noon_s = datetime.now().astimezone().replace(hour=12, minute=0, second=0, microsecond=0).timestamp()
    assert moment_text(noon_s) == "12:00:00" and range_text(noon_s - 60, noon_s) == "11:59:00 – 12:00:00"


# -- unknown time -------------------------------------------------------------------------------------------------------


def test_that_time_before_a_watch_and_between_two_is_not_recorded() -> None:
    stored = Stored("n", recorded_s=((NOW_S - 900, NOW_S - 600),))
    view = view_with([NOW_S - 100 + second for second in range(101)])
    holes = unknown_holes((NOW_S - 1000, NOW_S), lanes_of(view), view, stored, (), NOW_S, running=True)
    assert [(hole.start_s - NOW_S, (hole.end_s or 0) - NOW_S, hole.reason) for hole in holes] == [
        (-1000, -900, NOT_RECORDED), (-600, -100, NOT_RECORDED),
    ]  # fmt: skip


def test_that_a_silence_of_some_samples_is_a_hole_unless_the_watch_tells_why() -> None:
    view = view_with([*range(20), *range(30, 60)])
    (hole,) = unknown_holes((0.0, 60.0), lanes_of(view), view, None, (), 60.0, running=True)
    assert (hole.start_s, hole.end_s, hole.reason, hole.source) == (20.0, 30.0, NO_READING, "gpu")
    told = (Hole(21.0, 29.0, "line lost"),)
    assert unknown_holes((0.0, 60.0), lanes_of(view), view, None, told, 60.0, running=True) == ()
    late = unknown_holes((30.0, 90.0), lanes_of(view), view, None, (), 90.0, running=True)
    assert [(one.start_s, one.end_s) for one in late] == [(60.0, None)], "what is late is unknown up to now"
    assert unknown_holes((30.0, 90.0), lanes_of(view), view, None, (), 90.0, running=False) == ()


def test_that_the_navigator_knows_what_lies_before_between_and_after_what_was_recorded() -> None:
    assert between_recorded([(50.0, 60.0), (10.0, 40.0)], 0.0, 100.0) == [(0.0, 10.0), (40.0, 50.0), (60.0, 100.0)]
    assert between_recorded([(-5.0, 99.0)], 0.0, 100.0) == [] and between_recorded([], 0.0, 9.0) == [(0.0, 9.0)]


@pytest.mark.parametrize("mode", [ThemeMode.LIGHT, ThemeMode.DARK])
def test_that_a_strip_tells_broken_warned_kept_and_idle_apart_without_colour(mode: ThemeMode, theme: Theme) -> None:
    theme.choose(mode)
    shapes = []
    for token in ("fail", "warn", KEPT, IDLE, ""):
        image = QImage(1, 4, QImage.Format.Format_RGB32)
        image.fill(colours().plot)
        painter = QPainter(image)
        paint_strip(painter, QRect(0, 0, 1, 4), token)
        painter.end()
        shapes.append("".join("." if image.pixelColor(0, y).name() == colours().plot.lower() else "x" for y in range(4)))
    assert shapes == ["xxxx", "x..x", "..xx", "..x.", "...."]


# -- room ---------------------------------------------------------------------------------------------------------------


def held(part: QWidget, qtbot: QtBot) -> QWidget:
    """A window is never narrower than its layout; a part of one may be."""
    window = QWidget()
    window.resize(1440, 100)
    qtbot.addWidget(window)
    part.setParent(window)
    window.show()
    part.show()
    return window


def shown(parent: QWidget) -> list[QWidget]:
    return [one for one in parent.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly) if one.isVisible()]


@pytest.mark.parametrize("language", list(Language))
def test_that_a_narrow_bar_has_the_windows_as_a_list_and_cuts_nothing(language: Language, english: Translations, qtbot: QtBot) -> None:
    bar = LiveBar()
    window = held(bar, qtbot)
    english.switch(language)
    bar.show_samples(Text("Samples 97.2 % of expected", "样本 97.2 %"), low=False, shorter=(Text("Samples 97.2 %", "样本 97.2 %"),))
    for width, as_list in ((1400, False), (820, True)):
        bar.resize(width, 40)
        QCoreApplication.sendPostedEvents()
        assert (bar.span_box.isVisible(), bar.span.isVisible()) == (as_list, not as_list)
        assert [one for one in shown(bar) if one is not bar.nodes and one.width() < one.minimumSizeHint().width()] == []
        assert max(one.geometry().right() for one in shown(bar)) < width
    assert window.isVisible()


def test_that_the_bar_says_as_much_of_the_samples_as_it_has_room_for_before_the_windows_become_a_list(english: Translations, qtbot: QtBot) -> None:
    bar = LiveBar()
    window = held(bar, qtbot)
    forms = samples_words(99, 100, 2760.0)
    bar.show_samples(forms[0], low=False, shorter=forms[1:])
    seen: dict[str, set[bool]] = {}
    for width in range(1400, 800, -4):
        bar.resize(width, 40)
        bar.fit()
        seen.setdefault(bar._samples.text(), set()).add(bar.span.isVisible())
    assert list(seen) == [str(form) for form in forms], "from the longest to the shortest, and back in the room of the list"
    assert True in seen[str(forms[1])] and True in seen[str(forms[2])]
    assert window.isVisible()


def test_that_the_window_that_is_lit_is_the_one_in_sight_whoever_chose_it(english: Translations, qtbot: QtBot) -> None:
    bar, chart = LiveBar(), LaneStack(lambda: NOW_S)
    qtbot.addWidget(bar)
    qtbot.addWidget(chart)
    chart.spanned.connect(bar.show_window)
    for key, seconds in WINDOWS_S.items():
        chart.set_window(seconds)
        assert (bar.span.current, bar.span_box.currentIndex()) == (key, list(WINDOWS_S).index(key))
    chart.look_at(NOW_S - 7000.0, NOW_S)
    assert bar.span.current == "" and bar.span_box.currentIndex() == -1 and bar.span_box.placeholderText() == "1.9 h"
    chart.look_at(NOW_S - 7199.0, NOW_S)
    assert bar.span.current == "2h" and bar.span_box.currentText() == "2 h"


def test_that_a_narrow_target_band_leaves_facts_out_and_cuts_none(english: Translations, qtbot: QtBot) -> None:
    band = TargetBand()
    window = held(band, qtbot)
    facts = tuple((Text(f"Fact {number}", f"事实 {number}"), "some words of it") for number in range(5))
    band.resize(1400, 32)
    band.show_target(Target("node-07", "203.0.113.17:34446", "HT-1", "", NodeState.CONNECTED, facts=facts))
    counts = []
    for width in (1400, 700, 420):
        band.resize(width, 32)
        QCoreApplication.sendPostedEvents()
        labels = [one for one in shown(band) if isinstance(one, PlainLabel)]
        assert [one.text() for one in labels if one.width() < one.minimumSizeHint().width()] == []
        assert "node-07" in [one.text() for one in labels]
        counts.append(len(labels))
    assert counts[0] > counts[1] > counts[2]
    assert "Fact 4" in band.toolTip() and window.isVisible()


class Counting(FittedBand):
    """A band that counts how often it is asked to fit."""

    def __init__(self) -> None:
        super().__init__()
        self.count, self.label = 0, PlainLabel(Text("short", "短"))
        QHBoxLayout(self).addWidget(self.label)

    def fit(self) -> None:
        self.count += 1


def test_that_a_band_fits_itself_anew_when_its_width_its_words_or_the_language_change(english: Translations, qtbot: QtBot) -> None:
    band = Counting()
    window = held(band, qtbot)
    for change in (lambda: band.resize(500, 40), lambda: band.label.set_words("much longer"), lambda: band.label.set_words(Text("long", "很长")),
                   lambda: english.switch(Language.ZH)):  # fmt: skip
        settle()
        before = band.count
        change()
        settle()
        assert band.count > before, band.label.text()
    assert window.isVisible() and issubclass(LiveBar, FittedBand) and issubclass(TargetBand, FittedBand)


# -- keys, facts --------------------------------------------------------------------------------------------------------


def test_that_the_cursor_and_a_range_are_set_by_keys(english: Translations, qtbot: QtBot) -> None:
    view = view_with([NOW_S - 100 + second for second in range(101)])
    chart = LaneStack(lambda: NOW_S)
    qtbot.addWidget(chart)
    chart.show_picture(Picture(lanes_of(view)))
    chart.set_window(120.0)
    QTest.keyClick(chart, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert chart.read_at == (True, NOW_S - 1.0)
    QTest.keyClick(chart, Qt.Key.Key_BracketRight)
    for _ in range(9):
        QTest.keyClick(chart, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(chart, Qt.Key.Key_BracketLeft)
    assert chart.chosen_s == (NOW_S - 10.0, NOW_S - 1.0) and not chart.paused
    QTest.keyClick(chart, Qt.Key.Key_Escape)
    assert chart.chosen_s is None and chart.read_at[0]
    QTest.keyClick(chart, Qt.Key.Key_Escape)
    assert not chart.read_at[0]


def test_that_every_key_of_the_chart_does_one_thing_and_is_in_the_list_of_keys(english: Translations, qtbot: QtBot) -> None:
    assert max(Counter((key, one.shift) for one in KEYS for key in one.keys).values()) == 1
    parent = QWidget()
    qtbot.addWidget(parent)
    said = [label.text() for label in shortcuts_dialog((), parent).findChildren(PlainLabel)]
    assert all(one.shown in said and str(one.act.value) in said for one in KEYS)


def test_that_the_target_says_what_was_found_and_how_far_off_the_clock_is() -> None:
    def found(check: str, term: str, measured: str | int) -> Finding:
        return Finding(check, Verdict.FAIL, Text("", ""), term, measured=measured)

    one = [found("gpu.model", "gpu.model", "H100 PCIe"), found("gpu.count", "gpu.count", 8)]
    assert cards_found(one) == Text("8 × H100 PCIe", "8 × H100 PCIe")
    assert cards_found([*one, found("gpu.model", "gpu.model", "A100")]) == Text("8 × H100 PCIe and others", "8 × H100 PCIe 等")
    assert cards_found([found("gpu.count", "gpu.count", 8)]) is None
    assert Verified(clock_offset_s=-0.181).clock == Text("\N{MINUS SIGN}0.18 s", "\N{MINUS SIGN}0.18 秒") and Verified().clock is None
