"""Which offer leads, and does it stay ahead when the weights move?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from gpulease_gui.economics.rounding import half_up
from gpulease_gui.economics.scoring import RULES, Status, geometric_mean

_GROUP = {Status.QUALIFIED: 0, Status.WAIVED: 0, Status.BLOCKED: 1, Status.REJECTED: 2}
FACTORS = (Decimal("0.8"), Decimal("1.2"))


@dataclass(frozen=True, slots=True)
class Candidate:
    """An offer with its score_low and its comparison cost in one currency; None: not known."""

    name: str
    status: Status
    score_low: Decimal | None
    cost: Decimal | None = None


def ranked(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Qualified and waived ones first, then blocked, then rejected; in each by score_low, cost, name.

    What is not known stands behind what is.
    """
    return tuple(sorted(candidates, key=_place))


def _place(candidate: Candidate) -> tuple[int, Decimal, Decimal, str]:
    last = Decimal("Infinity")
    score = last if candidate.score_low is None else -candidate.score_low
    return _GROUP[candidate.status], score, last if candidate.cost is None else candidate.cost, candidate.name


@dataclass(frozen=True, slots=True)
class Front:
    """Offers that nothing beats in both score and cost, cheapest first; the others with the one that beats them."""

    names: tuple[str, ...]
    dominated: Mapping[str, str]


def pareto(candidates: Iterable[Candidate]) -> Front:
    """The front of (score_low, cost). Candidates without score or cost are on neither side."""
    known = sorted((c for c in candidates if c.score_low is not None and c.cost is not None), key=_by_cost)
    beaten = {c.name: next((b.name for b in known if _dominates(b, c)), None) for c in known}
    return Front(tuple(n for n, by in beaten.items() if by is None), {n: by for n, by in beaten.items() if by})


def _by_cost(candidate: Candidate) -> tuple[Decimal, Decimal, str]:
    assert candidate.cost is not None and candidate.score_low is not None
    return candidate.cost, -candidate.score_low, candidate.name


def _dominates(one: Candidate, other: Candidate) -> bool:
    assert one.cost is not None and other.cost is not None and one.score_low is not None and other.score_low is not None
    no_worse = one.score_low >= other.score_low and one.cost <= other.cost
    return no_worse and (one.score_low, one.cost) != (other.score_low, other.cost)


@dataclass(frozen=True, slots=True)
class Standing:
    """Scores 0 to 100 (2 places) and the order, best first; ties on the exact score go by name."""

    scores: Mapping[str, Decimal]
    order: tuple[str, ...]

    @property
    def tied(self) -> tuple[str, ...]:
        """Those that share the highest score as it is shown, in order; more than one: none of them leads."""
        return tuple(name for name in self.order if self.scores[name] == self.scores[self.order[0]])


@dataclass(frozen=True, slots=True)
class WeightMoved:
    """The standing after one weight was multiplied by `factor`."""

    dimension: str
    factor: Decimal
    standing: Standing
    leader_changes: bool


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The standing as it is and after every move of one weight."""

    base: Standing
    moves: tuple[WeightMoved, ...]

    @property
    def stable(self) -> bool:
        """Whether the same offer leads after every move."""
        return not any(move.leader_changes for move in self.moves)


def sensitivity(
    offers: Mapping[str, Mapping[str, Decimal]], weights: Mapping[str, Decimal], factors: Iterable[Decimal] = FACTORS
) -> Sensitivity:
    """Move each weight by each factor (the mean renormalises). `offers`: name -> dimension -> value 0 to 1.

    Raises UsageError for a dimension without a weight.
    """
    base = _standing(offers, weights)
    tried = [(name, factor) for name in weights for factor in factors]
    return Sensitivity(base, tuple(_moved(offers, weights, name, factor, base) for name, factor in tried))


def _moved(
    offers: Mapping[str, Mapping[str, Decimal]], weights: Mapping[str, Decimal], name: str, factor: Decimal, base: Standing
) -> WeightMoved:
    standing = _standing(offers, {**weights, name: weights[name] * factor})
    return WeightMoved(name, factor, standing, standing.order[:1] != base.order[:1])


def _standing(offers: Mapping[str, Mapping[str, Decimal]], weights: Mapping[str, Decimal]) -> Standing:
    exact = {name: _mean(values, weights) for name, values in offers.items()}
    order = sorted(exact, key=lambda name: (-exact[name], name))
    return Standing({name: half_up(100 * value, 2) for name, value in exact.items()}, tuple(order))


def _mean(values: Mapping[str, Decimal], weights: Mapping[str, Decimal]) -> Fraction:
    mean = geometric_mean({name: Fraction(value) for name, value in values.items()}, weights, RULES.floor)
    return Fraction(0) if mean is None else mean
