"""How does the suppliers page begin an import, and take it back?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.exchange_desk import MergeDesk
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.forms.import_source import TABLES, file_of
from gpulease_gui.gui.forms.import_wizard import ImportWizard
from gpulease_gui.gui.taking_back import way_back
from gpulease_gui.services.importing import DryRun

if TYPE_CHECKING:
    from gpulease_gui.gui.forms.merge_dialog import MergeDialog
    from gpulease_gui.gui.pages.suppliers import SuppliersPage

_BUNDLE = ".json"
_LONGEST_CLIPBOARD = 2_000_000


class QuoteDesk:
    """Opens the import for the supplier that is shown; afterwards the page offers the way back."""

    def __init__(self, page: SuppliersPage) -> None:
        self._page = page
        self.wizard: ImportWizard | None = None
        self._bundles = MergeDesk(page.frame, page, self._merged)
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
        self._bundles.open_bundle(path)

    @property
    def merging(self) -> MergeDialog | None:
        """The question about the last bundle."""
        return self._bundles.dialog

    def _merged(self, done: Text, can_be_taken_back: bool) -> None:
        if can_be_taken_back:
            self._offer(done)
        else:
            self._page.frame.note(done)

    def _saved(self, run: DryRun) -> None:
        count = run.added + run.changed
        first = next((row.offer for row in run.planned if not row.is_same), None)
        if first is not None:
            self._page.visit(("offer", first.id))
        offers = "offer was" if count == 1 else "offers were"
        self._offer(Text(f"{count} {offers} imported", f"已导入 {count} 个报价"))

    def _offer(self, done: Text) -> None:
        way_back(self._page.frame, lambda back: self._page.imported.offer(done, back))
