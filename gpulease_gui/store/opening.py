"""How is a workspace file opened so that each of its promises holds?"""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.os_reason import os_reason
from gpulease_gui.domain.text import Text
from gpulease_gui.store.place import network_file_system
from gpulease_gui.store.troubles import is_worlds_fault, user_facing

OLDEST_SQLITE = (3, 37)  # STRICT tables
_BUSY_S = 10.0


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """The one way to a connection: foreign keys hold, functions in a planted schema don't run.

    Synchronous NORMAL with a write-ahead log: a commit is a write into the page cache of the system, which outlives
    a killed process, so what was shown as saved is there. A loss of power may take the last commits, never the file.
    Without the log (network drives) only FULL keeps the file whole. Raises sqlite3.Error.
    """
    mode = "ro" if read_only else "rw"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=_BUSY_S
    )
    level = "FULL" if not read_only and network_file_system(path.absolute()) else "NORMAL"
    try:
        for pragma in ("foreign_keys = ON", "trusted_schema = OFF", "cell_size_check = ON", f"synchronous = {level}"):
            connection.execute(f"PRAGMA {pragma}")
        connection.execute(f"PRAGMA query_only = {'ON' if read_only else 'OFF'}")
    except BaseException:
        connection.close()
        raise
    return connection


def use_write_ahead_log(connection: sqlite3.Connection, path: Path) -> None:
    """Readers and the writer don't wait for each other; on a network drive the log can't be shared, so none there."""
    mode = "DELETE" if network_file_system(path.absolute()) else "WAL"
    connection.execute(f"PRAGMA journal_mode = {mode}")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, the write lock taken at once."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def errors_in_words(path: Path, doing: str) -> Iterator[None]:
    """Turn what the disk, the file or another program did to the database into an error for the user."""
    try:
        yield
    except sqlite3.Error as error:
        if is_worlds_fault(error):
            raise user_facing(error, path, doing) from error
        raise


@contextmanager
def in_words(path: Path, doing: str = "open") -> Iterator[None]:
    """The same for a block that meets files which others made: whatever the database says of them is foreign."""
    try:
        yield
    except sqlite3.Error as error:
        raise user_facing(error, path, doing) from error
    except OSError as error:
        raise UserFacing(
            Text(f"could not {doing} the workspace {path}", f"无法打开或写入工作区 {path}"), os_reason(error),
            Text("Check that the folder exists and that you may write in it", "请确认文件夹存在且可写"),
        ) from error  # fmt: skip


def make_file(path: Path) -> None:
    """An empty file for the owner only, in a folder for the owner only if the folder is new. Raises OSError."""
    missing = [folder for folder in path.absolute().parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def keep_private(path: Path) -> None:
    """Take the rights of others from a file of ours: it holds prices and addresses."""
    if sys.platform != "win32" and path.stat().st_uid == os.getuid() and path.stat().st_mode & 0o077:
        path.chmod(0o600)


def refuse_old_sqlite() -> None:
    """Raise UserFacing if this Python carries an SQLite from before STRICT tables."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise UserFacing(
            Text(f"this Python carries SQLite {sqlite3.sqlite_version}", f"当前 Python 自带的 SQLite 版本为 {sqlite3.sqlite_version}"),
            Text("workspaces need 3.37 or newer", "工作区需要 3.37 或更新版本"),
            Text("use a newer Python, such as the one from python.org", "请使用更新的 Python，例如 python.org 提供的版本"),
        )  # fmt: skip
