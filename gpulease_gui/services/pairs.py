"""In which order are all pairs of nodes measured, and which node or cable is the slow one?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

# A rate below this share of the median of all pairs is low; an assumption, as wide as the band of the single check.
LOW_SHARE = 0.8

# Two nodes, the smaller number first.
Pair = tuple[int, int]


def rounds(n: int) -> tuple[tuple[Pair, ...], ...]:
    """All pairs of nodes 0 to n-1, each once, in rounds of pairs that share no node and can run at one time.

    n-1 rounds for an even number of nodes, n for an odd one (each node rests once). Raises ValueError for n < 0.

    >>> rounds(4)
    (((0, 3), (1, 2)), ((0, 2), (1, 3)), ((0, 1), (2, 3)))
    """
    if n < 0:
        raise ValueError(f"{n} nodes can't be paired")
    size = n + n % 2  # with an odd number the last seat is empty: who meets it rests
    seats = list(range(size))
    found = []
    for _ in range(size - 1 if n > 1 else 0):
        facing = zip(seats[: size // 2], reversed(seats[size // 2 :]), strict=True)
        found.append(tuple(sorted((min(a, b), max(a, b)) for a, b in facing if a < n and b < n)))
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Blame:
    """Who is slow: nodes with more than one slow pair, pairs that are slow alone, and pairs without any rate.

    `all_low`: every measured pair is below the promise, so no single part can be named. `usual` is the median rate of
    the measured pairs, None without any. `uneven`: nobody is slower than usual, but some pair is much faster; where most
    are slow, only a promise can tell.
    """

    nodes: tuple[int, ...] = ()
    pairs: tuple[Pair, ...] = ()
    unmeasured: tuple[Pair, ...] = ()
    all_low: bool = False
    usual: float | None = None
    uneven: bool = False


def blame(rates: Mapping[Pair, float | None], promised: float | None = None) -> Blame:
    """The slow nodes and pairs among `rates` (any one unit; None = not measured; keys in either order).

    A node that is slow with two different partners is the culprit, and its pairs are no longer held against anyone
    else; a pair that is slow alone is a cable or port between two good nodes. Nodes that are slow with equally many
    partners are named together. Low is below 0.8 of the median, or of `promised` if that is said: pairs that are all
    equally low show only against a promise. Raises ValueError for a pair of a node with itself.
    """
    known = {_ordered(pair): rate for pair, rate in rates.items()}
    measured = {pair: rate for pair, rate in known.items() if rate is not None}
    unmeasured = tuple(sorted(pair for pair, rate in known.items() if rate is None))
    if not measured:
        return Blame(unmeasured=unmeasured)
    usual = median(measured.values())
    limit = LOW_SHARE * (promised if promised is not None else usual)
    low = {pair for pair, rate in measured.items() if rate < limit}
    if len(low) == len(measured):
        return Blame(unmeasured=unmeasured, all_low=True, usual=usual)
    nodes: set[int] = set()
    while worst := _worst(low):
        nodes |= worst
        low = {pair for pair in low if not worst & set(pair)}
    uneven = not (nodes or low) and promised is None and usual < LOW_SHARE * max(measured.values())
    return Blame(tuple(sorted(nodes)), tuple(sorted(low)), unmeasured, usual=usual, uneven=uneven)


def _ordered(pair: Pair) -> Pair:
    """The pair with its smaller number first. Raises ValueError for a node with itself."""
    if pair[0] == pair[1]:
        raise ValueError(f"node {pair[0]} is no pair of its own")
    return (min(pair), max(pair))


def _worst(low: set[Pair]) -> set[int]:
    """The nodes with the most slow partners, at least two; empty when no node has two."""
    counts = Counter(node for pair in low for node in pair)
    most = max(counts.values(), default=0)
    return {node for node, count in counts.items() if count == most} if most >= 2 else set()
