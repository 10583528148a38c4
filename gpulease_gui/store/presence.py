"""Does another process have the same workspace open?"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from gpulease_gui.store.opening import make_file


class Presence:
    """Holds a shared lock on a small file beside the workspace for as long as the workspace is open.

    The lock is SQLite's own, so it works on every system and dies with its process. Only who finds nobody else may
    say that a run which looks unfinished was interrupted.
    """

    __slots__ = ("_connection",)

    def __init__(self, workspace: Path) -> None:
        path = workspace.with_name(workspace.name + "-open")
        make_file(path)
        # Closed by whatever thread closes the workspace; never used by two at once.
        self._connection = sqlite3.connect(path, isolation_level=None, timeout=10.0, check_same_thread=False)

    def is_alone(self) -> bool:
        """Whether nobody else is there; True keeps everybody out until `stay`."""
        self._connection.execute("PRAGMA busy_timeout = 0")
        try:
            self._connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            return False
        finally:
            self._connection.execute("PRAGMA busy_timeout = 10000")
        return True

    def stay(self) -> None:
        """Be seen by those who come later."""
        if self._connection.in_transaction:
            self._connection.execute("COMMIT")
        self._connection.execute("BEGIN")
        self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()

    def close(self) -> None:
        """Leave; the file stays, it is empty."""
        self._connection.close()
