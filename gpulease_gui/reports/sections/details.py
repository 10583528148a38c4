"""Why does something not fit or stay unknown, and what is to be done?"""

from __future__ import annotations

from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.reports.document import Block, Cell, Column, ColumnKind, Mark, SubHeading, Table, Tone, Words
from gpulease_gui.reports.facts import EvaluationFacts, loudest_first
from gpulease_gui.reports.section import Section
from gpulease_gui.reports.wording import arrow, finding_name, with_unit

SECTION = Section("details", 30, Text("What does not fit, and what could not be judged", "不符与无法判定的项"))
COLUMNS = (
    Column(Text("Check", "检查项"), ColumnKind.TEXT, 1.7),
    Column(Text("Verdict", "判定"), ColumnKind.BADGE, 1.3),
    Column(Text("Reason", "原因"), ColumnKind.TEXT, 3.5),
    Column(Text("Next step", "下一步"), ColumnKind.TEXT, 2.5),
)
_LOUD = (Verdict.FAIL, Verdict.WARN, Verdict.INCONCLUSIVE)
_GROUPS_SHOWN = 4
_IDS_SHOWN = 6
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
    groups: dict[Text, list[SubjectFinding]] = {}
    for subject in worst:
        groups.setdefault(_reading(subject, finding.unit), []).append(subject)
    said = [Text(f"{_names(s)}: {r.en}", f"{_names(s)}：{r.zh}") for r, s in list(groups.items())[:_GROUPS_SHOWN]]
    more = len(groups) - len(said)
    en += "; " + "; ".join(one.en for one in said) + (f"; {more} more readings" if more > 0 else "")
    zh += "；" + "；".join(one.zh for one in said) + (f"；另有 {more} 种读数" if more > 0 else "")
    return Text(en, zh)


def _reading(subject: SubjectFinding, unit: str) -> Text:
    return with_unit(subject.measured, unit) if subject.measured is not None else Text("not readable", "读不到")


def _names(subjects: list[SubjectFinding]) -> str:
    """Cards by their number (their UUIDs stand in the identity section), others by id; `#0-#7` for a stretch."""
    numbers = sorted({s.index for s in subjects if s.index is not None})
    if len(numbers) != len(subjects):
        return ", ".join(arrow(s.id) for s in subjects[:_IDS_SHOWN]) + ("…" if len(subjects) > _IDS_SHOWN else "")
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"#{numbers[0]}–#{numbers[-1]}"
    return ", ".join(f"#{number}" for number in numbers)
