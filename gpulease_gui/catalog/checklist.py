"""Which questions does a handover answer, by machine or by hand?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from gpulease_gui.catalog.loader import CatalogueFault, build, read_toml, resource
from gpulease_gui.domain.text import Text


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
    """One question. `checks` answer it by themselves; () = by hand. `applies_if` None = always."""

    id: str
    dimension: str
    severity: Importance
    text: Text
    evidence: Text
    scenarios: tuple[str, ...]
    applies_if: str | None = None
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _ChecklistFile:
    item: tuple[ChecklistItem, ...]


def load_checklist(name: str = "default") -> Mapping[str, ChecklistItem]:
    """The items of resources/checklists/NAME.toml by id, in order. Raises CatalogueFault."""
    file = f"{name}.toml"
    items = build(_ChecklistFile, read_toml(resource("checklists", file)), file).item
    found = {item.id: item for item in items}
    if len(found) != len(items):
        raise CatalogueFault(file, "item.id", "an id stands twice")
    return found
