"""How good is an offer, from the least that is proven to the most that is possible?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, localcontext
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from gpulease_gui.catalog.checklist import Importance
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.rounding import half_up


class Answer(StrEnum):
    """What is known of one checklist item."""

    PASS = "pass"
    PARTIAL = "partial"
    FAIL = "fail"
    UNKNOWN = "unknown"
    NOT_APPLICABLE = "na"


class EvidenceKind(StrEnum):
    """What an answer rests on, strongest first."""

    MEASURED = "measured"
    CONTRACT = "contract"
    DOCUMENT = "document"
    CLAIM = "claim"


class Status(StrEnum):
    """Whether an offer may be taken; the first that holds."""

    REJECTED = "rejected"
    BLOCKED = "blocked"
    WAIVED = "waived"
    QUALIFIED = "qualified"


@dataclass(frozen=True, slots=True)
class Waiver:
    """Who lets an open or failed must pass, why, and up to which day."""

    by: str
    reason: str
    expires: date

    def counts(self, today: date) -> bool:
        """Whether it holds on `today`: the last day is still in."""
        return today <= self.expires and bool(self.by.strip()) and bool(self.reason.strip())


@dataclass(frozen=True, slots=True)
class Item:
    """One answered question. `value` (0 to 1) is a measured one; None: the answer says it.

    An item without evidence is only claimed. `scenarios`: where it counts; () = everywhere.
    """

    id: str
    dimension: str
    severity: Importance
    answer: Answer
    evidence: EvidenceKind = EvidenceKind.CLAIM
    value: Decimal | None = None
    waiver: Waiver | None = None
    scenarios: tuple[str, ...] = ()


_FACTORS: Mapping[EvidenceKind, Decimal] = {
    EvidenceKind.MEASURED: Decimal("1"),
    EvidenceKind.CONTRACT: Decimal("0.9"),
    EvidenceKind.DOCUMENT: Decimal("0.8"),
    EvidenceKind.CLAIM: Decimal("0.6"),
}
_SEVERITIES: Mapping[Importance, Decimal] = {
    Importance.MUST: Decimal(5),
    Importance.SHOULD: Decimal(3),
    Importance.NICE: Decimal(1),
}
_VALUES = {Answer.PASS: Fraction(1), Answer.PARTIAL: Fraction(1, 2), Answer.FAIL: Fraction(0)}


@dataclass(frozen=True, slots=True)
class Rules:
    """The figures of the method; all may be edited. No dimension counts less than `floor` in the product."""

    factors: Mapping[EvidenceKind, Decimal] = field(default_factory=lambda: _FACTORS)
    severities: Mapping[Importance, Decimal] = field(default_factory=lambda: _SEVERITIES)
    floor: Decimal = Decimal("0.01")


RULES = Rules()


@dataclass(frozen=True, slots=True)
class Score:
    """Status with the ids behind it; dimensions and coverage 0 to 1 (4 places), scores 0 to 100 (2 places).

    None: nothing applies, so there is no score. `arithmetic_low` is the plain weighted mean, for comparison only.
    """

    status: Status
    failed_musts: tuple[str, ...]
    open_musts: tuple[str, ...]
    waived_musts: tuple[str, ...]
    dimension_low: Mapping[str, Decimal]
    dimension_high: Mapping[str, Decimal]
    score_low: Decimal | None
    score_high: Decimal | None
    arithmetic_low: Decimal | None
    coverage: Decimal | None


def score(
    items: Iterable[Item], weights: Mapping[str, Decimal], today: date, scenario: str | None = None, rules: Rules = RULES
) -> Score:
    """Score the answers by the `weights` of their dimensions (any scale), for one scenario or for all.

    Raises UsageError for a dimension without a weight.
    """
    counted = [item for item in items if _counts(item, scenario)]
    alike = _alike(counted)
    low = _dimensions(alike, rules, lambda item: low_of(item, rules))
    high = _dimensions(alike, rules, high_of)
    failed, unanswered, waived = _musts(counted, today)
    return Score(
        _status(failed, unanswered, waived), failed, unanswered, waived,
        {name: half_up(value, 4) for name, value in low.items()},
        {name: half_up(value, 4) for name, value in high.items()},
        _points(geometric_mean(low, weights, rules.floor)), _points(geometric_mean(high, weights, rules.floor)),
        _points(_arithmetic_mean(low, weights)), _coverage(counted, rules),
    )  # fmt: skip


def _counts(item: Item, scenario: str | None) -> bool:
    listed = scenario is None or not item.scenarios or scenario in item.scenarios
    return listed and item.answer is not Answer.NOT_APPLICABLE


def value_of(item: Item) -> Fraction | None:
    """The value of an answer, 0 to 1; None when it is unknown."""
    if item.answer not in _VALUES:
        return None
    return _VALUES[item.answer] if item.value is None else Fraction(item.value)


def low_of(item: Item, rules: Rules = RULES) -> Fraction:
    """What the evidence proves at least: the value, less for weaker evidence, nothing for an unknown."""
    value = value_of(item)
    return Fraction(0) if value is None else value * Fraction(rules.factors[item.evidence])


def high_of(item: Item) -> Fraction:
    """What the answer may turn out to be at most."""
    value = value_of(item)
    return Fraction(1) if value is None else value


def _weight(item: Item, rules: Rules) -> Fraction:
    return Fraction(rules.severities[item.severity])


def _alike(items: list[Item]) -> list[tuple[Item, int]]:
    """One item for all that count alike, and how many they are: exact sums of a hundred fractions take their time."""
    found: dict[tuple[object, ...], tuple[Item, int]] = {}
    for item in items:
        key = item.dimension, item.severity, item.answer, item.value, item.evidence
        found[key] = item, found[key][1] + 1 if key in found else 1
    return list(found.values())


def _dimensions(items: list[tuple[Item, int]], rules: Rules, worth: Callable[[Item], Fraction]) -> dict[str, Fraction]:
    sums: dict[str, tuple[Fraction, Fraction]] = {}
    for item, count in items:
        weight = count * _weight(item, rules)
        above, below = sums.get(item.dimension, (Fraction(0), Fraction(0)))
        sums[item.dimension] = (above + weight * worth(item), below + weight)
    return {name: above / below for name, (above, below) in sums.items() if below}


def _coverage(items: list[Item], rules: Rules) -> Decimal | None:
    known = sum((_weight(i, rules) for i in items if i.answer is not Answer.UNKNOWN), Fraction(0))
    whole = sum((_weight(i, rules) for i in items), Fraction(0))
    return half_up(known / whole, 4) if whole else None


def _musts(items: list[Item], today: date) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The ids of failed, unanswered and waived musts."""
    musts = [item for item in items if item.severity is Importance.MUST]
    failed = [i for i in musts if i.answer is Answer.FAIL or value_of(i) == 0]
    unanswered = [i for i in musts if i.answer is Answer.UNKNOWN]
    waived = [i for i in musts if i in failed + unanswered and i.waiver and i.waiver.counts(today)]
    return _ids(failed, waived), _ids(unanswered, waived), _ids(waived, [])


def _ids(items: list[Item], without: list[Item]) -> tuple[str, ...]:
    return tuple(item.id for item in items if item not in without)


def _status(failed: tuple[str, ...], unanswered: tuple[str, ...], waived: tuple[str, ...]) -> Status:
    if failed:
        return Status.REJECTED
    if unanswered:
        return Status.BLOCKED
    return Status.WAIVED if waived else Status.QUALIFIED


def _points(mean: Fraction | None) -> Decimal | None:
    return None if mean is None else half_up(100 * mean, 2)


def _weights_of(dimensions: Mapping[str, Fraction], weights: Mapping[str, Decimal]) -> dict[str, Fraction]:
    for name in dimensions:
        if name not in weights:
            raise UsageError(Text(f"weights: the dimension {name!r} has no weight", f"权重：维度 {name!r} 没有权重"), next_step=Text(f"add {name} to the weights; 0 leaves it out", f"请在权重中加入 {name}；0 表示不计入"))
    return {name: Fraction(weights[name]) for name in dimensions}


def _arithmetic_mean(dimensions: Mapping[str, Fraction], weights: Mapping[str, Decimal]) -> Fraction | None:
    own = _weights_of(dimensions, weights)
    whole = sum(own.values())
    return sum((own[name] * dimensions[name] for name in own), Fraction(0)) / whole if whole else None


_DIGITS = 50
_KEPT_PLACES = 30


def geometric_mean(
    dimensions: Mapping[str, Fraction], weights: Mapping[str, Decimal], floor: Decimal = RULES.floor
) -> Fraction | None:
    """The weighted geometric mean of `dimensions` (0 to 1), each at least `floor`; None when no weight is left.

    Counted with 50 digits and kept to 30 places, so that a mean that is a round number is that number. Raises
    UsageError for a dimension without a weight.
    """
    own = _weights_of(dimensions, weights)
    whole = sum(own.values())
    if not whole:
        return None
    with localcontext(prec=_DIGITS):
        logs = [_decimal(own[n] / whole) * _log(max(dimensions[n], Fraction(floor))) for n in own if own[n]]
        mean = sum(logs, Decimal(0)).exp()
    return Fraction(half_up(Fraction(mean), _KEPT_PLACES))


@lru_cache(maxsize=1024)
def _log(value: Fraction) -> Decimal:
    """The natural logarithm with `_DIGITS` digits; a comparison needs those of a few values hundreds of times."""
    with localcontext(prec=_DIGITS):
        return _decimal(value).ln()


def _decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def value_between(measured: Decimal, zero_at: Decimal, full_at: Decimal) -> Decimal:
    """A measured figure as value 0 to 1 (4 places) between two fixed anchors; `zero_at` above `full_at`: less is better.

    Raises UsageError when both anchors are equal.
    """
    if zero_at == full_at:
        raise UsageError(Text("zero_at and full_at are equal", "zero_at 与 full_at 相同"), next_step=Text("give the worst and the best figure that matter", "请填写有意义的最差值与最优值"))
    reached = (Fraction(measured) - Fraction(zero_at)) / (Fraction(full_at) - Fraction(zero_at))
    return half_up(min(max(reached, Fraction(0)), Fraction(1)), 4)
