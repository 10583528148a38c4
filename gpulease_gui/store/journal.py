"""How does one act of the user change many records at once, so that it can be taken back after a restart, too?

A record is changed through `Recorder.put` only: what it replaces is kept in `earlier_versions` (or as a version of its
own, for terms and prices), and the act with all its changes is one line of `acts`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui.domain.text import Text
from gpulease_gui.store.codec import json_text, utc_from, utc_text
from gpulease_gui.store.deals import refresh
from gpulease_gui.store.kept import Document, Written, kinds

if TYPE_CHECKING:
    from sqlite_utils import Database

KEPT_ACTS = 500


@dataclass(frozen=True, slots=True)
class Change:
    """One record before and after an act; None = it was not there."""

    kind: str
    key: tuple[str | int, ...]
    before: Document | None
    after: Document | None


@dataclass(frozen=True, slots=True)
class Act:
    """What the user did at one moment (UTC); `changed` records, `undone` when it was taken back."""

    entry: int
    at: datetime
    by: str
    words: Text
    undone: bool
    changed: int


@dataclass(frozen=True, slots=True)
class Replay:
    """An act that was taken back or done again. `kept` records had been changed by something else and stay as they are."""

    act: Act
    applied: int
    kept: int


@dataclass(slots=True)
class Recorder:
    """Collects the changes of one act; `finish` writes them down as one. Lives in one transaction of the writer."""

    db: Database
    by: str
    at: datetime
    why: str = ""
    _changes: list[Change] = field(default_factory=list)

    def put(self, kind: str, key: tuple[str | int, ...], after: Document | None) -> bool:
        """Make the record `after` (None = delete it); whether that changed anything. Raises sqlite3.IntegrityError."""
        record = kinds()[kind]
        before = record.read(self.db.conn, key)
        if before == after:
            return False
        record.write(self.db, key, before, after, Written(self.by, self.at, self.why))
        self._changes.append(Change(kind, key, before, after))
        return True

    def note(self, kind: str, key: tuple[str | int, ...], before: Document | None, after: Document | None) -> None:
        """Note a record that was written by itself within this act."""
        self._changes.append(Change(kind, key, before, after))

    def written(self, why: str) -> Written:
        """Who does this act and when, for another reason."""
        return Written(self.by, self.at, why)

    def added(self, kind: str, ids: Iterable[str]) -> None:
        """Note records that were inserted in bulk within this act (kinds supplier and offer)."""
        self._changes += [Change("added", (kind, id_), None, {"there": 1}) for id_ in ids]

    def finish(self, words: Text) -> int:
        """Write the act down and bring the lists up to date; the number of records that changed.

        Acts that had been taken back can't be done again after a new one. Nothing changed = no act.
        """
        if self._changes:
            self.db.conn.execute("UPDATE acts SET state = 'dropped', changes = '[]' WHERE state = 'undone'")
            self.db.conn.execute(
                "INSERT INTO acts (done_at, done_by, words_en, words_zh, state, changes) VALUES (?, ?, ?, ?, 'done', ?)",
                (utc_text(self.at), self.by, words.en, words.zh, _changes_text(self._changes)),
            )
            self.db.conn.execute("DELETE FROM acts WHERE entry <= (SELECT max(entry) FROM acts) - ?", (KEPT_ACTS,))
            _refresh(self.db, self._changes, self.at)
        return len(self._changes)

    def settle(self) -> int:
        """Bring the lists up to date without an act: what a run found is corrected by a new run, not taken back."""
        _refresh(self.db, self._changes, self.at)
        return len(self._changes)


def list_acts(connection: sqlite3.Connection, limit: int = 50) -> tuple[Act, ...]:
    """The latest acts, newest first; those that were dropped are left out."""
    rows = connection.execute(f"{_ACT} WHERE state <> 'dropped' ORDER BY entry DESC LIMIT ?", (limit,))
    return tuple(_act(*row) for row in rows)


def next_undo(connection: sqlite3.Connection) -> Act | None:
    """The act that `undo` would take back."""
    row = connection.execute(f"{_ACT} WHERE state = 'done' ORDER BY entry DESC LIMIT 1").fetchone()
    return None if row is None else _act(*row)


def next_redo(connection: sqlite3.Connection) -> Act | None:
    """The act that `redo` would do again."""
    row = connection.execute(f"{_ACT} WHERE state = 'undone' ORDER BY entry LIMIT 1").fetchone()
    return None if row is None else _act(*row)


def undo(db: Database, *, by: str, at: datetime) -> Replay | None:
    """Take the newest act back; None if there is none. What was changed since by something else stays."""
    act = next_undo(db.conn)
    return None if act is None else _replay(db, act, back=True, who=Written(by, at, "taken back"))


def redo(db: Database, *, by: str, at: datetime) -> Replay | None:
    """Do the act again that was taken back last; None if there is none."""
    act = next_redo(db.conn)
    return None if act is None else _replay(db, act, back=False, who=Written(by, at, "done again"))


def _replay(db: Database, act: Act, *, back: bool, who: Written) -> Replay:
    changes = _changes_from(db.conn.execute("SELECT changes FROM acts WHERE entry = ?", (act.entry,)).fetchone()[0])
    applied: list[Change] = []
    for change in reversed(changes) if back else changes:
        record = kinds()[change.kind]
        was, becomes = (change.after, change.before) if back else (change.before, change.after)
        if record.same(record.read(db.conn, change.key), was):
            record.write(db, change.key, was, becomes, who)
            applied.append(change)
    db.conn.execute("UPDATE acts SET state = ? WHERE entry = ?", ("undone" if back else "done", act.entry))
    _refresh(db, applied, who.at)
    return Replay(act, len(applied), len(changes) - len(applied))


def _refresh(db: Database, changes: list[Change], at: datetime) -> None:
    """The lists after these changes: each deal once."""
    touched = {deal for change in changes for deal in kinds()[change.kind].deals(db.conn, change.key)}
    for deal in sorted(touched):
        refresh(db, deal, at.date())


_ACT = "SELECT entry, done_at, done_by, words_en, words_zh, state, json_array_length(changes) FROM acts"


def _act(entry: int, at: str, by: str, en: str, zh: str, state: str, changed: int) -> Act:
    return Act(entry, utc_from(at), by, Text(en, zh), state == "undone", changed)


def _changes_text(changes: list[Change]) -> str:
    return json_text([{"kind": c.kind, "key": list(c.key), "before": c.before, "after": c.after} for c in changes])


def _changes_from(text: str) -> list[Change]:
    return [Change(said["kind"], tuple(said["key"]), said["before"], said["after"]) for said in json.loads(text)]
