"""How good is a stored offer for a use, by its checklist answers?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from gpulease_gui.catalog.checklist import DIMENSIONS
from gpulease_gui.catalog.scenarios import Scenario
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.economics import scoring
from gpulease_gui.economics.claim_evidence import answer_of
from gpulease_gui.economics.ranking import Sensitivity, sensitivity
from gpulease_gui.economics.scoring import Item, Score
from gpulease_gui.services.acting import recorder
from gpulease_gui.services.checklist_view import ChecklistRow, ChecklistView
from gpulease_gui.store import reference

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database


@dataclass(frozen=True, slots=True)
class DealScore:
    """A score with the weights that it was made with and the items behind it."""

    score: Score
    weights: Mapping[str, Decimal]
    items: tuple[Item, ...]


def weights_in(connection: sqlite3.Connection, scenario: Scenario | None) -> Mapping[str, Decimal]:
    """The weight of every dimension: what the user set, else what the scenario ships, else 1 each (no scenario)."""
    changed = reference.list_weights(connection).get(scenario.id if scenario else "", {})
    shipped = {d: Decimal(scenario.weights[d]) if scenario else Decimal(1) for d in DIMENSIONS}
    return {**shipped, **changed}


def set_weights(db: Database, scenario_id: str, weights: Mapping[str, Decimal] | None) -> None:
    """Keep the weights of a scenario as one step; None takes them back to what is shipped. Raises UsageError."""
    acting = recorder(db)
    for dimension in DIMENSIONS:
        weight = None if weights is None else weights.get(dimension)
        if weight is not None and (not weight.is_finite() or weight < 0):
            raise UsageError(Text(f"{dimension}: {weight} is no weight", f"{dimension}：{weight} 不是权重"), next_step=Text("write a number of 0 or more", "请填写不小于 0 的数字"))
        acting.put("weight", (scenario_id, dimension), None if weight is None else {"weight": format(weight, "f")})
    acting.finish(Text("change the weights", "修改权重"))


def score_of(view: ChecklistView, weights: Mapping[str, Decimal]) -> DealScore:
    """The score of a checklist that was read for its scenario, as of the day of the view."""
    items = tuple(item_of(row) for row in view.rows)
    known = {**weights, **{item.dimension: Decimal(0) for item in items if item.dimension not in weights}}
    return DealScore(scoring.score(items, known, view.facts.day), known, items)


def item_of(row: ChecklistRow) -> Item:
    """A line of the checklist as the score takes it."""
    answer, evidence = answer_of(row.answer)
    measured = row.answer.measured if row.answer is not None and answer is not scoring.Answer.UNKNOWN else None
    return Item(row.item.id, row.item.dimension, row.item.severity, answer, evidence, measured, row.waiver)


def stability_of(scores: Iterable[tuple[str, DealScore]]) -> Sensitivity | None:
    """Whether the best offer stays ahead when one weight moves by a fifth; None without two offers that have a score.

    Names are the caller's. Dimensions that not all of them have are left out.
    """
    known = {name: found for name, found in scores if found.score.score_low is not None}
    if len(known) < 2:
        return None
    common = set.intersection(*(set(found.score.dimension_low) for found in known.values()))
    weights = next(iter(known.values())).weights
    low = {name: {d: found.score.dimension_low[d] for d in common} for name, found in known.items()}
    return sensitivity(low, {d: weights[d] for d in DIMENSIONS if d in common})
