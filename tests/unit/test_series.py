"""Does a ring keep the newest samples in one piece, whatever was appended before?"""

from __future__ import annotations

import math
from array import array

from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.services.series import RING_POINTS, Ring

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
def test_that_a_view_is_one_piece_of_memory_that_is_not_copied(values: list[float | None], capacity: int) -> None:
    ring = filled([*values, 1.0], capacity)
    view = ring.view()
    assert view.values.contiguous and view.times_s.contiguous
    assert (view.values.format, view.times_s.format) == ("f", "d")
    for _ in range(capacity):
        ring.append(9.0, 7.0)
    assert 7.0 in view.values.tolist()


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
