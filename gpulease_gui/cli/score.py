"""How good are offers by their checklist answers?"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from gpulease_gui.catalog.checklist import Importance
from gpulease_gui.cli import example_file
from gpulease_gui.cli.example_file import Example, Fields
from gpulease_gui.economics.scoring import RULES, Answer, EvidenceKind, Item, Rules, Score, Waiver, score

add_arguments = example_file.add_arguments


def run(options: argparse.Namespace) -> int:
    """Print the score of every example of the file."""
    return example_file.answer(options, score_example, _line)


def score_example(example: Example) -> dict[str, object]:
    """The result of one example. Raises UsageError."""
    fields = example.fields
    weights = fields.amounts("weights")
    if not fields.has("items"):
        fields.raw("items")
    items = tuple(_item(item, weights) for item in fields.tables("items"))
    today = fields.day("today") if fields.has("today") else None
    if today is None and any(item.waiver for item in items):
        raise fields.fault("today", "the key is missing", "write the day on which the waivers are looked at, such as 2026-06-30")
    scenario = fields.text("scenario") if fields.has("scenario") else None
    return as_dict(score(items, weights, today or date.min, scenario, _rules(example)))


def _rules(example: Example) -> Rules:
    """The figures of the method, as the conventions of the file state them."""
    told = Fields(example.conventions, example.fields.where, "conventions")
    factors = {kind: RULES.factors[kind] for kind in EvidenceKind}
    severities = {kind: RULES.severities[kind] for kind in Importance}
    if told.has("evidence_factor"):
        given = told.table("evidence_factor")
        factors = {kind: given.amount(kind, factors[kind], most=1) for kind in EvidenceKind}
    if told.has("severity_weight"):
        given = told.table("severity_weight")
        severities = {kind: given.amount(kind, severities[kind]) for kind in Importance}
    return Rules(factors, severities, told.amount("floor", RULES.floor, most=1, above_zero=True))


def _item(fields: Fields, weights: Mapping[str, Decimal]) -> Item:
    dimension = fields.text("dimension")
    if dimension not in weights:
        raise fields.fault("dimension", f"{dimension!r} has no weight", f"add it to weights; there are {', '.join(weights) or 'none'}")
    item = Item(
        id=fields.text("id"),
        dimension=dimension,
        severity=fields.choice("severity", Importance),
        answer=fields.choice("answer", Answer),
        evidence=fields.choice("evidence", EvidenceKind) if fields.has("evidence") else EvidenceKind.CLAIM,
        value=fields.optional_amount("value", most=1),
        waiver=_waiver(fields.table("waiver")) if fields.has("waiver") else None,
        scenarios=tuple(str(name) for name in fields.entries("scenarios")),
    )
    fields.done(*example_file.WORDS_ABOUT_AN_EXAMPLE)
    return item


def _waiver(fields: Fields) -> Waiver | None:
    """A waiver; without a name, a reason or a last day it counts for nothing."""
    by = fields.text("by") if fields.has("by") else ""
    reason = fields.text("reason") if fields.has("reason") else ""
    expires = fields.day("expires") if fields.has("expires") else None
    fields.done("note")
    return Waiver(by, reason, expires) if expires else None


def as_dict(found: Score) -> dict[str, object]:
    """The keys of the example files; scores and parts as numbers, None where nothing applies."""
    return {
        "status": str(found.status),
        "failed_musts": list(found.failed_musts),
        "open_musts": list(found.open_musts),
        "waived_musts": list(found.waived_musts),
        "dimension_low": {name: float(value) for name, value in found.dimension_low.items()},
        "dimension_high": {name: float(value) for name, value in found.dimension_high.items()},
        "score_low": _number(found.score_low),
        "score_high": _number(found.score_high),
        "arithmetic_low": _number(found.arithmetic_low),
        "coverage": _number(found.coverage),
    }


def _number(value: Decimal | None) -> float | None:
    return None if value is None else float(value)


def _line(result: dict[str, Any]) -> str:
    span = "no score" if result["score_low"] is None else f"{result['score_low']:.2f} to {result['score_high']:.2f}"
    musts = [*result["failed_musts"], *result["open_musts"]]
    return f"{result['status']}, {span}{', musts: ' + ', '.join(musts) if musts else ''}"
