"""What did the other side take back since, that still stands here: a price, an answer, a waiver, a promise?

A bundle does not hold what is gone; it tells of it by what the record was before. Records that go to the trash are told
by the trash.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from gpulease_gui.store.exchange.bundle_schema import Bundle, Record
from gpulease_gui.store.exchange.bundle_sections import section_of
from gpulease_gui.store.exchange.merge_keys import before_of
from gpulease_gui.store.exchange.merge_past import Past, Standing

KINDS = ("claim", "terms", "price", "answer", "waiver", "setup", "template", "weight", "workload", "mapping", "market")


@dataclass(frozen=True, slots=True)
class Removal:
    """A record as it stands here, that the bundle has no more since `at` (UTC, as it was written); which side counts."""

    record: Record
    at: str
    standing: Standing


def removals(connection: sqlite3.Connection, bundle: Bundle, past: Past) -> Iterator[Removal]:
    """What the bundle had and took back, and what stands here of it."""
    said = {(record.section.kind, record.key) for record in bundle.of(*(section_of(kind).name for kind in KINDS))}
    for kind, key, at in past.gone_there(KINDS):
        section = section_of(kind)
        if (kind, key) in said or len(key) != len(section.key):
            continue
        now = before_of(connection, Record(section, key, ()))
        if now is not None:
            record = Record(section, key, tuple((name, now.get(name)) for name in section.fields))
            yield Removal(record, at, past.standing_of_gone(record))
