"""How does a file get the newest tables without a risk to what is in it?"""

from __future__ import annotations

import os
import sqlite3
from datetime import datetime
from pathlib import Path

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.store.codec import utc_text
from gpulease_gui.store.opening import in_words, keep_private, transaction


def upgrade(connection: sqlite3.Connection, path: Path, *, new: bool, demo: bool, now: datetime) -> Path | None:
    """Apply the steps that the file lacks, all or none of them; the answer is the backup made before, if any.

    A new file gets its kind in the same transaction. Raises UserFacing, sqlite3.Error, OSError.
    """
    from sqlite_utils import Database

    from gpulease_gui.store.migrations import migrations

    database = Database(connection, execute_plugins=False)
    if not migrations.pending(database):
        return None
    backup = None if new else back_up(connection, path, now)
    # A step may rebuild a table that others refer to: keys are off meanwhile and checked as a whole before the end.
    connection.execute("PRAGMA foreign_keys = OFF")
    with transaction(connection):
        migrations.apply(database)
        connection.execute(
            "INSERT OR IGNORE INTO workspace (only_row, kind, created_at) VALUES (1, ?, ?)",
            ("demo" if demo else "real", utc_text(now)),
        )
        broken = connection.execute("PRAGMA foreign_key_check").fetchone()
        if broken:
            raise UserFacing(
                Text(f"could not bring {path} to the new format", f"无法将 {path} 升级到新格式"),
                Text(f"a row of {broken[0]} refers to nothing", f"{broken[0]} 中有一行指向不存在的记录"),
                Text("the file was not changed; report this", "文件未被改动；请反馈此问题"),
            )  # fmt: skip
    connection.execute("PRAGMA foreign_keys = ON")
    return backup


def back_up(connection: sqlite3.Connection, path: Path, now: datetime) -> Path:
    """A complete copy beside `path`, checked row by row count before it gets its name. Raises UserFacing."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    stamp = utc_text(now).replace("-", "").replace(":", "").replace(".", "")
    final = path.with_name(f"{path.stem}.before-upgrade-{version}-{stamp}{path.suffix}")
    part = final.with_name(final.name + ".part")
    with in_words(path, "back up"):
        part.unlink(missing_ok=True)
        _copy(connection, part)
        _verify(connection, part, path)
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(final)
    return final


def _copy(connection: sqlite3.Connection, target: Path) -> None:
    target.touch(mode=0o600, exist_ok=False)  # never through a link that was planted there
    keep_private(target)
    copy = sqlite3.connect(target, isolation_level=None)
    try:
        connection.backup(copy)
        # One file that is whole by itself: no log beside it.
        copy.execute("PRAGMA journal_mode = DELETE")
    finally:
        copy.close()


def _verify(original: sqlite3.Connection, target: Path, path: Path) -> None:
    copy = sqlite3.connect(target, isolation_level=None)
    try:
        whole = copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        same = row_counts(copy) == row_counts(original)
    finally:
        copy.close()
    if not (whole and same):
        raise UserFacing(
            Text(f"could not back up the workspace {path}", f"无法备份工作区 {path}"), Text("the copy differs from the file", "备份与原文件不一致"),
            Text("check the disk; nothing was changed", "请检查磁盘；未做任何改动"),
        )  # fmt: skip


def row_counts(connection: sqlite3.Connection) -> dict[str, int]:
    """How many rows each table holds."""
    names = [n for (n,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in names}
