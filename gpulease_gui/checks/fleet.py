"""What did our own nodes measure, and which files of a tool are known from several suppliers?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.finding import Basis, Finding
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.threshold import JudgedBy, Origin

ALL_MODELS = ""

# A median of fewer nodes says more about these nodes than about the card.
FLEET_NODES = Threshold("fleet", "nodes", 5, "nodes", Text("own nodes count as a yardstick from", "自有节点可作参照的最少台数"), ">=", low=2.0)


@dataclass(frozen=True, slots=True)
class FleetMedian:
    """The median of what the newest run of each of `nodes` other nodes measured for one check and direction.

    `model` is the product name that the nodes' gpu.model finding gives, or ALL_MODELS.
    """

    check: str
    direction: str
    model: str
    unit: str
    median: float
    nodes: int


@dataclass(frozen=True, slots=True)
class KnownTool:
    """One nvidia-smi as other nodes with one driver have it: on how many nodes, of how many suppliers."""

    driver: str
    sha256: str
    nodes: int
    suppliers: int


@dataclass(frozen=True, slots=True)
class Fleet:
    """All that other nodes of ours say; the node in question is never part of it."""

    medians: tuple[FleetMedian, ...] = ()
    tools: tuple[KnownTool, ...] = ()

    def median(self, check: str, direction: str = "", model: str = ALL_MODELS, unit: str | None = None) -> FleetMedian | None:
        """The median of a check; None where no other node measured it (in this unit)."""
        same = (m for m in self.medians if (m.check, m.direction, m.model) == (check, direction, model))
        return next((m for m in same if unit is None or m.unit == unit), None)

    def tool(self, driver: str | None, sha256: str | None) -> KnownTool | None:
        """Where else this very file was seen beside this driver; None if nowhere."""
        return next((t for t in self.tools if t.driver == driver and t.sha256 == sha256), None)

    def beside(self, finding: Finding, least: float) -> tuple[JudgedBy, ...]:
        """The median to show beside a measured finding; empty where fewer than `least` nodes measured the same."""
        if finding.basis is not Basis.MEASURED or finding.measured is None:
            return ()
        found = self.median(finding.check, finding.direction, unit=finding.unit)
        return (as_yardstick(found),) if found is not None and found.nodes >= least else ()


def as_yardstick(found: FleetMedian) -> JudgedBy:
    """The median as a finding keeps it."""
    title = Text("to compare: median of own nodes", "参照：自有节点中位数")
    return JudgedBy(found.check, "fleet_median", title, found.median, found.unit, Origin.FLEET, f"n = {found.nodes}")


NO_FLEET = Fleet()
