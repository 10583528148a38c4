"""What are the cards of a node called: chips without a name of their own by where they sit, GPUs by the number last seen?

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
# The settings of a node, by its id.
NAMES, NUMBERS = "cards.names.", "cards.numbers."
_MOST, _MOST_CHARACTERS = 1024, 128


def get_names(connection: sqlite3.Connection, node_id: str) -> dict[str, dict[str, str]]:
    """Those of a node; what was edited by hand into something else counts as not known."""
    return names_from(get_setting(connection, NAMES + node_id, ""))


def names_from(text: str) -> dict[str, dict[str, str]]:
    """What `names_text` wrote; lines of another kind are left out."""
    found: dict[str, dict[str, str]] = {}
    for line in text.split("\n")[:_MOST]:
        source, *rest = line.split("\t")
        if len(rest) == 2 and all(0 < len(word) <= _MOST_CHARACTERS for word in rest):
            found.setdefault(source, {}).setdefault(*rest)
    return found


def names_text(names: CardNames) -> str:
    """One a line: source, place, name; what can't be printed is left out."""
    rows = [(source, place, name) for source, told in names.items() for place, name in told.items() if (source + place + name).isprintable()]
    return "\n".join(["\t".join(row) for row in rows[:_MOST]])


def keep_names(db: Database, node_id: str, names: CardNames) -> None:
    """Keep them; a place that has a name already keeps that one."""
    held = get_names(db.conn, node_id)
    for source, told in names.items():
        held[source] = {**told, **held.get(source, {})}
    save_setting(db, NAMES + node_id, names_text(held))


def get_numbers(connection: sqlite3.Connection, node_id: str) -> dict[str, int]:
    """By UUID the number that a watch of the node called each card by last, also of those that are gone; no two have one."""
    return numbers_from(get_setting(connection, NUMBERS + node_id, ""))


def numbers_from(text: str) -> dict[str, int]:
    """What `numbers_text` wrote; lines of another kind are left out."""
    found: dict[str, int] = {}
    for line in text.split("\n")[:_MOST]:
        uuid, _, number = line.partition("\t")
        if 0 < len(uuid) <= _MOST_CHARACTERS and number.isascii() and number.isdigit() and len(number) <= 4:
            found[uuid] = int(number)
    return found


def numbers_text(numbers: Mapping[str, int]) -> str:
    """One a line: UUID, number; what can't be printed is left out."""
    rows = [f"{uuid}\t{number}" for uuid, number in numbers.items() if uuid.isprintable()]
    return "\n".join(rows[:_MOST])


def keep_numbers(db: Database, node_id: str, numbers: Mapping[str, int]) -> None:
    """Keep them; a card that has one already gets this one, and one that was called so before has none any more."""
    told = {uuid: number for uuid, number in numbers.items() if uuid.isprintable()}
    held = {uuid: number for uuid, number in get_numbers(db.conn, node_id).items() if uuid not in told and number not in told.values()}
    save_setting(db, NUMBERS + node_id, numbers_text({**told, **held}))
