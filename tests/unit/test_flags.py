"""Which offers raise a red flag, which stay clear, and what of an offer that says nothing?"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Any

import pytest

from gpulease_gui.catalog.gpus import load_gpus
from gpulease_gui.economics.flag import FlagSeverity, FlagState, flag_rules, flags_of
from gpulease_gui.economics.offer_facts import MarketPrice, OfferFacts, PriceMode, Reference

RAISED, OPEN = FlagState.RAISED, FlagState.OPEN
HOUR = 3600
ON_DEMAND = PriceMode.ON_DEMAND
# An offer that says everything, and nothing bad.
FAIR = OfferFacts(
    terms={"gpu.model": "nvidia-h100-sxm5-80gb", "gpu.memory_gb": 80, "isolation": "bare_metal"},
    words={"network.gbit_s": "100 Gbit/s"}, currency="CNY", price_gpu_hour=Decimal("16.00"), price_mode=ON_DEMAND,
    on_demand_gpu_hour=Decimal("16.00"), gpus_asked=8, gpus_per_node=8, whole_node_only=False, min_gpus=1,
    granularity_s=60, min_billed_s=0, stopped_rate=Decimal(0), bill_provisioning=False, bill_outage=False,
    tax_included=True, auto_renew=False, replace_s=4 * HOUR,
)  # fmt: skip


@cache
def reference() -> Reference:
    prices = [("nvidia-h100-sxm5-80gb", "15.00"), ("H100", "17.50"), ("nvidia-h100-pcie-80gb", "14.00")]
    listed = [MarketPrice(word, Decimal(p), "CNY", ON_DEMAND, "a public list", date(2026, 11, 1)) for word, p in prices]
    foreign = [replace(listed[0], currency="USD", price_gpu_hour=Decimal(2)), replace(listed[0], gpu_model="H200", price_gpu_hour=Decimal(1))]
    spot = replace(listed[0], mode=PriceMode.SPOT, price_gpu_hour=Decimal(5))
    return Reference(load_gpus(), (*listed, *foreign, spot, replace(listed[0], gpu_model="no such card")))


def state(flag: str, **changed: Any) -> FlagState | None:
    flagged = flag_rules()[flag].judge(replace(FAIR, **changed), reference())
    return flagged.state if flagged else None


def with_terms(**terms: Any) -> dict[str, Any]:
    return {"terms": {**FAIR.terms, **{key.replace("__", "."): value for key, value in terms.items()}}}


def test_that_a_quote_lapses_on_the_day_after_its_last() -> None:
    last = date(2026, 5, 31)
    assert [state("quote_lapsed", valid_until=last, day=day) for day in (last, date(2026, 6, 1))] == [None, RAISED]


def test_that_a_fair_offer_raises_nothing() -> None:
    assert flags_of(FAIR, reference()) == ()


def test_that_an_offer_without_words_is_no_fair_offer() -> None:
    found = {finding.flag.id: finding.flagged.state for finding in flags_of(OfferFacts(), reference())}
    assert found.pop("no_replacement_time") is RAISED
    # Nothing written cannot lack a unit, no price cannot lack its tax, an open quote does not end, and what is not spot is not above on-demand.
    quiet = {"no_replacement_time", "bandwidth_without_unit", "tax_not_said", "spot_above_on_demand", "quote_lapsed"}
    assert set(flag_rules()) - set(found) == quiet
    assert set(found.values()) == {OPEN}


@pytest.mark.parametrize(
    ("flag", "changed", "expected"),
    [
        ("hidden_minimum", {"min_billed_s": 24 * HOUR}, RAISED),
        ("hidden_minimum", {"min_billed_s": 61}, RAISED),
        ("hidden_minimum", {"min_billed_s": 60}, None),
        ("hidden_minimum", {"min_billed_s": HOUR, "granularity_s": None}, None),
        ("hidden_minimum", {"min_billed_s": None}, OPEN),
        ("whole_node_only", {"whole_node_only": True, "gpus_asked": 2}, RAISED),
        ("whole_node_only", {"whole_node_only": True, "gpus_asked": 16}, None),
        ("whole_node_only", {"whole_node_only": True, "gpus_asked": None}, RAISED),
        ("whole_node_only", {"whole_node_only": True, "gpus_per_node": None}, RAISED),
        ("form_factor_missing", with_terms(gpu__model="H100"), RAISED),
        ("form_factor_missing", with_terms(gpu__model="H100", gpu__form_factor="sxm"), None),
        ("form_factor_missing", with_terms(gpu__model="L40S"), None),  # one form only
        ("form_factor_missing", {"terms": {}}, OPEN),
        ("spot_above_on_demand", {"price_mode": PriceMode.SPOT, "price_gpu_hour": Decimal("16.01")}, RAISED),
        ("spot_above_on_demand", {"price_mode": PriceMode.SPOT}, None),
        ("spot_above_on_demand", {"price_mode": PriceMode.SPOT, "on_demand_gpu_hour": None}, OPEN),
        ("memory_fits_no_product", with_terms(gpu__memory_gb=90), RAISED),
        ("memory_fits_no_product", with_terms(gpu__model="H100", gpu__memory_gb=94), None),
        ("memory_fits_no_product", {"terms": {"gpu.memory_gb": 81}}, RAISED),
        ("memory_fits_no_product", {"terms": {"gpu.memory_gb": 141}}, None),
        ("memory_fits_no_product", with_terms(gpu__memory_gb=20, gpu__whole=False), None),  # a slice
        ("memory_fits_no_product", with_terms(gpu__memory_gb=20, gpu__mig=True), None),
        ("memory_fits_no_product", {"terms": {"npu.model": "910B", "npu.memory_gb": 48}}, RAISED),
        ("memory_fits_no_product", {"terms": {"npu.model": "910B", "npu.memory_gb": 64}}, None),
        ("form_factor_missing", {"terms": {"npu.model": "910B"}}, None),
        ("auto_renewal", {"auto_renew": True}, RAISED),
        ("auto_renewal", {"auto_renew": None}, OPEN),
        ("no_replacement_time", {"replace_s": None}, RAISED),
        ("idle_billed", {"stopped_rate": Decimal("0.3")}, RAISED),
        ("idle_billed", {"stopped_rate": None}, OPEN),
        ("container_only", with_terms(isolation="container"), RAISED),
        ("container_only", with_terms(isolation="vm"), None),
        ("price_above_market", {"price_gpu_hour": Decimal("17.51")}, RAISED),
        ("price_above_market", {"price_gpu_hour": Decimal("17.50")}, None),
        ("price_below_market", {"price_gpu_hour": Decimal("13.99")}, RAISED),
        ("price_below_market", {"price_gpu_hour": Decimal("14.00")}, None),
        ("price_below_market", {"currency": "USD"}, OPEN),  # one listed price only
        ("price_above_market", {"price_gpu_hour": None}, OPEN),
        ("provisioning_billed", {"bill_provisioning": True}, RAISED),
        ("outage_billed", {"bill_outage": True}, RAISED),
        ("tax_not_said", {"tax_included": None}, RAISED),
    ],
)
def test_that_a_flag_is_up_for_what_it_names_and_for_nothing_else(flag: str, changed: dict[str, Any], expected: FlagState | None) -> None:
    assert state(flag, **changed) is expected


@pytest.mark.parametrize("words", ["100G", "100 G 网络", "25g", "双口 200G", "100G/s", "10M 带宽"])
def test_that_a_bare_g_is_a_flag(words: str) -> None:
    assert state("bandwidth_without_unit", words={"network.gbit_s": words}) is RAISED


@pytest.mark.parametrize("words", ["100 Gbit/s", "100Gb", "12.5 GB/s", "100GE", "200Gbps", "NDR", ""])
def test_that_a_unit_in_words_is_none(words: str) -> None:
    assert state("bandwidth_without_unit", words={"network.gbit_s": words}) is None
    assert state("bandwidth_without_unit", words={"disk.size_gb": "100G"}) is None


def test_that_a_reason_says_the_figures_in_both_languages() -> None:
    flagged = flag_rules()["memory_fits_no_product"].judge(replace(FAIR, **with_terms(gpu__model="H100", gpu__memory_gb=90)), reference())
    assert flagged is not None
    for words in (flagged.reason.en, flagged.reason.zh):
        assert "90 GB" in words and "H100" in words and "80" in words
    market = flag_rules()["price_above_market"].judge(replace(FAIR, price_gpu_hour=Decimal("20.00")), reference())
    assert market is not None and "14.00" in market.reason.zh and "17.50" in market.reason.en and "20.00" in market.reason.en


def test_that_what_is_seen_stands_before_what_is_open_and_the_serious_first() -> None:
    found = flags_of(replace(FAIR, min_billed_s=86400, auto_renew=True, bill_outage=None, stopped_rate=None), reference())
    assert [f.flag.id for f in found] == ["hidden_minimum", "auto_renewal", "outage_billed", "idle_billed"]
    assert [f.flag.severity for f in found[:2]] == [FlagSeverity.SERIOUS, FlagSeverity.NOTABLE]


def test_that_every_flag_is_named_like_its_file_and_speaks_both_languages() -> None:
    assert len(flag_rules()) >= 12
    for id_, rule in flag_rules().items():
        assert rule.judge.__module__.endswith(f".{id_}")
        assert rule.flag.title.en and rule.flag.title.zh != rule.flag.title.en


def test_that_a_spot_flag_asks_only_for_the_price_that_is_missing() -> None:
    spot = OfferFacts(price_mode=PriceMode.SPOT, price_gpu_hour=Decimal(2))
    found = flag_rules()["spot_above_on_demand"].judge(spot, reference())
    assert found is not None and (found.reason.en, found.reason.zh) == ("the offer does not say its on-demand price", "报价没有说明按需价")
    neither = flag_rules()["spot_above_on_demand"].judge(replace(spot, price_gpu_hour=None), reference())
    assert neither is not None and neither.reason.en == "the offer does not say its spot price and its on-demand price"


def test_that_a_month_price_without_its_hours_is_asked_for_its_tax_too() -> None:
    found = {finding.flag.id: finding.flagged.state for finding in flags_of(OfferFacts(quoted=True), reference())}
    assert found["tax_not_said"] is FlagState.RAISED
    assert "tax_not_said" not in {f.flag.id for f in flags_of(OfferFacts(quoted=True, tax_included=False), reference())}
