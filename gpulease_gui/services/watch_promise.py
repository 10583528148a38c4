"""What does the contract of a watched node say of what is watched, on a day?"""

from __future__ import annotations

from datetime import date

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.watch_rules import LINES, WatchPromise
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.node import Node
from gpulease_gui.services.commerce import deal_in
from gpulease_gui.services.thresholds import effective
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.suppliers import get_contract
from gpulease_gui.telemetry.source import Metric, metrics

_FLOORS = LINES | {"gpu.power_w"}
_GPU_TERMS = frozenset({"gpu.model", "gpu.count"})


def promise_of(connection: Reader, node: Node, catalogue: Catalogue, day: date) -> WatchPromise:
    """What the contract of a node says of what is watched. A contract without dates counts as not known to be running."""
    figures = effective(connection)
    if node.contract_id is None:
        return WatchPromise(thresholds=figures)
    facts = deal_in(connection, Subject(HolderOf.CONTRACT, node.contract_id), day)
    promise = Promise(catalogue, facts.promised)
    floors = {id_: found for id_, metric in metrics().items() if (found := _floor(metric, promise)) is not None}
    contract = get_contract(connection, node.contract_id)
    billed = contract.start is not None and contract.start <= day and (contract.end is None or day <= contract.end)
    return WatchPromise(floors, billed=billed, thresholds=figures, cards=not _GPU_TERMS.isdisjoint(facts.promised), paid=facts.row.gpu_count or None)


def _floor(metric: Metric, promise: Promise) -> tuple[str, float] | None:
    if metric.term is None or metric.id not in _FLOORS:
        return None
    stated = promise.get(metric.term)
    if stated is None or isinstance(stated.value, bool | str):
        return None
    return metric.term, float(stated.value)
