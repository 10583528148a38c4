"""Which parts of the checklist concern an offer?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.gpus import GpuModel
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.services.commerce import DealFacts

_HERE = frozenset(["CN", "CHN", "CHINA", "中国"])


def tags_of(facts: DealFacts, catalogue: Catalogue) -> Mapping[str, bool | None]:
    """Tag -> whether the offer has it; None = not stated, so its items are still to be asked."""
    products = _products(facts, catalogue)
    npu = any(key.startswith(("npu.", "cann.")) for key in facts.promised)
    return {
        "nvidia": _all_alike(p.vendor.lower() == "nvidia" for p in products) if products else (False if npu else None),
        "ascend": True if npu else _all_alike(p.vendor.lower() != "nvidia" for p in products) if products else None,
        "nvlink": _nvlink(facts, products),
        "nvswitch": _nvswitch(facts, products),
        "multi_node": _multi_node(facts),
        "shared_fs": True if facts.terms.value("storage.shared_kind") or facts.terms.value("storage.shared_gb") else None,
        "mig_capable": True if facts.promised.get("gpu.mig") else None,
        "cn": facts.supplier.country.strip().upper() in _HERE if facts.supplier.country.strip() else None,
    }


def applies(tag: str | None, tags: Mapping[str, bool | None]) -> bool:
    """Whether an item counts: always without a tag, and as long as nothing says that it does not."""
    return tag is None or tags.get(tag) is not False


def _products(facts: DealFacts, catalogue: Catalogue) -> tuple[GpuModel, ...]:
    word = facts.promised.get("gpu.model") or facts.promised.get("npu.model")
    try:
        return catalogue.gpus.promise(word).products if isinstance(word, str) else ()
    except UsageError:
        return ()  # an older catalogue knew the word


def _nvlink(facts: DealFacts, products: tuple[GpuModel, ...]) -> bool | None:
    stated = facts.promised.get("gpu.interconnect")
    if isinstance(stated, str):
        return stated.startswith("nv")
    return _all_alike(bool(p.nvlink_total_gb_s) for p in products) if products else None


def _nvswitch(facts: DealFacts, products: tuple[GpuModel, ...]) -> bool | None:
    stated = facts.promised.get("gpu.interconnect")
    if isinstance(stated, str):
        return stated == "nvswitch"
    return False if products and not any(p.nvlink_total_gb_s for p in products) else None


def _multi_node(facts: DealFacts) -> bool | None:
    count = facts.row.node_count
    fabric = any(key.startswith("rdma.") for key in facts.promised)
    return True if fabric else None if count is None else count > 1


def _all_alike(values: Iterable[bool]) -> bool | None:
    found = set(values)
    return found.pop() if len(found) == 1 else None
