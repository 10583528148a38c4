"""Does each event of the chart stand at its time, in windows of a minute and of a month, and is none of them out of sight?"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from PySide6.QtGui import QFontMetrics
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.models.cards import OfCards
from gpulease_gui.gui.models.stored import Stored
from gpulease_gui.gui.widgets.chart_scale import TimeScale, moment_text
from gpulease_gui.gui.widgets.chart_spec import Coarser, Happening, Hole, LaneSpec, Picture
from gpulease_gui.gui.widgets.lane_events import text_font
from gpulease_gui.gui.widgets.lane_marks import (
    FEW_PX,
    HALF_PX,
    ICON_PX,
    LEAST_EVENT_PX,
    QUIET,
    WORD_PX,
    Placed,
    Seen,
    arrange,
    fitting,
)
from gpulease_gui.gui.widgets.lane_paint import Columns
from gpulease_gui.gui.widgets.lane_stack import LaneStack

from .conftest import settle

NOW_S = 1_764_600_000.0
BOUNDS = (0, 900)
WINDOWS = [60.0, 300.0, 1800.0, 7200.0, 86_400.0, 7 * 86_400.0, 30 * 86_400.0]
XID = Text("Xid 79 (ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS), GPU 0", "Xid 79 (ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS)，GPU 0")
SHORT = Text("Xid 79, GPU 0", "Xid 79，GPU 0")


@pytest.fixture
def metrics(english: Translations, qtbot: QtBot) -> QFontMetrics:
    from gpulease_gui.gui.widgets.labels import PlainLabel

    label = PlainLabel("")
    qtbot.addWidget(label)
    return QFontMetrics(text_font(label.font()))


@pytest.fixture
def chart(english: Translations, qtbot: QtBot) -> Callable[[Picture, float], LaneStack]:
    def make(picture: Picture, window_s: float) -> LaneStack:
        stack = LaneStack(lambda: NOW_S)
        stack.resize(1200, 300)
        qtbot.addWidget(stack)
        stack.show_picture(picture)
        stack.set_window(window_s)
        stack.show()
        settle()
        stack.step()
        stack._events.grab()
        return stack

    return make


def xid(at_s: float = 0.0) -> Happening:
    return Happening(at_s, at_s, XID, "verdict-fail", "", short=SHORT)


def middle(placed: Placed) -> int:
    assert placed.icon is not None
    return placed.icon + ICON_PX // 2


def one(made: list[Placed], happening: Happening) -> Placed:
    return next(placed for placed in made if happening in placed.told)


@pytest.mark.parametrize("window_s", WINDOWS)
@pytest.mark.parametrize("share", [0.02, 0.35, 0.7, 0.98])
def test_that_the_icon_of_an_xid_stands_at_its_time_in_every_window(chart: Callable[[Picture, float], LaneStack], window_s: float, share: float) -> None:
    at_s = NOW_S - window_s * (1 - share)
    stack = chart(Picture((LaneSpec("power:", Text("Power", "功耗"), "W"),), (), (xid(at_s),)), window_s)
    plot = Columns(stack.font(), stack.row_width).plot(24)
    (placed,) = stack._events._placed
    assert middle(placed) == pytest.approx(plot.left() + share * plot.width(), abs=1.5)
    assert placed.words, "there is room for words"


@pytest.mark.parametrize("window_s", WINDOWS)
def test_that_what_happened_just_now_is_in_sight_in_every_window(chart: Callable[[Picture, float], LaneStack], window_s: float) -> None:
    late = [xid(NOW_S - 1.0), Happening(NOW_S - 1.0, None, "GPU lost, GPU 0", "bell", "fail"), Happening(NOW_S, NOW_S, "note: x", "flag", "")]
    stack = chart(Picture((), (), tuple(late)), window_s)
    held = [happening for placed in stack._events._placed for happening in placed.told]
    assert sorted(held, key=str) == sorted(late, key=str)
    right = Columns(stack.font(), stack.row_width).plot(24).right()
    assert all(placed.icon is not None and placed.icon + ICON_PX <= right + 1 for placed in stack._events._placed)


def test_that_a_column_of_a_month_that_is_not_full_yet_stands_at_the_edge(chart: Callable[[Picture, float], LaneStack]) -> None:
    """The right edge of the scale is a whole column: up to an hour before now."""
    stack = chart(Picture((), (), (xid(NOW_S - 1.0),)), 30 * 86_400.0)
    assert stack.scale().end_s < NOW_S - 1.0, "or this test shows nothing"
    (placed,) = stack._events._placed
    assert middle(placed) == Columns(stack.font(), stack.row_width).plot(24).right() - HALF_PX


def test_that_icons_that_would_lie_on_each_other_are_one_group_with_the_gravest_on_top(metrics: QFontMetrics) -> None:
    note, warned = Happening(0.0, 0.0, "note: x", "flag", ""), Happening(1.0, 1.0, "New PCIe replays, GPU 0", "verdict-warn", "")
    failed, lost = xid(2.0), Happening(3.0, 3.5, "GPU lost, GPU 0", "bell", "fail")
    made = arrange([Seen(note, (400, 400)), Seen(warned, (404, 404)), Seen(failed, (409, 409)), Seen(lost, (410, 411))], metrics, BOUNDS)
    (group,) = made
    assert group.told == (failed, lost, warned, note) and group.more == "+3" and middle(group) == 409
    assert group.words == str(XID) and group.text == 409 + WORD_PX
    assert group.more_at >= group.text + metrics.horizontalAdvance(group.words)
    apart = arrange([Seen(note, (400, 400)), Seen(failed, (400 + 2 * HALF_PX, 400 + 2 * HALF_PX))], metrics, BOUNDS)
    assert [middle(placed) for placed in apart] == [400 + 2 * HALF_PX, 400] and [placed.more for placed in apart] == ["", ""]


def test_that_a_number_that_has_no_room_takes_its_neighbour_into_the_group(metrics: QFontMetrics) -> None:
    told = [Seen(xid(float(n)), (x, x)) for n, x in enumerate((400, 401, 417))]
    (group,) = arrange(told, metrics, BOUNDS)
    assert (group.more, middle(group)) == ("+2", 400)
    edge = arrange([Seen(xid(1.0), (890, 890)), Seen(xid(2.0), (891, 891))], metrics, BOUNDS)
    assert edge[0].more == "+1" and edge[0].more_at + metrics.horizontalAdvance("+1") <= middle(edge[0]) - HALF_PX, "at the edge it stands at the left"


def test_that_words_have_room_or_are_fewer_or_stand_at_the_left_but_the_icon_stays(metrics: QFontMetrics) -> None:
    def words(x: int) -> tuple[str, bool]:
        (placed,) = arrange([Seen(xid(), (x, x))], metrics, BOUNDS)
        assert middle(placed) == x and 0 <= placed.text and placed.text + metrics.horizontalAdvance(placed.words) <= BOUNDS[1]
        return placed.words, placed.text > x

    assert words(100) == (str(XID), True)
    assert words(850) == (str(XID), False)
    (narrow,) = arrange([Seen(xid(), (50, 50))], metrics, (0, 100))
    assert (narrow.words, narrow.text) == ("", 0), "no stump"
    (fewer,) = arrange([Seen(xid(), (10, 10))], metrics, (0, 30 + metrics.horizontalAdvance(str(SHORT))))
    assert fewer.words == str(SHORT)


def test_that_the_words_of_an_event_are_whole_or_fewer_but_no_stump(metrics: QFontMetrics) -> None:
    whole = Happening(0.0, 1.0, "Too hot, GPU 2", "bell", "fail", of_cards=OfCards(Text("Too hot", "过热"), ("GPU-a",)))
    assert fitting(whole, metrics, metrics.horizontalAdvance("Too hot, GPU 2")) == "Too hot, GPU 2"
    assert fitting(whole, metrics, metrics.horizontalAdvance("Too hot, GPU 2") - 1) == "Too hot"
    assert fitting(whole, metrics, LEAST_EVENT_PX) == ""
    note = Happening(0.0, 0.0, "note: " + "long " * 40, "flag", "")
    assert fitting(note, metrics, FEW_PX - 1) == "" and fitting(note, metrics, 200).endswith("…")


def test_that_nobody_is_told_by_an_icon_that_nothing_went_wrong(metrics: QFontMetrics) -> None:
    quiet, broken = Happening(0.0, 100.0, "not recorded", "info", QUIET), Happening(0.0, 1.0, "Too hot", "bell", "fail")
    assert [placed.told for placed in arrange([Seen(quiet, (0, 60)), Seen(broken, (30, 30))], metrics, BOUNDS)] == [(broken,)]
    room = 40 + metrics.horizontalAdvance("not recorded")
    made = one(arrange([Seen(quiet, (0, 500)), Seen(broken, (500 - room, 900))], metrics, BOUNDS), quiet)
    assert (made.words, made.icon) == ("not recorded", 6)


def test_that_a_box_lies_over_its_own_time_and_words_that_do_not_fit_stand_beside_it(metrics: QFontMetrics) -> None:
    words = "all 8 GPUs: power cap, hardware slowdown"
    wide, slow = metrics.horizontalAdvance(words), Happening(0.0, None, words, "verdict-warn", "warn")
    assert arrange([Seen(slow, (100, 200 + wide))], metrics, BOUNDS) == [Placed((slow,), (100, 200 + wide), 106, words, 123)]
    assert arrange([Seen(slow, (840, 900))], metrics, BOUNDS) == [Placed((slow,), (840, 900), 846, words, 834 - wide)]
    assert arrange([Seen(slow, (10, 60))], metrics, BOUNDS) == [Placed((slow,), (10, 60), 16, words, 66)]
    assert arrange([Seen(slow, (840, 900))], metrics, (800, 900)) == [Placed((slow,), (840, 900), 846, "", 863)]


def test_that_a_moment_in_a_box_keeps_its_time_and_the_words_of_the_box_make_room(metrics: QFontMetrics) -> None:
    lost, shot = Happening(0.0, None, "GPU lost, GPU 0", "bell", "fail"), xid(0.0)
    made = arrange([Seen(lost, (400, 880)), Seen(shot, (400, 400))], metrics, BOUNDS)
    box, mark = one(made, lost), one(made, shot)
    assert box.box == (400, 880) and middle(mark) == 400 and mark.words == str(XID)
    said = (box.text, box.text + metrics.horizontalAdvance(box.words)), (mark.text, mark.text + metrics.horizontalAdvance(mark.words))
    assert box.words == "GPU lost, GPU 0" and (said[0][1] <= said[1][0] or said[1][1] <= said[0][0])
    (small, group) = arrange([Seen(lost, (400, 424)), Seen(shot, (410, 410))], metrics, BOUNDS)
    assert small.box == (400, 424) and small.icon is None and set(group.told) == {shot, lost} and middle(group) == 410, "no room for a second icon"


def test_that_nothing_drawn_lies_on_anything_else_however_much_happened(metrics: QFontMetrics) -> None:
    seen = [Seen(xid(float(n)), (n * 37 % 900, n * 37 % 900)) for n in range(120)]
    seen += [Seen(Happening(float(n), None, f"Too hot, GPU {n}", "bell", ("fail", "warn", "run")[n % 3]), (n * 61 % 800, n * 61 % 800 + 20 + n)) for n in range(60)]
    made = arrange(seen, metrics, BOUNDS)
    told = [id(happening) for placed in made if placed.icon is not None for happening in placed.told]
    assert sorted(told) == sorted(id(one.happening) for one in seen), "each has an icon, its own or that of its group"
    parts = [(placed.icon, placed.icon + ICON_PX) for placed in made if placed.icon is not None]
    parts += [(at, at + metrics.horizontalAdvance(words)) for placed in made for at, words in ((placed.text, placed.words), (placed.more_at, placed.more)) if words]
    assert all(first[1] <= second[0] for first, second in pairwise(sorted(parts)))
    boxes = sorted(placed.box for placed in made if placed.box is not None)
    assert boxes and all(first[1] <= second[0] for first, second in pairwise(boxes))


def test_that_a_group_tells_all_that_it_holds_under_the_pointer(chart: Callable[[Picture, float], LaneStack]) -> None:
    day_s = 86_400.0
    shots = tuple(xid(NOW_S - day_s - n) for n in range(14))
    stack = chart(Picture((), (Hole(NOW_S - 20 * day_s, NOW_S - 10 * day_s, "not watched", quiet=True),), shots,
                          coarser=(Coarser(NOW_S - 30 * day_s, NOW_S - 25 * day_s, 1800.0),)), 30 * day_s)  # fmt: skip
    row = stack._events
    group = next(placed for placed in row._placed if placed.more)
    told = row.told_at(middle(group)).split("\n")
    assert group.more == "+13" and len(told) == 13 and told[0] == f"{moment_text(shots[-1].start_s)}  {XID}"
    assert told[-1] == "and 2 more: zoom in to see them"
    plot = Columns(stack.font(), stack.row_width).plot(24)
    assert row.told_at(plot.left() + 0.4 * plot.width()).endswith("not watched") and row.told_at(plot.left() + 0.2 * plot.width()) == ""


def test_that_a_point_of_the_scale_is_the_point_of_the_event() -> None:
    scale = TimeScale.ending(NOW_S, 30 * 86_400.0, 820)
    assert NOW_S - scale.seconds_per_px < scale.end_s <= NOW_S


def test_that_the_strip_of_the_day_draws_nothing_over_a_hole(english: Translations, qtbot: QtBot) -> None:
    """Its ground went on over the hole, at the height of the last reading."""
    stack = LaneStack(lambda: NOW_S)
    qtbot.addWidget(stack)
    times = tuple(NOW_S - 80_000.0 + 90.0 * n for n in (*range(100), *range(500, 600)))
    recorded = ((times[0], times[99]), (times[100], times[-1]))
    stack.navigator.show_stored(Stored("n", Text("Power", "功耗"), span_s=(NOW_S - 86_400.0, NOW_S), times_s=times, high=(350.0,) * 200, recorded_s=recorded), 700.0)
    at, height = stack.navigator.ground.getData()
    inside = [value for second, value in zip(at.tolist(), height.tolist(), strict=True) if times[99] < NOW_S - 86_400.0 + second < times[100]]
    assert [height[99], height[100], height[101], height[102]] == [350.0, 0.0, 0.0, 350.0] and inside == []
    assert at[99] == at[100] and at[101] == at[102]
