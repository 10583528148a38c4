"""Which records lie in the trash once two workspaces are merged? Both sides find the same answer, whoever merges first."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gpulease_gui.store.exchange.bundle import section_rows
from gpulease_gui.store.exchange.bundle_schema import Bundle, Record
from gpulease_gui.store.exchange.bundle_sections import section_of
from gpulease_gui.store.exchange.merge_past import Past, Whose
from gpulease_gui.store.kept import Document, row_kind

_KINDS = ("supplier", "site", "offer", "contract", "attachment")
_OWNED = ("site", "offer", "contract")
# What has no earlier state when it is new, and says when it came.
_STAMPED = {"attachment": "added_at", "answer": "answered_at", "waiver": "given_at"}


@dataclass(slots=True)
class _Side:
    """What one side has: which records, in the trash since when, whose, and when something below them came."""

    there: set[Whose] = field(default_factory=set)
    away: dict[Whose, str] = field(default_factory=dict)
    suppliers: dict[Whose, Whose] = field(default_factory=dict)
    touched: dict[Whose, str] = field(default_factory=lambda: defaultdict(str))

    def take(self, kind: str, said: Document) -> None:
        if kind == "trash":
            self.away[str(said["record_kind"]), str(said["record_id"])] = str(said["deleted_at"])
            return
        if kind in _KINDS:
            self.there.add((kind, str(said["id"])))
        if kind in _OWNED:
            self.suppliers[kind, str(said["id"])] = ("supplier", str(said["supplier_id"]))
        if kind in _STAMPED:
            holder = str(said["holder_kind"]), str(said["holder_id"])
            self.touched[holder] = max(self.touched[holder], str(said[_STAMPED[kind]] or ""))

    def has(self, key: Whose) -> bool:
        """Whether it is there, outside of the trash."""
        return key in self.there and key not in self.away


@dataclass(frozen=True, slots=True)
class Fates:
    """`dead`: what lies in the trash afterwards. `away_there`: what lies there in the bundle. `revived`: what lies there here,
    comes back, and is not in the bundle."""

    dead: frozenset[Whose]
    away_there: frozenset[Whose]
    revived: tuple[Record, ...]


def fates(connection: sqlite3.Connection, bundle: Bundle, past: Past) -> Fates:
    """Of a deletion and of a change on the other side, of the record or below it, the later one counts; one that knew the
    deletion brought the record back. A supplier stays with what lives of it."""
    ours, theirs = _ours(connection), _theirs(bundle)
    dead = {key for key in (*ours.away, *theirs.away) if not _lives(key, ours, theirs, past)}
    if bundle.version == 1:  # it knows neither times nor a trash: what it says counts
        dead -= theirs.there
    dead -= set(_needed(ours, theirs, dead))
    revived = (key for key in ours.away if key not in dead and key not in theirs.there)
    return Fates(frozenset(dead), frozenset(theirs.away), tuple(_buried(connection, revived)))


def _lives(key: Whose, ours: _Side, theirs: _Side, past: Past) -> bool:
    living = [side for side in (ours, theirs) if side.has(key)]
    if not living:
        return False
    deleted = max(ours.away.get(key, ""), theirs.away.get(key, ""))
    latest = max(past.touched_at(key), ours.touched[key], theirs.touched[key])
    return latest > deleted or past.knew(key, deleted, ours=living[0] is ours)


def _needed(ours: _Side, theirs: _Side, dead: set[Whose]) -> Iterator[Whose]:
    """The suppliers of what lives. A site stays by itself when its supplier goes, so only one that is new needs it."""
    for side, other in ((ours, theirs), (theirs, ours)):
        for key, supplier in side.suppliers.items():
            is_new_site = key not in other.there
            if key not in dead and (key[0] != "site" or is_new_site):
                yield supplier


def _ours(connection: sqlite3.Connection) -> _Side:
    side = _Side()
    for kind in (*_KINDS, "answer", "waiver", "trash"):
        for entry in section_rows(connection, section_of(kind)):
            side.take(kind, entry)
    return side


def _theirs(bundle: Bundle) -> _Side:
    side = _Side()
    for record in bundle.of(*(section_of(kind).name for kind in (*_KINDS, "answer", "waiver", "trash"))):
        side.take(record.section.kind, {**dict(zip(record.section.key, record.key, strict=True)), **dict(record.fields)})
    return side


def _buried(connection: sqlite3.Connection, keys: Iterable[Whose]) -> Iterator[Record]:
    for kind, id_ in keys:
        section, now = section_of(kind), row_kind(kind).buried(connection, (id_,))
        if now is not None:
            yield Record(section, (id_,), tuple((name, now[name]) for name in section.fields))
