"""Which model does a workload run, as it was written down?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """Ids of use, model ("own": `dimensions` say it), method and formats, and the sizes in tokens and sequences.

    `dimensions`: parameters, layers, hidden width, FFN width, heads, KV heads, head dimension, vocabulary.
    """

    scenario: str
    model: str
    method: str
    weights: str
    kv: str
    sequence: int
    micro_batch: int
    sequences: int
    tokens: int
    dimensions: tuple[int, ...] = ()


def plan_table(plan: ModelPlan | None) -> dict[str, object] | None:
    """The plan as JSON holds it."""
    return None if plan is None else asdict(plan)


def plan_from(said: Any) -> ModelPlan | None:
    """The plan of a JSON value; None for no plan, and for one of another shape, such as one edited by hand."""
    if not isinstance(said, dict):
        return None
    try:
        plan = ModelPlan(**{**said, "dimensions": tuple(said.get("dimensions", ()))})
    except TypeError:
        return None
    words = (plan.scenario, plan.model, plan.method, plan.weights, plan.kv)
    numbers = (plan.sequence, plan.micro_batch, plan.sequences, plan.tokens, *plan.dimensions)
    sound = all(isinstance(word, str) for word in words) and all(type(n) is int and n > 0 for n in numbers)
    return plan if sound else None
