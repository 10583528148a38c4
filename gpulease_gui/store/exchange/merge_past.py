"""Which of two states of a record is the older one, as far as both sides remember what it was before?"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from gpulease_gui.domain.claim import ClaimState
from gpulease_gui.store.codec import json_text
from gpulease_gui.store.exchange.bundle import section_rows
from gpulease_gui.store.exchange.bundle_schema import Bundle, Record
from gpulease_gui.store.exchange.bundle_sections import SECTIONS, Value, section_of
from gpulease_gui.store.exchange.bundle_watch import node_of_cards
from gpulease_gui.store.kept import Document

_HISTORIES = tuple(section for section in SECTIONS if section.history)
# Whose it is is no state of a price; of a promise the history keeps less than the record.
_ASIDE = frozenset(["holder_kind", "holder_id"])
_OF_CLAIM = ("value", "state")
# Records whose fields mean something each by itself: edits of two people are joined.
_BY_FIELD = ("supplier", "site", "offer", "contract", "terms")
_STAMPS = ("answered_at", "given_at")
_BURIED = ("supplier", "site", "offer", "contract", "attachment")
Whose = tuple[str, ...]
State = tuple[tuple[str, object], ...]


class Standing(Enum):
    """Which side's state counts, and whether both were changed: (the bundle's or ours, both)."""

    THEIRS = (False, False)
    THEIRS_LATER = (False, True)
    OURS = (True, False)
    OURS_LATER = (True, True)

    @property
    def ours(self) -> bool:
        """What stands here stays."""
        return self.value[0]

    @property
    def both(self) -> bool:
        """Neither side knew the other's state."""
        return self.value[1]


@dataclass(slots=True)
class _Earlier:
    """What one side remembers of one record: its states, when the last of them came or went, whether nothing came after it."""

    states: dict[State, None] = field(default_factory=dict)
    until: str = ""
    gone: bool = False


class Past:
    """The earlier states that this workspace keeps, beside those that a bundle brings."""

    def __init__(self, connection: sqlite3.Connection, bundle: Bundle) -> None:
        self._ours: dict[Whose, _Earlier] = defaultdict(_Earlier)
        self._theirs: dict[Whose, _Earlier] = defaultdict(_Earlier)
        self._known: set[tuple[str, Whose, tuple[Value, ...]]] = set()
        self._first = bundle.version == 1
        self._touched: dict[Whose, str] = defaultdict(str)
        self._left: dict[tuple[Whose, bool], set[str]] = defaultdict(set)
        for section in _HISTORIES if not self._first else ():
            for entry in section_rows(connection, section):
                key = tuple(str(entry.pop(name)) for name in section.key)
                self._known.add((section.name, key[:-1], tuple(entry[name] for name in section.fields)))
                _remember(self._ours, section.name, key[:-1], entry)
                self._touch(section.name, key[:-1], entry, ours=True)
        for record in bundle.of(*(section.name for section in _HISTORIES)):
            _remember(self._theirs, record.section.name, record.group, dict(record.fields))
            self._touch(record.section.name, record.group, dict(record.fields), ours=False)

    def _touch(self, section: str, group: Whose, said: Document, *, ours: bool) -> None:
        kind, key, state, at = _read(section, group, said)
        for whose in _above(kind, key, state):
            self._touched[whose] = max(self._touched[whose], at)
        if kind in _BURIED:
            self._left[(kind, *key), ours].add(at)

    def touched_at(self, whose: Whose) -> str:
        """When either side last changed a (kind, id), or what belongs to it; "" where nobody knows."""
        return self._touched.get(whose, "")

    def knew(self, whose: Whose, deleted: str, *, ours: bool) -> bool:
        """Whether a side remembers that a (kind, id) was thrown away then."""
        return deleted in self._left.get((whose, ours), ())

    def latest(self, record: Record, now: Document) -> str:
        """When the later of both sides' states came to be: an edit that is taken in keeps its time; "" where nobody knows."""
        kind, key = record.section.kind, record.key
        return max(_changed_at(self._ours[kind, *key], now), _changed_at(self._theirs[kind, *key], dict(record.fields)))

    def is_new(self, record: Record) -> bool:
        """Whether this workspace lacks an earlier state."""
        return (record.section.name, record.group, record.said) not in self._known

    def remembers(self, record: Record) -> bool:
        """Whether what the bundle says of a record is among its states here."""
        kind = record.section.kind
        return _state(kind, dict(record.fields)) in self._ours[kind, *record.key].states

    def standing(self, record: Record, now: Document) -> Standing:
        """Which side counts for a record that stands here as `now`, with the fields of the record."""
        if record.section.kind == "setting":  # what cards are called holds all of ours
            return Standing.THEIRS if node_of_cards(record.key[0]) else Standing.OURS
        if self._first:
            return Standing.THEIRS
        kind, key, said = record.section.kind, record.key, dict(record.fields)
        if kind == "task_spec":  # it has no earlier states: the one that was saved later counts
            return Standing.OURS if str(now["saved_at"]) >= str(said["saved_at"]) else Standing.THEIRS
        ours, theirs = self._ours[kind, *key], self._theirs[kind, *key]
        we_left, they_left = _state(kind, said) in ours.states, _state(kind, now) in theirs.states
        if we_left != they_left:
            return Standing.OURS if we_left else Standing.THEIRS
        if _changed_at(ours, now) > _changed_at(theirs, said):
            return Standing.OURS_LATER
        return Standing.THEIRS_LATER if ours.until else Standing.THEIRS

    def joined(self, record: Record, now: Document, standing: Standing) -> Record | None:
        """The record with the edits of both sides since they were the same; of one field the later one. None: they never were."""
        kind, said = record.section.kind, dict(record.fields)
        ours, theirs = self._ours[kind, *record.key], self._theirs[kind, *record.key]
        base = next((state for state in reversed(ours.states) if state in theirs.states), None)
        if kind not in _BY_FIELD or base is None:
            return None
        was = dict(base)
        if kind == "terms":
            parts = [json.loads(str(one["terms"])) for one in (was, now, said)]
            both = _joined(parts[0], parts[1], parts[2], ours_wins=standing.ours)
            return replace(record, fields=(("terms", json_text(dict(sorted(both.items())))),))
        both = _joined(was, {name: now[name] for name in was}, {name: said[name] for name in was}, ours_wins=standing.ours)
        return replace(record, fields=tuple((name, both.get(name, value)) for name, value in record.fields))

    def standing_of_left(self, record: Record) -> Standing:
        """Which side counts for a record that is not here: it may be new, or was here once and was removed since."""
        kind, said = record.section.kind, dict(record.fields)
        ours, theirs = self._ours.get((kind, *record.key)), self._theirs[kind, *record.key]
        if ours is None:
            return Standing.THEIRS
        if _state(kind, said) in ours.states:
            return Standing.OURS if ours.until > theirs.until else Standing.THEIRS
        return Standing.OURS_LATER if ours.until > _changed_at(theirs, said) else Standing.THEIRS

    def gone_there(self, kinds: Collection[str]) -> Iterator[tuple[str, Whose, str]]:
        """(kind, key, when) of what the bundle remembers of these kinds and no more says; a record that is in it may be among it."""
        for (kind, *key), earlier in self._theirs.items():
            if kind in kinds and earlier.gone:
                yield kind, tuple(key), earlier.until

    def standing_of_gone(self, record: Record) -> Standing:
        """Which side counts for a record of ours that the bundle took back: what came later, the change here or the removal."""
        kind, now = record.section.kind, dict(record.fields)
        ours, theirs = self._ours[kind, *record.key], self._theirs[kind, *record.key]
        state = _state(kind, now)
        if state in theirs.states:  # they had it; the mirror of `standing_of_left`: else both sides end with what the other one had
            return Standing.OURS if ours.until >= theirs.until else Standing.THEIRS
        changed = _changed_at(ours, now)
        if changed == theirs.until:  # we knew the removal, and what is stated anew has no time of its own: it came after it
            return Standing.OURS
        return Standing.OURS_LATER if changed > theirs.until else Standing.THEIRS_LATER


def _joined(was: Mapping[str, Any], ours: Mapping[str, Any], theirs: Mapping[str, Any], *, ours_wins: bool) -> dict[str, Any]:
    """Each part as the side has it that changed it."""
    names = dict.fromkeys((*ours, *theirs))
    takes_ours = {name: theirs.get(name) == was.get(name) or (ours_wins and ours.get(name) != was.get(name)) for name in names}
    picked = {name: (ours if takes_ours[name] else theirs) for name in names}
    return {name: side[name] for name, side in picked.items() if name in side}


def _changed_at(earlier: _Earlier, now: Document) -> str:
    """When the present state came to be; "" where nobody knows."""
    return max(earlier.until, *(str(now.get(stamp) or "") for stamp in _STAMPS))


def _remember(side: dict[Whose, _Earlier], section: str, group: Whose, said: Document) -> None:
    kind, key, state, at = _read(section, group, said)
    if not kind:
        return
    earlier = side[kind, *key]
    earlier.gone = _says_no_more(section, said)
    if not said.get("withdrawn"):  # taken back is no state, but a change
        known = _state(kind, state)
        earlier.states.pop(known, None)
        earlier.states[known] = None
    earlier.until = max(earlier.until, at)


def _says_no_more(section: str, said: Document) -> bool:
    """Whether a state is that of a record that was taken back; of what lies in `earlier` the last state is over anyhow."""
    if section == "term_versions":
        return said["terms"] == "{}"
    if section == "claim_history":
        return said["value"] is None and said["state"] == ClaimState.NOT_ASKED
    return bool(said["withdrawn"]) if section == "price_versions" else True


def _read(section: str, group: Whose, said: Document) -> tuple[str, Whose, Document, str]:
    """(kind, key, state, when) of an earlier state; the kind of what has no later record is empty."""
    if section == "term_versions":
        return "terms", group, said, str(said["saved_at"])
    if section == "price_versions":
        return "price", group, said, str(said["saved_at"])
    if section == "claim_history":
        return "claim", group, {**said, "value": json_text(said["value"])}, str(said["at"])
    if section == "earlier":
        kind, holder_kind, holder, record = group
        key = (holder_kind, holder, *((record,) if record else ())) if holder_kind else tuple(record.split(" "))
        return kind, key, json.loads(str(said["document"])), str(said["replaced_at"])
    return "", group, said, ""


def _above(kind: str, key: Whose, state: Document) -> Iterator[Whose]:
    """What a change of a record is a change of, as (kind, id): of what can be thrown away."""
    if kind in _BURIED:
        yield (kind, *key)
    if kind == "site":
        yield "supplier", str(state["supplier_id"])
    elif kind in ("price", "attachment"):
        yield str(state["holder_kind"]), str(state["holder_id"])
    elif kind in ("claim", "terms", "answer", "waiver", "setup"):
        yield key[0], key[1]


def _state(kind: str, said: Document) -> State:
    section = section_of(kind)
    names = _OF_CLAIM if kind == "claim" else tuple(n for n in section.fields if n not in (*_ASIDE, *section.follows, *section.stamps))
    return tuple((name, said.get(name)) for name in names)
