"""What does the user read when the database can't do its work?"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from gpulease_gui.domain.errors import UserFacing

# The low byte of an error code is its kind; the rest says where in SQLite it arose.
_KIND = 0xFF

_WHY: Mapping[int, tuple[str, str]] = {
    sqlite3.SQLITE_FULL: ("the disk is full", "free some space and try again; what was saved before is safe"),
    sqlite3.SQLITE_READONLY: ("the file or its folder is read-only", "choose a place where you may write"),
    sqlite3.SQLITE_PERM: ("access was denied", "choose a place where you may write"),
    sqlite3.SQLITE_AUTH: ("access was denied", "choose a place where you may write"),
    sqlite3.SQLITE_CANTOPEN: ("it can't be opened or made here", "check that the folder exists and that you may write in it"),
    sqlite3.SQLITE_NOTADB: ("it is no database", "choose a workspace file, or give a new name"),
    sqlite3.SQLITE_CORRUPT: ("the file is damaged or cut off", "restore the newest backup that lies beside it"),
    sqlite3.SQLITE_IOERR: ("the disk reported an error", "check the disk, and copy the file to another one"),
    sqlite3.SQLITE_BUSY: ("another program holds the file", "close that program and try again"),
    sqlite3.SQLITE_LOCKED: ("another program holds the file", "close that program and try again"),
}  # fmt: skip


def is_worlds_fault(error: sqlite3.Error) -> bool:
    """Whether the disk, the file or another program caused `error` (a broken constraint is ours)."""
    return _code(error) in _WHY


def user_facing(error: sqlite3.Error, path: Path, doing: str = "open") -> UserFacing:
    """`error` with its cause and a next step in words."""
    why, step = _WHY.get(_code(error), (str(error), "try again; if it stays, restore the newest backup beside the file"))
    return UserFacing(f"could not {doing} the workspace {path}", why, step)


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & _KIND
