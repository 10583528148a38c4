"""Do stored terms become the rules of billing, the red flags and the plans that they say, and no more?"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.catalog.catalogue import Catalogue, load_catalogue
from gpulease_gui.catalog.fields import validate_field
from gpulease_gui.catalog.scenarios import load_scenarios
from gpulease_gui.domain.commercial import FieldKind
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.supplier import FxRate
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.billing_terms import (
    Alignment,
    CommittedHours,
    Discount,
    EgressPrice,
    Fee,
    MinimumScope,
    PrepaidPeriod,
    Step,
    StoragePrice,
    Tax,
    TierMode,
    Tiers,
)
from gpulease_gui.economics.early_exit import ExitTerms, FeeBasis
from gpulease_gui.economics.flag import FlagState
from gpulease_gui.economics.offer_facts import MarketPrice, PriceMode, Reference
from gpulease_gui.economics.sizing import Method, Setup
from gpulease_gui.economics.suitable import choices
from gpulease_gui.economics.workload import Session, Workload, equal_sessions
from gpulease_gui.services.commerce_billing import billing_of, exit_terms_of
from gpulease_gui.services.commerce_cost import (
    SavedWorkload,
    cost_of,
    flags_in,
    offers_serving,
    save_workload,
    workloads_in,
)
from gpulease_gui.services.commercial_words import field_text, plain, seconds_text
from gpulease_gui.services.cost_steps import steps_of
from gpulease_gui.services.price_of_day import hour_price
from gpulease_gui.services.price_period import PricePer, period_price
from gpulease_gui.store.workspace import Workspace

from .deal_by_hand import deal

H100 = {"gpu.model": "nvidia-h100-sxm5-80gb", "gpu.count": 8}
USD = FxRate("USD", "CNY", Decimal("7.0835"), date(2026, 5, 30), "bank")


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


def test_that_every_stated_term_reaches_the_rules_of_billing() -> None:
    terms = {
        "billing.granularity_s": 3600, "billing.alignment": "clock", "billing.min_billed_s": 86400, "billing.min_scope": "order",
        "billing.whole_node_only": True, "billing.gpu_increment": 2, "billing.min_gpus": 4, "billing.stopped_rate": Decimal("0.5"),
        "billing.bill_provisioning": True, "storage.price_gb_month": Decimal("0.10"), "storage.hours_per_month": Decimal(720),
        "storage.free_gb": Decimal(100), "traffic.out_price_gb": Decimal("0.08"), "traffic.free_gb": Decimal(10),
        "billing.fees": ((("name", "setup"), ("amount", Decimal(50))),), "billing.discounts": ((("value", Decimal("0.1")),),),
        "billing.tier_mode": "all_units",
        "billing.tiers": ((("up_to", Decimal(500)), ("price", Decimal("3.00"))), (("price", Decimal("2.60")),)),
        "commitment.kind": "committed_hours", "commitment.hours": Decimal(1000), "commitment.price": Decimal("2.00"),
        "commitment.overage_price": Decimal("2.80"),
    }  # fmt: skip
    found = billing_of(deal({"gpu.count": 4}, terms, tax_included=True, tax_rate="0.13"), tax_recoverable=False, rate=USD).terms
    assert (found.unit_price, found.currency, found.gpus_per_node, found.granularity_s) == (Decimal("2.00"), "USD", 4, 3600)
    assert (found.alignment, found.min_billed_s, found.min_scope) == (Alignment.CLOCK, 86400, MinimumScope.ORDER)
    assert (found.whole_node_only, found.gpu_increment, found.min_gpus) == (True, 2, 4)
    assert (found.stopped_rate, found.bill_provisioning) == (Decimal("0.5"), True)
    assert found.storage == StoragePrice(Decimal("0.10"), Decimal(720), Decimal(100))
    assert found.egress == EgressPrice(Decimal("0.08"), Decimal(10))
    assert (found.fees, found.discounts) == ((Fee(Decimal(50), "setup"),), (Discount(Decimal("0.1")),))
    assert found.tiers == Tiers(TierMode.ALL_UNITS, (Step(Decimal(500), Decimal("3.00")), Step(None, Decimal("2.60"))))
    assert found.commitment == CommittedHours(Decimal(1000), Decimal("2.00"), Decimal("2.80"))
    assert found.tax == Tax(Decimal("0.13"), True, False)
    assert found.fx is not None and (found.fx.to, found.fx.rate, found.fx.day) == ("CNY", Decimal("7.0835"), date(2026, 5, 30))


def test_that_what_nobody_stated_is_said_to_be_assumed() -> None:
    bare = billing_of(deal())
    assert set(bare.assumed) == {
        "billing.granularity_s", "billing.min_billed_s", "billing.whole_node_only", "billing.stopped_rate",
        "billing.bill_provisioning", "storage.price_gb_month", "traffic.out_price_gb", "price.tax",
    }  # fmt: skip
    told = billing_of(deal(terms={"billing.min_billed_s": 0, "billing.whole_node_only": False}, tax_included=False))
    assert not {"billing.min_billed_s", "billing.whole_node_only", "price.tax"} & set(told.assumed)


def test_that_a_month_price_is_a_period_paid_whole() -> None:
    found = billing_of(deal({"gpu.count": 8}, {"billing.on_demand_gpu_hour": Decimal("10.00")}, amount="36000", unit="node_month", currency="CNY"))
    assert found.terms.commitment == PrepaidPeriod(Decimal(730), Decimal(1), Decimal("10.00"))
    assert {"billing.month_hours"} <= set(found.assumed)
    cost = cost_of(deal({"gpu.count": 8}, amount="36000", unit="node_month", currency="CNY"), equal_sessions(8, 1, 300 * 3600)).cost
    assert cost.comparison_cost == Decimal("36000.00")


def test_that_sessions_without_a_time_of_day_are_taken_to_begin_with_a_step_of_the_clock() -> None:
    facts = deal(terms={"billing.alignment": "clock", "billing.granularity_s": 3600})
    bare = cost_of(facts, equal_sessions(1, 1, 1200))
    assert bare.cost.comparison_cost == Decimal("2.00") and "workload.start" in bare.billing.assumed
    timed = cost_of(facts, Workload(1, (Session(1200, datetime(2026, 3, 2, 10, 50, tzinfo=UTC)),)))
    assert timed.cost.comparison_cost == Decimal("4.00") and "workload.start" not in timed.billing.assumed


def test_that_committed_hours_without_a_price_cost_the_price_of_the_offer_and_say_so() -> None:
    stated = {"commitment.kind": "committed_hours", "commitment.hours": Decimal(1000)}
    bare = cost_of(deal(terms=stated), equal_sessions(1, 1, 100 * 3600))
    assert bare.cost.comparison_cost == Decimal("2000.00")
    assert {"commitment.price", "commitment.overage_price"} <= set(bare.billing.assumed)
    silent = cost_of(deal(terms={"commitment.kind": "committed_hours"}), equal_sessions(1, 1, 100 * 3600))
    assert silent.cost.comparison_cost == Decimal("200.00")
    assert "the commitment is not counted: its hours are not stated" in [words.en for words in silent.assumed]


@pytest.mark.parametrize(
    ("included", "rate", "comes_back", "words"),
    [
        (None, None, True, "the price is net and no tax is added"), (None, "0.13", False, "the price is net, its tax is added"),
        (True, None, True, "the tax in the price is not taken out: its rate is not stated"), (False, None, True, None),
        (False, None, False, "no tax is added: its rate is not stated"), (True, "0.13", False, None),
    ],
)  # fmt: skip
def test_that_the_assumed_tax_is_the_one_that_is_counted(included: bool | None, rate: str | None, comes_back: bool, words: str | None) -> None:
    found = billing_of(deal(tax_included=included, tax_rate=rate), tax_recoverable=comes_back).assumed.get("price.tax")
    assert (found.en if found else None) == words


def test_that_a_whole_node_of_unknown_size_is_taken_as_8_gpus_aloud() -> None:
    assert "gpu.count" in billing_of(deal(terms={"billing.whole_node_only": True})).assumed
    assert "gpu.count" not in billing_of(deal(H100, {"billing.whole_node_only": True})).assumed


def test_that_a_price_is_compared_net_where_the_tax_comes_back_and_a_month_is_written_per_hour() -> None:
    gross, net = deal(amount="11.30", tax_included=True, tax_rate="0.13"), deal(amount="10.50", tax_included=False, tax_rate="0.13")
    found = [period_price(one, PricePer.GPU_HOUR, tax_recoverable=back) for back in (True, False) for one in (gross, net)]
    assert [one.exact if one else None for one in found] == [Decimal("10"), Decimal("10.50"), Decimal("11.30"), Decimal("11.865")]
    month = hour_price(deal(H100, amount="58400", unit="node_month"))
    assert month is not None and (month.amount, month.assumed[0].en) == (Decimal(10), "a month has 730 hours")


@pytest.mark.parametrize(
    ("amount", "unit", "terms", "per", "exact", "notes", "assumed"),
    [
        ("16.20", "gpu_hour", {}, "gpu_month", "11664", [], []),
        ("16.20", "gpu_hour", {}, "node_month", "93312", [], []),
        ("16.20", "gpu_hour", {"billing.month_hours": Decimal(744)}, "gpu_month", "12052.80", ["a month of 744 h, as in its terms"], []),
        ("7000", "gpu_month", {"billing.month_hours": Decimal(744)}, "gpu_month", "7000", ["a month of 744 h, as in its terms"], []),
        ("7000", "gpu_month", {}, "node_month", "56000", ["the month as agreed, its hours are not stated"], []),
        ("100", "node_day", {}, "gpu_month", "375", [], []),
        ("6000", "node_month", {"billing.month_hours": Decimal(720)}, "node_month", "6000", [], []),
        ("7000", "gpu_month", {}, "gpu_hour", "7000/730", [], ["a month has 730 hours"]),
    ],
)  # fmt: skip
def test_that_a_price_per_month_is_exact_and_says_which_month(
    amount: str, unit: str, terms: dict[str, Decimal], per: str, exact: str, notes: list[str], assumed: list[str]
) -> None:
    found = period_price(deal(H100, terms, amount=amount, unit=unit), PricePer(per))
    assert found is not None
    assert (found.exact, [t.en for t in found.notes], [t.en for t in found.assumed]) == (Fraction(exact), notes, assumed)


def test_that_a_node_of_unknown_size_is_assumed_only_where_the_figure_needs_it() -> None:
    per_node, per_gpu = (period_price(deal(amount="6000", unit="node_month"), per) for per in (PricePer.NODE_MONTH, PricePer.GPU_MONTH))
    of_gpus = period_price(deal(amount="10", unit="gpu_hour"), PricePer.NODE_MONTH)
    assert [[t.en for t in one.assumed] if one else None for one in (per_node, per_gpu, of_gpus)] == [[], *[["a node has 8 GPUs"]] * 2]
    assert per_node is not None and per_gpu is not None and (per_node.exact, per_gpu.exact) == (6000, 750)


def test_that_an_offer_without_a_price_has_no_cost() -> None:
    with pytest.raises(UsageError, match="there is no price"):
        cost_of(deal(amount=None), equal_sessions(1, 1, 3600))


def test_that_a_cost_is_converted_only_with_a_rate_that_somebody_gave() -> None:
    load = equal_sessions(8, 10, 7200)
    own, other = (cost_of(deal(), load, currency=code, rates=(USD,)) for code in ("USD", "CNY"))
    assert (own.converted, own.rate) == (Decimal("320.00"), None)
    assert (other.converted, other.cost.comparison_cost) == (Decimal("2266.72"), Decimal("320.00"))
    assert cost_of(deal(), load, currency="EUR", rates=(USD,)).converted is None


def test_that_what_the_card_adds_is_part_of_the_converted_cost() -> None:
    card = FxRate("USD", "CNY", Decimal("7.20"), date(2026, 3, 31), "card", Decimal("0.03"))
    found = cost_of(deal(H100, amount="2.10"), Workload(8, (Session(450000),)), currency="CNY", rates=(card,))
    assert (found.cost.comparison_cost, found.converted) == (Decimal("2100.00"), Decimal("15573.60"))
    (step,) = (step for step in steps_of(found, Workload(8, (Session(450000),))) if step.what.en == "Converted")
    assert step.rule == Text("x 7.2 + 3 % surcharge · 2026-03-31 · card", "x 7.2 + 3 % 手续费 · 2026-03-31 · card")


@given(st.integers(1, 64), st.integers(0, 10**6), st.integers(0, 10**5), st.sampled_from([1, 60, 3600]), st.booleans())
def test_that_more_hours_or_gpus_never_cost_less(gpus: int, seconds: int, more_s: int, step: int, whole: bool) -> None:
    facts = deal({"gpu.count": 8}, {"billing.granularity_s": step, "billing.whole_node_only": whole, "billing.min_billed_s": 7200})
    before, longer, wider = (
        cost_of(facts, Workload(g, (Session(s),))).cost.exact_comparison for g, s in ((gpus, seconds), (gpus, seconds + more_s), (gpus + 1, seconds))
    )
    assert before <= longer and before <= wider


def test_that_the_clause_on_leaving_counts_only_when_it_is_whole() -> None:
    terms = {"exit.refund": "clawback", "exit.fee_rate": Decimal("0.05"), "billing.on_demand_gpu_hour": Decimal("1.00"), "commitment.period_hours": Decimal(720)}
    assert exit_terms_of(deal(terms=terms, amount="0.80")) == ExitTerms(
        Decimal("1.00"), Decimal("0.80"), Decimal(720), Decimal("0.05"), FeeBasis.CLAWBACK, True
    )
    assert exit_terms_of(deal(terms={k: v for k, v in terms.items() if k != "commitment.period_hours"})) is None


def test_that_flags_are_raised_by_stored_terms_and_open_where_nothing_is_stated(catalogue: Catalogue) -> None:
    market = tuple(MarketPrice("H100", Decimal(p), "USD", PriceMode.ON_DEMAND, "list", date(2026, 5, 1)) for p in ("1.80", "2.40", "3.10"))
    terms = {"billing.min_billed_s": 86400, "billing.granularity_s": 3600, "billing.whole_node_only": True, "billing.auto_renew": True}
    facts = deal(H100, terms, amount="0.99", mode="on_demand")
    found = {flag.flag.id: flag.flagged.state for flag in flags_in(facts, Reference(catalogue.gpus, market), gpus_asked=2)}
    raised = {id_ for id_, state in found.items() if state is FlagState.RAISED}
    assert raised == {"hidden_minimum", "whole_node_only", "auto_renewal", "price_below_market", "tax_not_said", "no_replacement_time"}
    assert {"idle_billed", "outage_billed", "provisioning_billed"} <= found.keys() - raised


def test_that_only_offers_with_the_cards_of_a_plan_serve_it(catalogue: Catalogue) -> None:
    scenarios = load_scenarios()
    plan = choices(Setup(scenarios.models["llama3.1-8b"], Method.FULL_FT), catalogue.gpus.models.values(), scenarios.scenarios["finetune"])
    h100 = next(choice for choice in plan if choice.gpu.id == "nvidia-h100-sxm5-80gb")
    row = deal(H100).row
    offered = [
        replace(row, deal=n, gpu_model=model, gpu_count=count, price_gpu_hour=price)
        for n, (model, count, price) in enumerate([
            ("nvidia-h100-sxm5-80gb", 8, "2.50"), ("nvidia-h100-sxm5-80gb", 8, "1.90"), ("nvidia-h100-sxm5-80gb", 1, None),
            ("nvidia-l4-24gb", 8, "0.40"), (None, 8, "1.00"), ("a word of tomorrow", 8, "1.00"),
        ])
    ]  # fmt: skip
    found = offers_serving(offered, [h100], catalogue)
    assert [(s.row.deal, s.enough) for s in found] == [(1, True), (0, True), (2, None)]


def test_that_a_workload_comes_back_with_its_zones(tmp_path: Path) -> None:
    start = datetime.fromisoformat("2026-03-02T10:50:00+08:00")
    load = Workload(2, (Session(1200, start), Session(60, None, False)), 3600, Decimal("1.50"), Decimal(720), Decimal("0.1"), Decimal("0.75"))
    opened = Workspace.open(tmp_path / "w.db")
    opened.submit(lambda db: save_workload(db, SavedWorkload("w1", " nightly ", load))).result()
    with opened.read() as connection:
        (saved,) = workloads_in(connection)
    opened.close()
    assert saved == SavedWorkload("w1", "nightly", load)
    assert saved.workload.sessions[0].start is not None and saved.workload.sessions[0].start.astimezone(UTC).hour == 2


# -- fields --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "value"), [
    ("billing.min_billed_s", -1), ("billing.min_billed_s", 1.5), ("billing.min_billed_s", True), ("billing.whole_node_only", "yes"),
    ("billing.whole_node_only", 0), ("billing.stopped_rate", "1.01"), ("billing.stopped_rate", "NaN"), ("storage.free_gb", "-1"),
    ("sla.scope", "rack"), ("offer.delivery_date", "31.3.2026"), ("billing.tiers", [{"until": "5"}]), ("billing.tiers", "3.00"),
    ("sla.exclusions", " "), ("billing.nothing", 1), ("commitment.amount", 0.1),
])  # fmt: skip
def test_that_a_value_that_its_field_can_not_have_is_refused_by_name(key: str, value: object, catalogue: Catalogue) -> None:
    with pytest.raises(UsageError) as caught:
        validate_field(key, value, catalogue.fields)
    assert key in caught.value.what and caught.value.next_step


@pytest.mark.parametrize(("key", "value", "words"), [
    ("billing.min_billed_s", 86400, ("1 d", "1 天")), ("billing.min_billed_s", 0, ("none", "无")), ("billing.min_billed_s", None, ("not stated", "未约定")),
    ("sla.target", Decimal("0.9950"), ("99.5 %", "99.5 %")), ("billing.whole_node_only", False, ("no", "否")),
    ("billing.min_gpus", 8, ("8 GPUs", "8 卡")), ("billing.min_gpus", 1, ("1 GPU", "1 卡")), ("deposit.amount", Decimal("1000.50"), ("CNY 1,000.50", "CNY 1,000.50")),
    ("sla.scope", "gpu", ("GPU", "单卡")), ("billing.tiers", ((("up_to", Decimal("500")), ("price", Decimal("3.00"))),), ("500 CNY 3.00", "500 CNY 3.00")),
])  # fmt: skip
def test_that_a_value_is_written_in_both_languages(key: str, value: object, words: tuple[str, str], catalogue: Catalogue) -> None:
    said = field_text(catalogue.fields[key], value, "CNY")  # type: ignore[arg-type]
    assert (said.en, said.zh) == words


@given(st.integers(0, 10**7))
def test_that_a_duration_says_exactly_its_seconds(seconds: int) -> None:
    size = {"d": 86400, "h": 3600, "min": 60, "s": 1}
    words = seconds_text(seconds).en.replace(",", "").split()
    assert (0 if words == ["none"] else int(words[0]) * size[words[1]]) == seconds


@given(st.decimals(min_value=0, max_value=10**12, allow_nan=False, allow_infinity=False, places=6))
def test_that_a_decimal_for_people_loses_nothing(value: Decimal) -> None:
    assert Decimal(plain(value)) == value and "E" not in plain(value)


def test_that_every_field_has_its_words_and_its_order(catalogue: Catalogue) -> None:
    for field in catalogue.fields.values():
        assert field.better in ("", "more", "less", "yes", "no")
        assert (field.better in ("yes", "no")) <= (field.kind is FieldKind.YES_NO)
        assert field.label.en and field.label.zh and field.key.partition(".")[0]
