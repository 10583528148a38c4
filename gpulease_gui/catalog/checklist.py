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
