"""How good are offers, by examples counted beforehand and at the edges of the method?"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from gpulease_gui.catalog.checklist import Importance
from gpulease_gui.cli.example_file import Example, Fields
from gpulease_gui.cli.score import score_example
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.economics.availability import availability
from gpulease_gui.economics.ranking import Candidate, pareto, ranked, sensitivity
from gpulease_gui.economics.scoring import (
    Answer,
    EvidenceKind,
    Item,
    Rules,
    Score,
    Status,
    Waiver,
    score,
    value_between,
)

DATA: dict[str, Any] = json.loads((Path(__file__).parents[1] / "economics" / "scoring.json").read_text("utf-8"), parse_float=Decimal)
TODAY = date(2026, 6, 1)
ONE = {"a": Decimal(1)}


def item(id_: str = "m", answer: Answer = Answer.PASS, severity: Importance = Importance.MUST, **more: Any) -> Item:
    return Item(id_, more.pop("dimension", "a"), severity, answer, more.pop("evidence", EvidenceKind.MEASURED), **more)


def of(*items: Item, today: date = TODAY, **more: Any) -> Score:
    return score(items, ONE, today, **more)


@pytest.mark.parametrize("example", DATA["examples"], ids=lambda example: example["id"])
def test_that_answers_score_what_was_counted_by_hand(example: dict[str, Any]) -> None:
    given = {key: value for key, value in example.items() if key not in ("id", "expected")}
    expected = json.loads(json.dumps(example["expected"], default=float))
    assert score_example(Example(example["id"], Fields(given, example["id"]), {})) == expected


@pytest.mark.parametrize("example", DATA["value_functions"], ids=lambda example: example["id"])
def test_that_a_measured_figure_is_set_between_fixed_anchors(example: dict[str, Any]) -> None:
    measured, zero_at, full_at = (Decimal(example[key]) for key in ("measured", "zero_at", "full_at"))
    assert value_between(measured, zero_at, full_at) == example["expected"]


def test_that_two_equal_anchors_are_refused() -> None:
    with pytest.raises(UsageError, match="equal"):
        value_between(Decimal(1), Decimal(2), Decimal(2))


@pytest.mark.parametrize("example", DATA["availability"], ids=lambda example: example["id"])
def test_that_availability_is_compared_before_it_is_rounded(example: dict[str, Any]) -> None:
    found = availability(example["days"] * 86400, example["downtime_minutes"] * 60)
    assert str(found.shown) == example["availability"]
    for key, met in example.items():
        if key.startswith("meets_"):
            assert found.meets(Decimal(key.removeprefix("meets_").replace("_", "."))) is met


def test_that_more_down_time_than_time_is_refused() -> None:
    with pytest.raises(UsageError, match="61"):
        availability(60, 61)


@pytest.mark.parametrize("example", DATA["sensitivity"], ids=lambda example: example["id"])
def test_that_every_move_of_a_weight_is_told(example: dict[str, Any]) -> None:
    found = sensitivity(example["offers"], example["weights"])
    assert found.base.scores == example["base"]["scores"] and list(found.base.order) == example["base"]["order"]
    assert found.stable is example["stable"]
    moves = [
        {"dimension": m.dimension, "factor": m.factor, "scores": m.standing.scores, "order": list(m.standing.order),
         "leader_changes": m.leader_changes}
        for m in found.moves
    ]  # fmt: skip
    assert moves == example["runs"]


def test_that_the_front_holds_what_nothing_beats_in_both() -> None:
    offers = DATA["pareto"]["offers"]
    candidates = [Candidate(name, Status.QUALIFIED, o["score_low"], Decimal(o["cost"])) for name, o in offers.items()]
    found = pareto([*candidates, Candidate("unpriced", Status.QUALIFIED, Decimal(99))])
    assert list(found.names) == DATA["pareto"]["front"] and found.dominated == DATA["pareto"]["dominated"]


def test_that_equal_offers_do_not_beat_each_other() -> None:
    twins = [Candidate(name, Status.QUALIFIED, Decimal(70), Decimal(5)) for name in "ba"]
    assert pareto(twins).names == ("a", "b")
    assert pareto([*twins, Candidate("c", Status.QUALIFIED, Decimal(70), Decimal(6))]).dominated == {"c": "a"}


def relative(bids: dict[str, Any]) -> dict[str, Decimal]:
    """The rule that we do not use: half of it is the price against the lowest bid."""
    lowest = min(bid["price"] for bid in bids.values())
    shares = {name: Decimal(50 * lowest) / bid["price"] + Decimal(bid["quality"]) / 2 for name, bid in bids.items()}
    return {name: round(share, 2) for name, share in shares.items()}


def test_that_a_third_bid_can_not_turn_the_order_of_two() -> None:
    example = DATA["rank_reversal"]
    two = {name: example["bids"][name] for name in example["two_bids"]}
    assert relative(two) == example["two_bids"] and relative(example["bids"]) == example["three_bids"]
    assert example["two_bids"]["A"] > example["two_bids"]["B"] and example["three_bids"]["A"] < example["three_bids"]["B"]
    ours = {n: Candidate(n, Status.QUALIFIED, Decimal(b["quality"]), Decimal(b["price"])) for n, b in example["bids"].items()}
    assert [c.name for c in ranked([ours["A"], ours["B"]])] == [c.name for c in ranked(ours.values()) if c.name != "C"]


def test_that_no_score_lifts_an_offer_over_a_better_status() -> None:
    offers = [
        Candidate("rejected", Status.REJECTED, Decimal(99), Decimal(1)),
        Candidate("blocked", Status.BLOCKED, Decimal(98), Decimal(1)),
        Candidate("dear", Status.WAIVED, Decimal(40), Decimal(9)),
        Candidate("b cheap", Status.QUALIFIED, Decimal(40), Decimal(8)),
        Candidate("a cheap", Status.QUALIFIED, Decimal(40), Decimal(8)),
        Candidate("unpriced", Status.QUALIFIED, Decimal(40)),
        Candidate("unscored", Status.QUALIFIED, None, Decimal(1)),
    ]
    names = [c.name for c in ranked(offers)]
    assert names == ["a cheap", "b cheap", "dear", "unpriced", "unscored", "blocked", "rejected"]


WAIVER = Waiver("A. Reviewer", "one node only", date(2026, 6, 1))


@pytest.mark.parametrize(
    ("waiver", "today", "counts"),
    [
        (WAIVER, date(2026, 6, 1), True),  # its last day
        (WAIVER, date(2026, 6, 2), False),
        (replace(WAIVER, by=" "), TODAY, False),
        (replace(WAIVER, reason=""), TODAY, False),
    ],
)
def test_that_a_waiver_needs_a_name_a_reason_and_time_left(waiver: Waiver, today: date, counts: bool) -> None:
    failed = of(item(answer=Answer.FAIL, waiver=waiver), today=today)
    unknown = of(item(answer=Answer.UNKNOWN, waiver=waiver), today=today)
    assert failed.status is (Status.WAIVED if counts else Status.REJECTED)
    assert unknown.status is (Status.WAIVED if counts else Status.BLOCKED)
    assert failed.dimension_low == {"a": 0} and unknown.coverage == 0


def test_that_a_waiver_of_a_kept_must_or_of_a_should_says_nothing() -> None:
    assert of(item(waiver=WAIVER)).status is Status.QUALIFIED
    assert of(item(answer=Answer.FAIL, severity=Importance.SHOULD, waiver=WAIVER)).status is Status.QUALIFIED


def test_that_the_worst_must_decides() -> None:
    open_must, failed_must = item("open", Answer.UNKNOWN), item("failed", Answer.FAIL)
    waived = item("waived", Answer.FAIL, waiver=WAIVER)
    assert of(open_must, waived).status is Status.BLOCKED
    found = of(open_must, failed_must, waived)
    assert (found.status, found.failed_musts, found.open_musts, found.waived_musts) == (
        Status.REJECTED, ("failed",), ("open",), ("waived",),
    )  # fmt: skip


def test_that_a_must_measured_at_nothing_fails_though_it_was_answered_yes() -> None:
    assert of(item(value=Decimal(0))).status is Status.REJECTED
    assert of(item(value=Decimal("0.01"))).status is Status.QUALIFIED
    assert of(item(answer=Answer.FAIL, value=Decimal("0.7"))).status is Status.REJECTED
    assert of(item(answer=Answer.FAIL, value=Decimal("0.7"))).dimension_low == {"a": Decimal("0.7")}


def test_that_a_partial_answer_counts_half() -> None:
    assert of(item(answer=Answer.PARTIAL, evidence=EvidenceKind.DOCUMENT)).dimension_low == {"a": Decimal("0.4")}


def test_that_nothing_applicable_has_no_score_and_no_coverage() -> None:
    for found in (of(), of(item(answer=Answer.NOT_APPLICABLE))):
        assert (found.score_low, found.score_high, found.coverage, found.status) == (None, None, None, Status.QUALIFIED)
    assert score([item()], {"a": Decimal(0)}, TODAY).score_low is None


def test_that_a_dimension_without_weight_is_not_taken_as_zero() -> None:
    with pytest.raises(UsageError, match="'b'"):
        of(item(dimension="b"))


def test_that_an_item_of_another_scenario_is_left_out() -> None:
    foreign = item("x", Answer.FAIL, scenarios=("graphics",))
    assert of(item(), foreign, scenario="fp64").status is Status.QUALIFIED
    assert of(item(), foreign, scenario="graphics").status is Status.REJECTED
    assert of(item(), foreign).status is Status.REJECTED


def test_that_a_round_mean_is_shown_as_that_number() -> None:
    half = {"a": Decimal("0.5"), "b": Decimal("0.5")}
    items = [item("x", value=Decimal("0.81")), item("y", value=Decimal("0.25"), dimension="b")]
    assert score(items, half, TODAY).score_low == Decimal("45.00")
    # sqrt(0.15005 x 0.15005) = 0.15005 is 15.005 and goes up.
    edge = [item("x", value=Decimal("0.15005")), item("y", value=Decimal("0.15005"), dimension="b")]
    assert score(edge, half, TODAY).score_low == Decimal("15.01")


def test_that_the_figures_of_the_method_can_be_edited() -> None:
    rules = Rules(floor=Decimal("0.25"))
    assert of(item(answer=Answer.FAIL), rules=rules).score_low == 25
