"""Which questions does a handover answer, by machine or by hand?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from gpulease_gui.catalog.loader import CatalogueFault, build, read_toml, resource
from gpulease_gui.domain.text import NO_TEXT, Text


class Importance(StrEnum):
    """How much an open item weighs."""

    MUST = "must"
    SHOULD = "should"
    NICE = "nice"


# The dimensions in the order of screens, letters and scores, with the two letters that begin their ids.
DIMENSIONS: Mapping[str, Text] = {
    "identity_capacity": Text("Identity and capacity", "身份与规格"),
    "interconnect": Text("Interconnect", "互联"),
    "network_storage": Text("Network and storage", "网络与存储"),
    "scheduling_isolation": Text("Scheduling and isolation", "调度与隔离"),
    "software_autonomy": Text("Software and autonomy", "软件自主权"),
    "billing": Text("Billing", "计费"),
    "sla": Text("SLA", "SLA"),
    "security_compliance": Text("Security and compliance", "安全与合规"),
    "support": Text("Support", "支持"),
    "commercial": Text("Commercial", "商务"),
}
IMPORTANCE_WORDS: Mapping[Importance, Text] = {
    Importance.MUST: Text("must", "必须"),
    Importance.SHOULD: Text("should", "应有"),
    Importance.NICE: Text("nice to have", "加分"),
}


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    """One item. `checks` answer it by themselves; () = by hand. `applies_if` None = always.

    `ask` is the question to a supplier, `asks_for` the proof that one can send: without them `text` and `evidence` are.
    `ours`: only we can find it out, nobody is asked.
    """

    id: str
    dimension: str
    severity: Importance
    text: Text
    evidence: Text
    scenarios: tuple[str, ...]
    applies_if: str | None = None
    checks: tuple[str, ...] = ()
    ask: Text = NO_TEXT
    asks_for: Text = NO_TEXT
    ours: bool = False


@dataclass(frozen=True, slots=True)
class _ChecklistFile:
    item: tuple[ChecklistItem, ...]


@dataclass(frozen=True, slots=True)
class _Question:
    item: str
    ask: Text
    proof: Text = NO_TEXT


@dataclass(frozen=True, slots=True)
class _QuestionsFile:
    question: tuple[_Question, ...]
    ours: tuple[str, ...]


def load_checklist(name: str = "default") -> Mapping[str, ChecklistItem]:
    """The items of resources/checklists/NAME.toml by id, in order, with their questions. Raises CatalogueFault."""
    file = f"{name}.toml"
    items = build(_ChecklistFile, read_toml(resource("checklists", file)), file).item
    found = {item.id: item for item in items}
    if len(found) != len(items):
        raise CatalogueFault(file, "item.id", "an id stands twice")
    return _asking(found)


def _asking(items: Mapping[str, ChecklistItem]) -> Mapping[str, ChecklistItem]:
    """The items with what a supplier is asked; an item is asked of a supplier, or is ours to find out."""
    file = "questions.toml"
    said = build(_QuestionsFile, read_toml(resource("checklists", file)), file)
    asked = {question.item: question for question in said.question}
    named = [*said.ours, *(question.item for question in said.question)]
    if sorted(named) != sorted(items):
        raise CatalogueFault(file, "item", f"each item is asked or ours, once: {', '.join(sorted(set(items) ^ set(named))) or 'one stands twice'}")
    return {
        id_: replace(item, ask=asked[id_].ask, asks_for=asked[id_].proof) if id_ in asked else replace(item, ours=True)
        for id_, item in items.items()
    }
