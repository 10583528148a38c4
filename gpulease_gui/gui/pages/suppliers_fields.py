"""How are the commercial terms of the shown record read, narrowed, saved, and their history fetched?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.claim import ClaimState
from gpulease_gui.domain.commercial import FieldValue, Stated, Subject
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.drafts import DraftKeeper
from gpulease_gui.gui.forms.field_cells import stated_text, value_text
from gpulease_gui.gui.forms.field_form import FieldsView
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.forms.rows_dialog import RowsDialog
from gpulease_gui.gui.forms.typed_drafts import cell_draft
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.pages.suppliers_acts import ActsBand
from gpulease_gui.gui.pages.suppliers_field_inspector import FieldInspector
from gpulease_gui.gui.widgets.bands import Band
from gpulease_gui.gui.widgets.panes import Pane, hairline
from gpulease_gui.gui.widgets.search import FilterBar
from gpulease_gui.services.commerce_edit import state_fields
from gpulease_gui.services.fields_view import FieldChange, FieldRow, FieldsSheet, field_history_in, fields_in

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database

ALL, STATED, OPEN, CLAIMS, ASKED = "all", "stated", "open", "claims", "asked"
_KEEPS: dict[str, Callable[[FieldRow], bool]] = {
    STATED: lambda row: row.value is not None,
    OPEN: lambda row: row.value is None,
    CLAIMS: lambda row: row.state is ClaimState.ANSWERED,
    ASKED: lambda row: row.state is ClaimState.ASKED,
}


class FieldsPane(Pane):
    """Chips that narrow, then the table of commercial terms."""

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__(2)
        self.chips = FilterBar((
            (ALL, Text("All terms", "全部条款")), (STATED, Text("Stated", "已约定")), (OPEN, Text("Not stated", "未约定")),
            (CLAIMS, Text("Claim only", "仅口头承诺")), (ASKED, Text("Asked", "已询问")),
        ))  # fmt: skip
        self.view = FieldsView(catalogue)
        self.back = Band("warn")
        self.back.hide()
        self.column.addWidget(self.chips)
        self.column.addWidget(hairline())
        self.column.addWidget(self.back)
        self.column.addWidget(self.view, 1)
        self.chips.filtered.connect(lambda key: self.view.rows.only(_KEEPS.get(key)))

    def show_sheet(self, sheet: FieldsSheet) -> None:
        """Show the terms of a record, and how many each chip leaves."""
        self.view.show_sheet(sheet, lambda: self._count(sheet))

    def _count(self, sheet: FieldsSheet) -> None:
        self.chips.set_count(ALL, len(sheet.rows))
        for key, keep in _KEEPS.items():
            self.chips.set_count(key, sum(map(keep, sheet.rows)))


class FieldsDesk(QObject):
    """Between the commercial terms, their inspector and the services. `counted` carries (stated, all)."""

    counted = Signal(int, int)

    def __init__(self, frame: Frame, pane: FieldsPane, inspector: FieldInspector, acts: ActsBand) -> None:
        super().__init__(pane)
        self._frame, self._pane, self._inspector, self._acts = frame, pane, inspector, acts
        self._subject: Subject | None = None
        self.sheet: FieldsSheet | None = None
        self.dialog: RowsDialog | None = None
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self._later.timeout.connect(self._choose)
        view = pane.view
        view.chosen.connect(lambda _: self._later.start())
        view.editors.stated.connect(self.state)
        view.editors.table_wanted.connect(self._open_table)
        inspector.changed.connect(self.state)
        self._cell = cell_draft(frame, "field_cell", view, pane.back, self)

    def open_subject(self, subject: Subject) -> None:
        """Show the terms of a record; the same one is only read anew."""
        if subject != self._subject:
            self._subject = subject
            self._inspector.show_row(None)
        catalogue = self._frame.services.catalogue
        future = self._frame.services.query(lambda connection: fields_in(connection, subject, catalogue))
        self._frame.bridge.when_done(future, lambda sheet: self._take(subject, sheet))

    def _take(self, subject: Subject, sheet: FieldsSheet) -> None:
        if subject != self._subject:
            return
        if sheet != self.sheet:  # drawing the whole table anew for the same terms would be felt
            self.sheet = sheet
            self._pane.show_sheet(sheet)
        self.counted.emit(sheet.stated, len(sheet.rows))
        if self._pane.view.current_row is None:
            self._pane.view.choose_first()
        self._cell.open(f"{subject.kind} {subject.id}")
        self._later.start()

    def show_current(self) -> None:
        """Show the current term at the right; its pane may have shown another desk's meanwhile."""
        self._later.start()

    def _choose(self) -> None:
        if not self._pane.isVisible():
            return
        row: FieldRow | None = self._pane.view.current_row
        subject, sheet = self._subject, self.sheet
        if sheet is None or subject is None or sheet.subject != subject or not self._frame.is_open:
            return
        self._inspector.show_row(row, sheet.files)
        if row is None:
            return
        self._inspector.open_draft(self._frame, f"{subject.kind} {subject.id} {row.key}")

        def work(connection: sqlite3.Connection) -> tuple[FieldChange, ...]:
            return field_history_in(connection, subject, row.key)

        self._frame.bridge.when_done(self._frame.services.query(work), lambda changes: self._take_history(subject, row, changes))

    def _take_history(self, subject: Subject, row: FieldRow, changes: tuple[FieldChange, ...]) -> None:
        shown = self._inspector.row
        if subject == self._subject and shown is not None and shown.key == row.key:
            self._inspector.show_history(changes)

    # -- changes ---------------------------------------------------------------------------------------------------------

    def state(self, row: FieldRow, said: Stated | None) -> None:
        """Keep what is said of a term now; None takes it out."""
        subject, catalogue = self._subject, self._frame.services.catalogue
        if subject is None:
            return

        def work(db: Database) -> object:
            return state_fields(db, subject, {row.key: said}, catalogue)

        before, after, label = value_text(row), stated_text(row, said), row.field.label
        same = (row.said or Stated(None)).value == (said or Stated(None)).value
        words: Text | str = "" if same else Text(f"{label.en}: {before.en} → {after.en}", f"{label.zh}：{before.zh} → {after.zh}")
        self._acts.do(work, "terms", words=words)

    def clear_current(self) -> None:
        """The current term is not stated any more."""
        self._pane.view.clear_current()

    def _open_table(self, row: FieldRow) -> None:
        QTimer.singleShot(0, self, lambda: self._show_table(row))  # never from within the view's own opening of editors

    def _show_table(self, row: FieldRow) -> None:
        if not self._frame.is_open:
            return
        self.dialog = RowsDialog(row, self._frame.services.catalogue, parent=self._pane)
        self.dialog.kept.connect(self._table_kept)
        if self._subject is not None:
            DraftKeeper(self._frame, self.dialog, "rows").open(" ".join((self._subject.kind, self._subject.id, row.key)))
        open_dialog(self.dialog)

    def _table_kept(self, row: FieldRow, value: FieldValue | None) -> None:
        before = row.said or Stated(None)
        after = replace(before, value=value, evidence=before.evidence if value is not None else None)
        self._pane.view.editors.tell(row, after)
