"""What was done last, and how is it taken back or done again, also after a restart?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpulease_gui.domain.span import utc_now
from gpulease_gui.services.directory import user_name_in
from gpulease_gui.store import journal
from gpulease_gui.store.journal import Act, Replay

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database


def acts_in(connection: sqlite3.Connection, limit: int = 50) -> tuple[Act, ...]:
    """The latest acts, newest first."""
    return journal.list_acts(connection, limit)


def can_undo(connection: sqlite3.Connection) -> Act | None:
    """What Undo would take back; its words complete "Undo: ..."."""
    return journal.next_undo(connection)


def can_redo(connection: sqlite3.Connection) -> Act | None:
    """What Redo would do again."""
    return journal.next_redo(connection)


def undo(db: Database) -> Replay | None:
    """Take the newest act back, whole; None if there is none. Records that a run changed since stay as they are."""
    return journal.undo(db, by=user_name_in(db.conn), at=utc_now())


def redo(db: Database) -> Replay | None:
    """Do the act again that was taken back last; None if there is none."""
    return journal.redo(db, by=user_name_in(db.conn), at=utc_now())
