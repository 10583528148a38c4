"""What was compared last, and how, so that the next start goes on there?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.services.price_period import PricePer
from gpulease_gui.store.codec import json_text
from gpulease_gui.store.deals import deal_ids, deal_number
from gpulease_gui.store.settings import get_setting, save_setting

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database

_KEY = "compare"


@dataclass(frozen=True, slots=True)
class KeptChoice:
    """The columns, the ids of use and workload ("" = none), the currency ("" = found by itself), the unit of prices, which lines are shown."""

    subjects: tuple[Subject, ...] = ()
    scenario: str = ""
    workload: str = ""
    currency: str = ""
    differences_only: bool = False
    with_unstated: bool = True
    per: PricePer = PricePer.GPU_HOUR


def kept_choice_in(connection: sqlite3.Connection) -> KeptChoice | None:
    """The choice that was kept, less the records that are gone; None for none, or one that can't be read."""
    try:
        said = json.loads(get_setting(connection, _KEY, "null"))
        if said is None:
            return None
        subjects = [Subject(HolderOf(kind), record) for kind, record in said["subjects"]]
        return KeptChoice(
            tuple(s for s in subjects if _is_there(connection, s)), str(said["scenario"]), str(said["workload"]), str(said["currency"]),
            said["differences_only"] is True, said["with_unstated"] is True, PricePer(said.get("per", PricePer.GPU_HOUR)),
        )  # fmt: skip
    except (ValueError, TypeError, KeyError):
        return None


def _is_there(connection: sqlite3.Connection, subject: Subject) -> bool:
    try:
        return deal_number(connection, subject) in deal_ids(connection, subject.kind)
    except UsageError:
        return False


def keep_choice(db: Database, choice: KeptChoice) -> None:
    """Keep a choice; it is no act that could be taken back."""
    save_setting(db, _KEY, json_text({
        "subjects": [[str(s.kind), s.id] for s in choice.subjects], "scenario": choice.scenario, "workload": choice.workload,
        "currency": choice.currency, "differences_only": choice.differences_only, "with_unstated": choice.with_unstated, "per": str(choice.per),
    }))  # fmt: skip
