"""What does the user read when the database can't do its work?"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text, foreign

# The low byte of an error code is its kind; the rest says where in SQLite it arose.
_KIND = 0xFF

_WHY: Mapping[int, tuple[Text, Text]] = {
    sqlite3.SQLITE_FULL: (Text("the disk is full", "磁盘已满"), Text("free some space and try again; what was saved before is safe", "请腾出空间后重试；之前已保存的内容不受影响")),
    sqlite3.SQLITE_READONLY: (Text("the file or its folder is read-only", "文件或其文件夹为只读"), Text("choose a place where you may write", "请选择可写的位置")),
    sqlite3.SQLITE_PERM: (Text("access was denied", "没有权限"), Text("choose a place where you may write", "请选择可写的位置")),
    sqlite3.SQLITE_AUTH: (Text("access was denied", "没有权限"), Text("choose a place where you may write", "请选择可写的位置")),
    sqlite3.SQLITE_CANTOPEN: (Text("it can't be opened or made here", "无法在此打开或创建"), Text("check that the folder exists and that you may write in it", "请确认文件夹存在且可写")),
    sqlite3.SQLITE_NOTADB: (Text("it is no database", "它不是数据库"), Text("choose a workspace file, or give a new name", "请选择工作区文件，或换一个新名称")),
    sqlite3.SQLITE_CORRUPT: (Text("the file is damaged or cut off", "文件已损坏或不完整"), Text("restore the newest backup that lies beside it", "请恢复旁边最新的备份")),
    sqlite3.SQLITE_IOERR: (Text("the disk reported an error", "磁盘报告错误"), Text("check the disk, and copy the file to another one", "请检查磁盘，并把文件复制到另一块磁盘")),
    sqlite3.SQLITE_BUSY: (Text("another program holds the file", "文件被其他程序占用"), Text("close that program and try again", "请关闭该程序后重试")),
    sqlite3.SQLITE_LOCKED: (Text("another program holds the file", "文件被其他程序占用"), Text("close that program and try again", "请关闭该程序后重试")),
}  # fmt: skip


def is_worlds_fault(error: sqlite3.Error) -> bool:
    """Whether the disk, the file or another program caused `error` (a broken constraint is ours)."""
    return _code(error) in _WHY


def user_facing(error: sqlite3.Error, path: Path, doing: str = "open") -> UserFacing:
    """`error` with its cause and a next step in words."""
    why, step = _WHY.get(_code(error), (foreign(str(error)), Text("try again; if it stays, restore the newest backup beside the file", "请重试；若仍如此，请恢复旁边最新的备份")))
    return UserFacing(Text(f"could not {doing} the workspace {path}", f"无法打开或写入工作区 {path}"), why, step)


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & _KIND
