"""With what is a measured rate of a card compared: our own nodes, else what others published, never a share of the sheet?"""

from __future__ import annotations

from gpulease_gui.catalog.gpus import GpuModel
from gpulease_gui.catalog.measured import Metric
from gpulease_gui.checks.fleet import FLEET_NODES, as_yardstick
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.threshold import JudgedBy, Origin


def yardstick(promise: Promise, check: str, product: GpuModel, metric: Metric, *, direction: str = "") -> JudgedBy | None:
    """The figure that `product` should reach in the rate that `check` measures.

    The median of the newest runs of at least five (FLEET_NODES) other nodes with this product; else the median of
    what was published; None where neither is known, so nothing can be judged by it. The findings' unit decides.
    """
    own = own_median(promise, check, product, direction=direction)
    if own is not None:
        return own
    window = promise.catalogue.measured.of(product.id, metric)
    if window is None:
        return None
    title = Text("median of published measurements", "公开实测中位数")
    return JudgedBy(check, f"published_{metric}", title, window.median, window.unit, Origin.PUBLISHED, window.source)


def own_median(promise: Promise, check: str, product: GpuModel, *, direction: str = "") -> JudgedBy | None:
    """The median of our own nodes with this product alone; None where fewer than FLEET_NODES measured it."""
    own = promise.fleet.median(check, direction, product.name)
    return as_yardstick(own) if own is not None and own.nodes >= promise.limit(FLEET_NODES) else None


def words_of(own: JudgedBy) -> Text:
    """What the figure is, as a reason says it: with how many own nodes it is the median of, or that others published it."""
    if own.origin is not Origin.FLEET:
        return own.title
    return Text(f"median of own nodes with this product, {own.source}", f"同型号自有节点中位数，{own.source}")
