"""Are errors of the cards marks of the chart, is what the agent costs told, can what is put aside be drawn?"""

from __future__ import annotations

import json

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.pages.live_lanes import Lanes
from gpulease_gui.gui.pages.live_marks import error_spans
from gpulease_gui.gui.pages.live_words import cost_words
from gpulease_gui.services.series import Ring
from gpulease_gui.services.series_gaps import SeriesGaps
from gpulease_gui.services.watch import WatchView
from gpulease_gui.telemetry.figure_bounds import BEYOND
from gpulease_gui.telemetry.own_cost import SOURCE

NOW_S = 1_764_600_000.0


def ring(*values: float | None, outlined: bool = False) -> Ring:
    made = Ring()
    for second, value in enumerate(values):
        made.append(NOW_S + second, value)
    made.outlined = outlined
    return made


def marks(rings: dict[tuple[str, str], Ring]) -> list[tuple[str, float, float, str]]:
    view = WatchView("n", 1.0, {("gpu.power_w", "GPU-a"): ring(500.0), ("gpu.power_w", "GPU-b"): ring(400.0), **rings})
    specs = Lanes(lambda term: None).of(view)
    found = error_spans(view, specs, load_catalogue(), NOW_S)
    return [(str(one.words), one.start_s - NOW_S, (one.end_s or 0.0) - NOW_S, one.token) for one in found]


def test_that_an_xid_is_a_mark_with_its_number_its_name_and_its_card() -> None:
    (mark,) = marks({("gpu.xid", "GPU-b"): ring(None, None, 79.0)})
    assert mark[0].startswith("Xid 79 (") and mark[0].endswith("), GPU 1") and mark[1:] == (2.0, 2.0, "")


def test_that_noughts_and_missing_readings_are_no_error() -> None:
    assert marks({("gpu.pcie_replays", "GPU-a"): ring(0.0, None, 0.0, float("nan"))}) == []


def test_that_errors_that_follow_each_other_are_one_mark_and_a_state_that_lasts_is_a_stretch() -> None:
    replays = ring(*[float(second in (1, 5, 40)) for second in range(60)])
    pending = ring(*[1.0] * 45)
    assert marks({("gpu.pcie_replays", "GPU-a"): replays, ("gpu.remap_pending", "GPU-b"): pending}) == [
        ("Row remap pending, GPU 1", 0.0, 45.0, "warn"), ("New PCIe replays, GPU 0", 1.0, 1.0, ""), ("New PCIe replays, GPU 0", 40.0, 40.0, ""),
    ]  # fmt: skip


def test_that_the_mean_of_two_xids_of_a_stored_column_is_no_xid() -> None:
    ((words, *_),) = marks({("gpu.xid", "GPU-a"): ring(13.0, 79.0, 46.0, outlined=True)})
    assert words == "Xid 13, Xid 79, GPU 0"


def test_that_a_moment_in_the_column_of_a_month_is_no_stretch_of_an_hour() -> None:
    """A point that stands for 53 minutes says that something happened in them, not that it lasted so long."""
    def of_columns(*values: float) -> list[tuple[float, str]]:
        made = Ring()
        for place, value in enumerate(values):
            for share, one in ((0.01, 0.0), (0.02, value), (0.03, value / 2)):
                made.append(NOW_S + (place + share) * 3157.0, one)
        made.outlined = True
        view = WatchView("n", 3157.0, {("gpu.power_w", "GPU-a"): ring(500.0), ("gpu.remap_pending", "GPU-a"): made})
        found = error_spans(view, Lanes(lambda term: None).of(view), load_catalogue(), NOW_S)
        return [((one.end_s or 0.0) - one.start_s, one.token) for one in found]

    assert of_columns(0.0, 1.0, 0.0) == [(0.0, "")]
    ((lasted_s, token),) = of_columns(1.0, 1.0, 1.0)
    assert (round(lasted_s / 3157.0), token) == (3, "warn")


def test_that_of_too_many_errors_the_gravest_are_kept() -> None:
    shot, replays = ring(79.0), Ring()
    for place in range(300):
        replays.append(NOW_S + 20.0 * place, 1.0)
        replays.append(NOW_S + 20.0 * place + 1.0, 0.0)
    found = marks({("gpu.xid", "GPU-a"): shot, ("gpu.pcie_replays", "GPU-b"): replays})
    assert found[0][0].startswith("Xid 79") and len(found) == 120 and found[-1][1] == 299 * 20.0


def test_that_what_is_put_aside_is_offered_and_drawn_when_asked_for() -> None:
    view = WatchView("n", 1.0, {("gpu.power_limit_w", "GPU-a"): ring(700.0), ("gpu.power_w", "GPU-a"): ring(500.0)})
    lanes = Lanes(lambda term: None)
    assert [lane.id for lane in lanes.of(view)] == ["power:gpu.power_w"]
    assert [id_ for id_, _ in lanes.known(view)] == ["power:gpu.power_w", "power_limit:"]
    lanes.hidden.discard("power_limit:")
    assert [lane.id for lane in lanes.of(view)] == ["power:gpu.power_w", "power_limit:"]


def test_that_the_agent_says_what_it_costs_and_scripts_only_how_often_they_read() -> None:
    view = WatchView("n", 0.5, {("agent.cpu_percent", ""): ring(None, 2.0, 2.5)}, by_agent=True)
    assert str(cost_words(view)[1]) == "2 Hz · 2.2\N{THIN SPACE}% CPU"
    view.by_agent = False
    assert cost_words(view)[1] == Text("0.5 s", "0.5 秒")


def test_that_an_agent_that_costs_more_than_one_can_is_told_to_talk_nonsense() -> None:
    """A cost of 1e9 stood in the header as 25,125,628.3 % CPU, the mean of ten minutes."""
    view = WatchView("n", 1.0, by_agent=True)
    read, gaps = SOURCE.reader(), SeriesGaps(view)
    for second, told in enumerate((2.0, 1e9, 1e9)):
        at_s = NOW_S + second
        points = read.read(json.dumps({"cpu_percent": told, "memory_mib": 30.0}))
        for point in points:
            view.rings.setdefault((point.metric, point.subject), Ring()).append(at_s, point.value)
        gaps.hear(points, at_s)
    assert [value for value in view.rings["agent.cpu_percent", ""].view().values if value == value] == [2.0]
    assert cost_words(view)[1] == Text("1 Hz · CPU: not available, impossible figure", "1 Hz · CPU：不可用，数值不可能")


@pytest.mark.parametrize(("said", "read"), [(0.0, (0.0, "")), (999.0, (999.0, "")), (1000.1, (None, BEYOND)), (-1.0, (None, BEYOND)), (None, (None, ""))])
def test_that_only_what_a_process_can_take_is_a_cost(said: float | None, read: tuple[float | None, str]) -> None:
    cpu, _ = SOURCE.reader().read(json.dumps({"cpu_percent": said, "memory_mib": 30.0}))
    assert (cpu.value, cpu.why) == read
