"""What can a card of this generation, or a driver of this age, tell at all?"""

from __future__ import annotations

from gpulease_gui.catalog.identity import identify
from gpulease_gui.checks.cards import observed
from gpulease_gui.checks.promise import Promise
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

_BEFORE_AMPERE = frozenset(["kepler", "maxwell", "pascal", "volta", "turing"])
_BEFORE_HOPPER = _BEFORE_AMPERE | {"ampere"}


def driver_branch(report: SmiReport) -> int | None:
    """550 of 550.127.05; None if the report names no driver."""
    first = (report.driver_version or "").split(".")[0]
    return int(first) if first.isascii() and first.isdigit() and len(first) < 6 else None


def architectures(gpu: Gpu, promise: Promise) -> frozenset[str]:
    """The architectures that the PCI id allows, else the one that the driver names; empty if neither tells."""
    listed = frozenset(m.architecture.lower() for m in promise.catalogue.gpus.of_device(gpu.pci_device_id or ""))
    return listed or frozenset(word.lower() for word in [gpu.architecture] if word)


def is_before_ampere(gpu: Gpu, promise: Promise) -> bool | None:
    """Whether bad memory is retired by pages (Turing and older), not by rows; None if nobody knows the generation."""
    return _all_in(architectures(gpu, promise), _BEFORE_AMPERE)


def is_before_hopper(gpu: Gpu, promise: Promise) -> bool | None:
    """Whether the card is of the Ampere generation or older; None if nobody knows."""
    return _all_in(architectures(gpu, promise), _BEFORE_HOPPER)


def has_hbm(gpu: Gpu, promise: Promise) -> bool | None:
    """Whether its memory is stacked (HBM), where ECC costs nothing; None if the product is not known."""
    product = identify(promise.catalogue.gpus, observed(gpu)).product
    kinds = {product.memory_type} if product else {m.memory_type for m in promise.catalogue.gpus.of_device(gpu.pci_device_id or "")}
    if not kinds or None in kinds:
        return None
    found = {(kind or "").upper().startswith("HBM") for kind in kinds}
    return found.pop() if len(found) == 1 else None


def _all_in(found: frozenset[str], group: frozenset[str]) -> bool | None:
    known = {name in group for name in found}
    return known.pop() if len(known) == 1 else None
