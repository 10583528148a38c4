"""What is to be run, for how long, on how many GPUs?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Session:
    """One start of a machine. `start` (with its zone) is needed where billing follows the clock.

    `ready` False: the machine never became usable.
    """

    duration_s: int
    start: datetime | None = None
    ready: bool = True


@dataclass(frozen=True, slots=True)
class Workload:
    """The use that an offer is priced for; `busy_fraction` is the part of the ready time that does useful work.

    `span_hours`: how long it takes from first to last, idle nights and all; None = within one period of any contract.
    """

    gpus: int = 1
    sessions: tuple[Session, ...] = ()
    stopped_s: int = 0
    storage_gb: Decimal = Decimal(0)
    storage_hours: Decimal = Decimal(0)
    egress_gb: Decimal = Decimal(0)
    busy_fraction: Decimal = Decimal(1)
    span_hours: Decimal | None = None

    @property
    def ready_gpu_hours(self) -> Fraction:
        """Asked GPUs x hours that they were ready for use, exact."""
        return Fraction(self.gpus * sum(s.duration_s for s in self.sessions if s.ready), 3600)


def equal_sessions(gpus: int, count: int, seconds: int) -> Workload:
    """`count` runs of `seconds` each on `gpus` GPUs: what the plain workload editor makes."""
    return Workload(gpus, (Session(seconds),) * count)
