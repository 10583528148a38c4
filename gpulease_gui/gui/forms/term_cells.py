"""What does each cell of the terms form say?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.claim import ClaimState
from gpulease_gui.domain.finding import CheckState, Finding, Verdict
from gpulease_gui.domain.term import Term, TermKind, TermValue
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import NOT_READABLE, NOT_STATED, NOTHING, Cell, Column, Group, state_cell
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.reports.wording import value_text, with_unit
from gpulease_gui.services.claims_view import TermRow, short_unit, shown_model

TERM, VALUE, SOURCE = 0, 1, 2


def term_columns(catalogue: Catalogue) -> tuple[Column[TermRow], ...]:
    """Term, promise, source, checks, state; then measured and verdict, which only a contract has."""
    return (
        Column(Text("Term", "条款"), lambda row: Cell(row.term.label, tip=foreign(row.term.key)),
               lambda row: say(row.term.label), width=160),
        Column(Text("Promised", "承诺值"), lambda row: value_cell(row, catalogue), width=160, stretch=True),
        Column(Text("Source", "出处"), source_cell, width=98),
        Column(Text("Checks", "检查项"), checks_cell, lambda row: len(row.checks), width=54, number=True),
        Column(Text("State", "状态"), lambda row: state_cell(badge_of(row.state)), lambda row: _order(row.state), width=102),
        Column(Text("Measured", "实测"), measured_cell, width=92, number=True),
        Column(Text("Last finding", "最近结果"), verdict_cell, width=108),
    )  # fmt: skip


def proof_columns(catalogue: Catalogue) -> tuple[Column[TermRow], ...]:
    """Term, promise, measured, verdict, and on which node it was found."""
    term, value, source, _, _, measured, verdict = term_columns(catalogue)
    return (
        replace(term, width=204), value, replace(source, width=112), replace(measured, width=130),
        replace(verdict, width=112),
        Column(Text("Node", "节点"), lambda row: Cell(row.found.node_name, tone="2") if row.found else NOTHING, width=112),
    )  # fmt: skip


def _order(state: ClaimState) -> int:
    return -list(ClaimState).index(state)


def group_of_row(row: TermRow, tally: Mapping[str, str]) -> Group:
    """The heading of a row with how many of its terms are stated."""
    return Group(row.group.key, row.group.title, tally.get(row.group.key, ""))


def term_words(row: TermRow) -> str:
    """What the search looks in: label, key, value, checks."""
    label = row.term.label
    return " ".join([label.en, label.zh, row.term.key, str(row.value or ""), *row.term.checks])


def promise_text(term: Term, value: TermValue, catalogue: Catalogue) -> Text:
    """A promised value without its unit, as people say it."""
    if term.kind is TermKind.GPU_MODEL:
        return foreign(shown_model(value, catalogue)[0])
    return value_text(value)


def promise_with_unit(term: Term, value: TermValue, catalogue: Catalogue) -> Text:
    """A promised value with its unit."""
    said, unit = promise_text(term, value, catalogue), short_unit(term)
    return Text(f"{said.en} {unit.en}".rstrip(), f"{said.zh} {unit.zh}".rstrip())


def value_cell(row: TermRow, catalogue: Catalogue) -> Cell:
    """The promise and its unit; "not stated" with what the model implies beside it."""
    if row.value is None:
        if row.implied is None:
            return NOT_STATED
        implied = promise_with_unit(row.term, row.implied, catalogue)
        note = Text(f"implied {implied.en}", f"推得 {implied.zh}")
        tip = Text(f"implied by the GPU model: {implied.en}", f"由 GPU 型号推得：{implied.zh}")
        return Cell(NOT_STATED.text, missing=True, note=note, tip=tip)
    said = promise_text(row.term, row.value, catalogue)
    if row.conflict is not None:
        return Cell(said, weight=500, note=short_unit(row.term), icon="verdict-warn", icon_tone="warn", tip=row.conflict)
    if row.term.kind is TermKind.GPU_MODEL and shown_model(row.value, catalogue)[1]:
        return Cell(said, weight=500, note=Text("family", "系列"), tip=Text("a family: form factor and memory stay open", "系列：封装和显存未定"))
    return Cell(said, weight=500, note=short_unit(row.term), tip=promise_with_unit(row.term, row.value, catalogue))


def source_cell(row: TermRow) -> Cell:
    """A paper clip for a document; words alone are hearsay."""
    if row.claim is None or not row.claim.source:
        return NOTHING if row.value is None else Cell(Text("no source", "无出处"), missing=True)
    return Cell(row.claim.source, tone="2", icon="attachment" if row.written else "", tip=row.claim.source)


def checks_cell(row: TermRow) -> Cell:
    """How many checks verify the term; their names in the tooltip."""
    if not row.checks:
        return Cell("0", tone="3", tip=Text("no check of this version verifies it", "本版本没有核对它的检查项"))
    names = Text("\n".join(check.title.en for check in row.checks), "\n".join(check.title.zh for check in row.checks))
    return Cell(str(len(row.checks)), tone="2", tip=names)


def measured_cell(row: TermRow) -> Cell:
    """What the newest run found; loud when it fails."""
    if row.found is None:
        return NOTHING
    finding = row.found.finding
    if finding.measured is None:
        return NOT_READABLE
    loud = {Verdict.FAIL: "fail", Verdict.WARN: "warn"}.get(finding.verdict, "1")
    return Cell(value_text(finding.measured), tone=loud, weight=600 if loud != "1" else 400, tip=found_text(finding))


def found_text(finding: Finding) -> Text:
    """A reading with its unit."""
    return with_unit(finding.measured, finding.unit)


def verdict_cell(row: TermRow) -> Cell:
    """The verdict, or that nothing was run."""
    if row.found is not None:
        return state_cell(badge_of(row.found.finding.verdict))
    return state_cell(badge_of(CheckState.NOT_RUN)) if row.checks and row.value is not None else NOTHING
