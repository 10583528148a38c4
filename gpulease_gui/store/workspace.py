"""Where does everything that the user keeps live, and who may touch it?"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gpulease_gui.domain.right_of_way import RightOfWay
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text
from gpulease_gui.store import inspection
from gpulease_gui.store.opening import (
    connect,
    errors_in_words,
    in_words,
    keep_private,
    make_file,
    refuse_old_sqlite,
    transaction,
    use_write_ahead_log,
)
from gpulease_gui.store.place import advice
from gpulease_gui.store.presence import Presence
from gpulease_gui.store.runs import interrupt_unfinished
from gpulease_gui.store.task_runs import cut_unfinished_tasks
from gpulease_gui.store.upgrade import upgrade
from gpulease_gui.store.watch_ends import close_all_left_open, close_forsaken
from gpulease_gui.store.writer import Writer

if TYPE_CHECKING:
    from sqlite_utils import Database

T = TypeVar("T")


class Workspace:
    """One open workspace file: a writer thread, and readers that open their own connection.

    `demo` says which of the two kinds it is, for ever. `shared` says that another process had it open already.
    `backup` is the copy that was made because the file had to be brought to a newer format. `advice` is what the
    user should know about the place of the file.
    """

    __slots__ = ("_forbidden", "_presence", "_writer", "advice", "backup", "demo", "path", "shared", "way")

    def __init__(self, path: Path, *, demo: bool, backup: Path | None, shared: bool, presence: Presence) -> None:
        self.path = path
        self.demo = demo
        self.backup = backup
        self.shared = shared
        self.advice: Text | None = advice(path)
        self._presence = presence
        self._forbidden = False
        self.way = RightOfWay()
        self._writer = Writer(path, self.way)

    @classmethod
    def open(cls, path: Path, *, demo: bool = False, create: bool = True) -> Workspace:
        """Open or make the workspace at `path`; files of an older format are backed up and upgraded.

        Runs that a killed process left behind become interrupted. Raises UserFacing (what, why, next step) for a
        file of another program, of a newer version, of the other kind, damaged, or in a place without write access.
        """
        refuse_old_sqlite()
        path = path.absolute()
        with in_words(path):
            inspection.refuse_what_is_no_file(path, create=create)
            make_file(path)
            with closing(connect(path)) as connection:
                backup = _prepare(connection, path, demo=demo)
                keep_private(path)
                presence = Presence(path)
                try:
                    shared = _settle(connection, presence)
                    return cls(path, demo=demo, backup=backup, shared=shared, presence=presence)
                except BaseException:
                    presence.close()
                    raise

    def submit(self, work: Callable[[Database], T]) -> Future[T]:
        """Hand `work` to the writer thread; the future is resolved after the commit that holds it. Never blocks.

        `work` may run twice and touches nothing but the database. Raises writer.Closed after `close`.
        """
        return self._writer.submit(work)

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A read-only connection of the calling thread, one moment of the data for as long as the block lasts.

        Raises RuntimeError on the main thread once `forbid_main_thread` was called, UserFacing for a failing disk.
        """
        if self._forbidden and threading.current_thread() is threading.main_thread():
            raise RuntimeError("the main thread may not read the database")
        self.way.wait()
        with errors_in_words(self.path, "read"), closing(connect(self.path, read_only=True)) as connection:
            connection.execute("BEGIN")
            yield connection

    def forbid_main_thread(self) -> None:
        """From now on a reader on the main thread is an error: the window must never wait for a disk."""
        self._forbidden = True

    def close(self) -> None:
        """Finish what was submitted, then let go of the file. May be called again, from any thread."""
        self._writer.close()
        self._presence.close()


def _prepare(connection: sqlite3.Connection, path: Path, *, demo: bool) -> Path | None:
    """Refuse what is not ours before a byte is written, then bring the file to the newest format."""
    new = inspection.is_new(connection)
    if not new:
        inspection.refuse_foreign(connection, path)
        inspection.refuse_other_kind(connection, path, demo=demo)
    else:
        # Only a file that begins with it can give room back little by little, when old readings are removed.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    with transaction(connection):
        pass  # a read-only file or folder says so here
    use_write_ahead_log(connection, path)
    backup = upgrade(connection, path, new=new, demo=demo, now=utc_now())
    inspection.refuse_other_kind(connection, path, demo=demo)
    return backup


def _settle(connection: sqlite3.Connection, presence: Presence) -> bool:
    """Mark what a killed process left running; the answer is whether another process is there."""
    alone, now_ns = presence.is_alone(), int(utc_now().timestamp()) * 1_000_000_000
    if alone:
        with transaction(connection):
            interrupt_unfinished(connection)
            cut_unfinished_tasks(connection)
            close_all_left_open(connection, now_ns)
    else:
        with transaction(connection):
            close_forsaken(connection, now_ns)
    presence.stay()
    return not alone
