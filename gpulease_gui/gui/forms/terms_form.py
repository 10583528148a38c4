"""How are the promises of an offer or contract read and typed, row by row?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.in_place import EditableModel, InPlaceDelegate, InPlaceView
from gpulease_gui.gui.forms.term_cells import SOURCE, VALUE, group_of_row, term_columns, term_words
from gpulease_gui.gui.forms.term_editors import make_editor, read_value, show_value
from gpulease_gui.gui.language import say
from gpulease_gui.services.claims_view import TermRow


class TermsDelegate(InPlaceDelegate):
    """The editor of a term's kind, and the one of its source.

    `stated` carries a row and its new value (None = not stated), `sourced` a row and where it is written.
    """

    stated = Signal(object, object)
    sourced = Signal(object, str)

    def __init__(self, view: TermsView, catalogue: Catalogue) -> None:
        super().__init__(view)
        self._catalogue = catalogue

    def make(self, row: TermRow, column: int, parent: QWidget) -> QWidget:
        """An editor for the value or the source."""
        if column != SOURCE:
            return make_editor(row.term, self._catalogue, parent)
        editor = QLineEdit(parent)
        editor.setPlaceholderText(say(Text("document and clause", "文件与条款")))
        editor.setAccessibleName(say(Text("Source", "出处")))
        return editor

    def fill(self, editor: QWidget, row: TermRow, column: int) -> None:
        """Show what is stated, marked so that typing replaces it."""
        if column == SOURCE and isinstance(editor, QLineEdit):
            editor.setText(row.claim.source if row.claim is not None else "")
            editor.selectAll()
        else:
            show_value(editor, row.value)

    def send(self, editor: QWidget, row: TermRow, column: int) -> Text | None:
        """Tell a changed value or source."""
        if column == SOURCE and isinstance(editor, QLineEdit):
            if editor.text().strip() != (row.claim.source if row.claim is not None else ""):
                self.sourced.emit(row, editor.text().strip())
            return None
        value = read_value(editor, row.term, self._catalogue)
        if isinstance(value, Text):
            return value
        if not _same(value, row.value):
            self.stated.emit(row, value)
        return None


def _same(one: TermValue | None, other: TermValue | None) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


class TermsView(InPlaceView):
    """The table of technical terms: reads as text, edits in place."""

    editors: TermsDelegate

    def __init__(self, catalogue: Catalogue, *, parent: QWidget | None = None) -> None:
        self._tally: dict[str, str] = {}
        rows: EditableModel[TermRow] = EditableModel(
            frozenset([VALUE, SOURCE]), term_columns(catalogue), lambda row: row.term.key, search=term_words,
            group=lambda row: group_of_row(row, self._tally),
        )  # fmt: skip
        super().__init__(rows, Text("Terms", "条款"), lambda view: TermsDelegate(view, catalogue), VALUE, (VALUE, SOURCE), narrow=(VALUE,),
                         parent=parent)  # fmt: skip

    def show_rows(self, rows: Sequence[TermRow], *, findings: bool) -> None:
        """Show other terms; while something is being typed they wait. `findings` False hides what runs say."""
        self.when_free(lambda: self._show(rows, findings=findings))

    def _show(self, rows: Sequence[TermRow], *, findings: bool) -> None:
        self._tally = tallies(rows)
        for column in range(SOURCE + 3, len(self.rows.columns)):
            self.setColumnHidden(column, not findings)
        self.rows.set_rows(rows)


def tallies(rows: Sequence[TermRow]) -> dict[str, str]:
    """Per group: stated / all."""
    counts: dict[str, list[int]] = {}
    for row in rows:
        count = counts.setdefault(row.group.key, [0, 0])
        count[0] += row.value is not None
        count[1] += 1
    return {key: f"{stated} / {total}" for key, (stated, total) in counts.items()}
