"""Which accelerator products exist, and what does a promised model name mean?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpulease_gui.domain.term import TermValue


@dataclass(frozen=True, slots=True)
class ModelPromise:
    """What gpu.model names: one product, or a family that leaves form factor and memory open."""

    word: str

    def implied(self, gpu_count: int | None) -> Mapping[str, TermValue]:
        """The terms that follow from a promised product; empty for a family."""
        return {}


@dataclass(frozen=True, slots=True)
class GpuCatalogue:
    """All products by id."""

    def promise(self, word: str) -> ModelPromise:
        """What `word` names. Raises UsageError for an unknown or ambiguous name, listing the ids."""
        return ModelPromise(word)
