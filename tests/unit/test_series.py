"""Does a ring keep the newest samples in one piece, whatever was appended before?"""

from __future__ import annotations

import math
from array import array

from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.services.series import NAN, RING_POINTS, Ring, Track, same_times

VALUES = st.lists(st.none() | st.floats(-1e6, 1e6, width=32), max_size=60)


def filled(values: list[float | None], capacity: int) -> Ring:
    ring = Ring(capacity)
    for second, value in enumerate(values):
        ring.append(1000.0 + second, value)
    return ring


@given(VALUES, st.integers(1, 20))
def test_that_a_view_is_the_newest_samples_in_order(values: list[float | None], capacity: int) -> None:
    view = filled(values, capacity).view()
    kept = values[-capacity:]
    assert list(view.times_s) == [1000.0 + n for n in range(len(values) - len(kept), len(values))]
    assert [None if math.isnan(value) else value for value in view.values] == kept
    assert view.total == len(values)


@given(VALUES, st.integers(1, 20))
def test_that_a_view_is_one_piece_of_memory_that_is_not_copied_and_never_written_over(values: list[float | None], capacity: int) -> None:
    ring = filled([*values, 1.0], capacity)
    view, before = ring.view(), ring.view().values.tobytes()
    assert view.values.contiguous and view.times_s.contiguous
    assert (view.values.format, view.times_s.format) == ("f", "d")
    assert view.values.obj is ring.view().values.obj
    for _ in range(3 * capacity):
        ring.append(9.0, 7.0)
    assert view.values.tobytes() == before


@given(st.lists(VALUES, min_size=1, max_size=4), VALUES, st.integers(1, 20))
def test_that_rings_that_become_one_track_hold_what_they_held_and_go_on_together(
    some: list[list[float | None]], later: list[float | None], capacity: int
) -> None:
    count = min(map(len, some))
    rings = [filled(values[:count], capacity) for values in some]
    assert all(same_times(rings[0], ring) for ring in rings)
    seen = [ring.view() for ring in rings]
    track = Track.of(rings)
    for second, value in enumerate(later):
        track.append(1000.0 + count + second, [NAN if value is None else value] * len(rings))
    for ring, values, view in zip(rings, some, seen, strict=True):
        alone = filled(values[:count] + later, capacity).view()
        assert ring.view().values.tobytes() == alone.values.tobytes()
        assert ring.view().times_s.tobytes() == alone.times_s.tobytes()
        assert (ring.total, ring.track) == (alone.total, track)
        assert view.total == count


def test_that_a_ring_has_room_for_what_came_and_a_quarter_more_than_it_holds_at_most() -> None:
    ring = filled([1.0] * 10, RING_POINTS)
    rooms = []
    for second in range(3 * RING_POINTS):
        ring.append(2000.0 + second, 2.0)
        rooms.append(len(ring.view().values.obj))
    assert rooms[0] == 64
    assert max(rooms) == RING_POINTS * 5 // 4
    assert all(room <= max(64, 2 * (second + 11)) for second, room in enumerate(rooms))


def test_that_rings_of_other_times_are_told_apart() -> None:
    one, other = filled([1.0, 2.0], 8), filled([1.0, 2.0], 8)
    assert same_times(one, other)
    one.append(1002.0, 3.0)
    assert not same_times(one, other)
    other.append(1002.5, 3.0)
    assert not same_times(one, other)


@given(VALUES, st.integers(1, 20))
def test_that_the_last_sample_is_the_end_of_the_view(values: list[float | None], capacity: int) -> None:
    ring = filled(values, capacity)
    view = ring.view()
    if not values:
        assert ring.last is None
    else:
        at_s, value = ring.last or (0.0, 0.0)
        assert at_s == view.times_s[-1]
        assert array("f", [value]) == array("f", [view.values[-1]]) or math.isnan(value)


def test_that_a_sample_that_is_missing_is_no_zero() -> None:
    ring = filled([1.0, None, 3.0], 8)
    assert [math.isnan(value) for value in ring.view().values] == [False, True, False]


def test_that_an_hour_at_one_hertz_fits() -> None:
    assert RING_POINTS == 3600
    assert len(filled([0.5] * 3700, RING_POINTS).view().values) == 3600


def test_that_a_number_beyond_float32_breaks_nothing() -> None:
    assert filled([1e300], 4).view().values[0] == math.inf
