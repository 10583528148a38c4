"""What does each cell of the commercial terms say?"""

from __future__ import annotations

from collections.abc import Mapping

from gpulease_gui.catalog.fields import GROUPS
from gpulease_gui.domain.claim import ClaimState
from gpulease_gui.domain.commercial import Stated
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column, Group, state_cell
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.services.commercial_words import NOT_STATED, field_text
from gpulease_gui.services.fields_view import FieldRow

LABEL, VALUE, EVIDENCE, SOURCE = 0, 1, 2, 3
CLAIM_ONLY = Text("claim only", "仅口头承诺")


def field_columns() -> tuple[Column[FieldRow], ...]:
    """Term, value, the document behind it, page and clause, state."""
    return (
        Column(Text("Term", "条款"), lambda row: Cell(row.field.label, tip=foreign(row.key)), lambda row: say(row.field.label), width=196),
        Column(Text("Stated", "约定值"), value_cell, width=180, stretch=True),
        Column(Text("Evidence", "凭据"), evidence_cell, width=132),
        Column(Text("Where", "出处"), source_cell, width=120),
        Column(Text("State", "状态"), lambda row: state_cell(badge_of(row.state)), lambda row: -list(ClaimState).index(row.state), width=118),
    )


def group_of_field(row: FieldRow, tally: Mapping[str, str]) -> Group:
    """The heading of a term with how many of its group are stated."""
    return Group(row.field.group, GROUPS[row.field.group], tally.get(row.field.group, ""))


def field_words(row: FieldRow) -> str:
    """What the search looks in: label, key, value, source, file."""
    said = value_text(row)
    source = row.said.source if row.said is not None else ""
    label = row.field.label
    return " ".join([label.en, label.zh, row.key, said.en, said.zh, source, row.evidence])


def value_text(row: FieldRow) -> Text:
    """The value as people write it."""
    return field_text(row.field, row.value, row.currency)


def stated_text(row: FieldRow, said: Stated | None) -> Text:
    """Another value of the same term, such as an earlier one."""
    return field_text(row.field, said.value if said is not None else None, row.currency)


def value_cell(row: FieldRow) -> Cell:
    """Yes, no and not stated are three words; never a blank."""
    said = value_text(row)
    if row.value is None:
        return Cell(NOT_STATED, missing=True)
    return Cell(said, weight=500, tip=said)


def evidence_cell(row: FieldRow) -> Cell:
    """The file, or that there is only the supplier's word."""
    if row.value is None:
        return NOTHING
    if not row.evidence:
        return Cell(CLAIM_ONLY, tone="3")
    return Cell(row.evidence, tone="2", icon="attachment", tip=row.evidence)


def source_cell(row: FieldRow) -> Cell:
    """Page and clause."""
    words = row.said.source if row.said is not None else ""
    return Cell(words, tone="2", tip=words) if words else NOTHING
