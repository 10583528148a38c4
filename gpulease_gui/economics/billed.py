"""How many GPUs and seconds of a workload does a contract charge?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.billing_terms import Alignment, BillingTerms, MinimumScope
from gpulease_gui.economics.rounding import ceil_div
from gpulease_gui.economics.workload import Session, Workload

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Billed:
    """The charged quantity. `per_session_s` is without a minimum that counts per order; `total_s` is with it."""

    gpus: int
    per_session_s: tuple[int, ...]
    total_s: int

    @property
    def gpu_hours(self) -> Fraction:
        """Charged GPU-hours, exact."""
        return Fraction(self.gpus * self.total_s, 3600)


def billed(terms: BillingTerms, workload: Workload) -> Billed:
    """The charged GPUs and seconds. Raises UsageError if the clock rules and a session has no start."""
    # Runs of a pattern are one object many times: it is charged once.
    kinds = {id(session): session for session in workload.sessions}
    charged = {key: billed_seconds(terms, session) for key, session in kinds.items()}
    each = tuple(charged[id(session)] for session in workload.sessions)
    return Billed(billed_gpus(terms, workload.gpus), each, _total(terms, sum(each)))


def billed_gpus(terms: BillingTerms, asked: int) -> int:
    """GPUs charged for `asked` ones: whole nodes, or steps; one figure for the whole workload."""
    step = terms.gpus_per_node if terms.whole_node_only else terms.gpu_increment
    return ceil_div(max(asked, terms.min_gpus), step) * step


def billed_seconds(terms: BillingTerms, session: Session) -> int:
    """Seconds charged for one session, without a minimum per order; nothing for none, or for one never ready.

    Clock steps count from midnight of 1 January 1970 on the local clock of the session's start, so steps that
    divide a day begin at midnight. A change of the UTC offset inside a session does not move them.
    """
    if session.duration_s == 0 or not (session.ready or terms.bill_provisioning):
        return 0
    step = terms.granularity_s
    least = terms.min_billed_s if terms.min_scope is MinimumScope.SESSION else 0
    minimum = step * ceil_div(least, step)
    if terms.alignment is Alignment.ROLLING:
        return max(step * ceil_div(session.duration_s, step), minimum)
    begin = _local_second(session)
    return max(step * (ceil_div(begin + session.duration_s, step) - begin // step), minimum)


def _local_second(session: Session) -> int:
    offset = session.start.utcoffset() if session.start else None
    if session.start is None or offset is None:
        raise UsageError(
            Text("a session has no start time with its zone", "某次使用没有带时区的开始时间"), Text("the clock decides what is charged", "计费以时刻为准"),
            Text("write start and end such as 2026-03-02T10:50:00+08:00", "请按 2026-03-02T10:50:00+08:00 的格式填写开始与结束"),
        )  # fmt: skip
    since = session.start - _EPOCH + offset
    return since.days * 86400 + since.seconds


def _total(terms: BillingTerms, seconds: int) -> int:
    if seconds == 0 or terms.min_scope is MinimumScope.SESSION:
        return seconds
    return max(seconds, terms.granularity_s * ceil_div(terms.min_billed_s, terms.granularity_s))
