"""What value do the words mean that somebody typed for a commercial term, and how are they written back?

Typing is exact: a time needs its unit, a percentage its sign or a part of one, an amount the currency of the record.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.fields import validate_field
from gpulease_gui.domain.commercial import Column, Field, FieldKind, FieldValue, Row, Scalar
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.economics.quote_price import PriceReading, read_price
from gpulease_gui.economics.quote_units import read_day
from gpulease_gui.economics.quote_words import Ambiguous
from gpulease_gui.services.commercial_words import plain, seconds_text

_SECONDS = {
    **dict.fromkeys(("w", "wk", "week", "weeks", "周", "星期"), 604800), **dict.fromkeys(("d", "day", "days", "天", "日"), 86400),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "小时", "时"), 3600),
    **dict.fromkeys(("min", "mins", "minute", "minutes", "m", "分", "分钟"), 60),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "秒"), 1),
}  # fmt: skip
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+|周|星期|天|日|小时|时|分钟|分|秒)\s*")
_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+")
_NOTHING = frozenset(["none", "no", "无", "没有", "0"])


@dataclass(frozen=True, slots=True)
class BadCell:
    """Where in a list something was typed that can't be meant, counted from 0, and why."""

    line: int
    column: int
    words: Text


def read_typed(field: Field, words: str, currency: str, catalogue: Catalogue) -> FieldValue | Text | None:
    """The value, None for no words (not stated), or a sentence that says what is wrong with them."""
    if not words.strip():
        return None
    found = read_scalar(field, words, currency)
    if isinstance(found, Text):
        return found
    try:
        return validate_field(field.key, found, catalogue.fields)
    except UsageError as error:
        return _complaint(error, field.key)


def read_rows(field: Field, cells: list[list[str]], currency: str, catalogue: Catalogue) -> tuple[Row, ...] | BadCell:
    """The rows that were typed, without empty ones; or the first bad cell."""
    made: list[Row] = []
    for number, line in enumerate(cells):
        row: list[tuple[str, Scalar]] = []
        for place, (column, words) in enumerate(zip(field.columns, line, strict=True)):
            if not words.strip():
                continue
            found = read_scalar(column, words, currency)
            if isinstance(found, Text):
                return BadCell(number, place, found)
            row.append((column.key, found))
        if row:
            made.append(tuple(row))
    try:
        validate_field(field.key, tuple(made), catalogue.fields)
    except UsageError as error:
        return BadCell(0, 0, _complaint(error, field.key))
    return tuple(made)


def _complaint(error: UsageError, key: str) -> Text:
    said = error.whole_text
    return Text(*(re.sub(rf"^{re.escape(key)}[\w.]*(: |：)", "", words) for words in (said.en, said.zh)))


def read_scalar(field: Field | Column, words: str, currency: str) -> Scalar | Text:
    """One value of a kind, or what is wrong with the words."""
    said = words.strip()
    kind = field.kind
    if kind is FieldKind.SECONDS:
        return read_seconds(said)
    if kind is FieldKind.RATE:
        return read_rate(said)
    if kind is FieldKind.MONEY:
        return _money(said, currency)
    if kind is FieldKind.NUMBER:
        return _number(said, field.unit)
    if kind is FieldKind.WHOLE:
        return _whole(said, field.unit)
    if kind is FieldKind.DAY:
        return _day(said)
    if kind in (FieldKind.YES_NO, FieldKind.CHOICE):
        return _named(field, said)
    return said


def read_seconds(words: str) -> int | Text:
    """A duration in whole seconds.

    >>> read_seconds("1 d 12 h"), read_seconds("90 min"), read_seconds("1小时30分"), read_seconds("none")
    (129600, 5400, 5400, 0)
    >>> str(read_seconds("90"))
    '“90” has no unit of time: write such as 30 s, 10 min, 24 h or 7 d'
    """
    said = words.strip().casefold()
    if said in _NOTHING:
        return 0
    total, place = Decimal(0), 0
    while place < len(said) and (part := _PART.match(said, place)) is not None and part[2] in _SECONDS:
        total += Decimal(part[1]) * _SECONDS[part[2]]
        place = part.end()
    if place < len(said) or not said or total != total.to_integral_value():
        return Text(f"“{words}” has no unit of time: write such as 30 s, 10 min, 24 h or 7 d",
                    f"“{words}”不是时长：请写成 30 秒、10 分钟、24 小时或 7 天")  # fmt: skip
    return int(total)


def read_rate(said: str) -> Decimal | Text:
    """A part of the whole, as a percentage or as a decimal.

    >>> read_rate("6 %"), read_rate("0.06"), read_rate("99.95%")
    (Decimal('0.06'), Decimal('0.06'), Decimal('0.9995'))
    """
    figure = said.rstrip("%％ ")
    if not _NUMBER.fullmatch(figure):
        return _no_number(said, "%")
    value = Decimal(figure.replace(",", ""))
    value = value / 100 if figure != said else value
    if value > 1:
        return Text(f"“{said}” is more than the whole: write 6 % or 0.06", f"“{said}”超过 100 %：请写成 6 % 或 0.06")
    return value


def _money(said: str, currency: str) -> Decimal | Text:
    found = read_price(said)
    if isinstance(found, Ambiguous):
        found = found.options[0].reading
    if not isinstance(found, PriceReading) or found.upper is not None:
        return Text(f"“{said}” is no amount: write such as 16.20 or 3.6万", f"“{said}”不是金额：请写成 16.20 或 3.6万")
    if found.currency and currency and found.currency != currency:
        return Text(f"the amounts here are in {currency}, not {found.currency}: convert first", f"此处金额以 {currency} 计，不是 {found.currency}：请先换算")
    return Decimal(plain(found.amount)) if found.amount == found.amount.to_integral_value() else found.amount


def _number(said: str, unit: str) -> Decimal | Text:
    figure = said.removesuffix(unit).strip() if unit else said
    return Decimal(figure.replace(",", "")) if _NUMBER.fullmatch(figure) else _no_number(said, unit)


def _whole(said: str, unit: str) -> int | Text:
    value = _number(said, unit)
    if isinstance(value, Text):
        return value
    if value != value.to_integral_value():
        return Text(f"{said} is no whole number", f"{said} 不是整数")
    return int(value)


def _no_number(said: str, unit: str) -> Text:
    more_en, more_zh = (f"; the unit is {unit}", f"；单位是 {unit}") if unit else ("", "")
    return Text(f"“{said}” is no number{more_en}", f"“{said}”不是数字{more_zh}")


def _day(said: str) -> date | Text:
    found = read_day(said)
    if isinstance(found, date):
        return found
    return Text(f"“{said}” is no certain day: write it as 2026-12-31", f"“{said}”不是确定的日期：请写成 2026-12-31")


def _named(field: Field | Column, said: str) -> Scalar | Text:
    if field.kind is FieldKind.YES_NO:
        known: dict[str, Scalar] = {"yes": True, "是": True, "no": False, "否": False}
    else:
        known = {word.casefold(): c.key for c in field.choices for word in (c.key, c.label.en, c.label.zh)}
    found = known.get(said.casefold())
    return found if found is not None else Text(f"“{said}” is none of: {', '.join(known)}", f"“{said}”不在可选项中：{'、'.join(known)}")


def typed_text(field: Field | Column, value: Scalar | None) -> Text:
    """The words that `read_scalar` reads back as `value`; no words when it is None."""
    if value is None:
        return foreign("")
    if isinstance(value, bool):
        return Text("yes", "是") if value else Text("no", "否")
    if field.kind is FieldKind.SECONDS and isinstance(value, int):
        return seconds_text(value)
    if field.kind is FieldKind.RATE and isinstance(value, Decimal):
        return foreign(f"{plain(value * 100)} %")
    if isinstance(value, Decimal):
        return foreign(format(value, "f"))
    if isinstance(value, date):
        return foreign(value.isoformat())
    label = next((choice.label for choice in field.choices if choice.key == value), None)
    return label or foreign(str(value))
