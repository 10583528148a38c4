"""Do the figures of the workloads page equal the command line's for the same offer, workload and plan?"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from gpulease_gui.catalog.catalogue import Catalogue, load_catalogue
from gpulease_gui.catalog.scenarios import Scenarios, load_scenarios
from gpulease_gui.cli.main import main
from gpulease_gui.domain.supplier import FxRate
from gpulease_gui.economics.cost import exact_cost
from gpulease_gui.economics.sizing import Method, Setup
from gpulease_gui.economics.workload import equal_sessions
from gpulease_gui.economics.workload_pattern import Pattern, workload_of
from gpulease_gui.services.break_even import break_even
from gpulease_gui.services.cost_steps import exit_today, steps_of
from gpulease_gui.services.sizing_view import size_up
from gpulease_gui.services.workload_desk import Ask, price_offers, turned, what_rules_cost

from .deal_by_hand import deal

USD = FxRate("USD", "CNY", Decimal(7), date(2026, 5, 30), "bank")
RUNS = Ask(equal_sessions(1, 20, 21600), "USD")


def named(number: str, amount: str, **terms: object):  # type: ignore[no-untyped-def]
    found = deal({"gpu.count": 8}, {key.replace("__", "."): value for key, value in terms.items()}, amount=amount, number=number)  # type: ignore[arg-type]
    return replace(found, row=replace(found.row, id=number))


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


@pytest.fixture(scope="module")
def scenarios() -> Scenarios:
    return load_scenarios()


def told(capsys: pytest.CaptureFixture[str], command: str, tmp_path: Path, example: dict[str, object]) -> dict[str, object]:
    """What the command line says of one example."""
    file = tmp_path / "example.json"
    file.write_text(json.dumps({"examples": [example]}), "utf-8")
    assert main([command, str(file), "--json"]) == 0
    result: dict[str, object] = json.loads(capsys.readouterr().out)["examples"][0]["result"]
    return result


def test_that_the_cost_is_the_command_lines_to_the_last_digit(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    use = Pattern(3, Decimal("2.5"), 2, 21, 1, Decimal(2000), Decimal(500), Decimal("0.7"), kept_stopped=True)
    offer = named(
        "Q", "2.10", billing__granularity_s=3600, billing__min_billed_s=14400, billing__whole_node_only=True,
        billing__stopped_rate=Decimal("0.25"), storage__price_gb_month=Decimal("0.05"), traffic__out_price_gb=Decimal("0.08"),
    )  # fmt: skip
    (priced,) = price_offers([offer], Ask(workload_of(use), "USD"), ())
    assert priced.found is not None
    said = told(capsys, "cost", tmp_path, {
        "id": "x",
        "offer": {"unit_price": "2.10", "price_unit": "gpu_hour", "gpus_per_node": 8, "granularity_s": 3600, "min_billed_s": 14400,
                  "whole_node_only": True, "stopped_rate": "0.25", "storage": {"price_per_gb_month": "0.05", "hours_per_month": "730"},
                  "egress": {"price_per_gb": "0.08"}},
        "workload": {"gpus": 3, "sessions": [{"duration_s": 4500}] * 42, "stopped_s": 730 * 3600 - 42 * 4500, "storage_gb": "2000",
                     "storage_hours": "730", "egress_gb": "500", "busy_fraction": "0.7"},
    })  # fmt: skip
    cost = priced.found.cost
    assert (said["comparison_cost"], said["effective_per_gpu_hour"]) == (str(priced.total), str(priced.effective))
    assert said["hidden_cost_pct"] == str(cost.hidden_cost_pct) and said["billed_gpus"] == cost.billed_gpus == 8
    assert said["billed_seconds_total"] == 42 * 14400 == cost.billed_seconds_total


def test_that_the_need_is_the_command_lines_part_by_part(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, catalogue: Catalogue, scenarios: Scenarios
) -> None:
    for method in Method:
        setup = Setup(scenarios.models["llama3.1-70b"], method, 8)
        view = size_up(setup, scenarios.scenarios["finetune"], scenarios, catalogue)
        said = told(capsys, "size", tmp_path, {"id": "x", "model": "llama3.1-70b", "gpu_id": "nvidia-h100-sxm5-80gb", "gpu_count": 8, "method": method})
        assert {part.key: float(part.gb) for part in view.parts} == said["steps_gb"]
        assert float(view.per_gpu_gb) == said["need_per_gpu_gb"]
        line = next(line for line in view.products if line.gpu.id == "nvidia-h100-sxm5-80gb")
        assert line.fit is not None and (float(line.fit.ratio), str(line.fit.verdict)) == (said["ratio"], said["verdict"])
        assert all(part.formula and part.error.en and part.error.zh for part in view.parts)
        assert all(part.source for part in view.parts if not part.key.startswith("overhead"))


def test_that_a_minimum_term_turns_the_order_of_quoted_prices_round() -> None:
    offers = [named("cheap", "1.20", billing__min_billed_s=86400), named("dear", "1.80"), named("free", "2.00")]
    found = price_offers(offers, RUNS, ())
    assert [(o.name, o.by_price, o.by_cost, o.total) for o in found] == [
        ("dear", 2, 1, Decimal("216.00")), ("free", 3, 2, Decimal("240.00")), ("cheap", 1, 3, Decimal("576.00")),
    ]  # fmt: skip
    assert turned(found).leader_changes and turned(found).by_price == ("cheap", "dear", "free")
    assert found[2].found is not None
    (saving,) = what_rules_cost(found[2].found.billing.terms, RUNS.workload)
    assert (saving.rule.en, saving.amount) == ("the minimum term", Decimal("432.00"))


def test_that_an_offer_without_price_or_rate_stands_last_and_says_why() -> None:
    nothing = deal({"gpu.count": 8}, amount=None, number="none")
    found = price_offers([nothing, named("b", "1.00")], replace(RUNS, currency="CNY"), ())
    assert [(o.total, bool(o.trouble)) for o in found] == [(None, True), (None, True)]
    (converted,) = price_offers([named("b", "1.00")], replace(RUNS, currency="CNY"), (USD,))
    assert (converted.headline, converted.total, converted.effective) == (Decimal("7.0000"), Decimal("840.00"), Decimal("7.0000"))


def test_that_a_month_pays_from_the_hour_at_which_both_cost_the_same() -> None:
    monthly = named("m", "2.40", commitment__kind="prepaid_period", commitment__period_hours=Decimal(730), billing__on_demand_gpu_hour=Decimal("4.00"))
    monthly = replace(monthly, price=replace(monthly.price, unit="gpu_month", money=replace(monthly.price.money, amount=Decimal(1200))))
    use = Pattern(1, Decimal(8), 1, 22)
    ask = Ask(workload_of(use), "USD")
    offers = price_offers([monthly], ask, ())
    found = break_even(offers, offers[0], use, ask)
    assert found is not None and found.from_hours == 300 and found.hours_now == 176
    assert set(found.by_month.values) == {1200.0} and (found.by_hour.values[0], found.by_hour.values[-1]) == (0.0, 2920.0)
    hourly = price_offers([named("h", "2.00")], ask, ())
    assert break_even(hourly, hourly[0], use, ask) is None


def test_that_the_steps_end_in_what_the_cost_is() -> None:
    offer = named("q", "2.00", billing__min_billed_s=86400, storage__price_gb_month=Decimal("0.1"))
    (priced,) = price_offers([offer], replace(RUNS, currency="CNY"), (USD,))
    assert priced.found is not None
    said = {step.what.en: step.result.en for step in steps_of(priced.found, RUNS.workload)}
    assert said["Time charged"] == "480 h for 120 h used" and said["GPUs charged"] == "1 for 1 asked"
    assert said["Cost"] == "USD\u202f960.00" and said["Converted"] == "CNY\u202f6,720.00"
    assert said["Per useful GPU-hour"] == "USD\u202f8.00" and said["Hidden cost"] == "+300.00\u2009%"


def test_that_leaving_counts_the_hours_of_the_running_period() -> None:
    terms = {"exit.refund": "clawback", "exit.fee_rate": Decimal("0.05"), "billing.on_demand_gpu_hour": Decimal("2.00"), "commitment.period_hours": Decimal(720)}
    signed = deal({"gpu.count": 8}, terms, amount="0.80")
    half = exit_today(signed, date(2026, 6, 1), date(2026, 6, 16))
    assert half is not None and (half.used_hours, half.cost.refund, half.cost.net_cost) == (Decimal(360), Decimal("0.00"), Decimal("576.00"))
    later = exit_today(signed, date(2026, 6, 1), date(2026, 7, 2))
    assert later is not None and later.used_hours == Decimal(24)
    assert exit_today(signed, date(2026, 6, 1), date(2026, 5, 31)) is None and exit_today(deal(), date(2026, 6, 1), date(2026, 6, 2)) is None


def test_that_the_cost_of_a_curve_is_the_exact_one_of_the_bill() -> None:
    offer = named("q", "2.00", billing__min_billed_s=86400, storage__price_gb_month=Decimal("0.1"), billing__fees=((("amount", Decimal(3)),),))
    for recoverable in (True, False):
        (priced,) = price_offers([replace(offer, price=replace(offer.price, tax_rate=Decimal("0.13")))], replace(RUNS, tax_recoverable=recoverable), ())
        assert priced.found is not None
        assert exact_cost(priced.found.billing.terms, RUNS.workload) == priced.found.cost.exact_comparison
