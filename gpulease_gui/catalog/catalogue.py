"""Everything that we know of the trade, loaded once from resources/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpulease_gui.catalog.gpus import GpuCatalogue
from gpulease_gui.domain.term import Term


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Products, terms, Xids and CUDA facts; frozen, so any thread may read it."""

    gpus: GpuCatalogue
    terms: Mapping[str, Term]
