"""What does a contract charge, and by which rules?"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import StrEnum

ZERO = Decimal(0)


class PriceUnit(StrEnum):
    """What one unit of the price buys."""

    GPU_HOUR = "gpu_hour"
    NODE_HOUR = "node_hour"
    GPU_DAY = "gpu_day"
    NODE_DAY = "node_day"
    GPU_MONTH = "gpu_month"
    NODE_MONTH = "node_month"

    @property
    def of_node(self) -> bool:
        """Whether the price is one of whole nodes."""
        return self.value.startswith("node")


class Alignment(StrEnum):
    """Where billing steps begin: at the start of the session, or at round times of the local clock."""

    ROLLING = "rolling"
    CLOCK = "clock"


class MinimumScope(StrEnum):
    """What the minimum time is charged for: every session, or the whole order once."""

    SESSION = "session"
    ORDER = "order"


class TierMode(StrEnum):
    """Whether a step of a volume price holds for its slice or for every hour."""

    GRADUATED = "graduated"
    ALL_UNITS = "all_units"


@dataclass(frozen=True, slots=True)
class PrepaidPeriod:
    """Periods paid ahead at the price of the offer. `on_demand_gpu_hour` is the price without prepayment."""

    period_hours: Decimal
    periods: Decimal = Decimal(1)
    on_demand_gpu_hour: Decimal | None = None


@dataclass(frozen=True, slots=True)
class CommittedHours:
    """GPU-hours paid whether used or not; prices per GPU-hour."""

    hours: Decimal
    price: Decimal
    overage_price: Decimal
    period_hours: Decimal | None = None


@dataclass(frozen=True, slots=True)
class CommittedSpend:
    """The least that is charged for compute."""

    amount: Decimal
    period_hours: Decimal | None = None


Commitment = PrepaidPeriod | CommittedHours | CommittedSpend


@dataclass(frozen=True, slots=True)
class Step:
    """A price per GPU-hour up to and with `up_to` GPU-hours of the workload; None has no end."""

    up_to: Decimal | None
    price: Decimal


@dataclass(frozen=True, slots=True)
class Tiers:
    """Volume prices, `up_to` ascending."""

    mode: TierMode
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class StoragePrice:
    """What kept data costs; a month has `hours_per_month` hours (720, 730...)."""

    price_per_gb_month: Decimal
    hours_per_month: Decimal
    free_gb: Decimal = ZERO


@dataclass(frozen=True, slots=True)
class EgressPrice:
    """What data leaving costs."""

    price_per_gb: Decimal
    free_gb: Decimal = ZERO


@dataclass(frozen=True, slots=True)
class Fee:
    """An amount charged once."""

    amount: Decimal
    name: str = ""


@dataclass(frozen=True, slots=True)
class Discount:
    """A part (0 to 1) taken off compute; several work one after the other."""

    value: Decimal
    name: str = ""


@dataclass(frozen=True, slots=True)
class Tax:
    """`rate` 0.06 is 6 %; recoverable tax is no cost of the buyer."""

    rate: Decimal = ZERO
    included: bool = False
    recoverable: bool = True


@dataclass(frozen=True, slots=True)
class Exchange:
    """What one unit of the contract's currency costs in `to`; `surcharge` 0.03 adds 3 %."""

    to: str
    rate: Decimal
    surcharge: Decimal = ZERO
    day: date | None = None


@dataclass(frozen=True, slots=True)
class BillingTerms:
    """The commercial rules of one offer. Times in seconds; amounts in `currency`, without float."""

    unit_price: Decimal = Decimal("1.00")
    currency: str = "USD"
    price_unit: PriceUnit = PriceUnit.GPU_HOUR
    gpus_per_node: int = 8
    whole_node_only: bool = False
    gpu_increment: int = 1
    min_gpus: int = 1
    granularity_s: int = 1
    alignment: Alignment = Alignment.ROLLING
    min_billed_s: int = 0
    min_scope: MinimumScope = MinimumScope.SESSION
    stopped_rate: Decimal = ZERO
    bill_provisioning: bool = False
    commitment: Commitment | None = None
    tiers: Tiers | None = None
    storage: StoragePrice | None = None
    egress: EgressPrice | None = None
    fees: tuple[Fee, ...] = ()
    discounts: tuple[Discount, ...] = ()
    tax: Tax = field(default_factory=Tax)
    fx: Exchange | None = None
