"""Are the first and the last reading of a node told as they were taken, however little of a month it was watched?"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from gpulease_gui.gui.models.past import Past, Wish, read_past
from gpulease_gui.gui.models.past_times import Judged
from gpulease_gui.gui.widgets import chart_data as data
from gpulease_gui.gui.widgets.chart_spec import Promised, Rule
from gpulease_gui.services.composition import Services, open_services
from gpulease_gui.services.series import Ring
from gpulease_gui.store import samples
from gpulease_gui.store.records import SampleBlock, Series
from gpulease_gui.telemetry.source import metrics

NODE, _NS, DAY_S = "demo-capped", 1_000_000_000, 86_400
NOON_S = 1_000_000 // DAY_S * DAY_S + DAY_S // 2
POWER = "gpu.power_w"
WATTS = Judged(POWER, Promised(700.0, Rule.HELD))
ZOOMS = (1 / 12, 1, 7, 30)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Services]:
    services = open_services(tmp_path / "demo.gpulease.db", demo=True)
    yield services
    services.close()


def keep(demo: Services, from_s: int, values: list[float], card: str = "GPU-a", metric: str = POWER, hz: int = 1) -> None:
    step_ns, each = _NS // hz, 10 * hz
    blocks = [
        SampleBlock(Series(NODE, metric, card, ""), from_s * _NS + n * step_ns, step_ns, array("f", values[n : n + each]))
        for n in range(0, len(values), each)
    ]
    demo.workspace.submit(lambda db: samples.append_blocks(db, blocks)).result()


def look(demo: Services, end_s: float, window_s: float, live: dict[tuple[str, str], Ring] | None = None, interval_s: float = 1.0) -> Past:
    wish = Wish(NODE, end_s - window_s, end_s, 555, (end_s - window_s, end_s), interval_s, (WATTS,))
    with demo.workspace.read() as connection:
        return read_past(connection, wish, live or {})


@pytest.mark.parametrize("begin_s", [0, 1342])
def test_that_an_hour_of_readings_is_all_that_was_expected_at_each_zoom(demo: Services, begin_s: int) -> None:
    keep(demo, NOON_S + begin_s, [500.0] * 3600)
    for days in ZOOMS:
        figures, expected = look(demo, NOON_S + begin_s + 3610, days * DAY_S).figures[POWER, ""]
        assert (figures.count, expected) == (3600, 3600), days


def test_that_half_of_an_hour_missing_is_half_of_what_was_expected_at_each_zoom(demo: Services) -> None:
    keep(demo, NOON_S + 1342, [500.0 if n % 20 < 10 else math.nan for n in range(3590)])
    for days in ZOOMS:
        figures, expected = look(demo, NOON_S + 5000, days * DAY_S).figures[POWER, ""]
        assert figures.count == 1800 and abs(expected - 3590) <= 1, days


def test_that_the_latest_is_the_last_reading_with_its_own_time_and_the_figures_stay_those_of_all(demo: Services) -> None:
    keep(demo, NOON_S + 1342, [400.0] * 1000 + [700.0, 650.0])
    for days in ZOOMS:
        past = look(demo, NOON_S + 3000, days * DAY_S)
        ring = past.view.rings[POWER, "GPU-a"]
        assert ring.last == (NOON_S + 1342 + 1001, 650.0), days
        times = data.read(ring).times_s
        assert all(before < after for before, after in pairwise(times.tolist()))
        assert not ring.outlined or len(times) % 3 == 0
        figures, _ = past.figures[POWER, ""]
        assert (figures.count, figures.low, figures.high) == (1002, 400.0, 700.0)
        assert figures.mean is not None and abs(figures.mean - (400_000 + 1350) / 1002) < 1e-3


def test_that_what_is_read_live_is_later_than_what_is_stored(demo: Services) -> None:
    keep(demo, NOON_S, [400.0] * 1000)
    ring = Ring()
    for n in range(900, 1010):
        ring.append(NOON_S + n + 0.25, 800.0)
    past = look(demo, NOON_S + 1010, 30 * DAY_S, {(POWER, "GPU-a"): ring})
    assert past.view.rings[POWER, "GPU-a"].last == (NOON_S + 1009.25, 800.0)


def test_that_a_card_that_came_later_is_expected_from_its_own_first_reading_on(demo: Services) -> None:
    keep(demo, NOON_S + 300, [500.0] * 7000)
    keep(demo, NOON_S + 3900, [500.0] * 3400, "GPU-b")
    figures, expected = look(demo, NOON_S + 7400, 30 * DAY_S).figures[POWER, ""]
    assert figures.count == 10_400 and abs(expected - 10_400) <= 2


def test_that_bits_of_the_last_slot_stay_all_bits_of_it(demo: Services) -> None:
    assert metrics()["gpu.event_reasons"].lane == "events"
    keep(demo, NOON_S, [4.0] * 10 + [0.0] * 990, metric="gpu.event_reasons")
    seen = data.read(look(demo, NOON_S + 1010, 30 * DAY_S).view.rings["gpu.event_reasons", "GPU-a"])
    assert set(seen.values.tolist()) == {4.0}


@pytest.mark.parametrize("interval_s", [0.1, 1.0])
def test_that_a_rate_that_was_changed_is_reckoned_with_at_each_zoom_whatever_it_is_now(demo: Services, interval_s: float) -> None:
    keep(demo, NOON_S + 600, [700.0] * 3600)
    keep(demo, NOON_S + 4200, [700.0] * 6000, hz=10)
    keep(demo, NOON_S + 4800, [700.0] * 1800)
    for days in ZOOMS:
        past = look(demo, NOON_S + 7200, days * DAY_S, interval_s=interval_s)
        figures, expected = past.figures[POWER, ""]
        assert figures.count == 11_400 and abs(expected - 11_400) <= 20, days
        kept = past.times[POWER, ""].kept_s
        assert 5990.0 <= kept[0] <= kept[1] <= 6010.0, (days, kept)


def test_that_a_stretch_that_begins_after_the_last_reading_of_its_only_block_is_empty(demo: Services) -> None:
    keep(demo, NOON_S, [500.0] * 10)
    past = look(demo, NOON_S + 24.5, 10)  # with its margin it begins half a second after the last reading, before the block ends
    assert not past.view.rings and not past.figures
    assert look(demo, NOON_S + 24.0, 10).view.rings[POWER, "GPU-a"].total == 1
