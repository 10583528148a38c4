"""Which rules did a watched node break, from when to when, and what proves it?"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpulease_gui.domain.finding import Finding
from gpulease_gui.store.away import Away, list_away
from gpulease_gui.store.codec import finding_from, finding_text, storable
from gpulease_gui.store.evidence import save_blobs
from gpulease_gui.store.imported import ImportedFrom, imported_events
from gpulease_gui.store.records import EvidenceBlob

if TYPE_CHECKING:
    from sqlite_utils import Database


@dataclass(frozen=True, slots=True)
class WatchEvent:
    """One episode. Times are ns since 1970 UTC; `ended_ns` None while it lasts. `subject` is a UUID or interface, "" = the node.

    `degraded`: whether its time counts as less than what is paid for. `finding` names the evidence by its hash.
    `away`: the card was lost, and is missed no more since it was taken away by agreement; that is its end then.
    `imported`: another computer measured it, and it came in a file.
    """

    id: str
    node_id: str
    rule: str
    subject: str
    began_ns: int
    ended_ns: int | None
    degraded: bool
    finding: Finding
    away: Away | None = None
    imported: ImportedFrom | None = None


def save_event(db: Database, event: WatchEvent, blob: EvidenceBlob) -> None:
    """Insert an episode, or tell the end, the worst and the evidence of one that is kept. Raises sqlite3.IntegrityError for an unknown node."""
    save_blobs(db, [blob])
    db.conn.execute(
        "INSERT INTO watch_events (id, node_id, rule, subject, began_ns, ended_ns, degraded, document, sha256) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET ended_ns = excluded.ended_ns, document = excluded.document, "
        "sha256 = excluded.sha256",
        (
            event.id, event.node_id, event.rule, storable(event.subject), event.began_ns, event.ended_ns, int(event.degraded),
            finding_text(event.finding), blob.sha256,
        ),
    )  # fmt: skip


def gone_since(connection: sqlite3.Connection, node_id: str, since_ns: int) -> tuple[frozenset[str], frozenset[str]]:
    """The cards of a node that were lost, and those behind a driver that did not answer, at `since_ns` or later.

    A loss that was seen to end is none: the card was read again, or another took its place. Whoever saw that left a mark.
    """
    rows = connection.execute(
        "SELECT subject, document FROM watch_events WHERE node_id = ? AND rule IN ('watch.lost', 'watch.driver') AND coalesce(ended_ns, ?) >= ? "
        "AND NOT (rule = 'watch.lost' AND EXISTS (SELECT 1 FROM marks WHERE marks.id = watch_events.id || '-end' AND marks.words LIKE '%' || char(9) || 'end'))",
        (node_id, since_ns, since_ns),
    )
    lost, behind_driver = set[str](), set[str]()
    for subject, document in rows:
        if subject:
            lost.add(subject)
        else:
            behind_driver.update(one.id for one in finding_from(document).subjects if one.id)
    return frozenset(lost), frozenset(behind_driver)


def list_events(connection: sqlite3.Connection, node_id: str, start_ns: int, end_ns: int) -> tuple[WatchEvent, ...]:
    """The episodes of a node that touch start <= time < end, oldest first."""
    rows = connection.execute(
        "SELECT id, node_id, rule, subject, began_ns, ended_ns, degraded, document FROM watch_events "
        "WHERE node_id = ? AND began_ns < ? AND coalesce(ended_ns, ?) >= ? ORDER BY began_ns, id",
        (node_id, end_ns, end_ns, start_ns),
    )
    away, imported = list_away(connection, node_id), imported_events(connection, node_id, start_ns, end_ns)
    made = (
        _until_away(WatchEvent(id_, node, rule, subject, began, ended, bool(degraded), finding_from(document), imported=imported.get(id_)), away)
        for id_, node, rule, subject, began, ended, degraded, document in rows
    )
    return tuple(event for event in made if event.ended_ns is None or event.ended_ns >= start_ns)


def _until_away(event: WatchEvent, away: Sequence[Away]) -> WatchEvent:
    """A lost card is lost until it is agreed that it is not missed any more."""
    if event.rule != "watch.lost":
        return event
    gone = next((one for one in away if one.card == event.subject and one.at_ns >= event.began_ns), None)
    if gone is None or (event.ended_ns is not None and event.ended_ns < gone.at_ns):
        return event
    return replace(event, ended_ns=gone.at_ns, away=gone)
