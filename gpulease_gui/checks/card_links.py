"""How many NVLinks has the card that is there or the promised one, and does the list of links hold every card?"""

from __future__ import annotations

from collections.abc import Sequence

from gpulease_gui.catalog.gpus import GpuCatalogue, GpuModel
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import SubjectFinding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.nvlink import GpuLinks
from gpulease_gui.facts.nvlink_errors import GpuCounts
from gpulease_gui.facts.smi_xml import Gpu, SmiReport


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


def unlisted(smi: SmiReport | None, listed: Sequence[GpuLinks] | Sequence[GpuCounts]) -> list[SubjectFinding]:
    """The cards of the report that a list of links leaves out: nothing is known of their links."""
    return [
        SubjectFinding(gpu.key, Verdict.INCONCLUSIVE, None, gpu.index, _LEFT_OUT)
        for gpu in (smi.gpus if smi else ())
        if not any(_same(gpu, other) for other in listed)
    ]


def _same(gpu: Gpu, other: GpuLinks | GpuCounts) -> bool:
    return gpu.uuid == other.uuid if gpu.uuid and other.uuid else gpu.index == other.index


_LEFT_OUT = Text("the list of links leaves this card out", "链路列表中没有该卡")
