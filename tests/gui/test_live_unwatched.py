"""Does the share of samples say for how long nobody watched, so that the node is not blamed for it?"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import Translations, say
from gpulease_gui.gui.main_window import MainWindow
from gpulease_gui.gui.models.past import Wish, read_past
from gpulease_gui.gui.models.unwatched import unwatched_spans, without
from gpulease_gui.gui.pages import live
from gpulease_gui.gui.pages.live_holes import NOT_RECORDED
from gpulease_gui.gui.pages.live_unwatched import missed_words, samples_words, unwatched_s
from gpulease_gui.gui.widgets.chart_figures import summaries
from gpulease_gui.gui.widgets.chart_spec import Curve, Hole, LaneSpec
from gpulease_gui.services.composition import Services
from gpulease_gui.services.intake import GapSpan
from gpulease_gui.services.series import Ring
from gpulease_gui.store.records import Gap, SampleBlock, Series
from gpulease_gui.store.samples import append_blocks, append_gap

NODE, NS = "demo-capped", 1_000_000_000


@pytest.mark.parametrize(("gaps", "seconds"), [
    ([], 0),
    ([(10, 40, "not_watched")], 30),
    ([(10, 40, "connection_lost"), (40, 50, "no_answer"), (60, None, "agent_ended")], 0),
    ([(-50, 10, "not_watched"), (90, 500, "computer_slept")], 20),
    ([(80, None, "own_network")], 20),
    ([(10, 40, "not_watched"), (20, 30, "fault"), (30, 60, "not_watched")], 50),
])  # fmt: skip
def test_that_only_time_for_which_we_are_the_reason_is_not_watched_and_none_counts_twice(
    gaps: list[tuple[float, float | None, str]], seconds: float
) -> None:
    assert unwatched_s([GapSpan(begin, why, end) for begin, end, why in gaps], 0.0, 100.0) == seconds


def test_that_the_share_says_beside_it_for_how_long_nobody_watched() -> None:
    assert [str(words) for words in samples_words(263, 1047, 760.0)] == [
        "Samples 25.1\u2009% of expected (12 min not watched)", "Samples 25.1\u2009% (12 min not watched)", "25.1\u2009% (12 min not watched)",
    ]  # fmt: skip
    assert samples_words(263, 1047, 760.0)[0].zh == "样本 25.1\u2009%（12 分未监控）"
    assert str(samples_words(990, 1000, 0.4)[0]) == "Samples 99.0\u2009% of expected"


def test_that_the_page_says_so_of_the_stretch_in_sight(make_window: Callable[..., MainWindow], demo: Services, english: Translations, qtbot: QtBot) -> None:
    begin_s = int(time.time()) - 3600  # what is a year old is removed
    blocks = [SampleBlock(Series(NODE, "gpu.power_w", "GPU-a", "W"), (begin_s + at) * NS, NS, array("f", [500.0] * 300)) for at in (0, 900)]
    demo.workspace.submit(lambda db: append_blocks(db, blocks)).result()
    demo.workspace.submit(lambda db: append_gap(db, Gap(NODE, (begin_s + 300) * NS, (begin_s + 900) * NS, "not_watched"))).result()
    window = make_window(live.PAGE)
    window.attach(demo)
    window.go("live", NODE)
    page = window.page
    assert isinstance(page, live.LivePage)
    qtbot.waitUntil(lambda: "not watched" in say(page.bar._sampled[0]), timeout=5000)
    qtbot.waitUntil(lambda: say(page.bar._sampled[0]) == "Samples 100.0\u2009% of expected (20 min not watched)", timeout=5000)
    assert page.bar._samples_told[1] is False, "no word against the node: of 30 min the first 10 and 10 in the middle were not watched"


def shares(gap: tuple[int, int, str] | None, services: Services) -> tuple[tuple[int, int], tuple[int, int]]:
    """(samples, due) of 1,000 s of a card: as a watch holds them, and as they are stored. Nothing was read in the gap."""
    start_s, ring = int(time.time()) - 3600, Ring()
    read = [float("nan") if gap and gap[0] <= at < gap[1] else 500.0 for at in range(1000)]
    for at, value in enumerate(read):
        if value == value:
            ring.append(start_s + float(at), value)
    block = SampleBlock(Series(NODE, "gpu.power_w", "GPU-a", "W"), start_s * NS, NS, array("f", read))
    services.workspace.submit(lambda db: append_blocks(db, [block])).result()
    told = () if gap is None else (GapSpan(start_s + gap[0], gap[2], start_s + gap[1]),)
    for one in told:
        noted = Gap(NODE, int(one.start_s * NS), int((one.end_s or 0.0) * NS), one.reason)
        services.workspace.submit(lambda db, noted=noted: append_gap(db, noted)).result()
    spec = LaneSpec("power:", Text("Power", "功耗"), "W", (Curve("GPU-a", 0, "0", ring),), alike=True)
    (live_row,) = summaries(spec, start_s, start_s + 1000.0, 1.0, unwatched=unwatched_spans(told, start_s, start_s + 1000.0))
    with services.workspace.read() as connection:
        figures, due = read_past(connection, Wish(NODE, start_s, start_s + 1000.0, 2000, (start_s, start_s + 1000.0)), {}).figures["gpu.power_w", ""]
    return (live_row.figures.count, live_row.expected), (figures.count, due)


@pytest.mark.parametrize("reason", ["not_watched", "computer_slept", "clock_set", "own_network", "fault"])
def test_that_no_sample_is_due_while_nobody_watched(demo: Services, reason: str) -> None:
    assert shares((300, 700, reason), demo) == ((600, 600), (600, 600))


@pytest.mark.parametrize("reason", ["connection_lost", "no_answer", "agent_ended", "nothing_to_read", "not_reached_tcp"])
def test_that_a_node_that_was_watched_and_said_nothing_owes_its_samples(demo: Services, reason: str) -> None:
    watched, stored = shares((300, 700, reason), demo)
    assert watched == (600, 1000) and stored == (600, 999)


def test_that_the_time_before_and_after_all_that_was_recorded_is_told_as_not_watched() -> None:
    holes = (Hole(0.0, 30.0, NOT_RECORDED, quiet=True), Hole(50.0, 60.0, NOT_RECORDED, "gpu", quiet=True), Hole(80.0, None, NOT_RECORDED, quiet=True))
    assert unwatched_s([GapSpan(20.0, "not_watched", 40.0)], 0.0, 100.0, holes) == 60.0, "a source that was not read is no such time"


def test_that_over_a_month_the_time_in_which_nobody_watched_is_known_to_the_second(demo: Services) -> None:
    """A column of a month is 53 minutes: the share of a day that was read whole was 97 %."""
    end_s = int(time.time()) - 3600
    blocks = [
        SampleBlock(Series(NODE, "gpu.power_w", "GPU-a", "W"), (end_s + at) * NS, NS, array("f", [500.0] * 600))
        for at in (*range(-90_000, -80_000, 600), *range(-12_000, 0, 600))
    ]  # fmt: skip
    demo.workspace.submit(lambda db: append_blocks(db, blocks)).result()
    recorded = ((end_s - 90_000.0, end_s - 79_800.0), (end_s - 12_000.0, float(end_s)))
    wish = Wish(NODE, end_s - 30 * 86_400.0, float(end_s), 800, (end_s - 30 * 86_400.0, float(end_s)), recorded_s=recorded)
    with demo.workspace.read() as connection:
        figures, due = read_past(connection, wish, {}).figures["gpu.power_w", ""]
    assert figures.count == 22_200 and due == pytest.approx(22_200, abs=70)


def test_that_what_was_noted_is_no_time_in_which_nobody_watched() -> None:
    assert without([(0.0, 50.0), (60.0, 90.0)], [(10.0, 20.0), (15.0, 25.0), (80.0, 95.0)], 5.0, 100.0) == ((5.0, 10.0), (25.0, 50.0), (60.0, 80.0))


@pytest.mark.parametrize(("seconds", "said"), [(119.4, "119 s"), (7140.0, "119 min"), (4 * 3600.0, "4 h"), (3 * 86_400 - 1.0, "71 h"), (29 * 86_400.0, "29 d")])
def test_that_a_long_time_is_told_in_days(seconds: float, said: str) -> None:
    assert missed_words([seconds]).en == f" ({said} not watched)"


def test_that_a_silence_of_which_only_a_part_was_noted_is_hatched_whole(demo: Services) -> None:
    start_s = int(time.time()) - 3600
    blocks = [SampleBlock(Series(NODE, "gpu.power_w", "GPU-a", "W"), (start_s + at) * NS, NS, array("f", [500.0] * 300)) for at in (0, 900)]
    demo.workspace.submit(lambda db: append_blocks(db, blocks)).result()
    demo.workspace.submit(lambda db: append_gap(db, Gap(NODE, (start_s + 600) * NS, (start_s + 900) * NS, "no_answer"))).result()
    with demo.workspace.read() as connection:
        past = read_past(connection, Wish(NODE, start_s, start_s + 1200.0, 2000, (start_s, start_s + 1200.0)), {})
    assert [(gap.start_s - start_s, (gap.end_s or 0.0) - start_s, gap.reason) for gap in past.view.gaps] == [(300.0, 600.0, "not_recorded"), (600.0, 900.0, "no_answer")]
    figures, due = past.figures["gpu.power_w", ""]
    assert (figures.count, due) == (600, 899), "the node owes the samples of the time in which it gave no answer"
