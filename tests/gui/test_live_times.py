"""Is the time under a promise that of the readings, and only bounded where summaries are all that is left?"""

from __future__ import annotations

from array import array
from dataclasses import replace

import numpy as np
import pytest

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.models.past import Wish, read_past
from gpulease_gui.gui.models.past_times import Judged
from gpulease_gui.gui.pages.live_figures import pending_rows
from gpulease_gui.gui.pages.live_table import CANNOT_TELL, PENDING, TOO_LITTLE, figures_table, verdict_of
from gpulease_gui.gui.widgets import chart_data as data
from gpulease_gui.gui.widgets.chart_data import Figures
from gpulease_gui.gui.widgets.chart_figures import Summary, summaries
from gpulease_gui.gui.widgets.chart_spec import Curve, LaneSpec, Promised, Rule
from gpulease_gui.gui.widgets.lasting import lasting_s
from gpulease_gui.gui.widgets.strip import Kept, Times, strip
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.services.composition import Services
from gpulease_gui.services.series import Ring
from gpulease_gui.store import samples
from gpulease_gui.store.records import SampleBlock, Series

NODE, START_S, _NS = "demo-capped", 1_000_800, 1_000_000_000
WATTS = Promised(700.0, Rule.HELD, 0.97, 0.93)
POWER = Judged("gpu.power_w", WATTS)


def keep(demo: Services, metric: str, card: str, values: list[float]) -> None:
    blocks = [
        SampleBlock(Series(NODE, metric, card, ""), (START_S + n) * _NS, _NS, array("f", values[n : n + 600]))
        for n in range(0, len(values), 600)
    ]
    demo.workspace.submit(lambda db: samples.append_blocks(db, blocks)).result()


def told(demo: Services, seconds: int, columns: int, span: tuple[int, int] | None = None, judged: Judged = POWER) -> Times:
    begin, end = span or (0, seconds)
    wish = Wish(NODE, START_S, START_S + seconds, columns, (START_S + begin, START_S + end), 1.0, (judged,))
    with demo.workspace.read() as connection:
        past = read_past(connection, wish, {})
    return past.times["gpu.power_w" if judged is POWER else "net.rx_gbit_s", "" if judged is POWER else "eth0"]


def row(times: Times) -> Summary:
    curve = Curve("GPU-a", 0, "GPU-a", Ring())
    lane = LaneSpec("power:gpu.power_w", Text("Power", "功耗"), "W", (curve,), 0, WATTS, "gpu.power_w", True)
    (kept, a), (warned, b), (broken, c) = times.kept_s, times.warned_s, times.broken_s
    return Summary(lane, None, Figures(1, 1.0, 1.0, 1.0, 1.0, 1.0), 1, kept, warned, broken, (a, b, c), lasting_s=times.lasting_s)


def test_that_a_bit_of_one_second_is_one_second_wherever_readings_are_left_and_bounded_elsewhere(demo: Services) -> None:
    seconds = 14_400
    keep(demo, "gpu.power_w", "GPU-a", [90.0] * seconds)
    keep(demo, "gpu.event_reasons", "GPU-a", [4.0 if n % 600 == 300 else 0.0 for n in range(seconds)])
    assert told(demo, 3600, 900) == Times(broken_s=(6.0, 6.0))
    rough = Times(broken_s=(24.0, 240.0), lasting_s=(0.0, 240.0))
    assert told(demo, seconds, 900) == rough, "of each ten seconds with a bit: one to ten"
    assert told(demo, seconds, 900, (3600, 6000)) == Times(broken_s=(4.0, 4.0)), "a chosen range is read as finely as it allows"
    assert figures_table().columns[8].cell(row(rough)).text == Text("24 s–4 min", "24 秒–4 分")
    assert verdict_of(row(rough)) is CANNOT_TELL
    fine = row(told(demo, 3600, 900))
    assert verdict_of(fine) == badge_of(Verdict.WARN), "six single seconds are no stretch"
    cell = figures_table().columns[8].cell(fine)
    assert (cell.text, "do not follow" in str(cell.tip)) == (Text("6 s", "6 秒"), True)


def test_that_three_seconds_that_follow_one_another_are_a_stretch_at_each_zoom_that_has_the_readings(demo: Services) -> None:
    keep(demo, "gpu.power_w", "GPU-a", [90.0] * 14_400)
    keep(demo, "gpu.event_reasons", "GPU-a", [4.0 if n in (300, 302, 304, 900) or 7200 <= n < 7260 else 0.0 for n in range(14_400)])
    assert told(demo, 600, 900) == Times(broken_s=(3.0, 3.0), lasting_s=(3.0, 3.0)), "those between are nearer than five seconds"
    assert told(demo, 3600, 900) == Times(broken_s=(4.0, 4.0), lasting_s=(3.0, 3.0))
    whole = told(demo, 14_400, 900)
    assert (whole.broken_s, whole.lasting_s) == ((8.0, 80.0), (0.0, 80.0)), "of summaries of bits one reading each is sure"
    assert verdict_of(row(told(demo, 3600, 900))) == badge_of(Verdict.FAIL) and verdict_of(row(whole)) is CANNOT_TELL


@pytest.mark.parametrize(("interval_s", "bad", "lasting"), [(5.0, 1, 0.0), (5.0, 2, 0.0), (5.0, 3, 15.0), (2.0, 2, 0.0), (2.0, 3, 6.0), (0.1, 30, 3.0)])
def test_that_no_fewer_than_three_readings_make_a_stretch_at_any_rate(interval_s: float, bad: int, lasting: float) -> None:
    steps = np.full(40, interval_s)
    assert lasting_s(np.arange(40) * interval_s, steps, np.where(np.arange(40) < bad, interval_s, 0.0), 0.0 * steps, interval_s) == lasting


@pytest.mark.parametrize(("bad", "lasting"), [
    ([1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1], 0.0), ([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1], 3.0), ([1, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1], 3.0), ([1, 1], 0.0),
])  # fmt: skip
def test_that_what_lies_more_than_five_seconds_apart_is_no_stretch(bad: list[int], lasting: float) -> None:
    ones = np.ones(len(bad))
    assert lasting_s(np.arange(len(bad)) * 1.0, ones, np.array(bad) * 1.0, 0.0 * ones) == lasting
    rings = Ring(), Ring()
    for second, one in enumerate([*bad, 0]):
        rings[0].append(1000.5 + second, 90.0)
        rings[1].append(1000.5 + second, 4.0 * one)
    lane = replace(row(Times()).lane, curves=(Curve("GPU-a", 0, "GPU-a", rings[0], reasons=rings[1]),))
    (live,) = summaries(lane, 999.0, 1003.0 + len(bad), 1.0)
    assert (live.broken_s, live.lasting_s) == (sum(bad), (lasting, lasting))
    assert (verdict_of(live) == badge_of(Verdict.FAIL)) is bool(lasting)


def test_that_a_bit_somewhere_in_a_slot_fails_no_card_that_reached_its_promise_in_it(demo: Services) -> None:
    seconds = 14_400
    keep(demo, "gpu.power_w", "GPU-a", [690.0 if n % 10 == 5 else 90.0 for n in range(seconds)])
    keep(demo, "gpu.event_reasons", "GPU-a", [4.0 if n % 600 == 305 else 0.0 for n in range(seconds)])
    exact, rough = told(demo, 3600, 900), told(demo, seconds, 900)
    assert exact == Times(kept_s=(360.0, 360.0))
    assert rough.broken_s == (0.0, 216.0)
    assert verdict_of(row(rough)) is CANNOT_TELL
    assert str(figures_table().columns[10].cell(row(rough)).text) == "zoom in to tell"


def test_that_one_card_at_its_promise_does_not_hide_seven_under_it(demo: Services) -> None:
    keep(demo, "gpu.power_w", "GPU-0", [690.0] * 1200)
    for card in range(1, 8):
        keep(demo, "gpu.power_w", f"GPU-{card}", [540.0] * 1200)
    assert told(demo, 1200, 900) == Times()
    assert verdict_of(row(Times())) is TOO_LITTLE
    high, low = Ring(), Ring()
    high.append(1000.5, 690.0)
    low.append(1000.5, 540.0)
    grid, curves = data.Grid(1000, 1, 1.0), [data.read(high), data.read(low)]
    assert strip(WATTS, curves, [None, None], grid, 1.0).tolist() == [Kept.IDLE]
    assert strip(WATTS, curves[:1], [None], grid, 1.0).tolist() == [Kept.KEPT]


def test_that_full_cards_keep_their_promise_at_each_zoom(demo: Services) -> None:
    for card in range(2):
        keep(demo, "gpu.power_w", f"GPU-{card}", [690.0] * 14_400)
    assert told(demo, 1200, 900).kept_s == (1200.0, 1200.0)
    assert told(demo, 14_400, 900).kept_s == (14_400.0, 14_400.0)


def test_that_a_line_is_judged_while_a_check_loads_it_only(demo: Services) -> None:
    keep(demo, "net.rx_gbit_s", "eth0", [25.0] * 14_400)
    judged = Judged("network.gbit_s", Promised(100.0, Rule.CHECKED, 0.9, 0.8), ((START_S + 100.0, START_S + 125.0),))
    assert told(demo, 1200, 900, judged=judged).broken_s == (21.0, 21.0)
    assert told(demo, 14_400, 900, judged=judged).broken_s == (10.0, 21.0)


def test_that_a_chosen_range_of_a_month_has_its_own_samples_and_its_lost_card(demo: Services) -> None:
    for card, seconds in (("GPU-a", 7200), ("GPU-b", 4200)):
        keep(demo, "gpu.power_w", card, [350.0] * seconds)
    chosen = START_S + 3000.0, START_S + 5400.0
    wish = Wish(NODE, START_S - 2_592_000.0 + 7200, START_S + 7200.0, 900, chosen)
    with demo.workspace.read() as connection:
        figures, expected = read_past(connection, wish, {}).figures["gpu.power_w", ""]
    assert (figures.count, expected) == (3600, 4800)


def test_that_figures_that_are_being_read_are_none() -> None:
    (pending,) = pending_rows(row(Times()).lane)
    cells = [column.cell(pending) for column in figures_table().columns]
    assert verdict_of(pending) is PENDING
    assert (cells[4].text, cells[9].text, str(cells[10].text)) == ("–", "…", "being read")


def both(demo: Services, cards: list[list[tuple[float, float, float]]], interval_s: float, paces: tuple[tuple[float, float], ...] = ()) -> tuple[Times, Times]:
    """What live and stored readings come to, of cards with (seconds after the start, watts, event bits)."""
    curves, blocks = [], []
    for number, readings in enumerate(cards):
        rings = Ring(), Ring()
        for at_s, watts, bits in readings:
            rings[0].append(START_S + at_s, watts)
            rings[1].append(START_S + at_s, bits)
        curves.append(Curve(f"GPU-{number}", number, f"GPU-{number}", rings[0], reasons=rings[1]))
        changes = [next(n for n, one in enumerate(readings) if START_S + one[0] >= at_s) for at_s, _ in paces]
        edges, steps = [0, *changes, len(readings)], [interval_s, *(step_s for _, step_s in paces)]
        for place, metric in ((1, "gpu.power_w"), (2, "gpu.event_reasons")):
            for step_s, first, last in zip(steps, edges, edges[1:], strict=False):
                values = array("f", [one[place] for one in readings[first:last]])
                start_ns = round((START_S + readings[first][0]) * _NS)
                blocks.append(SampleBlock(Series(NODE, metric, f"GPU-{number}", ""), start_ns, round(step_s * _NS), values))
    demo.workspace.submit(lambda db: samples.append_blocks(db, blocks)).result()
    end_s = START_S + cards[0][-1][0] + 1.0
    wish = Wish(NODE, START_S, end_s, 900, (START_S, end_s), interval_s, (POWER,))
    with demo.workspace.read() as connection:
        stored = read_past(connection, wish, {}).times["gpu.power_w", ""]
    lane = replace(row(Times()).lane, curves=tuple(curves))
    (live,) = summaries(lane, START_S, end_s, interval_s, paces=paces)
    kept, warned, broken, lasting = live.kept_s, live.warned_s, live.broken_s, live.lasting_s
    return Times((kept, kept), (warned, warned), (broken, broken), lasting), stored


@pytest.mark.parametrize(("interval_s", "bad", "broken", "lasting"), [
    (0.1, {n for n in range(100, 200) if n % 10 == 0}, 1.0, 0.0),  # one of ten
    (0.1, set(range(100, 129)), 2.9, 0.0), (0.1, set(range(100, 140)), 4.0, 4.0), (1.0, {10}, 1.0, 0.0), (5.0, {10, 11, 12}, 15.0, 15.0),
])  # fmt: skip
def test_that_live_and_stored_readings_come_to_the_same_seconds_at_any_rate(
    demo: Services, interval_s: float, bad: set[int], broken: float, lasting: float
) -> None:
    readings = [(n * interval_s, 90.0 if n in bad else 700.0, 4.0 if n in bad else 0.0) for n in range(300)]
    live, stored = both(demo, [readings], interval_s)
    kept = round(300 * interval_s - broken, 3)
    assert live == stored == Times((kept, kept), broken_s=(broken, broken), lasting_s=(lasting, lasting))


def test_that_a_second_of_cards_that_are_read_one_after_another_is_one_second(demo: Services) -> None:
    cards = [[(n + 0.4 + 0.06 * card, 90.0, 4.0 if n % 50 == 20 else 0.0) for n in range(200)] for card in range(4)]
    live, stored = both(demo, cards, 1.0)
    assert live == stored == Times(broken_s=(4.0, 4.0))


def test_that_a_reading_stands_for_the_rate_of_its_time_where_the_rate_was_changed(demo: Services) -> None:
    slow = [(float(n), 90.0, 4.0 if n in (20, 21, 22, 23) else 0.0) for n in range(60)]
    quick = [(60 + n / 10, 90.0, 4.0 if 100 <= n < 120 else 0.0) for n in range(900)]
    live, stored = both(demo, [[*slow, *quick]], 1.0, ((START_S + 60.0, 0.1),))
    assert live == stored and live.broken_s == (6.0, 6.0), "four seconds, then twenty tenths"


def test_that_a_bad_second_before_a_hole_is_one_second_and_the_hole_is_no_data(demo: Services) -> None:
    readings = [(n + 0.5, 90.0, 4.0 if n == 29 else 0.0) for n in range(60) if not 30 <= n < 45]
    live, stored = both(demo, [readings], 1.0)
    assert live == stored == Times(broken_s=(1.0, 1.0))
    rings = [Ring(), Ring()]
    for at_s, watts, bits in readings:
        rings[0].append(at_s, watts)
        rings[1].append(at_s, bits)
    drawn = strip(WATTS, [data.read(rings[0])], [data.read(rings[1])], data.Grid(0, 60, 1.0), 1.0).tolist()
    assert drawn[28:32] == [Kept.IDLE, Kept.BROKEN, Kept.NO_DATA, Kept.NO_DATA] and drawn[44:46] == [Kept.NO_DATA, Kept.IDLE]
    assert drawn[59:] == [Kept.IDLE] and set(drawn[30:45]) == {Kept.NO_DATA}


def test_that_figures_that_lie_on_a_promise_make_no_number_too_large(demo: Services) -> None:
    keep(demo, "gpu.power_w", "GPU-a", [679.0 if n % 3 else 700.0 for n in range(14_400)])
    with np.errstate(over="raise"):
        assert told(demo, 14_400, 900) == Times(kept_s=(14_400.0, 14_400.0))
