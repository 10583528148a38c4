"""How does the suppliers page begin an import, and take it back?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.text import Text, visible
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.forms.import_source import TABLES, file_of
from gpulease_gui.gui.forms.import_wizard import ImportWizard
from gpulease_gui.gui.forms.merge_dialog import MergeDialog
from gpulease_gui.gui.taking_back import way_back
from gpulease_gui.services.exchange import KINDS, apply_merge, merge_in, read_bundle
from gpulease_gui.services.importing import DryRun
from gpulease_gui.store.exchange.merging import Merge

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.suppliers import SuppliersPage

_BUNDLE = ".json"
_LONGEST_CLIPBOARD = 2_000_000


class QuoteDesk:
    """Opens the import for the supplier that is shown; afterwards the page offers the way back."""

    def __init__(self, page: SuppliersPage) -> None:
        self._page = page
        self.wizard: ImportWizard | None = None
        self.merging: MergeDialog | None = None
        page.quote.clicked.connect(self.paste)
        page.setAcceptDrops(True)

    def paste(self) -> None:
        """Begin with what the clipboard holds if it looks like a quote, else with an empty field."""
        wizard = self._open()
        text = QApplication.clipboard().text()
        if wizard is not None and 0 < len(text) <= _LONGEST_CLIPBOARD and any(mark in text for mark in "\t\n¥$元") and any(map(str.isdigit, text)):
            wizard.open_text(text)

    def open_file(self, path: Path) -> None:
        """Begin with a file."""
        wizard = self._open()
        if wizard is not None:
            wizard.open_file(path)

    def _open(self) -> ImportWizard | None:
        if not self._page.may_leave():
            return None
        current = self._page.current
        self.wizard = ImportWizard(self._page.frame, current[0].supplier.id if current else "", parent=self._page)
        self.wizard.saved.connect(self._saved)
        open_dialog(self.wizard)
        return self.wizard

    def welcome(self, event: QDragEnterEvent) -> None:
        """Take tables; other files are none of an import."""
        path = file_of(event.mimeData())
        if path is not None and path.suffix.lower() in (*TABLES, _BUNDLE):
            event.acceptProposedAction()

    def take(self, event: QDropEvent) -> None:
        """Import the table, or ask about the bundle, that was dropped."""
        path = file_of(event.mimeData())
        if path is None:
            return
        event.acceptProposedAction()
        if path.suffix.lower() == _BUNDLE:
            self.open_bundle(path)
        else:
            self.open_file(path)

    # -- a bundle from another computer ------------------------------------------------------------------------------------

    def open_bundle(self, path: Path) -> None:
        """Show what merging a bundle would change; nothing is written before the user says so."""
        services = self._page.frame.services

        def look(token: CancelToken) -> Merge:
            bundle = read_bundle(path, services.catalogue)
            token.check()
            with services.workspace.read() as connection:
                return merge_in(connection, bundle, demo=services.demo)

        job = services.jobs.start("Merge", look)
        self._page.frame.bridge.when_done(job.done, lambda merge: self._ask(path, merge))  # type: ignore[arg-type]

    def _ask(self, path: Path, merge: Merge) -> None:
        name = visible(path.name)[:80]
        self.merging = MergeDialog(name, merge, parent=self._page)
        self.merging.accepted.connect(lambda: self._merge(name, merge))
        open_dialog(self.merging)

    def _merge(self, name: str, merge: Merge) -> None:
        future = self._page.frame.services.change(lambda db: apply_merge(db, merge, name), *KINDS)
        count = len(merge.differences)
        records = "record was" if count == 1 else "records were"
        done = Text(f"{count} {records} merged", f"已合并 {count} 条记录")
        self._page.frame.bridge.when_done(future, lambda _: self._offer(done))

    def _saved(self, run: DryRun) -> None:
        count = run.added + run.changed
        first = next((row.offer for row in run.planned if not row.is_same), None)
        if first is not None:
            self._page.visit(("offer", first.id))
        offers = "offer was" if count == 1 else "offers were"
        self._offer(Text(f"{count} {offers} imported", f"已导入 {count} 个报价"))

    def _offer(self, done: Text) -> None:
        way_back(self._page.frame, lambda back: self._page.imported.offer(done, back))
