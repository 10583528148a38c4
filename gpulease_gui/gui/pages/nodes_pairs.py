"""How is measuring between the selected nodes asked for?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.term import TermValue
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.services.acceptance import promises_in

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from gpulease_gui.gui.pages.page import Frame


def measure_pairs(frame: Frame, chosen: Sequence[Node], parent: QWidget) -> None:
    """Ask first; what was promised between the nodes is taken from their contract if they share one."""
    from gpulease_gui.gui.forms.pairs_dialog import PairsDialog
    from gpulease_gui.services.pair_runs import TERM, refuse

    try:
        refuse(chosen)
    except UsageError as error:
        frame.trouble(error.what_text, error.next_text)
        return
    contracts = {node.contract_id for node in chosen}
    shared = contracts.pop() if len(contracts) == 1 else None
    terms = frame.services.query(lambda connection: promises_in(connection, shared) if shared else {})

    def ask(stated: Mapping[str, TermValue]) -> None:
        rate = stated.get(TERM)
        promised = float(rate) if isinstance(rate, int | float) else None
        open_dialog(PairsDialog(frame, chosen, promised, parent=parent))

    frame.bridge.when_done(terms, ask)
