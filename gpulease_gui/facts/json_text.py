"""Where in a tool's output is the JSON document, and what do its members hold?"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.facts.table_text import first_line

# A torn number, word or string is noticed a little before the end of the text.
_TORN_TAIL = 16
# A brace in a banner or a log line is no document: a name in quotes, the closing brace or the end of the text follows.
_OBJECT = re.compile(r"\{(?=\s{0,400}(?:[\"}]|\Z))")


def document_start(text: str) -> int | None:
    """Where the first JSON object of `text` begins; None when there is none."""
    found = _OBJECT.search(text)
    return found.start() if found else None


def document(text: str) -> dict[str, Any]:
    """The first JSON object in `text`; banners and error lines around it are passed over.

    Raises Unreadable: `cut_off` when the text ends before the object does, `unreadable` when there is none.
    """
    start = document_start(text)
    if start is None:
        raise Unreadable(f"no JSON in the output: {first_line(text) or 'it is empty'}")
    try:
        found, _ = json.JSONDecoder().raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise _broken(text, error) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, brackets without end
        raise Unreadable("the JSON document holds what no tool prints") from error
    return member({"document": found}, "document")


def _broken(text: str, error: json.JSONDecodeError) -> Unreadable:
    at_end = error.pos >= len(text.rstrip()) - _TORN_TAIL or error.msg.startswith("Unterminated string")
    if at_end:
        return Unreadable(
            "the JSON document breaks off", code=Reason.CUT_OFF, next_step="run it again and keep the whole output"
        )
    return Unreadable(f"the JSON document is broken at character {error.pos:,}: {error.msg}")


def events(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects of a text with one object per line; broken lines end it."""
    for line in text.splitlines():
        if not line.strip().startswith("{"):
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            return
        if isinstance(found, dict):
            yield found


def member(holder: Any, *path: str) -> dict[str, Any]:
    """The object at `path`; an empty one when it is missing or no object."""
    for name in path:
        holder = holder.get(name) if isinstance(holder, dict) else None
    return holder if isinstance(holder, dict) else {}


def items(holder: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """The objects in the list `name`; an empty list when it is missing."""
    found = holder.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def figure(holder: dict[str, Any], name: str) -> float | None:
    """The finite number `name`; None when it is missing, a truth value, text or not finite."""
    found = holder.get(name)
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        return None
    try:
        plain = float(found)
    except OverflowError:  # a whole number of more than 308 digits
        return None
    return plain if math.isfinite(plain) else None


def is_nothing(holder: dict[str, Any], name: str) -> bool:
    """Whether the number `name` is nought or NaN: what a tool prints as its rate when nothing moved."""
    found = holder.get(name)
    return isinstance(found, int | float) and not isinstance(found, bool) and (found == 0 or found != found)


def count(holder: dict[str, Any], name: str) -> int | None:
    """The whole number `name`; None when it is none."""
    found = figure(holder, name)
    return int(found) if found is not None and found == int(found) else None


def words(holder: dict[str, Any], name: str) -> str | None:
    """The text `name`; None when it is missing, no text or empty."""
    found = holder.get(name)
    return found.strip() or None if isinstance(found, str) else None
