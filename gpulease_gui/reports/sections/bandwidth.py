"""How fast are disk, network and links against what was promised?"""

from __future__ import annotations

from collections.abc import Iterable

from gpulease_gui.domain.finding import Basis, Finding
from gpulease_gui.domain.text import Text
from gpulease_gui.reports.document import Bar, BarChart, Block
from gpulease_gui.reports.facts import EvaluationFacts, NodeFacts
from gpulease_gui.reports.section import Section
from gpulease_gui.reports.wording import figure, finding_name

SECTION = Section("bandwidth", 40, Text("Bandwidth against the promise", "带宽与承诺"))
_UNITS = ("GB/s", "MB/s", "GiB/s", "MiB/s", "Gbit/s", "Mbit/s")


def build(facts: EvaluationFacts) -> tuple[Block, ...]:
    """One chart per unit."""
    rates = [(node, f) for node in facts.verified if node.run for f in node.run.findings if _is_rate(f)]
    units = dict.fromkeys(f.unit for _, f in rates)
    return tuple(_chart(facts, unit, [(n, f) for n, f in rates if f.unit == unit]) for unit in units)


def _is_rate(finding: Finding) -> bool:
    return finding.unit in _UNITS and figure(finding.measured) is not None


def _chart(facts: EvaluationFacts, unit: str, rates: Iterable[tuple[NodeFacts, Finding]]) -> BarChart:
    caption = Text(f"{unit}; bar = measured or reported, black stroke = promise", f"{unit}；横条为实测或自报值，黑线为承诺值")
    return BarChart(caption, unit, tuple(_bar(facts, node, finding) for node, finding in rates))


def _bar(facts: EvaluationFacts, node: NodeFacts, finding: Finding) -> Bar:
    name = finding_name(finding, facts.terms)
    basis = Text("reported", "自报") if finding.basis is Basis.REPORTED else Text("measured", "实测")
    several = len(facts.nodes) > 1
    where = f"{node.node.name}: " if several else ""
    label = Text(f"{where}{name.en} ({basis.en})", f"{where}{name.zh}（{basis.zh}）")
    return Bar(label, figure(finding.measured), figure(finding.promised), finding.verdict)
