"""Which sections does an evaluation have?"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from gpulease_gui.domain.text import Text
from gpulease_gui.reports.document import Block
from gpulease_gui.reports.facts import EvaluationFacts


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the report; `title` None = it stands without a heading. `order` sorts, lowest first."""

    id: str
    order: int
    title: Text | None = None


@dataclass(frozen=True, slots=True)
class Builder:
    """A section with what makes its blocks: `build(facts)`, empty when there is nothing to say."""

    section: Section
    build: Callable[[EvaluationFacts], tuple[Block, ...]]


@cache
def builders() -> tuple[Builder, ...]:
    """All sections in their order, found by looking in the folder `sections`."""
    package = importlib.import_module("gpulease_gui.reports.sections")
    modules = [importlib.import_module(i.name) for i in pkgutil.iter_modules(package.__path__, package.__name__ + ".")]
    found = [Builder(module.SECTION, module.build) for module in modules]
    return tuple(sorted(found, key=lambda builder: (builder.section.order, builder.section.id)))
