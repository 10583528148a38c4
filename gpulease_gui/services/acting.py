"""In whose name does an act of the user begin?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpulease_gui.domain.span import utc_now
from gpulease_gui.store import settings
from gpulease_gui.store.journal import Recorder

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database

USER_NAME = "user.name"
NOBODY = "me"


def user_name_in(connection: sqlite3.Connection) -> str:
    """Who writes the history: the name from the settings, else "me"."""
    return settings.get_setting(connection, USER_NAME, "") or NOBODY


def recorder(db: Database, why: str = "") -> Recorder:
    """An act of the user that begins now."""
    return Recorder(db, user_name_in(db.conn), utc_now(), why)
