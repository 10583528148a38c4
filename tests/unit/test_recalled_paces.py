"""How often was a node asked in the time that is put back from the store?"""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.services.recall import _paces
from gpulease_gui.services.series import asked

NS = 1_000_000_000
STRETCHES = st.lists(st.tuples(st.sampled_from([200, 1000, 5000]), st.integers(1, 30)), min_size=1, max_size=8)


@given(STRETCHES)
def test_that_after_changes_of_the_rate_as_many_are_expected_as_were_due(stretches: list[tuple[int, int]]) -> None:
    """Each stretch: ms between its readings, and how many of them; the next one's first reading is due one of its own steps later."""
    at_ms, due_ms, steps = 1_000_000, [], {}
    for place, (step_ms, count) in enumerate(stretches):
        begin_ms = at_ms + step_ms if place else at_ms
        steps[begin_ms * NS // 1000] = step_ms * NS // 1000, (begin_ms + (count - 1) * step_ms) * NS // 1000
        due_ms += [begin_ms + n * step_ms for n in range(count)]
        at_ms = due_ms[-1]
    counted = asked(_paces(steps), 1.0, due_ms[0] / 1000, due_ms[-1] / 1000)
    assert abs(counted - len(list(pairwise(due_ms)))) < 1e-6


def test_that_a_gap_before_a_slower_pace_is_not_counted_at_it() -> None:
    paces = _paces({100 * NS: (NS, 109 * NS), 200 * NS: (5 * NS, 245 * NS)})
    assert paces == ((100.0, 1.0), (195.0, 5.0))
