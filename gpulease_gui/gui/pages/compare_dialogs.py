"""What is asked, weighed and converted from the compare page?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.supplier import FxRate
from gpulease_gui.gui.forms.drafts import DraftKeeper
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.forms.rate_dialog import RateDialog
from gpulease_gui.services.checklist_edit import ask_items
from gpulease_gui.services.checklist_page import ChecklistSeen, seen_in
from gpulease_gui.services.commerce_edit import save_rate
from gpulease_gui.services.overview import local_day
from gpulease_gui.store.reference import rate_between

if TYPE_CHECKING:
    from gpulease_gui.gui.forms.letter_dialog import LetterDialog
    from gpulease_gui.gui.forms.weights_dialog import WeightsDialog
    from gpulease_gui.gui.pages.compare import ComparePage


class CompareDialogs:
    """Opens dialogs for the offer in the current column."""

    def __init__(self, page: ComparePage) -> None:
        self._page = page
        self.letter_dialog: LetterDialog | None = None
        self.weights_dialog: WeightsDialog | None = None
        page.questions.clicked.connect(lambda: self._with_seen(self._open_letter))
        page.bar.weights.clicked.connect(lambda: self._with_seen(self._open_weights))
        page.bar.enter_rate.clicked.connect(self.enter_rate)

    def _with_seen(self, show: Callable[[ChecklistSeen], None]) -> None:
        look = self._page.look
        if look is None:
            return
        head = look.comparison.heads[max(0, self._page.matrix.column - 1)]
        frame, subject, day = self._page.frame, head.row.subject, local_day(utc_now())
        future = frame.services.query(lambda connection: seen_in(connection, subject, frame.services.catalogue, day))
        frame.bridge.when_done(future, show)

    def _open_letter(self, seen: ChecklistSeen) -> None:
        """The questions to the supplier of the current column; what was sent is marked as asked."""
        from gpulease_gui.gui.forms.letter_dialog import LetterDialog

        frame, subject = self._page.frame, seen.view.facts.row.subject
        dialog = self.letter_dialog = LetterDialog(frame, seen.view, parent=self._page)
        dialog.asked.connect(lambda ids: frame.bridge.when_done(
            frame.services.change(lambda db: ask_items(db, subject, ids), "answer"), lambda _: None))  # fmt: skip
        open_dialog(dialog)

    def _open_weights(self, seen: ChecklistSeen) -> None:
        from gpulease_gui.gui.forms.weights_dialog import WeightsDialog

        dialog = self.weights_dialog = WeightsDialog(self._page.frame, seen, parent=self._page)
        scenario = self._page.bar.scenario.current
        if scenario != dialog.use.current:
            dialog.use.choose(scenario)
            dialog.load(scenario)
        open_dialog(dialog)

    def enter_rate(self) -> RateDialog | None:
        """Ask for the first missing rate, or for a newer one than the shown."""
        look, choices = self._page.look, self._page.choices
        if look is None:
            return None
        comparison = look.comparison
        source = next(iter(comparison.missing_rates), "") or comparison.rates[0].from_currency
        known = rate_between(choices.rates, source, comparison.currency) if choices else None
        dialog = RateDialog(source, comparison.currency, local_day(utc_now()), lambda rate: self._keep(rate, dialog), known, self._page)
        DraftKeeper(self._page.frame, dialog, "rate").open(f"{source} {comparison.currency}")
        open_dialog(dialog)
        return dialog

    def _keep(self, rate: FxRate, dialog: RateDialog) -> None:
        frame = self._page.frame
        frame.bridge.when_done(frame.services.change(lambda db: save_rate(db, rate), "rate"), lambda _: dialog.accept(), dialog.refuse)
