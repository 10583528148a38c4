"""Why does something not fit or stay unknown, and what is to be done?"""

from __future__ import annotations

from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.reports.document import Block, Cell, Column, ColumnKind, Mark, SubHeading, Table, Tone, Words
from gpulease_gui.reports.facts import EvaluationFacts, loudest_first
from gpulease_gui.reports.section import Section
from gpulease_gui.reports.wording import finding_name, with_unit

SECTION = Section("details", 30, Text("What does not fit, and what could not be judged", "不符与无法判定的项"))
COLUMNS = (
    Column(Text("Check", "检查项"), ColumnKind.TEXT, 1.7),
    Column(Text("Verdict", "判定"), ColumnKind.BADGE, 1.1),
    Column(Text("Reason", "原因"), ColumnKind.TEXT, 3.6),
    Column(Text("Next step", "下一步"), ColumnKind.TEXT, 2.6),
)
_LOUD = (Verdict.FAIL, Verdict.WARN, Verdict.INCONCLUSIVE)
_SUBJECTS_NAMED = 4
_BASIS = {
    Basis.REPORTED: Text("reported by the node", "节点自报"),
    Basis.MEASURED: Text("measured", "实测"),
}


def build(facts: EvaluationFacts) -> tuple[Block, ...]:
    """A table for each node that has something to explain; what nobody promised stands among the questions."""
    blocks: list[Block] = []
    for node in facts.verified:
        found = [f for f in loudest_first(node.run.findings if node.run else ()) if _loud(f)]
        if found:
            blocks += [SubHeading(foreign(node.node.name)), Table(COLUMNS, tuple(_row(facts, f) for f in found))]
    return tuple(blocks)


def _loud(finding: Finding) -> bool:
    return finding.verdict in _LOUD and finding.reason_code != Reason.NOT_PROMISED


def _row(facts: EvaluationFacts, finding: Finding) -> tuple[Cell, ...]:
    step = Words(finding.next_step) if finding.next_step.en else Words(Text("none", "无"), Tone.QUIET)
    return Words(finding_name(finding, facts.terms)), Mark(finding.verdict), Words(_reason(finding)), step


def _reason(finding: Finding) -> Text:
    worst = [s for s in finding.subjects if s.verdict in (Verdict.FAIL, Verdict.WARN)]
    basis = _BASIS[finding.basis]
    en, zh = f"{finding.reason.en} ({basis.en})", f"{finding.reason.zh}（{basis.zh}）"
    if not worst:
        return Text(en, zh)
    named = [_subject(s, finding.unit) for s in worst[:_SUBJECTS_NAMED]]
    more = len(worst) - len(named)
    en += "; " + "; ".join(n.en for n in named) + (f"; {more} more" if more else "")
    zh += "；" + "；".join(n.zh for n in named) + (f"；另有 {more} 个" if more else "")
    return Text(en, zh)


def _subject(subject: SubjectFinding, unit: str) -> Text:
    number = f"#{subject.index} " if subject.index is not None else ""
    said = with_unit(subject.measured, unit) if subject.measured is not None else Text("not readable", "读不到")
    return Text(f"{number}{_short(subject.id)}: {said.en}", f"{number}{_short(subject.id)}：{said.zh}")


def _short(subject_id: str) -> str:
    """The head of a UUID tells the cards of a node apart; all UUIDs stand in the identity section."""
    return subject_id[:12] if subject_id.startswith("GPU-") else subject_id
