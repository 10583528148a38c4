"""Which workload do so many hours a day, on so many days a month, for so many months make?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from gpulease_gui.economics.rounding import half_up
from gpulease_gui.economics.workload import Session, Workload

MONTH_HOURS = 730
MOST_DAYS = 31


@dataclass(frozen=True, slots=True)
class Pattern:
    """Use that repeats: the hours of a day are shared by its starts. `kept_stopped`: the GPUs stay rented in between."""

    gpus: int = 8
    hours_per_day: Decimal = Decimal(8)
    starts_per_day: int = 1
    days_per_month: int = 22
    months: int = 1
    storage_gb: Decimal = Decimal(0)
    egress_gb_per_month: Decimal = Decimal(0)
    busy_fraction: Decimal = Decimal(1)
    kept_stopped: bool = False

    @property
    def hours_per_month(self) -> Decimal:
        """Hours of one month that the GPUs are in use."""
        return self.hours_per_day * self.days_per_month


def workload_of(pattern: Pattern) -> Workload:
    """The sessions of the pattern, each to the second; a month has 730 hours, for storage and for stopped time."""
    each = int(half_up(Fraction(pattern.hours_per_day) * 3600 / max(pattern.starts_per_day, 1), 0))
    sessions = (Session(each),) * (pattern.starts_per_day * pattern.days_per_month * pattern.months)
    span_s = pattern.months * MONTH_HOURS * 3600
    return Workload(
        gpus=pattern.gpus, sessions=sessions,
        stopped_s=max(span_s - each * len(sessions), 0) if pattern.kept_stopped else 0,
        storage_gb=pattern.storage_gb, storage_hours=Decimal(pattern.months * MONTH_HOURS),
        egress_gb=pattern.egress_gb_per_month * pattern.months, busy_fraction=pattern.busy_fraction,
        span_hours=Decimal(pattern.months * MONTH_HOURS),
    )  # fmt: skip


# Hours a day are shown and typed to two decimals: a length between them would be changed by being looked at.
SHOWN_STEP_S = 36


def pattern_of(workload: Workload) -> Pattern | None:
    """The one-month pattern that makes this workload, such as twenty runs of six hours; None when none does."""
    count = len(workload.sessions)
    if not 1 <= count <= MOST_DAYS or any(s != workload.sessions[0] or s.start or not s.ready for s in workload.sessions):
        return None
    each = workload.sessions[0].duration_s
    if each % SHOWN_STEP_S:
        return None
    made = Pattern(
        workload.gpus, Decimal(each) / 3600, 1, count, 1, workload.storage_gb, workload.egress_gb, workload.busy_fraction
    )
    told = replace(workload, storage_hours=Decimal(MONTH_HOURS), span_hours=Decimal(MONTH_HOURS))
    same = each <= 86400 and workload_of(made) == told
    return made if same and workload.storage_hours in (MONTH_HOURS, 0) else None
