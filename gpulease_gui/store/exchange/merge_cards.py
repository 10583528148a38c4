"""What are the cards of a node called when two workspaces that both know it become one?

What is called something here keeps it: its readings stand under it. What only the other side knows comes along, unless
something else is called so here.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace

from gpulease_gui.store.card_names import NAMES, names_from, names_text, numbers_from, numbers_text
from gpulease_gui.store.codec import json_text
from gpulease_gui.store.exchange.bundle_schema import Record
from gpulease_gui.store.exchange.bundle_watch import node_of_cards
from gpulease_gui.store.settings import get_setting


def with_ours(connection: sqlite3.Connection, record: Record) -> Record:
    """A setting that says what the cards of a node are called, with what stands here; any other record as it is."""
    if record.section.kind != "setting" or not node_of_cards(record.key[0]):
        return record
    join = _names if record.key[0].startswith(NAMES) else _numbers
    return replace(record, fields=(("value", json_text(join(get_setting(connection, record.key[0], ""), json.loads(str(record.value("value")))))),))


def _names(ours: str, theirs: str) -> str:
    held = names_from(ours)
    for source, told in names_from(theirs).items():
        here = held.setdefault(source, {})
        for place, name in told.items():
            if place not in here and name not in here.values():
                here[place] = name
    return names_text(held)


def _numbers(ours: str, theirs: str) -> str:
    held = numbers_from(ours)
    for card, number in numbers_from(theirs).items():
        if card not in held and number not in held.values():
            held[card] = number
    return numbers_text(held)
