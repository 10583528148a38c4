"""What was promised, what was measured, and does it fit?"""

from __future__ import annotations

from gpulease_gui.domain.finding import CheckState, Finding, Verdict
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.domain.threshold import Origin, joined_words
from gpulease_gui.reports.document import (
    EMPTY,
    Block,
    Cell,
    Column,
    ColumnKind,
    Mark,
    Marks,
    Paragraph,
    Ruler,
    SubHeading,
    Table,
    Tone,
    Words,
)
from gpulease_gui.reports.facts import EvaluationFacts, NodeFacts, RunFacts, loudest_first
from gpulease_gui.reports.section import Section
from gpulease_gui.reports.wording import (
    NOT_READ,
    deviation,
    figure,
    finding_name,
    measured_words,
    promised_words,
    row_name,
    short_hash,
    term_name,
    value_text,
)

SECTION = Section("findings", 20, Text("Promised and measured", "承诺与实测"))
NEVER = Text("never verified for this contract: nothing is known about this node", "从未按本合同验收：对该节点一无所知")
COLUMNS = (
    Column(Text("Check", "检查项"), ColumnKind.TEXT, 2.2),
    Column(Text("Promised", "承诺"), ColumnKind.NUMBER, 1.3),
    Column(Text("Measured", "实测"), ColumnKind.NUMBER, 1.35),
    Column(Text("Deviation", "偏差"), ColumnKind.NUMBER, 1.05),
    Column(Text("Against promise", "对照承诺"), ColumnKind.RULER, 1.15),
    Column(Text("Verdict", "判定"), ColumnKind.BADGE, 1.45),
    Column(Text("Evidence SHA-256", "证据 SHA-256"), ColumnKind.HASH, 1.3),
)
JUDGED_COLUMNS = (
    Column(Text("Check", "检查项"), ColumnKind.TEXT, 2.2),
    Column(Text("Judged by, and whose figure that is", "判定依据及其来源"), ColumnKind.TEXT, 8.2),
)
_LEGEND = (Verdict.PASS, Verdict.WARN, Verdict.FAIL, Verdict.INCONCLUSIVE, CheckState.NOT_RUN)


def build(facts: EvaluationFacts) -> tuple[Block, ...]:
    """A table for each node, failing nodes first."""
    blocks: list[Block] = []
    for node in facts.nodes:
        blocks += _of_node(facts, node)
    if facts.verified:
        blocks.append(Marks(_LEGEND))
    return tuple(blocks) or (Paragraph(Text("the contract has no nodes", "本合同没有登记节点"), Tone.MISSING),)


def _of_node(facts: EvaluationFacts, node: NodeFacts) -> list[Block]:
    if node.run is None:
        return [SubHeading(foreign(node.node.name), CheckState.NOT_RUN), Paragraph(NEVER)]
    note = foreign(f"SHA-256 {short_hash(node.run.hash)}")
    blocks: list[Block] = [SubHeading(foreign(node.node.name), node.verdict, note), _table(facts, node.run)]
    apart = [f for f in node.run.findings if f.verdict is Verdict.NOT_APPLICABLE]
    if judged := _judged_by(facts, node.run):
        blocks.append(judged)
    if apart:
        names = [finding_name(f, facts.terms) for f in apart]
        words = Text(
            "Does not apply to this node: " + ", ".join(n.en for n in names),
            "不适用于该节点：" + "、".join(n.zh for n in names),
        )
        blocks.append(Paragraph(words, Tone.QUIET))
    return blocks


def _table(facts: EvaluationFacts, run: RunFacts) -> Table:
    rows = [_row(facts, f) for f in loudest_first(run.findings) if f.verdict is not Verdict.NOT_APPLICABLE]
    rows += [_unjudged(facts, term) for term in run.unjudged if not any(f.term == term for f in run.findings)]
    return Table(COLUMNS, tuple(rows))


def _judged_by(facts: EvaluationFacts, run: RunFacts) -> Table | None:
    """The figures behind each verdict that is no plain pass, and behind every one that somebody moved."""
    told = [f for f in loudest_first(run.findings) if f.judged_by and f.verdict is not Verdict.NOT_APPLICABLE and _is_asked(f)]
    rows = tuple((Words(finding_name(f, facts.terms)), Words(joined_words(f.judged_by), Tone.QUIET)) for f in told)
    return Table(JUDGED_COLUMNS, rows) if rows else None


def _is_asked(finding: Finding) -> bool:
    loud = finding.verdict in (Verdict.FAIL, Verdict.WARN)
    return loud or any(one.origin in (Origin.SET, Origin.FLEET) for one in finding.judged_by)


def _row(facts: EvaluationFacts, finding: Finding) -> tuple[Cell, ...]:
    return (
        Words(row_name(finding, facts.terms)), promised_words(finding), measured_words(finding),
        Words(deviation(finding), Tone.QUIET), _ruler(finding), Mark(finding.verdict), _hash(finding),
    )  # fmt: skip


def _ruler(finding: Finding) -> Cell:
    promised, measured = figure(finding.promised), figure(finding.measured)
    return Ruler(promised, measured, finding.verdict) if promised and measured is not None else EMPTY


def _hash(finding: Finding) -> Words:
    if not finding.evidence:
        return Words(Text("none", "无"), Tone.MISSING)
    more = len(finding.evidence) - 1
    return Words(foreign(short_hash(finding.evidence[0]) + (f" +{more}" if more else "")), Tone.CODE)


def _unjudged(facts: EvaluationFacts, term: str) -> tuple[Cell, ...]:
    promised = facts.promised(term)
    said = Words(value_text(promised)) if promised is not None else EMPTY
    none = Words(Text("none", "无"), Tone.MISSING)
    return Words(term_name(term, facts.terms)), said, NOT_READ, EMPTY, EMPTY, Mark(CheckState.NOT_RUN), none
