"""How do typed promises get into the store, and what the store says back into the form?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from gpulease_gui.domain.claim import Claim, ClaimChange
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.term_cells import promise_with_unit
from gpulease_gui.gui.forms.typed_drafts import TypedDraft, cell_draft
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.pages.suppliers_acts import ActsBand
from gpulease_gui.gui.pages.suppliers_inspector import TermInspector
from gpulease_gui.gui.pages.suppliers_panes import DealPane
from gpulease_gui.services import directory
from gpulease_gui.services.claims_view import TermRow, history_in, terms_in
from gpulease_gui.services.overview import SOURCE_SEEN
from gpulease_gui.store import settings
from gpulease_gui.store.claims import Holder, HolderKind

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database


class TermsDesk(QObject):
    """Between the terms form, its inspector and the services: reads, saves, takes back."""

    def __init__(self, frame: Frame, pane: DealPane, inspector: TermInspector, acts: ActsBand) -> None:
        super().__init__(pane)
        self._frame, self._pane, self._inspector, self._acts = frame, pane, inspector, acts
        self._holder: Holder | None = None
        self._source_seen = False
        terms = pane.terms
        self._later = QTimer(self)  # the table is drawn first, what stands beside it in the next turn
        self._later.setSingleShot(True)
        self._later.setInterval(0)
        self._later.timeout.connect(lambda: self._choose(terms.current_row))
        terms.chosen.connect(lambda _: self._later.start())
        terms.editors.stated.connect(self.state)
        terms.editors.sourced.connect(lambda row, words: self.source(row, words, written=bool(words)))
        inspector.sourced.connect(lambda row, words, written: self.source(row, words, written=written))
        inspector.asked.connect(self.ask)
        inspector.opened.connect(self._open_finding)
        self._cell = cell_draft(frame, "term_cell", terms, pane.back, self)
        self._source = TypedDraft(frame, "source", inspector.source, inspector.source.typed, inspector.source.kept, inspector.source.back.tell, self)

    def open_holder(self, holder: Holder) -> None:
        """Show the terms of an offer or contract; the same one is only read anew."""
        if holder != self._holder:
            self._holder = holder
            self._inspector.show_row(None)
        services = self._frame.services

        def work(connection: sqlite3.Connection) -> tuple[TermRow, ...]:
            return terms_in(connection, holder, services.catalogue)

        self._frame.bridge.when_done(services.query(work), lambda rows: self._take(holder, rows))

    def _take(self, holder: Holder, rows: tuple[TermRow, ...]) -> None:
        if holder != self._holder:
            return
        terms = self._pane.terms
        terms.show_rows(rows, findings=holder.kind is HolderKind.CONTRACT)
        self._pane.show_count(sum(row.value is not None for row in rows), len(rows))
        if terms.current_row is None:
            terms.choose_first()
        self._cell.open(f"{holder.kind} {holder.id}")
        self._later.start()

    def _choose(self, row: TermRow | None) -> None:
        self._inspector.show_row(row)
        if row is None or self._holder is None or not self._frame.is_open:
            return
        holder = self._holder
        self._source.open(f"{holder.kind} {holder.id} {row.term.key}")
        future = self._frame.services.query(lambda connection: history_in(connection, holder, row.term.key))
        self._frame.bridge.when_done(future, lambda changes: self._take_history(holder, row, changes))
        if self._frame.services.demo and row.claim is not None and row.claim.source and not self._source_seen:
            self._source_seen = True
            self._frame.services.change(lambda db: settings.save_setting(db, SOURCE_SEEN, True), "setting")

    def _take_history(self, holder: Holder, row: TermRow, changes: tuple[ClaimChange, ...]) -> None:
        shown = self._inspector.row
        if holder == self._holder and shown is not None and shown.term.key == row.term.key:
            self._inspector.show_history(changes)

    # -- changes -----------------------------------------------------------------------------------------------------------

    def state(self, row: TermRow, value: TermValue | None) -> None:
        """Keep what was typed; None = not stated."""
        holder, catalogue = self._holder, self._frame.services.catalogue
        if holder is None:
            return

        def work(db: Database) -> Claim:
            return directory.state_term(db, holder, row.term.key, value, catalogue)

        self._acts.do(work, "claim", words=self._change(row, value))

    def _change(self, row: TermRow, value: TermValue | None) -> Text:
        """Term: old → new."""
        catalogue, label = self._frame.services.catalogue, row.term.label
        none = Text("not stated", "未说明")
        before = promise_with_unit(row.term, row.value, catalogue) if row.value is not None else none
        after = promise_with_unit(row.term, value, catalogue) if value is not None else none
        return Text(f"{label.en}: {before.en} → {after.en}", f"{label.zh}：{before.zh} → {after.zh}")

    def source(self, row: TermRow, words: str, *, written: bool) -> None:
        """Keep where a promise is written, or who said it."""
        holder, catalogue = self._holder, self._frame.services.catalogue
        if holder is None or row.value is None:
            return

        def work(db: Database) -> Claim:
            return directory.state_term(db, holder, row.term.key, row.value, catalogue, source=words, written=written)

        future = self._frame.services.change(work, "claim")
        self._frame.bridge.when_done(future, lambda _: self._saved())

    def ask(self, row: TermRow) -> None:
        """Note that the supplier was asked."""
        holder = self._holder
        if holder is not None:
            future = self._frame.services.change(lambda db: directory.ask_term(db, holder, row.term.key), "claim")
            self._frame.bridge.when_done(future, lambda _: self._saved())

    def clear_current(self) -> None:
        """The current promise is not stated any more."""
        row = self._pane.terms.current_row
        if row is not None and row.value is not None:
            self.state(row, None)

    def _saved(self) -> None:
        at = utc_now().astimezone()
        self._frame.note(Text(f"Saved {at:%H:%M:%S}", f"已保存 {at:%H:%M:%S}"))

    def _open_finding(self, row: TermRow) -> None:
        if row.found is not None:
            self._frame.go("verification", row.found.node_id, row.found.finding.check)
