"""Does the short way for lines that look alike say exactly what the careful one says, and keep each curve as if it were alone?"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.services.intake import Intake, WatchView
from gpulease_gui.services.recording import Recorder
from gpulease_gui.services.series import Ring
from gpulease_gui.services.tracks import Tracks
from gpulease_gui.telemetry import gpu_agent
from gpulease_gui.telemetry.row import Form, Row
from gpulease_gui.telemetry.source import Point, metrics

CARD = "GPU-7b3c9a10-0000-4000-8000-000000000001"
Said = dict[str, object]
Odd = st.sampled_from([None, -1, True, "71", [1], math.nan, math.inf, 10**400, 0, 3, 2.5])


def line(tick: int, *, slow: bool = True, **other: object) -> Said:
    """What a card says at a tick; `other` are figures of its own, counters by their name with `c_`."""
    counters: Said = {
        "at_s": 100.0 + tick, "nvlink_tx_kib": 1000 * tick, "nvlink_rx_kib": 2000 * tick, "pcie_replays": tick // 3,
        "nvlink_crc_flit": 0, "nvlink_replay": 2 * tick, "remapped_corrected": None,
    }  # fmt: skip
    said: Said = {"index": 3, "uuid": CARD, "util_percent": 97, "power_w": 600.5 + tick, "temperature_c": 58, "temperature_memory_c": None}
    if slow:
        said["processes"], counters["ecc_corrected"] = 1, tick // 2
    for name, value in other.items():
        (counters if name.startswith("c_") else said)[name.removeprefix("c_")] = value
    return {**said, "counters": counters}


def told(seen: Row | tuple[Point, ...]) -> list[tuple[str, str, float | None]]:
    if isinstance(seen, Row):
        return [(metric, subject, value) for (metric, subject), value in zip(seen.form.keys, seen.values, strict=True)]
    return [(point.metric, point.subject, point.value) for point in seen]


def both(lines: Sequence[Said]) -> list[bool]:
    """That both ways say the same of these lines; whether the short one was taken."""
    short, careful, taken = gpu_agent.Reader(), gpu_agent.Reader(), []
    for said in lines:
        text = json.dumps(said)
        try:
            wanted = told(careful.read(text))
        except Unreadable:
            with pytest.raises(Unreadable):
                short.look(text)
            continue
        seen = short.look(text)
        taken.append(isinstance(seen, Row))
        found = told(seen)
        assert [one[:2] for one in found] == [one[:2] for one in wanted]
        for (metric, _, value), (_, _, right) in zip(found, wanted, strict=True):
            assert value is right if right is None or value is None else value == pytest.approx(right, rel=1e-9), metric
    return taken


def test_that_lines_of_one_shape_are_read_the_short_way_and_say_the_same() -> None:
    assert both([line(tick) for tick in range(6)]) == [False, False, True, True, True, True]


def test_that_a_line_with_more_or_less_in_it_is_read_with_care_and_the_next_one_counts_from_it() -> None:
    slow = [tick % 4 == 0 for tick in range(12)]
    assert both([line(tick, slow=one) for tick, one in enumerate(slow)]).count(True) >= 3


@pytest.mark.parametrize("odd", [
    {"power_w": None}, {"power_w": -1}, {"power_w": True}, {"power_w": "612"}, {"power_w": math.nan}, {"power_w": math.inf},
    {"power_w": 10**400}, {"index": 3.0}, {"index": True}, {"index": 4}, {"temperature_memory_c": 66}, {"temperature_memory_c": "hot"},
    {"c_at_s": 90.0}, {"c_at_s": None}, {"c_nvlink_replay": 0}, {"c_nvlink_tx_kib": None}, {"c_nvlink_tx_kib": math.inf},
    {"c_remapped_corrected": 1}, {"xids": [79]}, {"lost": "it fell off the bus"}, {"clock_sm_mhz": 1980}, {"made_up": 5},
    {"c_made_up": 5}, {"c_power_w": 5},
])  # fmt: skip
def test_that_one_odd_line_among_alike_ones_is_read_as_carefully_as_ever(odd: Mapping[str, object]) -> None:
    taken = both([*map(line, range(5)), line(5, **odd), *map(line, range(6, 12))])
    assert taken[:5] == [False, False, True, True, True]
    assert "index" in odd or not taken[5]
    # A card that once told the heat of its memory has a curve of it that is told to be none from then on.
    assert taken[-1] or "lost" in odd or odd == {"temperature_memory_c": 66}


@given(st.lists(st.tuples(st.booleans(), st.dictionaries(
    st.sampled_from(["power_w", "index", "temperature_memory_c", "c_at_s", "c_nvlink_replay", "c_nvlink_tx_kib", "c_remapped_corrected"]), Odd, max_size=2
)), min_size=3, max_size=14))  # fmt: skip
def test_that_both_ways_say_the_same_of_whatever_comes(some: list[tuple[bool, dict[str, object]]]) -> None:
    both([line(tick, slow=slow, **other) for tick, (slow, other) in enumerate(some)])


KEYS = tuple((f"m{n}", "s") for n in range(5))
Ticks = st.lists(st.tuples(st.sets(st.integers(0, 4)), st.booleans()), max_size=40)


@given(Ticks, st.integers(1, 5))
def test_that_each_curve_of_a_node_is_kept_as_if_it_were_alone(ticks: list[tuple[set[int], bool]], most: int) -> None:
    view = WatchView("n", 1.0)
    tracks, forms, alone = Tracks(view, most), {}, {}
    for second, (wanted, reverse) in enumerate(ticks):
        names = tuple(KEYS[n] for n in sorted(wanted, reverse=reverse))
        form = forms.setdefault(names, Form(names))
        values = [float(10 * second + int(metric[1:])) for metric, _ in names]
        kept = tracks.append(Row(form, values), float(second))
        for key, value in zip(names, values, strict=True):
            if key in alone or len(alone) < most:
                alone.setdefault(key, Ring()).append(float(second), value)
        assert dict(zip(kept.form.keys, kept.values, strict=True)) == {k: v for k, v in zip(names, values, strict=True) if k in alone}
        assert (kept.form is form) == all(key in alone for key in names)
    assert set(view.rings) == set(alone)
    for key, ring in view.rings.items():
        seen, right = ring.view(), alone[key].view()
        assert (seen.times_s.tolist(), seen.values.tolist(), seen.total) == (right.times_s.tolist(), right.values.tolist(), right.total)


def test_that_curves_that_always_come_together_share_their_times() -> None:
    view = WatchView("n", 1.0)
    tracks, form = Tracks(view, 9), Form(KEYS)
    for second in range(70):
        tracks.append(Row(form, [1.0] * 5), float(second))
    assert len({ring.track for ring in view.rings.values()}) == 1
    part = Form(KEYS[:2])
    for second in range(70, 80):
        tracks.append(Row(part, [2.0] * 2), float(second))
        tracks.append(Row(form, [1.0] * 5), second + 0.5)
    assert [view.rings[key].total for key in KEYS] == [90, 90, 80, 80, 80]
    assert len({ring.track for ring in view.rings.values()}) == 2


def test_that_two_xids_of_one_line_are_two_samples_and_everything_ends_when_nothing_comes() -> None:
    view = WatchView("n", 1.0)
    intake = Intake(view, Recorder("n", 1.0, metrics()))
    intake.take("gpu", (Point("gpu.power_w", CARD, 600.0, 3), Point("gpu.xid", CARD, 79.0, 3), Point("gpu.xid", CARD, 63.0, 3)), 5.0)
    assert view.rings["gpu.xid", CARD].view().values.tolist() == [79.0, 63.0]
    assert view.indexes == {CARD: 3}
    intake.end_all(6.0)
    assert [math.isnan(ring.view().values[-1]) and ring.view().times_s[-1] == 6.0 for ring in view.rings.values()] == [True, True]


def line_of(tracks: Tracks, at_s: float, values: dict[str, float]) -> Row:
    form = Form(tuple(("net.rx_gbit_s", name) for name in values))
    return tracks.append(Row(form, list(values.values())), at_s)


def test_that_interfaces_that_come_and_go_leave_room_for_a_card_and_the_longest_gone_goes_first() -> None:
    view, nan = WatchView("n", 1.0), float("nan")
    tracks = Tracks(view, 8)
    for second in range(20):
        line_of(tracks, float(second), {"eth0": 1.0, f"pod{second}": 2.0, **({f"pod{second - 1}": nan} if second else {})})
    assert [subject for _, subject in view.rings] == ["eth0", "pod17", "pod18", "pod19"], "half of the room, and those of now"
    seen = view.rings["net.rx_gbit_s", "eth0"].view()
    assert seen.times_s.tolist() == [float(n) for n in range(20)] and set(seen.values) == {1.0}
    card = Form(tuple(("gpu.power_w", f"GPU-{n}") for n in range(6)))
    assert tracks.append(Row(card, [500.0] * 6), 20.0).form is card, "cards always have room"
    assert len(view.rings) == 8 and ("net.rx_gbit_s", "eth0") in view.rings
    left = line_of(tracks, 21.0, {"eth0": 1.0, "pod19": 2.0, "pod20": 2.0, "pod21": 2.0})
    assert len(view.rings) == 8 and left.form.keys[0] == ("net.rx_gbit_s", "eth0")


def test_that_what_goes_on_is_not_put_away_for_another_interface() -> None:
    view = WatchView("n", 1.0)
    tracks = Tracks(view, 8)
    assert len(line_of(tracks, 0.0, {f"eth{n}": 1.0 for n in range(4)}).values) == 4
    assert line_of(tracks, 1.0, {"veth": 1.0}).values == [] and [subject for _, subject in view.rings] == ["eth0", "eth1", "eth2", "eth3"]
