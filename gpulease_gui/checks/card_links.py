"""How many NVLinks has the card that is there, or the one that was promised?"""

from __future__ import annotations

from gpulease_gui.catalog.gpus import GpuCatalogue, GpuModel
from gpulease_gui.checks.promise import Promise
from gpulease_gui.facts.smi_xml import Gpu


def products(name: str | None, device_id: str | None, catalogue: GpuCatalogue) -> tuple[GpuModel, ...]:
    """The products that PCI id and name allow; where they name different ones, those of the id."""
    by_id = catalogue.of_device(device_id) if device_id else ()
    by_name = catalogue.named(name) if name else ()
    return tuple(m for m in by_id if m in by_name) or by_id or by_name


def reported_links(gpu: Gpu, catalogue: GpuCatalogue) -> int | None:
    """NVLinks of the product that `gpu` reports to be; None if the catalogue can't tell."""
    return _common(products(gpu.name, gpu.pci_device_id, catalogue))


def promised_links(promise: Promise) -> int | None:
    """NVLinks of the promised product or family; None if none is promised or its products differ."""
    model = promise.model
    return _common(model.products) if model else None


def _common(models: tuple[GpuModel, ...]) -> int | None:
    found = {m.nvlink_links for m in models}
    return found.pop() if len(found) == 1 else None
