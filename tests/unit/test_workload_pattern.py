"""Does a pattern of use make the sessions that it says, and do longer spans pay for every period?"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

from gpulease_gui.economics.billed import billed
from gpulease_gui.economics.billing_terms import BillingTerms, CommittedHours, CommittedSpend, PrepaidPeriod
from gpulease_gui.economics.workload import Session, Workload, equal_sessions
from gpulease_gui.economics.workload_pattern import Pattern, pattern_of, workload_of
from gpulease_gui.services.commerce_billing import Billing
from gpulease_gui.services.commerce_cost import SavedWorkload, over_span, save_workload, workloads_in
from gpulease_gui.store.workspace import Workspace

HALF = Pattern(4, Decimal("7.5"), 3, 20, 2, Decimal(500), Decimal(40), Decimal("0.8"), kept_stopped=True)


def test_that_the_hours_of_a_day_are_shared_by_its_starts() -> None:
    made = workload_of(HALF)
    assert made.sessions == (Session(9000),) * 120 and made.ready_gpu_hours == 4 * 300
    assert (made.egress_gb, made.storage_hours, made.span_hours) == (Decimal(80), Decimal(1460), Decimal(1460))
    assert made.stopped_s == 1460 * 3600 - 300 * 3600


def test_that_plain_runs_are_recognised_as_a_pattern_and_others_are_not() -> None:
    found = pattern_of(equal_sessions(8, 20, 21600))
    assert found is not None and (found.hours_per_day, found.days_per_month, found.gpus) == (Decimal(6), 20, 8)
    assert pattern_of(Workload(1, (Session(60), Session(61)))) is None
    assert pattern_of(Workload(1, (Session(60, datetime(2026, 3, 2, 9, tzinfo=UTC)),))) is None
    assert pattern_of(equal_sessions(1, 32, 60)) is None and pattern_of(Workload()) is None


def test_that_runs_of_one_kind_are_charged_alike_whether_they_are_one_object_or_many() -> None:
    terms = BillingTerms(granularity_s=3600, min_billed_s=7200)
    many = Workload(2, tuple(Session(4000) for _ in range(5)))
    assert billed(terms, many) == billed(terms, equal_sessions(2, 5, 4000))


def test_that_every_period_of_a_commitment_is_paid() -> None:
    three = workload_of(Pattern(months=3))
    month = Decimal(730)
    cases = [
        (PrepaidPeriod(month), PrepaidPeriod(month, Decimal(3))),
        (PrepaidPeriod(month, Decimal(12)), PrepaidPeriod(month, Decimal(12))),
        (PrepaidPeriod(Decimal(720)), PrepaidPeriod(Decimal(720), Decimal(3))),
        (PrepaidPeriod(Decimal(168)), PrepaidPeriod(Decimal(168), Decimal(14))),
        (CommittedHours(Decimal(10), Decimal(2), Decimal(3), month), CommittedHours(Decimal(30), Decimal(2), Decimal(3), month)),
        (CommittedSpend(Decimal(100), month), CommittedSpend(Decimal(300), month)),
        (CommittedSpend(Decimal(100)), CommittedSpend(Decimal(100))),
    ]
    for before, after in cases:
        assert over_span(Billing(BillingTerms(commitment=before), {}), three).terms.commitment == after
    alone = Billing(BillingTerms(commitment=PrepaidPeriod(month)), {})
    assert over_span(alone, equal_sessions(1, 90, 86400)) is alone


def test_that_the_pattern_and_the_tax_are_kept_with_the_workload(tmp_path: Path) -> None:
    workspace = Workspace.open(tmp_path / "w.db")
    saved = SavedWorkload("w", "tuning", workload_of(HALF), HALF, tax_recoverable=False)
    workspace.submit(lambda db: save_workload(db, saved)).result()
    with workspace.read() as connection:
        assert workloads_in(connection) == (saved,)
    workspace.close()


def test_that_runs_whose_length_two_decimals_of_an_hour_can_not_show_stay_listed() -> None:
    assert pattern_of(equal_sessions(1, 10, 1200)) is None
    assert pattern_of(equal_sessions(1, 10, 1800)) is not None
