"""What may stand in a field of an exchange bundle?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from gpulease_gui.domain.finding import Finding
from gpulease_gui.domain.text import Text
from gpulease_gui.store.codec import finding_from, finding_text

Rule = Callable[[object], bool]
MOST_TEXT = 1_000_000
MOST_FINDING = 4_000_000
MOST_NAME = 1000
_FAR = 2**53
_WHOLE_DIGITS = re.compile(r"0|[1-9][0-9]{0,18}")


def text(value: object) -> bool:
    """Words, not endless ones, that a database column takes."""
    return isinstance(value, str) and len(value) <= MOST_TEXT and _is_whole(value)


def _is_whole(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def one_of(*words: str) -> Rule:
    """One of these words."""
    return lambda value: isinstance(value, str) and value in words


def _reads(read: Callable[[str], object]) -> Rule:
    def rule(value: object) -> bool:
        try:
            return isinstance(value, str) and len(value) <= 100 and read(value) is not None
        except ValueError:
            return False

    return rule


def maybe(rule: Rule) -> Rule:
    """As `rule`, or null for not stated."""
    return lambda value: value is None or rule(value)


_PLAIN_DIGITS = re.compile(r"\d{1,30}(?:\.\d{1,30})?")


def _amount(words: str) -> Decimal | None:
    return Decimal(words) if _PLAIN_DIGITS.fullmatch(words) else None


def _moment(words: str) -> datetime | None:
    at = datetime.fromisoformat(words)
    return at if at.tzinfo else None


def _calendar_day(words: str) -> date | None:
    """Only as we write days: what is kept in another spelling would differ from itself after the next export."""
    day = date.fromisoformat(words)
    return day if day.isoformat() == words else None


money, day, at = _reads(_amount), _reads(_calendar_day), _reads(_moment)
factor = _reads(lambda words: _amount(words) or None)
share = _reads(lambda words: said if (said := _amount(words)) is not None and said < 1 else None)
sha256 = _reads(re.compile(r"[0-9a-f]{64}").fullmatch)
figure = _reads(lambda words: None if float(words) in (float("inf"), float("-inf")) or float(words) != float(words) else float(words))


def currency(value: object) -> bool:
    """Three capital letters."""
    return isinstance(value, str) and len(value) == 3 and value.isascii() and value.isupper()


def whole(value: object) -> bool:
    """A whole number that every program reads exactly."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _FAR


def nanoseconds(value: object) -> bool:
    """Nanoseconds since 1970 UTC as decimal text, up to the year 2262: as a number other programs would round them."""
    return isinstance(value, str) and _WHOLE_DIGITS.fullmatch(value) is not None and int(value) < 2**63


def name(value: object) -> bool:
    """Words that name something: an id, a card, an interface."""
    return text(value) and len(str(value)) <= MOST_NAME


def number(value: object) -> bool:
    """A finite number."""
    return whole(value) or (isinstance(value, float) and value == value and abs(value) != float("inf"))


def port(value: object) -> bool:
    """A port of a computer."""
    return whole(value) and 1 <= int(str(value)) <= 65535


def bit(value: object) -> bool:
    """0 or 1."""
    return whole(value) and value in (0, 1)


def json_object(value: object) -> bool:
    """Text that is one JSON object."""
    return text(value) and isinstance(_parsed(value), dict)


def json_value(value: object) -> bool:
    """A promised value as the store keeps it: JSON of one plain value, or null for not stated."""
    if not text(value):
        return False
    inner = _parsed(value)
    return value == "null" or (isinstance(inner, str) and stated(inner))


def stated(value: object) -> bool:
    """JSON of one plain value."""
    parsed = _parsed(value)
    return text(value) and (_is_plain(parsed) if parsed is not None else value == "null")


def json_list(value: object) -> bool:
    """Text that is a JSON list of words."""
    said = _parsed(value)
    return isinstance(said, list) and all(text(word) for word in said)


def json_values(value: object) -> bool:
    """Text that is one JSON object of plain values."""
    said = _parsed(value)
    return text(value) and isinstance(said, dict) and all(one is not None and _is_plain(one) for one in said.values())


def _parsed(value: object) -> Any:
    try:
        return json.loads(value, parse_constant=_no_constant) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return None


def _no_constant(word: str) -> object:
    raise ValueError(f"{word} is no value")


def _is_plain(value: object) -> bool:
    if isinstance(value, dict):  # how the three numbers are written for which JSON has no word
        return value.keys() == {"number"} and value["number"] in ("nan", "inf", "-inf")
    return value is None or isinstance(value, str | int | float | bool)


def finding(value: object) -> bool:
    """A finding as the store keeps it, every part of its kind: it is shown without another look."""
    if not isinstance(value, str) or len(value) > MOST_FINDING or not _is_whole(value):
        return False
    try:
        read = finding_from(value)
        return _is_sound(read) and bool(finding_text(read))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return False


def _is_sound(read: Finding) -> bool:
    words = (read.check, read.unit, read.reason_code, read.direction, *(one.id for one in read.subjects))
    texts = (read.reason, read.next_step, *(one.reason for one in read.subjects), *(one.title for one in read.judged_by))
    values = (read.promised, read.measured, *(one.measured for one in read.subjects))
    return (
        all(isinstance(word, str) for word in words) and all(word is None or isinstance(word, str) for word in (read.term, read.better))
        and all(_says(one) for one in texts) and all(value is None or isinstance(value, str | int | float | bool) for value in values)
        and all(sha256(one) for one in read.evidence) and whole(read.rule_version) and isinstance(read.required, bool)
        and all(one.index is None or whole(one.index) for one in read.subjects)
        and all(isinstance(word, str) for one in read.judged_by for word in (one.check, one.name, one.unit, one.source, one.sign))
    )  # fmt: skip


def _says(words: Text) -> bool:
    return isinstance(words.en, str) and isinstance(words.zh, str)
