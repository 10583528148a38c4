"""What do our other nodes say, as the rules may use it?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from statistics import median

from gpulease_gui.checks.fleet import ALL_MODELS, Fleet, FleetMedian, KnownTool
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.node import Node
from gpulease_gui.services.identity_pin import place_of
from gpulease_gui.store import nodes
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.fleet import FleetFinding, list_fleet_findings

_TOOL, _DRIVER, _MODEL = "trust.smi_binary", "drv.version", "gpu.model"


def fleet_of(connection: Reader, node: Node, at: datetime) -> Fleet:
    """The medians and known tools of all nodes but `node`, as known before `at` (UTC).

    Two records with one way to them are one machine: neither vouches for the other.
    """
    told = [f for f in list_fleet_findings(connection, at, checks=(_TOOL, _DRIVER, _MODEL)) if f.node_id != node.id]
    if not told:  # all nodes for each node of a fleet would be their number squared
        return Fleet()
    places = {n.id: place_of(n) for n in nodes.list_nodes(connection)}
    own = place_of(node)
    found = [f for f in told if places.get(f.node_id, own) != own]
    return Fleet(tuple(_medians(found, places)), tuple(_tools(found, places)))


def _medians(found: Sequence[FleetFinding], places: dict[str, str]) -> Iterator[FleetMedian]:
    models: dict[str, str] = {}
    for one in found:
        if one.check == _MODEL and isinstance(one.measured, str):
            models.setdefault(one.node_id, one.measured)
    values: dict[tuple[str, str, str, str], dict[str, float]] = defaultdict(dict)
    for one in found:
        if one.check in (_TOOL, _DRIVER, _MODEL) or isinstance(one.measured, bool) or not isinstance(one.measured, int | float):
            continue
        for model in {ALL_MODELS, models.get(one.node_id, ALL_MODELS)}:
            # The newest comes first and stays.
            values[one.check, one.direction, model, one.unit].setdefault(places[one.node_id], float(one.measured))
    for (check, direction, model, unit), by_place in sorted(values.items()):
        yield FleetMedian(check, direction, model, unit, median(by_place.values()), len(by_place))


def _tools(found: Iterable[FleetFinding], places: dict[str, str]) -> Iterator[KnownTool]:
    drivers = {one.run_id: str(one.measured) for one in found if one.check == _DRIVER}
    seen: dict[tuple[str, str], list[FleetFinding]] = defaultdict(list)
    for one in found:
        # What was found to be something else vouches for nothing.
        if one.check == _TOOL and one.run_id in drivers and one.verdict is not Verdict.FAIL:
            seen[drivers[one.run_id], str(one.measured)].append(one)
    for (driver, sha256), where in sorted(seen.items()):
        suppliers = {one.supplier_id for one in where if one.supplier_id}
        yield KnownTool(driver, sha256, len({places[one.node_id] for one in where}), len(suppliers))
