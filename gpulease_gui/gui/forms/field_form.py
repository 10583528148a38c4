"""How are the commercial terms of a record read and typed, field by field?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.commercial import Field, FieldKind, FieldValue, Stated
from gpulease_gui.domain.supplier import Attachment
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.field_cells import (
    CLAIM_ONLY,
    EVIDENCE,
    SOURCE,
    VALUE,
    field_columns,
    field_words,
    group_of_field,
)
from gpulease_gui.gui.forms.in_place import EditableModel, InPlaceDelegate, InPlaceView
from gpulease_gui.gui.forms.term_editors import UnitField
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.services.commercial_words import NOT_STATED
from gpulease_gui.services.fields_view import FieldRow, FieldsSheet
from gpulease_gui.services.typed_field import read_typed, typed_text

_HINTS = {
    FieldKind.SECONDS: Text("such as 24 h, 90 min, none", "例如 24 小时、90 分钟、无"),
    FieldKind.RATE: Text("such as 6 %", "例如 6 %"),
    FieldKind.DAY: Text("2026-12-31", "2026-12-31"),
    FieldKind.MONEY: Text("such as 16.20 or 3.6万", "例如 16.20 或 3.6万"),
}
_EMPTY = Text("empty = not stated", "留空 = 未约定")


class PlainChoice(QComboBox):
    """One of a few keys with their words."""

    def __init__(self, choices: Sequence[tuple[FieldValue | None, Words]], parent: QWidget) -> None:
        super().__init__(parent)
        self._keys = [key for key, _ in choices]
        self.addItems([say(words) for _, words in choices])

    @property
    def key(self) -> FieldValue | None:
        """What is chosen."""
        return self._keys[self.currentIndex()]

    def choose(self, key: FieldValue | None) -> None:
        """Show a choice; an unknown one shows the first."""
        places = [place for place, known in enumerate(self._keys) if known == key and type(known) is type(key)]
        self.setCurrentIndex(places[0] if places else 0)


def value_editor(field: Field, currency: str, parent: QWidget) -> QWidget:
    """The editor of a field's kind; yes and no have a third choice, that nobody said."""
    made: QWidget
    if field.kind is FieldKind.YES_NO:
        made = PlainChoice(((None, NOT_STATED), (True, Text("yes", "是")), (False, Text("no", "否"))), parent)
    elif field.kind is FieldKind.CHOICE:
        made = PlainChoice(((None, NOT_STATED), *((choice.key, choice.label) for choice in field.choices)), parent)
    else:
        unit = field.unit or (currency if field.kind is FieldKind.MONEY else "")
        line = UnitField(unit, parent=parent)
        line.setPlaceholderText(say(_HINTS.get(field.kind, _EMPTY)))
        made = line
    made.setAccessibleName(say(field.label))
    return made


class FieldsDelegate(InPlaceDelegate):
    """Editors of value, evidence and source; a list of rows opens its own window.

    `stated` carries a row and what is said of it now (None = nothing), `table_wanted` a row that is a list.
    """

    stated = Signal(object, object)
    table_wanted = Signal(object)

    def __init__(self, view: FieldsView, catalogue: Catalogue) -> None:
        super().__init__(view)
        self._catalogue = catalogue
        self.files: tuple[Attachment, ...] = ()

    def make(self, row: FieldRow, column: int, parent: QWidget) -> QWidget | None:
        """An editor for the cell; evidence and source need a value first."""
        if column == VALUE:
            if row.field.kind is FieldKind.ROWS:
                self.table_wanted.emit(row)
                return None
            return value_editor(row.field, row.currency, parent)
        if row.value is None:
            return None
        if column == EVIDENCE:
            files: list[tuple[FieldValue | None, Words]] = [(None, CLAIM_ONLY), *((file.id, file.name) for file in self.files)]
            choice = PlainChoice(files, parent)
            choice.setAccessibleName(say(Text("Evidence", "凭据")))
            return choice
        line = QLineEdit(parent)
        line.setPlaceholderText(say(Text("page and clause, or who said it", "页码与条款，或由谁所说")))
        line.setAccessibleName(say(Text("Where it is written", "出处")))
        return line

    def fill(self, editor: QWidget, row: FieldRow, column: int) -> None:
        """Show what is stated, marked so that typing replaces it."""
        if isinstance(editor, PlainChoice):
            evidence = row.said.evidence if row.said is not None else None
            editor.choose(evidence if column == EVIDENCE else row.value)
        elif isinstance(editor, QLineEdit):
            said = row.said.source if row.said is not None else ""
            value = row.value if not isinstance(row.value, tuple) else None
            editor.setText(said if column == SOURCE else say(typed_text(row.field, value)))
            editor.selectAll()

    def send(self, editor: QWidget, row: FieldRow, column: int) -> Text | None:
        """Tell a change, or what is wrong."""
        before = row.said or Stated(None)
        if column == VALUE:
            value = self._value(editor, row)
            if isinstance(value, Text):
                return value
            after = replace(before, value=value, evidence=before.evidence if value is not None else None)
        elif column == EVIDENCE and isinstance(editor, PlainChoice):
            key = editor.key
            after = replace(before, evidence=str(key) if key is not None else None)
        else:
            after = replace(before, source=editor.text().strip() if isinstance(editor, QLineEdit) else before.source)
        self.tell(row, after)
        return None

    def tell(self, row: FieldRow, after: Stated) -> None:
        """Send what is said now if it is something else."""
        nothing = after == Stated(None)
        if not _same(row.said or Stated(None), after):
            self.stated.emit(row, None if nothing else after)

    def _value(self, editor: QWidget, row: FieldRow) -> FieldValue | Text | None:
        if isinstance(editor, PlainChoice):
            return editor.key
        words = editor.text() if isinstance(editor, QLineEdit) else ""
        return read_typed(row.field, words, row.currency, self._catalogue)


def _same(one: Stated, other: Stated) -> bool:
    return one == other and type(one.value) is type(other.value)


_ROOM_FOR_SOURCE, _ROOM_FOR_EVIDENCE = 640, 530  # px at the usual size of text


class FieldsView(InPlaceView):
    """The table of commercial terms: reads as text, edits in place; Delete makes a term not stated."""

    editors: FieldsDelegate

    def __init__(self, catalogue: Catalogue, *, parent: QWidget | None = None) -> None:
        self._tally: dict[str, str] = {}
        rows: EditableModel[FieldRow] = EditableModel(
            frozenset([VALUE, EVIDENCE, SOURCE]), field_columns(), lambda row: row.key, search=field_words,
            group=lambda row: group_of_field(row, self._tally),
        )  # fmt: skip
        super().__init__(rows, Text("Commercial terms", "商务条款"), lambda view: FieldsDelegate(view, catalogue), VALUE,
                         (VALUE, EVIDENCE, SOURCE), narrow=(VALUE,), parent=parent)  # fmt: skip

    def show_sheet(self, sheet: FieldsSheet, shown: Callable[[], None]) -> None:
        """Show the terms of a record; while something is being typed they wait. `shown` comes after."""

        def show() -> None:
            self._tally = _tallies(sheet.rows)
            self.editors.files = sheet.files
            self.rows.set_rows(sheet.rows)
            shown()

        self.when_free(show)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """On a small screen the value needs the room of its proof; both stand in the inspector, too."""
        super().resizeEvent(event)
        room = event.size().width() / max(1.0, self.fontMetrics().height() / 18)
        for column, least in ((SOURCE, _ROOM_FOR_SOURCE), (EVIDENCE, _ROOM_FOR_EVIDENCE)):
            self.setColumnHidden(column, room < least)

    def clear_current(self) -> None:
        """The current term is not stated any more."""
        row = self.current_row
        if row is not None and row.value is not None:
            self.editors.stated.emit(row, None)


def _tallies(rows: Sequence[FieldRow]) -> dict[str, str]:
    counts: dict[str, list[int]] = {}
    for row in rows:
        count = counts.setdefault(row.field.group, [0, 0])
        count[0] += row.value is not None
        count[1] += 1
    return {group: f"{stated} / {total}" for group, (stated, total) in counts.items()}
