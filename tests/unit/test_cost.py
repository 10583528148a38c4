"""What do offers cost, by examples counted beforehand and at the edges of every rule?"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.cli.cost import as_dict, terms_of, workload_of
from gpulease_gui.cli.example_file import Fields
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.economics.billed import billed, billed_gpus, billed_seconds
from gpulease_gui.economics.billing_terms import (
    Alignment,
    BillingTerms,
    CommittedHours,
    CommittedSpend,
    Discount,
    Exchange,
    Fee,
    MinimumScope,
    PrepaidPeriod,
    PriceUnit,
    Step,
    StoragePrice,
    Tax,
    TierMode,
    Tiers,
)
from gpulease_gui.economics.cost import cost
from gpulease_gui.economics.early_exit import DayBasis, ExitTerms, FeeBasis, exit_cost, prorated
from gpulease_gui.economics.price import per_gpu_hour
from gpulease_gui.economics.what_if import Change, longest_minimum_s, what_if
from gpulease_gui.economics.workload import Session, Workload, equal_sessions

DATA: dict[str, Any] = json.loads((Path(__file__).parents[1] / "economics" / "cost.json").read_text("utf-8"), parse_float=Decimal)
EXAMPLES = {example["id"]: example for example in DATA["examples"]}
SPECIAL = {example["id"]: example for example in DATA["special"]}
HOUR = 3600
CLOCK_HOURS = BillingTerms(granularity_s=HOUR, alignment=Alignment.CLOCK)


def priced(id_: str) -> dict[str, object]:
    example = EXAMPLES[id_]
    return as_dict(cost(terms_of(Fields(example["offer"], id_)), workload_of(Fields(example["workload"], id_))))


@pytest.mark.parametrize("id_", EXAMPLES)
def test_that_an_offer_costs_what_was_counted_by_hand(id_: str) -> None:
    assert priced(id_) == EXAMPLES[id_]["expected"]


@pytest.mark.parametrize("ranking", DATA["rankings"], ids=lambda ranking: ranking["id"])
def test_that_offers_stand_in_the_order_of_what_they_really_cost(ranking: dict[str, Any]) -> None:
    def key(id_: str) -> Decimal:
        by = ranking["by"]
        return Decimal(EXAMPLES[id_]["offer"]["unit_price"] if by == "unit_price" else str(priced(id_)[by]))

    assert sorted(ranking["examples"], key=key) == ranking["order"]


@pytest.mark.parametrize("id_", [id_ for id_, example in SPECIAL.items() if "used_hours" in example["input"]])
def test_that_leaving_early_gives_back_what_the_clause_says(id_: str) -> None:
    given = SPECIAL[id_]["input"]
    terms = ExitTerms(
        Decimal(given["on_demand_gpu_hour"]), Decimal(given["reserved_gpu_hour"]), Decimal(given["period_hours"]),
        Decimal(given["fee_rate"]), FeeBasis(given["fee_on"]), given.get("clawback", True),
    )  # fmt: skip
    found = exit_cost(terms, Decimal(given["used_hours"]))
    assert {name: str(getattr(found, name)) for name in SPECIAL[id_]["expected"]} == SPECIAL[id_]["expected"]


@pytest.mark.parametrize("id_", [id_ for id_, example in SPECIAL.items() if "basis" in example["input"]])
def test_that_a_part_of_a_month_is_counted_by_the_agreed_days(id_: str) -> None:
    given, expected = SPECIAL[id_]["input"], SPECIAL[id_]["expected"]
    start, end = date.fromisoformat(given["start"]), date.fromisoformat(given["end_exclusive"])
    found = prorated(Decimal(given["month_price"]), start, end, DayBasis(given["basis"]))
    assert (found.days, str(found.amount)) == (expected["days"], expected["amount"])


def test_that_leaving_at_once_or_outside_the_period_is_no_division() -> None:
    terms = ExitTerms(Decimal("1.00"), Decimal("0.80"), Decimal(720))
    assert exit_cost(terms, Decimal(0)).refund == Decimal("576.00")
    assert exit_cost(terms, Decimal(0)).effective_per_gpu_hour is None
    with pytest.raises(UsageError, match="720"):
        exit_cost(terms, Decimal("720.5"))


@pytest.mark.parametrize(
    ("start", "end", "hours"),
    [
        ("2026-03-02T10:00:00+08:00", "2026-03-02T11:00:00+08:00", 1),  # on the hour: exactly one step
        ("2026-03-02T10:00:00+08:00", "2026-03-02T11:00:01+08:00", 2),
        ("2026-03-02T10:59:59+08:00", "2026-03-02T11:00:01+08:00", 2),
        ("2026-03-02T23:50:00+08:00", "2026-03-03T00:10:00+08:00", 2),  # across midnight
        ("2026-03-02T10:10:00+05:30", "2026-03-02T10:50:00+05:30", 1),  # half-hour zone: the local hour counts
        ("2026-03-02T04:40:00+00:00", "2026-03-02T05:20:00+00:00", 2),  # the same moment in UTC
        ("2026-03-02T10:30:00-03:00", "2026-03-02T15:30:00+01:00", 2),  # an end told in another zone
        ("1969-12-31T23:30:00+00:00", "1970-01-01T00:30:00+00:00", 2),
        ("2026-03-02T10:30:00+08:00", "2026-03-02T10:30:00+08:00", 0),
    ],
)
def test_that_clock_hours_are_those_of_the_local_clock(start: str, end: str, hours: int) -> None:
    begin = datetime.fromisoformat(start)
    seconds = int((datetime.fromisoformat(end) - begin).total_seconds())
    assert billed_seconds(CLOCK_HOURS, Session(seconds, begin)) == hours * HOUR


def test_that_local_days_begin_at_local_midnight() -> None:
    days = BillingTerms(granularity_s=24 * HOUR, alignment=Alignment.CLOCK)
    evening = Session(HOUR, datetime.fromisoformat("2026-03-02T23:30:00+08:00"))
    morning = Session(HOUR, datetime.fromisoformat("2026-03-03T00:30:00+08:00"))
    assert billed_seconds(days, evening) == 48 * HOUR
    assert billed_seconds(days, morning) == 24 * HOUR


def test_that_a_minimum_also_lifts_clock_hours() -> None:
    terms = replace(CLOCK_HOURS, min_billed_s=5400)
    start = datetime.fromisoformat("2026-03-02T10:10:00+08:00")
    assert billed_seconds(terms, Session(600, start)) == 2 * HOUR
    assert billed_seconds(terms, Session(3 * HOUR, start)) == 4 * HOUR


def test_that_the_clock_is_not_guessed() -> None:
    with pytest.raises(UsageError, match="zone"):
        billed_seconds(CLOCK_HOURS, Session(600))
    with pytest.raises(UsageError, match="zone"):
        billed_seconds(CLOCK_HOURS, Session(600, datetime(2026, 3, 2, 10, 0)))


@pytest.mark.parametrize(("ready_s", "charged"), [(1, HOUR), (HOUR - 1, HOUR), (HOUR, HOUR), (HOUR + 1, 2 * HOUR), (0, 0)])
def test_that_a_step_is_charged_from_its_first_second(ready_s: int, charged: int) -> None:
    assert billed_seconds(BillingTerms(granularity_s=HOUR), Session(ready_s)) == charged


def test_that_a_minimum_per_order_is_charged_once_and_not_for_nothing() -> None:
    terms = BillingTerms(granularity_s=HOUR, min_billed_s=90 * 60, min_scope=MinimumScope.ORDER)
    assert billed(terms, Workload(sessions=(Session(60), Session(0)))).per_session_s == (HOUR, 0)
    assert billed(terms, Workload(sessions=(Session(60), Session(0)))).total_s == 2 * HOUR
    assert billed(terms, equal_sessions(1, 3, HOUR)).total_s == 3 * HOUR
    assert billed(terms, Workload(sessions=(Session(0),))).total_s == 0
    assert billed(terms, Workload()).total_s == 0


def test_that_a_start_that_never_was_ready_has_its_minimum_only_where_it_is_charged() -> None:
    terms = BillingTerms(granularity_s=60, min_billed_s=HOUR)
    assert billed_seconds(terms, Session(90, ready=False)) == 0
    assert billed_seconds(replace(terms, bill_provisioning=True), Session(90, ready=False)) == HOUR


@pytest.mark.parametrize(
    ("terms", "asked", "charged"),
    [
        (BillingTerms(), 3, 3), (BillingTerms(min_gpus=4), 3, 4), (BillingTerms(min_gpus=4, gpu_increment=3), 3, 6),
        (BillingTerms(whole_node_only=True), 8, 8), (BillingTerms(whole_node_only=True), 9, 16),
        (BillingTerms(whole_node_only=True, gpus_per_node=4, min_gpus=5), 1, 8),
        (BillingTerms(whole_node_only=True, gpu_increment=3), 1, 8),
    ],
)  # fmt: skip
def test_that_whole_nodes_and_steps_are_filled_up(terms: BillingTerms, asked: int, charged: int) -> None:
    assert billed_gpus(terms, asked) == charged


@pytest.mark.parametrize(
    ("unit", "price"),
    [(PriceUnit.GPU_HOUR, 720), (PriceUnit.NODE_HOUR, 180), (PriceUnit.GPU_DAY, 30), (PriceUnit.NODE_DAY, Decimal("7.5")),
     (PriceUnit.GPU_MONTH, 1), (PriceUnit.NODE_MONTH, Decimal("0.25"))],
)  # fmt: skip
def test_that_every_unit_becomes_a_gpu_hour(unit: PriceUnit, price: Decimal) -> None:
    terms = BillingTerms(unit_price=Decimal(720), price_unit=unit, gpus_per_node=4, commitment=PrepaidPeriod(Decimal(720)))
    assert per_gpu_hour(terms) == price


def test_that_a_month_without_hours_has_no_hourly_price() -> None:
    with pytest.raises(UsageError, match="period_hours"):
        per_gpu_hour(BillingTerms(price_unit=PriceUnit.NODE_MONTH))


STEPS = (Step(Decimal(10), Decimal(3)), Step(Decimal(20), Decimal(2)), Step(None, Decimal(1)))


@pytest.mark.parametrize(
    ("hours", "graduated", "all_units"), [(0, 0, 0), (10, 30, 30), (11, 32, 22), (20, 50, 40), (21, 51, 21), (30, 60, 30)]
)
def test_that_a_volume_step_holds_up_to_and_with_its_end(hours: int, graduated: int, all_units: int) -> None:
    workload = Workload(sessions=(Session(hours * HOUR),))
    for mode, amount in ((TierMode.GRADUATED, graduated), (TierMode.ALL_UNITS, all_units)):
        assert cost(BillingTerms(tiers=Tiers(mode, STEPS)), workload).compute == amount


def test_that_hours_beyond_the_last_volume_step_are_not_priced_by_guess() -> None:
    with pytest.raises(UsageError, match="20"):
        cost(BillingTerms(tiers=Tiers(TierMode.GRADUATED, STEPS[:2])), equal_sessions(1, 21, HOUR))


def test_that_a_commitment_comes_before_discounts_and_says_what_it_lost() -> None:
    half = (Discount(Decimal("0.5")),)
    hours = CommittedHours(Decimal(10), Decimal(2), Decimal(5))
    over = cost(BillingTerms(commitment=hours, discounts=half), equal_sessions(1, 12, HOUR))
    assert (over.compute, over.discount, over.unused_commitment) == (15, 15, 0)
    spend = cost(BillingTerms(commitment=CommittedSpend(Decimal(100)), discounts=half), equal_sessions(1, 12, HOUR))
    assert (spend.compute, spend.shortfall) == (50, 88)
    assert cost(BillingTerms(commitment=CommittedSpend(Decimal(5))), equal_sessions(1, 12, HOUR)).shortfall == 0


def test_that_a_prepaid_node_costs_its_periods_whatever_ran() -> None:
    prepaid = PrepaidPeriod(Decimal(720), Decimal(3), Decimal(10))
    terms = BillingTerms(Decimal(36000), price_unit=PriceUnit.NODE_MONTH, whole_node_only=True, commitment=prepaid)
    idle = cost(terms, Workload(gpus=9))
    assert (idle.billed_gpus, idle.compute, idle.break_even_hours, idle.on_demand_alternative) == (16, 216000, 1350, 0)
    free = replace(terms, commitment=PrepaidPeriod(Decimal(720), on_demand_gpu_hour=Decimal(0)))
    assert cost(free, Workload()).break_even_hours is None


def test_that_nothing_run_has_no_price_per_hour() -> None:
    for workload in (Workload(), Workload(sessions=(Session(0),)), Workload(gpus=0, sessions=(Session(9),))):
        found = cost(BillingTerms(fees=(Fee(Decimal(5)),)), workload)
        assert (found.effective_per_gpu_hour, found.hidden_cost_pct, found.net_total - found.compute) == (None, None, 5)
    never_busy = cost(BillingTerms(), Workload(sessions=(Session(HOUR),), busy_fraction=Decimal(0)))
    assert never_busy.effective_per_gpu_hour is None and never_busy.hidden_cost_pct == 0
    free = cost(BillingTerms(Decimal(0)), equal_sessions(1, 1, HOUR))
    assert free.hidden_cost_pct is None and free.effective_per_gpu_hour == 0


def test_that_no_line_is_a_negative_zero() -> None:
    found = as_dict(cost(BillingTerms(Decimal("1000000"), discounts=(Discount(Decimal("0.00001")),)), equal_sessions(1, 1, HOUR)))
    assert found["hidden_cost_pct"] == "0.00"
    assert not [value for value in found.values() if isinstance(value, str) and value.startswith("-0.00")]


def test_that_tax_goes_out_of_an_inclusive_price_and_onto_an_exclusive_one() -> None:
    tax = Tax(Decimal("0.06"), included=True, recoverable=False)
    inside = cost(BillingTerms(Decimal("106"), tax=tax), equal_sessions(1, 1, HOUR))
    assert (inside.net_total, inside.tax, inside.gross_total, inside.comparison_cost) == (100, 6, 106, 106)
    outside = cost(BillingTerms(Decimal("100"), tax=replace(tax, included=False, recoverable=True)), equal_sessions(1, 1, HOUR))
    assert (outside.net_total, outside.tax, outside.gross_total, outside.comparison_cost) == (100, 6, 106, 100)


def test_that_lines_are_rounded_from_the_exact_sum() -> None:
    # 1/3 + 0.005 + 0.005: rounded lines would give 0.35, the sum is 0.34333...
    fees = (Fee(Decimal("0.005")), Fee(Decimal("0.005")))
    found = cost(BillingTerms(Decimal("1"), fees=fees, fx=Exchange("CNY", Decimal("7.20"), Decimal("0.03"))), equal_sessions(1, 1, 1200))
    assert (found.compute, found.fees, found.net_total) == (Decimal("0.33"), Decimal("0.01"), Decimal("0.34"))
    assert found.comparison_cost_base == Decimal("2.55")


def test_that_free_gigabytes_never_pay_back() -> None:
    terms = BillingTerms(storage=StoragePrice(Decimal("0.07"), Decimal(720), Decimal(100)))
    assert cost(terms, Workload(storage_gb=Decimal(50), storage_hours=Decimal(720))).storage == 0


def test_that_a_turned_knob_says_what_it_adds() -> None:
    terms, load = BillingTerms(Decimal("2.50"), gpus_per_node=8), equal_sessions(2, 1, 10 * HOUR)
    found = what_if(terms, load, Change(whole_node_only=True))
    assert (found.before.comparison_cost, found.after.comparison_cost, found.more) == (50, 200, 150)
    assert what_if(terms, load, Change(gpus=1, unit_price=Decimal("2.00"))).more == -30
    assert what_if(terms, load, Change()).more == 0


def test_that_the_minimum_is_found_up_to_which_an_offer_stays_cheaper() -> None:
    rival = cost(BillingTerms(Decimal("3.00")), equal_sessions(1, 1, 10 * HOUR))
    cheap = BillingTerms(Decimal("2.00"), granularity_s=HOUR)
    # 15 h at 2.00 cost the same 30.00, so 14 h are the longest that win.
    assert longest_minimum_s(cheap, equal_sessions(1, 1, 10 * HOUR), rival) == 14 * HOUR
    assert longest_minimum_s(cheap, equal_sessions(1, 1, 10 * HOUR), rival, limit_s=HOUR) == HOUR
    assert longest_minimum_s(BillingTerms(Decimal("3.00")), equal_sessions(1, 1, 10 * HOUR), rival) is None


@pytest.mark.parametrize(("unit", "amount", "paid"), [
    (PriceUnit.GPU_HOUR, "2.00", "11520.00"), (PriceUnit.GPU_DAY, "48.00", "11520.00"), (PriceUnit.NODE_HOUR, "16.00", "11520.00"),
    (PriceUnit.NODE_MONTH, "11520.00", "11520.00"),
])  # fmt: skip
def test_that_a_prepaid_month_priced_by_the_hour_is_paid_for_every_hour(unit: PriceUnit, amount: str, paid: str) -> None:
    terms = BillingTerms(unit_price=Decimal(amount), price_unit=unit, gpus_per_node=8, commitment=PrepaidPeriod(Decimal(720)))
    assert cost(terms, equal_sessions(8, 1, HOUR)).compute == Decimal(paid)
