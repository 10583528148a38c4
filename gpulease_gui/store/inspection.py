"""Is this file a workspace that this version may open?"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text, foreign

_HEAD = b"SQLite format 3\x00"
_RESTORE = Text("restore the newest backup that lies beside it", "请恢复旁边最新的备份")


def _no_workspace(path: Path) -> Text:
    return Text(f"{path} is not a workspace", f"{path} 不是工作区")


def refuse_what_is_no_file(path: Path, *, create: bool) -> None:
    """Raise UserFacing for a folder, a missing file (unless it may be made), and a file of another kind."""
    if path.is_dir():
        raise UserFacing(Text(f"{path} is a folder", f"{path} 是文件夹"), Text("a workspace is one file", "工作区是一个文件"), Text("give the name of a file in it", "请指定其中的文件名"))
    if not path.exists():
        if not create:
            raise UserFacing(Text(f"there is no workspace {path}", f"没有工作区 {path}"), "", Text("check the name, or make a new workspace", "请检查名称，或新建工作区"))
        return
    if not path.is_file():
        raise UserFacing(Text(f"{path} is no ordinary file", f"{path} 不是普通文件"), Text("a workspace is one file on a disk", "工作区是磁盘上的一个文件"), Text("give another name", "请换一个名称"))
    with path.open("rb") as file:
        head = file.read(len(_HEAD))
    if head and head != _HEAD:
        raise UserFacing(_no_workspace(path), Text("it is no database", "文件不是数据库"), Text("choose a workspace file or a new name", "请选择工作区文件，或换一个新名称"))


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
            _no_workspace(path), Text("it is the database of another program", "文件是其他程序的数据库"),
            Text("choose another file; it was not changed", "请选择其他文件；该文件未被改动"),
        )  # fmt: skip
    version = _number(connection, "user_version")
    if version > LATEST_VERSION:
        raise UserFacing(
            Text(f"{path} was made by a newer version", f"{path} 由更新的版本创建"),
            Text(f"its format is {version}, this program knows {LATEST_VERSION}", f"文件格式为 {version}，本程序只支持到 {LATEST_VERSION}"),
            Text("update this program; the file was not changed", "请更新本程序；文件未被改动"),
        )  # fmt: skip
    found = Text("the file is cut off", "文件不完整，末尾缺失") if _is_cut(connection, path) else foreign(_quick_check(connection))
    if found.en != "ok":
        raise UserFacing(Text(f"{path} is damaged", f"{path} 已损坏"), found, _RESTORE)
    planted = [
        name
        for name, text in connection.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')")
        if text not in TRIGGERS
    ]
    if planted:
        raise UserFacing(
            Text(f"{path} was changed by another program", f"{path} 被其他程序改动过"),
            Text(f"it holds a trigger or view of foreign make: {planted[0]}", f"其中有外来的触发器或视图：{planted[0]}"),
            Text("remove it, or restore the newest backup that lies beside the file", "请将其删除，或恢复该文件旁边最新的备份"),
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
    kind, kind_zh = ("real", "真实") if demo else ("demo", "演示")
    raise UserFacing(
        Text(f"{path} is a {kind} workspace", f"{path} 是{kind_zh}工作区"),
        Text("demo results and real ones never share a file", "演示数据与真实数据不能放在同一文件中"),
        Text(f"open it as a {kind} workspace, or give another file", f"请按{kind_zh}工作区打开，或换一个文件"),
    )


def is_demo(connection: sqlite3.Connection) -> bool:
    """Which of the two kinds the file is, for ever."""
    kinds = connection.execute("SELECT kind FROM workspace").fetchall()
    if len(kinds) != 1:
        raise UserFacing(
            Text("the workspace is damaged", "工作区已损坏"),
            Text("it does not say whether it is a demo or a real one", "其中没有注明是演示还是真实数据"), _RESTORE,
        )  # fmt: skip
    return bool(kinds[0] == ("demo",))


def _number(connection: sqlite3.Connection, pragma: str) -> int:
    value: int = connection.execute(f"PRAGMA {pragma}").fetchone()[0]
    return value
