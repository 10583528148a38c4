"""What are the chips of a node called that have no name of their own, by where they sit?

Chips are numbered anew when one is gone. What was read of one stands under the name that it got first, so that name is kept
beside the node for the next program that watches it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gpulease_gui.store.settings import get_setting, save_setting

if TYPE_CHECKING:
    from sqlite_utils import Database

# By the id of the source that tells of them: the name by the place on the node (a bus address).
CardNames = Mapping[str, Mapping[str, str]]
_KEY = "cards.names."
_MOST, _MOST_CHARACTERS = 1024, 128


def get_names(connection: sqlite3.Connection, node_id: str) -> dict[str, dict[str, str]]:
    """Those of a node; what was edited by hand into something else counts as not known."""
    found: dict[str, dict[str, str]] = {}
    for line in get_setting(connection, _KEY + node_id, "").split("\n")[:_MOST]:
        source, *rest = line.split("\t")
        if len(rest) == 2 and all(0 < len(word) <= _MOST_CHARACTERS for word in rest):
            found.setdefault(source, {}).setdefault(*rest)
    return found


def keep_names(db: Database, node_id: str, names: CardNames) -> None:
    """Keep them; a place that has a name already keeps that one."""
    held = get_names(db.conn, node_id)
    for source, told in names.items():
        held[source] = {**told, **held.get(source, {})}
    rows = [(source, place, name) for source, told in held.items() for place, name in told.items() if (place + name).isprintable()]
    save_setting(db, _KEY + node_id, "\n".join(["\t".join(row) for row in rows[:_MOST]]))
