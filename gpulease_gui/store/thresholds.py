"""Which figures of the rules did the user move, when and why?"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui.store.codec import storable, utc_from, utc_text

if TYPE_CHECKING:
    from sqlite_utils import Database

# Figures count for all cards; the column keeps room for those of one product.
_ALL = ""


@dataclass(frozen=True, slots=True)
class ThresholdChange:
    """One move of a figure. `value` None takes it back to what the program ships; `unit` is that of `value`."""

    check: str
    name: str
    value: float | None
    unit: str
    at: datetime
    by: str
    why: str


def append_threshold(db: Database, change: ThresholdChange) -> None:
    """Note a move; nothing that was noted before is changed."""
    db.table("threshold_history").insert(
        {
            "check_id": change.check, "name": change.name, "subject": _ALL,
            "value": None if change.value is None else repr(float(change.value)), "unit": change.unit,
            "set_at": utc_text(change.at), "set_by": storable(change.by), "why": storable(change.why),
        }
    )  # fmt: skip


def list_moved(connection: sqlite3.Connection) -> tuple[ThresholdChange, ...]:
    """The moves that hold now, by check and name: the newest of each figure, where it was not taken back."""
    rows = connection.execute(
        f"{_CHANGE} WHERE entry IN (SELECT max(entry) FROM threshold_history WHERE subject = ? GROUP BY check_id, name) "
        "AND value IS NOT NULL ORDER BY check_id, name",
        (_ALL,),
    )
    return tuple(_change(*row) for row in rows)


def list_threshold_history(connection: sqlite3.Connection, check: str, name: str) -> tuple[ThresholdChange, ...]:
    """Every move of one figure, the newest first."""
    rows = connection.execute(
        f"{_CHANGE} WHERE check_id = ? AND name = ? AND subject = ? ORDER BY entry DESC", (check, name, _ALL)
    )
    return tuple(_change(*row) for row in rows)


_CHANGE = "SELECT check_id, name, value, unit, set_at, set_by, why FROM threshold_history"


def _change(check: str, name: str, value: str | None, unit: str, at: str, by: str, why: str) -> ThresholdChange:
    return ThresholdChange(check, name, None if value is None else float(value), unit, utc_from(at), by, why)
