"""When was each node looked at, by which clock?"""

from __future__ import annotations

from datetime import timedelta, timezone

from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.reports.document import Block, Cell, Column, ColumnKind, Table, Words
from gpulease_gui.reports.facts import EvaluationFacts, NodeFacts, RunFacts
from gpulease_gui.reports.section import Section
from gpulease_gui.reports.wording import NOT_READ, clock_time, zone_name

SECTION = Section("handover", 70, Text("Time of handover", "交付时间"))
UTC_ZONE = timezone(timedelta(0))


def build(facts: EvaluationFacts) -> tuple[Block, ...]:
    """Start and end of each run in our clock and in UTC, and how far the node's clock is off."""
    rows = [row for node in facts.verified if node.run for row in _rows(facts, node, node.run)]
    zone = zone_name(facts.zone)
    columns = (
        Column(Text("Node", "节点"), ColumnKind.TEXT, 1.3),
        Column(Text("Moment", "时刻"), ColumnKind.TEXT, 0.8),
        Column(Text(f"Our clock, {zone}", f"我方时钟，{zone}"), ColumnKind.TEXT, 2.0),
        Column(Text("UTC", "UTC"), ColumnKind.TEXT, 2.0),
        Column(Text("Node's clock, UTC", "节点时钟，UTC"), ColumnKind.TEXT, 2.0),
        Column(Text("Node minus ours, s", "节点减我方，秒"), ColumnKind.NUMBER, 1.3),
    )
    return (Table(columns, tuple(rows)),) if rows else ()


def _rows(facts: EvaluationFacts, node: NodeFacts, run: RunFacts) -> list[tuple[Cell, ...]]:
    ends = [(Text("start", "开始"), run.started_at), (Text("end", "结束"), run.finished_at)]
    rows: list[tuple[Cell, ...]] = []
    for word, at in ends:
        if at is None:
            continue
        offset = run.clock_offset_s
        node_clock = Words(foreign(clock_time(at + timedelta(seconds=offset), UTC_ZONE))) if offset is not None else NOT_READ
        difference = Words(foreign(number_text(round(offset, 1)))) if offset is not None else NOT_READ
        rows.append(
            (Words(foreign(node.node.name)), Words(word), Words(foreign(clock_time(at, facts.zone))),
             Words(foreign(clock_time(at, UTC_ZONE))), node_clock, difference)
        )  # fmt: skip
    return rows

