"""What did the node do while it was watched?"""

from __future__ import annotations

from datetime import UTC, datetime

from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.domain.units import number_text, summary_words
from gpulease_gui.reports.document import Block, LineChart, Paragraph, SubHeading, Tone
from gpulease_gui.reports.facts import EvaluationFacts, LiveStretch
from gpulease_gui.reports.section import Section
from gpulease_gui.reports.wording import zone_name

SECTION = Section("live", 50, Text("Live readings against the contract line", "实时读数与合同线"))
NODES_SHOWN = 4


def build(facts: EvaluationFacts) -> tuple[Block, ...]:
    """The stored stretches of the nodes that were watched; a word where none was."""
    watched = [node for node in facts.nodes if node.live]
    blocks: list[Block] = [
        Paragraph(Text(f"{node.node.name}: {one.trouble.en}", f"{node.node.name}：{one.trouble.zh}"), Tone.FAIL)
        for node in facts.verified if node.run for one in node.run.readings if one.trouble
    ]  # fmt: skip
    if not watched:
        words = Text("No stored readings near the run: the nodes were not watched.", "验收前后没有已保存的实时读数：节点未被监测。")
        return tuple(blocks) or (Paragraph(words, Tone.QUIET),)
    for node in watched[:NODES_SHOWN]:
        blocks.append(SubHeading(foreign(node.node.name)))
        several = len({stretch.start_s for stretch in node.live}) > 1
        blocks += [_chart(facts, stretch, dated=several) for stretch in node.live]
    left = len(watched) - NODES_SHOWN
    if left > 0:
        blocks.append(Paragraph(Text(f"{left} more watched nodes are not drawn.", f"另有 {left} 个受监测节点未绘出。"), Tone.QUIET))
    return tuple(blocks)


def _chart(facts: EvaluationFacts, stretch: LiveStretch, *, dated: bool) -> LineChart:
    number = "" if stretch.contract is None else f"{number_text(stretch.contract)} {stretch.unit}"
    line = Text(f"contract {number}", f"合同 {number}") if number else NO_TEXT
    if number and stretch.implied:
        line = Text(f"promised model {number}", f"约定型号标称 {number}")
    count = len(stretch.curves)
    zone = zone_name(facts.zone)
    unit = stretch.unit or "–"
    coarse = _coarser(facts, stretch)
    day = f"{datetime.fromtimestamp(stretch.start_s + facts.utc_offset_s, UTC):%Y-%m-%d} " if dated else ""
    caption = Text(
        f"{day}{stretch.title.en}, {unit}; {count} {'line' if count == 1 else 'lines'}{coarse.en}; time in {zone}",
        f"{day}{stretch.title.zh}，{unit}；{count} 条曲线{coarse.zh}；时间为 {zone}",
    )
    return LineChart(
        caption, stretch.unit, stretch.curves, stretch.start_s, stretch.end_s, stretch.contract, line, stretch.blanks,
        facts.utc_offset_s,
    )  # fmt: skip


def _coarser(facts: EvaluationFacts, stretch: LiveStretch) -> Text:
    """Where only summaries were left, and how long one is; nothing where all is drawn as it was read."""
    made: list[Text] = []
    for step_s in sorted({step_s for _, _, step_s in stretch.coarser}):
        spans = [(a, z) for a, z, step in stretch.coarser if step == step_s]
        first, last = min(a for a, _ in spans), max(z for _, z in spans)
        words = summary_words(step_s)
        if (first, last) != (stretch.start_s, stretch.end_s):
            span = "–".join(f"{datetime.fromtimestamp(at_s + facts.utc_offset_s, UTC):%H:%M:%S}" for at_s in (first, last))
            words = Text(f"{words.en} {span}", f"{span} 为 {words.zh}")
        made.append(words)
    return Text("".join(f"; {one.en}" for one in made), "".join(f"；{one.zh}" for one in made))
