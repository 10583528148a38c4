"""What should be asked or feared about an offer, and what does it really cost for one of the saved workloads?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.domain.commercial import Subject
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.economics.flag import FlagFinding
from gpulease_gui.services.commerce import deal_in
from gpulease_gui.services.commerce_cost import DealCost, SavedWorkload, cost_of, flags_in, reference_in, workloads_in
from gpulease_gui.store import settings

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database

CHOSEN = "offers.workload"


@dataclass(frozen=True, slots=True)
class DealRisks:
    """The red flags of a deal, raised before open ones; its cost for `workload`.

    `cost` None: no workload is saved, or it can't be counted, and then `trouble` says why.
    """

    subject: Subject
    flags: tuple[FlagFinding, ...]
    workloads: tuple[SavedWorkload, ...]
    workload: SavedWorkload | None = None
    cost: DealCost | None = None
    trouble: Text | None = None


def risks_in(connection: sqlite3.Connection, subject: Subject, catalogue: Catalogue, day: date) -> DealRisks:
    """Flags and cost of an offer or contract on `day`, for the workload that was chosen last."""
    facts = deal_in(connection, subject, day)
    saved = workloads_in(connection)
    wanted = settings.get_setting(connection, CHOSEN, "")
    chosen = next((workload for workload in saved if workload.id == wanted), saved[0] if saved else None)
    flags = flags_in(facts, reference_in(connection, catalogue), chosen.workload.gpus if chosen else None)
    if chosen is None:
        return DealRisks(subject, flags, saved)
    try:
        return DealRisks(subject, flags, saved, chosen, cost_of(facts, chosen.workload))
    except UsageError as trouble:
        return DealRisks(subject, flags, saved, chosen, trouble=foreign(str(trouble)))


def choose_workload(workload_id: str) -> Callable[[Database], None]:
    """Remember for which workload costs are shown; handed to `Services.change`."""
    return lambda db: settings.save_setting(db, CHOSEN, workload_id)
