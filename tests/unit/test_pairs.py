"""Does every pair of nodes get its turn once, and is the slow part named?"""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.services.pairs import Blame, blame, rounds


@given(st.integers(0, 40))
def test_that_every_pair_comes_once_in_rounds_of_disjoint_pairs(n: int) -> None:
    plan = rounds(n)
    assert sorted(pair for one in plan for pair in one) == list(combinations(range(n), 2))
    for one in plan:
        nodes = [node for pair in one for node in pair]
        assert len(nodes) == len(set(nodes)) and len(one) == n // 2
    assert len(plan) == (0 if n < 2 else n - 1 if n % 2 == 0 else n)


def test_that_a_negative_number_of_nodes_is_refused() -> None:
    with pytest.raises(ValueError, match="-1 nodes"):
        rounds(-1)


def rates(n: int, **slow: float) -> dict[tuple[int, int], float | None]:
    """All pairs at 100, those named `a_b` at another rate."""
    given_rates = {tuple(map(int, name.strip("p").split("_"))): rate for name, rate in slow.items()}
    return {pair: given_rates.get(pair, 100.0) for pair in combinations(range(n), 2)}


def test_that_a_node_that_is_slow_with_two_partners_is_the_culprit() -> None:
    assert blame(rates(4, p0_2=40.0, p1_2=41.0, p2_3=42.0)) == Blame(nodes=(2,), usual=71.0)
    assert blame(rates(6, p0_2=40.0, p2_5=40.0)).nodes == (2,)


def test_that_a_pair_that_is_slow_alone_is_a_cable() -> None:
    assert blame(rates(4, p1_3=30.0)) == Blame(pairs=((1, 3),), usual=100.0)
    assert blame(rates(6, p0_1=30.0, p2_3=30.0)).pairs == ((0, 1), (2, 3))


def test_that_a_slow_node_and_a_slow_cable_are_told_apart() -> None:
    found = blame(rates(8, p2_0=1.0, p0_2=40.0, p2_5=40.0, p2_7=40.0, p1_6=40.0))
    assert (found.nodes, found.pairs) == ((2,), ((1, 6),))


def test_that_the_partners_of_a_slow_node_are_not_blamed() -> None:
    found = blame(rates(6, p0_1=10.0, p0_2=10.0, p0_3=10.0, p0_4=10.0, p0_5=10.0, p1_2=99.0))
    assert (found.nodes, found.pairs) == ((0,), ())


def test_that_all_equally_slow_shows_only_against_a_promise() -> None:
    even = {pair: 50.0 for pair in combinations(range(4), 2)}
    assert blame(even) == Blame(usual=50.0)
    assert blame(even, promised=100.0) == Blame(all_low=True, usual=50.0)


def test_that_two_slow_nodes_are_both_named() -> None:
    found = blame({pair: 20.0 if {0, 3} & set(pair) else 95.0 for pair in combinations(range(6), 2)}, promised=100.0)
    assert (found.nodes, found.pairs) == ((0, 3), ())


def test_that_a_pair_without_a_rate_is_named_and_blames_nobody() -> None:
    assert blame({(1, 0): None, (0, 2): 100.0, (2, 1): 99.0}) == Blame(unmeasured=((0, 1),), usual=99.5)
    assert blame({}) == Blame()


def test_that_a_node_is_no_pair_of_its_own() -> None:
    with pytest.raises(ValueError, match="node 3"):
        blame({(3, 3): 1.0})


@given(st.integers(4, 16), st.data())
def test_that_one_slow_node_among_good_ones_is_always_found(n: int, data: st.DataObject) -> None:
    culprit = data.draw(st.integers(0, n - 1))
    found = blame({pair: 20.0 if culprit in pair else 95.0 for pair in combinations(range(n), 2)}, promised=100.0)
    assert (found.nodes, found.pairs) == ((culprit,), ())
