"""What was promised for this node, said outright or implied by the promised model?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.gpus import ModelPromise
from gpulease_gui.checks.fleet import NO_FLEET, Fleet
from gpulease_gui.checks.history import History
from gpulease_gui.checks.thresholds import NOTHING_MOVED, Threshold, Thresholds
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.term import TermValue


@dataclass(frozen=True, slots=True)
class Stated:
    """One promised value; `implied` says that it follows from the promised GPU model."""

    value: TermValue
    implied: bool = False

    @property
    def reason_code(self) -> str:
        """The code that a passing finding carries."""
        return Reason.IMPLIED if self.implied else ""

    @property
    def number(self) -> float:
        """The value as a number. Raises TypeError for words."""
        if isinstance(self.value, str):
            raise TypeError(f"{self.value!r} is no number")
        return float(self.value)


@dataclass(frozen=True, slots=True)
class Promise:
    """The contract as a rule sees it.

    `terms` holds the stated terms only. `model` is what gpu.model names (a product, a family, or None).
    `seconds` is the length asked for one measurement (None = each check's own). `history` is what earlier runs say;
    None where outputs are judged that belong to no node of ours. `thresholds` are the figures as the user left them.
    """

    catalogue: Catalogue
    terms: Mapping[str, TermValue] = field(default_factory=dict)
    seconds: int | None = None
    history: History | None = None
    thresholds: Thresholds = NOTHING_MOVED

    @property
    def model(self) -> ModelPromise | None:
        """What the promised gpu.model names; None if none is stated."""
        word = self.terms.get("gpu.model")
        return self.catalogue.gpus.promise(str(word)) if word is not None else None

    def get(self, term: str) -> Stated | None:
        """The promised value of `term`: stated, else implied by the promised model, else None."""
        if term in self.terms:
            return Stated(self.terms[term])
        if term.startswith("npu."):
            return self._of_npu(term)
        model = self.model
        if model is None:
            return None
        count = self.terms.get("gpu.count")
        implied = model.implied(int(count) if isinstance(count, int | float) else None)
        return Stated(implied[term], implied=True) if term in implied else None

    def _of_npu(self, term: str) -> Stated | None:
        word = self.terms.get("npu.model")
        implied = self.catalogue.gpus.promise(str(word)).implied_of_npu if word is not None else {}
        return Stated(implied[term], implied=True) if term in implied else None

    def states(self, term: str) -> bool:
        """Whether the contract itself names `term`."""
        return term in self.terms

    @property
    def fleet(self) -> Fleet:
        """What our other nodes say; nothing where outputs belong to no node of ours."""
        return self.history.fleet if self.history else NO_FLEET

    def limit(self, threshold: Threshold) -> float:
        """The figure to compare with, in the threshold's unit: as the user moved it, else as shipped."""
        return self.thresholds.value(threshold)
