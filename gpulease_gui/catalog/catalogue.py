"""Everything that we know of the trade, loaded once from resources/."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpulease_gui.catalog.checklist import ChecklistItem, load_checklist
from gpulease_gui.catalog.cuda import CudaFacts, load_cuda
from gpulease_gui.catalog.fields import load_fields
from gpulease_gui.catalog.gpus import GpuCatalogue, load_gpus
from gpulease_gui.catalog.measured import MeasuredFigures, load_measured
from gpulease_gui.catalog.terms import load_terms
from gpulease_gui.catalog.xid import Xid, XidCatalogue, load_xids
from gpulease_gui.domain.commercial import Field
from gpulease_gui.domain.term import Term


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Products, terms, Xids, CUDA facts, commercial fields, the checklist, published measurements; frozen, so any thread may read it."""

    gpus: GpuCatalogue
    terms: Mapping[str, Term]
    xids: XidCatalogue = field(default_factory=XidCatalogue)
    cuda: CudaFacts = field(default_factory=lambda: CudaFacts(as_of=""))
    fields: Mapping[str, Field] = field(default_factory=dict)
    checklist: Mapping[str, ChecklistItem] = field(default_factory=dict)
    measured: MeasuredFigures = field(default_factory=MeasuredFigures)

    def xid(self, code: int) -> Xid | None:
        """What we know of an Xid; None for a code that the catalogue lacks."""
        return self.xids.xids.get(code)


def load_catalogue() -> Catalogue:
    """The whole catalogue (about 0.1 s; keep it). Raises CatalogueFault naming file and key."""
    return Catalogue(load_gpus(), load_terms(), load_xids(), load_cuda(), load_fields(), load_checklist(), load_measured())
