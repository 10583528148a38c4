"""What stands in a file of examples, and where is it wrong?"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from gpulease_gui.cli.codes import Exit
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import visible

E = TypeVar("E", bound=StrEnum)
MAX_BYTES = 64 * 1024 * 1024
# Figures beyond this are slips of the pen; bounded so that exact arithmetic stays quick.
_MOST = Decimal(10) ** 18
_DECIMALS = 20
WORDS_ABOUT_AN_EXAMPLE = ("expected", "note", "title", "title_en", "title_zh", "sources")


class Fields:
    """The keys of one table of the file; each is asked for once, the rest are unknown.

    Every fault is a UsageError that names the file, the example, the key and what to do.
    """

    def __init__(self, table: object, where: str, path: str = "") -> None:
        self.where = where
        self.path = path
        if not isinstance(table, dict):
            raise self.fault("", f"{_short(table)} is no table", "write { ... } with keys")
        self._table: dict[str, Any] = table
        self._asked: set[str] = set()

    def fault(self, key: str, what: str, next_step: str) -> UsageError:
        """A UsageError about `key` of this table."""
        place = ".".join(part for part in (self.path, key) if part)
        return UsageError(visible(": ".join(part for part in (self.where, place, what) if part)), next_step=visible(next_step))

    def has(self, key: str) -> bool:
        """Whether the key is there and not null."""
        self._asked.add(key)
        return self._table.get(key) is not None

    def raw(self, key: str) -> Any:
        """The value as it stands. Raises UsageError when the key is missing or null."""
        self._asked.add(key)
        if key not in self._table:
            raise self.fault(key, "the key is missing", f"add {key}")
        if self._table[key] is None:
            raise self.fault(key, "null says nothing", "leave the key out for its default, or write a value")
        return self._table[key]

    def amount(self, key: str, default: Decimal | None = None, *, most: int | None = None, above_zero: bool = False) -> Decimal:
        """A decimal of at least 0, as text or number; needed when there is no default."""
        if default is not None and self._absent(key):
            return default
        value = self._decimal(key)
        if value < 0 or (above_zero and value == 0) or (most is not None and value > most):
            span = f"{'more than 0' if above_zero else 'at least 0'}{'' if most is None else f', at most {most}'}"
            raise self.fault(key, f"{value} is out of range", f"write a number of {span}")
        return value

    def optional_amount(self, key: str, *, most: int | None = None, above_zero: bool = False) -> Decimal | None:
        """As `amount`; None when the key is absent or null."""
        return self.amount(key, most=most, above_zero=above_zero) if self.has(key) else None

    def whole(self, key: str, default: int | None = None, *, least: int = 0) -> int:
        """A whole number, needed when there is no default."""
        if default is not None and self._absent(key):
            return default
        value = self._decimal(key)
        if value != value.to_integral_value() or value < least:
            raise self.fault(key, f"{value} is no whole number from {least}", "write digits only")
        return int(value)

    def yes_no(self, key: str, default: bool) -> bool:
        """true or false."""
        if self._absent(key):
            return default
        value = self.raw(key)
        if not isinstance(value, bool):
            raise self.fault(key, f"{_short(value)} is neither yes nor no", "write true or false, without quotes")
        return value

    def choice(self, key: str, kind: type[E], default: E | None = None) -> E:
        """One word of `kind`, needed when there is no default."""
        if default is not None and self._absent(key):
            return default
        value = self.raw(key)
        if not isinstance(value, str) or value not in set(kind):
            raise self.fault(key, f"{_short(value)} is no choice", f"write one of: {', '.join(kind)}")
        return kind(value)

    def text(self, key: str, default: str | None = None) -> str:
        """Words, needed when there is no default."""
        if default is not None and self._absent(key):
            return default
        value = self.raw(key)
        if not isinstance(value, str):
            raise self.fault(key, f"{_short(value)} is no text", "put it in quotes")
        return value

    def day(self, key: str) -> date:
        """A date such as 2026-06-30."""
        words = self.text(key)
        try:
            return date.fromisoformat(words)
        except ValueError as error:
            raise self.fault(key, f"{words!r} is no date", "write it such as 2026-06-30") from error

    def moment(self, key: str) -> datetime:
        """A time with its zone, to the second."""
        words = self.text(key)
        try:
            moment = datetime.fromisoformat(words)
        except ValueError as error:
            raise self.fault(key, f"{words!r} is no time", "write it such as 2026-03-02T10:50:00+08:00") from error
        if moment.utcoffset() is None:
            raise self.fault(key, f"{words!r} has no zone", "add the offset, such as +08:00")
        if moment.microsecond:
            raise self.fault(key, f"{words!r} has parts of a second", "write whole seconds")
        return moment

    def table(self, key: str) -> Fields:
        """A table below this one."""
        return Fields(self.raw(key), self.where, f"{self.path}.{key}".lstrip("."))

    def tables(self, key: str) -> list[Fields]:
        """A list of tables; empty when the key is absent."""
        return [Fields(v, self.where, f"{self.path}.{key}[{n}]".lstrip(".")) for n, v in enumerate(self.entries(key))]

    def entries(self, key: str) -> list[Any]:
        """A list; empty when the key is absent or null."""
        if not self.has(key):
            return []
        value = self.raw(key)
        if not isinstance(value, list):
            raise self.fault(key, f"{_short(value)} is no list", "write [ ... ]")
        return value

    def amounts(self, key: str) -> dict[str, Decimal]:
        """A table of numbers of at least 0 by name."""
        inner = self.table(key)
        return {name: inner.amount(name) for name in inner._table}

    def done(self, *allowed: str) -> None:
        """Refuse every key that nobody asked for, but the `allowed` ones."""
        for key in self._table:
            if key not in self._asked and key not in allowed:
                near = difflib.get_close_matches(key, self._asked, n=1)
                raise self.fault(key, "unknown key", f"meant {near[0]}?" if near else f"known: {', '.join(sorted(self._asked))}")

    def _absent(self, key: str) -> bool:
        """Not there. Null is no default: an unknown price must not become one."""
        self._asked.add(key)
        return key not in self._table

    def _decimal(self, key: str) -> Decimal:
        value = self.raw(key)
        number = _number(value)
        if number is None:
            raise self.fault(key, f"{_short(value)} is no number", 'write digits and a dot, such as "16.20"')
        exponent = number.as_tuple().exponent
        if abs(number) > _MOST or not isinstance(exponent, int) or exponent < -_DECIMALS:
            raise self.fault(key, f"{_short(value)} cannot be meant", "at most 18 digits before the dot and 20 behind it")
        return number


def _number(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | str | Decimal):
        return None
    if isinstance(value, str) and not (value.strip().isascii() and len(value) < 100 and "_" not in value):
        return None
    try:
        number = Decimal(value.strip() if isinstance(value, str) else value)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _short(value: object) -> str:
    words = json.dumps(value, ensure_ascii=False, default=str)
    return words if len(words) <= 60 else words[:57] + "..."


@dataclass(frozen=True, slots=True)
class Example:
    """One example of a file: its id, its keys, and the conventions of the file (empty when it has none)."""

    id: str
    fields: Fields
    conventions: dict[str, Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of the commands that take a file of examples."""
    parser.add_argument("file", metavar="FILE", help="JSON with a list of examples; - is standard input")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def answer(options: argparse.Namespace, judge: Callable[[Example], dict[str, object]], line: Callable[[dict[str, Any]], str]) -> Exit:
    """Print the result of every example: as JSON, or one `line` each.

    One that can't be read costs no other its result: it has an `error` in place of one, and the exit code says so.
    """
    entries: list[dict[str, Any]] = []
    for example in examples_of(options.file):
        try:
            entries.append({"id": example.id, "result": _judged(judge, example)})
        except UsageError as error:
            entries.append({"id": example.id, "error": {"what": error.what, "why": error.why, "next_step": error.next_step}})
            print(visible(f"gpulease {options.command}: {error}"), file=sys.stderr)
    if options.json:
        # Escaped: a foreign id may hold half a surrogate pair, which no terminal can print.
        print(json.dumps({"examples": entries}, indent=1))
    else:
        for entry in entries:
            if "result" in entry:
                print(visible(f"{entry['id']}: {line(entry['result'])}"))
    return Exit.USAGE if any("error" in entry for entry in entries) else Exit.OK


def _judged(judge: Callable[[Example], dict[str, object]], example: Example) -> dict[str, object]:
    try:
        result = judge(example)
        example.fields.done(*WORDS_ABOUT_AN_EXAMPLE)
    except UsageError as error:
        if error.what.startswith(visible(example.fields.where)):
            raise
        raise UsageError(visible(f"{example.fields.where}: {error.what}"), error.why, error.next_step) from error
    return result


def examples_of(name: str) -> Iterator[Example]:
    """The examples of a file, one after the other. Raises UsageError."""
    whole = Fields(_read(name), name)
    conventions = whole.raw("conventions") if whole.has("conventions") else {}
    if not isinstance(conventions, dict):
        raise whole.fault("conventions", "it is no table", "write { ... }, or leave it out")
    whole.raw("examples")
    seen: set[str] = set()
    for number, entry in enumerate(whole.entries("examples")):
        id_ = Fields(entry, f"{name}: examples[{number}]").text("id")
        if id_ in seen:
            raise UsageError(visible(f"{name}: example {id_}: the id stands twice"), next_step="give each example an id of its own")
        seen.add(id_)
        fields = Fields(entry, f"{name}: example {id_}")
        fields.text("id")
        yield Example(id_, fields, conventions)


def _read(name: str) -> object:
    try:
        if name == "-":
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"can't read {name}", error.strerror or str(error), "check the path") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{name} is over {MAX_BYTES // 2**20} MiB", next_step="split it")
    try:
        return json.loads(data.decode("utf-8-sig"), parse_float=Decimal, parse_constant=_refuse, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{name} is no JSON", str(error), "write UTF-8 JSON with a list of examples") from error


def _refuse(word: str) -> object:
    raise ValueError(f"{word} is no number")


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one table")
    return table
