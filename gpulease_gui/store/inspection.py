"""Is this file a workspace that this version may open?"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from gpulease_gui.domain.errors import UserFacing

_HEAD = b"SQLite format 3\x00"


def refuse_what_is_no_file(path: Path, *, create: bool) -> None:
    """Raise UserFacing for a folder, a missing file (unless it may be made), and a file of another kind."""
    if path.is_dir():
        raise UserFacing(f"{path} is a folder", "a workspace is one file", "give the name of a file in it")
    if not path.exists():
        if not create:
            raise UserFacing(f"there is no workspace {path}", "", "check the name, or make a new workspace")
        return
    if not path.is_file():
        raise UserFacing(f"{path} is no ordinary file", "a workspace is one file on a disk", "give another name")
    with path.open("rb") as file:
        head = file.read(len(_HEAD))
    if head and head != _HEAD:
        raise UserFacing(f"{path} is not a workspace", "it is no database", "choose a workspace file or a new name")


def is_new(connection: sqlite3.Connection) -> bool:
    """Whether nothing was ever written into the file."""
    count: int = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return count == 0 and _number(connection, "application_id") == 0 and _number(connection, "user_version") == 0


def refuse_foreign(connection: sqlite3.Connection, path: Path) -> None:
    """Raise UserFacing for another program's file, a newer version's, a damaged one, one with planted parts."""
    # Imported late: the first window is drawn before sqlite-utils is loaded.
    from gpulease_gui.store.migrations import APPLICATION_ID, LATEST_VERSION, TRIGGERS

    if _number(connection, "application_id") != APPLICATION_ID:
        raise UserFacing(
            f"{path} is not a workspace", "it is the database of another program", "choose another file; it was not changed"
        )
    version = _number(connection, "user_version")
    if version > LATEST_VERSION:
        raise UserFacing(
            f"{path} was made by a newer version", f"its format is {version}, this program knows {LATEST_VERSION}",
            "update this program; the file was not changed",
        )  # fmt: skip
    found = "the file is cut off" if _is_cut(connection, path) else _quick_check(connection)
    if found != "ok":
        raise UserFacing(f"{path} is damaged", found, "restore the newest backup that lies beside it")
    planted = [
        name
        for name, text in connection.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')")
        if text not in TRIGGERS
    ]
    if planted:
        raise UserFacing(
            f"{path} was changed by another program", f"it holds a trigger or view of foreign make: {planted[0]}",
            "remove it, or restore the newest backup that lies beside the file",
        )  # fmt: skip


def _quick_check(connection: sqlite3.Connection) -> str:
    return str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])


def _is_cut(connection: sqlite3.Connection, path: Path) -> bool:
    """A last page that is not whole: SQLite would read the rest as zeros. With a log beside it, the log holds it."""
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        return False
    return path.stat().st_size % _number(connection, "page_size") != 0


def refuse_other_kind(connection: sqlite3.Connection, path: Path, *, demo: bool) -> None:
    """Raise UserFacing if the file is a demo workspace and a real one was asked for, or the reverse."""
    if is_demo(connection) == demo:
        return
    raise UserFacing(
        f"{path} is a {'real' if demo else 'demo'} workspace",
        "demo results and real ones never share a file",
        f"open it as a {'real' if demo else 'demo'} workspace, or give another file",
    )


def is_demo(connection: sqlite3.Connection) -> bool:
    """Which of the two kinds the file is, for ever."""
    kinds = connection.execute("SELECT kind FROM workspace").fetchall()
    if len(kinds) != 1:
        raise UserFacing(
            "the workspace is damaged", "it does not say whether it is a demo or a real one",
            "restore the newest backup that lies beside it",
        )  # fmt: skip
    return bool(kinds[0] == ("demo",))


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    value: int = connection.execute(f"PRAGMA {pragma}").fetchone()[0]
    return value
