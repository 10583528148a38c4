"""What would it cost if this were otherwise?"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from decimal import Decimal

from gpulease_gui.economics.billing_terms import BillingTerms, MinimumScope
from gpulease_gui.economics.cost import Cost, cost
from gpulease_gui.economics.rounding import CENTS, half_up
from gpulease_gui.economics.workload import Session, Workload


@dataclass(frozen=True, slots=True)
class Change:
    """What is turned; None leaves it as it is. The last four belong to the workload, the others to the contract."""

    unit_price: Decimal | None = None
    whole_node_only: bool | None = None
    granularity_s: int | None = None
    min_billed_s: int | None = None
    min_scope: MinimumScope | None = None
    stopped_rate: Decimal | None = None
    gpus: int | None = None
    sessions: tuple[Session, ...] | None = None
    stopped_s: int | None = None
    busy_fraction: Decimal | None = None


_OF_WORKLOAD = frozenset(["gpus", "sessions", "stopped_s", "busy_fraction"])


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Both costs; `more` is what the change adds to the comparison cost, to the cent (negative: it saves)."""

    before: Cost
    after: Cost
    more: Decimal


def what_if(terms: BillingTerms, workload: Workload, change: Change) -> WhatIf:
    """The cost as it is and as it would be. Raises UsageError as `cost` does."""
    turned = {part.name: getattr(change, part.name) for part in fields(change)}
    turned = {name: value for name, value in turned.items() if value is not None}
    of_workload = {name: value for name, value in turned.items() if name in _OF_WORKLOAD}
    of_terms = {name: value for name, value in turned.items() if name not in _OF_WORKLOAD}
    before = cost(terms, workload)
    after = cost(replace(terms, **of_terms), replace(workload, **of_workload))
    return WhatIf(before, after, half_up(after.exact_comparison - before.exact_comparison, CENTS))


def longest_minimum_s(terms: BillingTerms, workload: Workload, rival: Cost, limit_s: int = 31 * 86400) -> int | None:
    """The longest minimum time (seconds) with which `terms` still cost less than `rival`, both in one currency.

    None when they cost as much or more even without a minimum. At most `limit_s`. Raises UsageError as `cost` does.
    """

    def wins(minimum_s: int) -> bool:
        return cost(replace(terms, min_billed_s=minimum_s), workload).exact_comparison < rival.exact_comparison

    if not wins(0):
        return None
    low, high = 0, limit_s + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if wins(middle) else (low, middle)
    return low
