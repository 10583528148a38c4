"""What is shown of pasted outputs: what they are, what they say, what the rules say, what is still to be asked?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.term import Term
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.models.cell import NOT_READABLE, NOTHING, Cell, Column, action_cell, state_cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.reports.wording import finding_name, term_name, value_text
from gpulease_gui.services.pasted import PieceReading, Question

SHOWN_VALUE = 300
COPY = "copy"
_RANK = {verdict: rank for rank, verdict in enumerate((Verdict.FAIL, Verdict.INCONCLUSIVE, Verdict.WARN, Verdict.PASS))}
_LOUD = {Verdict.FAIL: "fail", Verdict.WARN: "warn"}
NOT_STATED = Cell(Text("not stated", "未约定"), missing=True)


@dataclass(frozen=True, slots=True)
class OutputRow:
    """One output, numbered as pasted."""

    number: int
    output: PieceReading


@dataclass(frozen=True, slots=True)
class ValueRow:
    """One key of a reading."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class QuestionRow:
    """One open claim with its command."""

    question: Question
    name: Text


def outputs_table() -> TableModel[OutputRow]:
    """The outputs in the order pasted."""
    columns = (
        Column[OutputRow](Text("Output", "输出"), _kind, stretch=True),
        Column[OutputRow](Text("Command", "命令"), lambda row: Cell(row.output.piece.command, code=True, tone="2") if row.output.piece.command else NOTHING, width=190),
        Column[OutputRow](Text("Size", "大小"), lambda row: Cell(_size(row.output.blob.full_size), tone="2"), width=82, number=True),
        Column[OutputRow](Text("Values", "读数"), _values, width=96, number=True),
    )  # fmt: skip
    return TableModel(columns, lambda row: row.number)


def _kind(row: OutputRow) -> Cell:
    kind = row.output.piece.kind
    if kind is None:
        return Cell(row.output.title, badge=badge_of(Verdict.INCONCLUSIVE), filled=False, tip=row.output.problem or "")
    return Cell(row.output.title, tag=kind, tip=row.output.problem or "")


def _size(full_size: int) -> str:
    return f"{full_size:,} B" if full_size < 10_000 else f"{full_size / 1024:,.0f} KiB"


def _values(row: OutputRow) -> Cell:
    if row.output.problem is not None and not row.output.values:
        return Cell(NOT_READABLE.text, missing=True, tip=row.output.problem)
    return Cell(str(len(row.output.values)), tone="2")


def values_table() -> TableModel[ValueRow]:
    """Key and value as `gpulease parse` has them."""
    columns = (
        Column[ValueRow](Text("Key", "键"), lambda row: Cell(row.key, code=True, tone="2"), lambda row: row.key, width=190),
        Column[ValueRow](Text("Value", "值"), lambda row: Cell(row.value), stretch=True),
    )
    return TableModel(columns, lambda row: row.key, search=lambda row: f"{row.key} {row.value}")


def value_rows(output: PieceReading) -> tuple[ValueRow, ...]:
    """What one output says; lists whose members are all alike are written once with their count."""
    return tuple(ValueRow(key, shown(value)) for key, value in output.values)


def shown(value: object) -> str:
    """A value of a reading in one short line.

    >>> shown([700.0, 700.0])
    '2 × 700.0'
    >>> shown(["18:00.0", "2A:00.0"])
    '18:00.0, 2A:00.0'
    """
    if isinstance(value, list) and len(value) > 1 and all(member == value[0] for member in value):
        return f"{len(value)} × {shown(value[0])}"
    if isinstance(value, list) and all(isinstance(member, str | int | float) for member in value):
        words = ", ".join(str(member) for member in value)
    else:
        words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return words if len(words) <= SHOWN_VALUE else f"{words[:SHOWN_VALUE]}… (+{len(words) - SHOWN_VALUE:,})"


def findings_table(terms: Mapping[str, Term]) -> TableModel[Finding]:
    """Findings with what was promised and what was sent."""
    columns = (
        Column[Finding](Text("Check", "检查项"), lambda f: Cell(finding_name(f, terms), tip=f.reason), lambda f: f.check, stretch=True),
        Column[Finding](Text("Promised", "承诺"), _promised, width=116, number=True),
        Column[Finding](Text("As sent", "供应商提供"), _sent, width=126, number=True),
        Column[Finding](Text("Verdict", "判定"), lambda f: state_cell(badge_of(f.verdict)), lambda f: _RANK.get(f.verdict, 9), width=116),
    )  # fmt: skip
    return TableModel(columns, lambda f: (f.check, f.term, f.direction), search=lambda f: f"{f.check} {f.reason.en} {f.reason.zh}")


def _promised(finding: Finding) -> Cell:
    if finding.promised is None:
        return NOTHING if finding.term is None else NOT_STATED
    return Cell(value_text(finding.promised), tone="2")


def _sent(finding: Finding) -> Cell:
    if finding.measured is None:
        return NOTHING if finding.verdict is Verdict.NOT_APPLICABLE else NOT_READABLE
    tone = _LOUD.get(finding.verdict, "1")
    return Cell(value_text(finding.measured), tone=tone, weight=600 if tone != "1" else 400)


def in_order(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Promises first, the worst of them first; then the rest."""
    return tuple(sorted(findings, key=lambda f: (not f.required, f.promised is None, _RANK.get(f.verdict, 9))))


def questions_table() -> TableModel[QuestionRow]:
    """Open claims, each with the command whose output would answer it."""
    columns = (
        Column[QuestionRow](Text("Open claim", "待证承诺"), lambda row: Cell(row.name), width=186),
        Column[QuestionRow](Text("Command to ask for", "请对方运行"), _command, stretch=True),
        Column[QuestionRow]("", lambda row: action_cell(Text("Copy", "复制"), COPY), width=64),
    )
    return TableModel(columns, lambda row: row.question.term)


def _command(row: QuestionRow) -> Cell:
    return Cell(row.question.line, code=True, tone="2", tip=row.question.line)


def question_rows(questions: tuple[Question, ...], terms: Mapping[str, Term]) -> tuple[QuestionRow, ...]:
    """The questions with the names of their terms."""
    return tuple(QuestionRow(question, term_name(question.term, terms)) for question in questions)
