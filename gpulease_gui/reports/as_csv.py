"""How is the table of findings written for a spreadsheet?"""

from __future__ import annotations

import csv
import io

from gpulease_gui.domain.finding import VERDICT_WORDS, CheckState, Finding, Value
from gpulease_gui.domain.text import Language, Text, visible
from gpulease_gui.reports.facts import EvaluationFacts, NodeFacts
from gpulease_gui.reports.wording import finding_name, term_name

_HEAD = (
    Text("Node", "节点"), Text("Check", "检查项"), Text("Name", "名称"), Text("Term", "条款"), Text("Required", "必查"),
    Text("Promised", "承诺"), Text("Measured", "实测"), Text("Unit", "单位"), Text("Verdict", "判定"),
    Text("Reason", "原因"), Text("Next step", "下一步"), Text("Basis", "依据"), Text("Evidence SHA-256", "证据 SHA-256"),
)  # fmt: skip
# What a spreadsheet would take for the start of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_bytes(facts: EvaluationFacts, language: Language) -> bytes:
    """UTF-8 with a byte order mark, CRLF; no text cell can start a formula. A node without a run is a line too; a demo's say so."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([head.say(language) for head in _HEAD])
    for node in facts.nodes:
        writer.writerows([safe_cell(value) for value in row] for row in _rows(facts, node, language))
    return out.getvalue().encode("utf-8-sig", "replace")


def _rows(facts: EvaluationFacts, node: NodeFacts, language: Language) -> list[list[Value]]:
    name = f"DEMO {node.node.name}" if facts.demo else node.node.name
    tasks = [[name, *_finding(facts, finding, language, task.run.spec.name)] for task in node.tasks for finding in task.findings]
    if node.run is None:
        return [[name, *[""] * 7, str(CheckState.NOT_RUN), *[""] * 4], *tasks]
    rows = [*([name, *_finding(facts, finding, language)] for finding in node.run.findings), *tasks]
    for term in node.run.unjudged:
        label = term_name(term, facts.terms).say(language)
        rows.append([name, "", label, term, True, facts.promised(term), "", "", str(CheckState.NOT_RUN), *[""] * 4])
    return rows


def _finding(facts: EvaluationFacts, finding: Finding, language: Language, task: str = "") -> list[Value]:
    name = finding_name(finding, facts.terms).say(language)
    return [
        finding.check, f"{name} · {task}" if task else name, finding.term, finding.required,
        finding.promised, finding.measured, finding.unit, VERDICT_WORDS[finding.verdict].say(language),
        finding.reason.say(language), finding.next_step.say(language), str(finding.basis), " ".join(finding.evidence),
    ]  # fmt: skip


def safe_cell(value: Value) -> str:
    """A value as a cell of a file for spreadsheets: no text of it can start a formula; None is empty."""
    if value is None:
        return ""
    if isinstance(value, str):
        shown = visible(value)
        return f"'{shown}" if shown.lstrip(" ").startswith(_FORMULA) else shown
    return str(value)
