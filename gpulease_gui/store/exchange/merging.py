"""What would a bundle change in this workspace? Nothing is written here.

A record that is known and differs is held against the earlier states of both sides: the one that the other side had and
left is the older one. Where both were changed the later change counts; what loses stays in the history.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.store.attachments import safe_name
from gpulease_gui.store.codec import json_text, maybe_value_from, maybe_value_text
from gpulease_gui.store.exchange import merge_cards, merge_fixed, merge_past, merge_removed, merge_trash
from gpulease_gui.store.exchange.bundle_gaps import KnownGaps
from gpulease_gui.store.exchange.bundle_schema import Bundle, Record
from gpulease_gui.store.exchange.bundle_sections import SECTIONS
from gpulease_gui.store.exchange.bundle_watch import node_of_cards
from gpulease_gui.store.exchange.merge_keys import HOLDERS, before_of, buried_of
from gpulease_gui.store.kept import Document

Change = tuple[str, object, object]


@dataclass(frozen=True, slots=True)
class Difference:
    """What one record of a bundle would do: `new`, or `changed` fields with what stands here and what would.

    `both`: it was changed on both sides. `back`: it comes out of the trash. A `new` one that is kept out was removed here.
    `theirs` is the record as the bundle has it, where `record` joins the edits of both sides. `removed_at`: `record` is what
    stands here, and was taken back there then (UTC text; "" = it was not). `at` is when the later of both states came to be,
    which is kept ("" = the moment of the merge).
    """

    record: Record
    new: bool
    changed: tuple[Change, ...] = ()
    both: bool = False
    back: bool = False
    theirs: Record | None = None
    removed_at: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Merge:
    """A bundle beside this workspace. Records that are the same are only counted.

    `kept` are those that were changed here later than in the bundle, and stay.
    """

    bundle: Bundle
    differences: tuple[Difference, ...]
    same: int
    kept: tuple[Difference, ...] = ()

    def counts(self) -> dict[str, tuple[int, int]]:
        """New and changed records by section; outputs and findings belong to their runs."""
        new = Counter(d.record.section.name for d in self.differences if d.new)
        changed = Counter(d.record.section.name for d in self.differences if not d.new and not d.removed_at)
        return {section.name: (new[section.name], changed[section.name]) for section in SECTIONS if new[section.name] or changed[section.name]}

    def removed(self) -> dict[str, int]:
        """How many records of each section go, because they were taken back there."""
        gone = Counter(d.record.section.name for d in self.differences if d.removed_at)
        return {section.name: gone[section.name] for section in SECTIONS if gone[section.name]}

    @property
    def has_work(self) -> bool:
        """Whether there is anything to write: also a state of theirs that only goes to the history."""
        return bool(self.differences or any(d.both and not d.back and not d.removed_at for d in self.kept))

    @property
    def can_be_taken_back(self) -> bool:
        """Whether it is a step that Undo knows: something that people change is among it."""
        only_added = ("rates", "settings", "task_specs", "watch_gaps")
        return any(not (s.fixed or s.part_of or s.history) and s.name not in only_added for s in (d.record.section for d in self.differences))

    @property
    def taking_all(self) -> Merge:
        """The same, but what was changed here later gives way to the bundle, too."""
        chosen = [replace(difference, at="") for difference in self.kept]  # it is decided now
        return replace(self, differences=(*self.differences, *chosen), kept=())


@dataclass(slots=True)
class _Sorted:
    found: list[Difference] = field(default_factory=list)
    kept: list[Difference] = field(default_factory=list)
    same: int = 0

    def take(self, record: Record, *, is_new: bool) -> None:
        if is_new:
            self.found.append(Difference(record, new=True))
        else:
            self.same += 1


def compare(connection: sqlite3.Connection, bundle: Bundle) -> Merge:
    """What merging would change; writes nothing. Raises UserFacing for a record that refers to none, or one that never
    changes and stands here with other content."""
    _refuse_dangling(connection, bundle)
    merge_fixed.refuse_incomplete(bundle)
    sorted_ = _Sorted()
    past = merge_past.Past(connection, bundle)
    news = merge_fixed.new_ids(connection, bundle)
    fates = merge_trash.fates(connection, bundle, past)
    gaps = KnownGaps(connection, bundle.of("watch_gaps"))
    for record in (_as_kept(record) for record in bundle.records if not _says_nothing(record)):
        section = record.section
        if section.fixed or section.part_of:
            sorted_.take(record, is_new=merge_fixed.is_new(record, news))
        elif section.name == "watch_gaps":
            sorted_.take(record, is_new=bool(gaps.missing(record)))
        elif section.history:
            sorted_.take(record, is_new=past.is_new(record))
        else:
            _sort(connection, merge_cards.with_ours(connection, record), sorted_, past, fates)
    sorted_.found += [Difference(r, new=False, back=True, at=past.touched_at((r.section.kind, *r.key))) for r in fates.revived]
    for gone in merge_removed.removals(connection, bundle, past):
        difference = Difference(gone.record, new=False, both=gone.standing.both, removed_at=gone.at)
        (sorted_.kept if gone.standing.ours else sorted_.found).append(difference)
    return Merge(bundle, tuple(sorted_.found), sorted_.same, tuple(sorted_.kept))


def _sort(connection: sqlite3.Connection, record: Record, sorted_: _Sorted, past: merge_past.Past, fates: merge_trash.Fates) -> None:
    """One record that people change."""
    if record.section.kind == "trash" and record.key not in fates.dead:
        sorted_.same += 1  # it was changed later, or is needed
        return
    before, section, whose = before_of(connection, record), record.section, (record.section.kind, record.key[0])
    if before is None and (before := buried_of(connection, record)) is not None and not (whose in fates.dead and whose in fates.away_there):
        found = _out_of_the_trash(record, before, past)
        if whose in fates.dead:
            sorted_.kept.append(replace(found, both=False))
        else:
            sorted_.found.append(found)
        return
    if before is None:
        left = past.standing_of_left(record)
        if left.ours:
            sorted_.kept.append(Difference(record, new=True, both=left.both))
        else:
            sorted_.found.append(Difference(record, new=True, at=past.latest(record, {})))
        return
    now = {name: before.get(name) for name in dict(record.fields)}
    changed = _changed(record, now)
    if all(name in section.stamps for name, _, _ in changed):
        sorted_.take(record, is_new=False)
        return
    standing, at = past.standing(record, now), past.latest(record, now)
    joined = past.joined(record, now, standing) if standing.both else None
    if joined is not None and joined != record and (more := _changed(joined, now)):
        sorted_.found.append(Difference(joined, new=False, changed=more, both=True, theirs=record, at=at))
        return
    if standing.ours:  # a state that our history has already needs no second place in it
        sorted_.kept.append(Difference(record, new=False, changed=changed, both=standing.both and not past.remembers(record), at=at))
    else:
        sorted_.found.append(Difference(record, new=False, changed=changed, both=standing.both, at=at))


def _out_of_the_trash(record: Record, buried: Document, past: merge_past.Past) -> Difference:
    """What lies in the trash here only, as it would come back: with what was changed last on either side."""
    now = {name: buried[name] for name in dict(record.fields)}
    standing = past.standing(record, now)
    ours = replace(record, fields=tuple(now.items()))
    joined = past.joined(record, now, standing) if standing.both else None
    back = joined or (ours if standing.ours else record)
    theirs = record if joined not in (None, record) else None
    return Difference(back, new=False, changed=_changed(back, now), both=standing.both, back=True, theirs=theirs, at=past.latest(record, now))


def _changed(record: Record, now: Mapping[str, object]) -> tuple[Change, ...]:
    return tuple((name, now[name], value) for name, value in record.fields if name not in record.section.follows and now[name] != value)


def _needed_suppliers(connection: sqlite3.Connection, bundle: Bundle, buried: set[tuple[str, ...]]) -> set[tuple[str, ...]]:
    """The suppliers of offers, contracts and sites that are new here: these can't stand under one in the trash."""
    return {
        (str(record.value("supplier_id")),)
        for record in bundle.of("offers", "contracts", "sites")
        if (record.section.kind, record.key[0]) not in buried and before_of(connection, record) is None and buried_of(connection, record) is None
    }  # fmt: skip


def _as_kept(record: Record) -> Record:
    """The record as it reads once it was written: one that is spelled otherwise is no difference."""
    fields = dict(record.fields)
    if record.section.kind == "attachment":
        fields["name"] = safe_name(str(fields["name"]))
    if record.section.kind == "claim":
        fields["value"] = json_text(maybe_value_text(maybe_value_from(json.loads(str(fields["value"])))))
    return replace(record, fields=tuple(fields.items()))


def _says_nothing(record: Record) -> bool:
    """A promise or a choice that nobody made: written or not, it reads as none."""
    empty = {"setup": ("", ""), "claim": ("null", "not_asked", "", ""), "terms": ("{}",)}.get(record.section.kind)
    return empty is not None and record.said[: len(empty)] == empty


_ALSO = ("nodes", "runs", "pastes", "task_runs")


def _refuse_dangling(connection: sqlite3.Connection, bundle: Bundle) -> None:
    there = {name: {row[0] for row in connection.execute(f"SELECT {'run_id' if name == 'task_runs' else 'id'} FROM {name}")} for name in (*HOLDERS.values(), *_ALSO)}
    given: dict[str, set[str]] = {name: set() for name in there}
    for record in bundle.of(*there):
        given[record.section.name].add(record.key[0])
    for record in bundle.records:
        for name, target in record.section.refers.items():
            value = record.value(name)
            where = HOLDERS[str(record.value("holder_kind"))] if target == "holder" else target
            known = value in given[where] or (value in there[where] and record.section.part_of != where)
            if value is not None and not known:
                raise _dangling(record, str(value))
        node = node_of_cards(record.key[0]) if record.section.kind == "setting" else ""
        if node and node not in given["nodes"] | there["nodes"]:
            raise _dangling(record, node)


def _dangling(record: Record, value: str) -> UserFacing:
    return UserFacing(
        Text("this bundle is not whole", "此数据包不完整"), Text(f"a record of {record.section.name} refers to {value[:40]!r}, which is neither in it nor here", f"{record.section.name} 的一条记录引用了 {value[:40]!r}，数据包与此处都没有"), Text("export it again", "请重新导出")
    )
