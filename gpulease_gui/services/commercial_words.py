"""How is a commercial value written for people?"""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from gpulease_gui.domain.commercial import Column, Field, FieldKind, FieldValue, Scalar
from gpulease_gui.domain.money import amount_text
from gpulease_gui.domain.supplier import FxRate
from gpulease_gui.domain.text import NO_TEXT, Text, foreign, visible

NOT_STATED = Text("not stated", "未约定")
_UNITS = {
    "GPUs": Text("GPUs", "卡"), "nodes": Text("nodes", "台"), "days": Text("days", "天"), "months": Text("months", "个月"),
    "h": Text("h", "小时"), "GPU-h": Text("GPU-hours", "卡时"),
}  # fmt: skip
PRICE_UNITS = {
    "gpu_hour": Text("GPU-hour", "卡时"), "node_hour": Text("node-hour", "台时"), "gpu_day": Text("GPU-day", "卡天"),
    "node_day": Text("node-day", "台天"), "gpu_month": Text("GPU-month", "卡月"), "node_month": Text("node-month", "台月"),
}  # fmt: skip
PRICE_MODES = {
    "on_demand": Text("on demand", "按需"), "reserved": Text("reserved", "预留"), "prepaid": Text("prepaid", "预付"),
    "spot": Text("spot", "竞价"), "subscription": Text("subscription", "包月"), "custom": Text("custom", "定制"),
}  # fmt: skip


def field_text(field: Field, value: FieldValue | None, currency: str = "") -> Text:
    """The value of a field with its unit; money in `currency`. None is "not stated", never blank."""
    if value is None:
        return NOT_STATED
    if isinstance(value, tuple):
        columns = {column.key: column for column in field.columns}
        rows = [[_scalar(columns[name], cell, currency) for name, cell in row if name in columns] for row in value]
        lines = [Text(" ".join(c.en for c in row), " ".join(c.zh for c in row)) for row in rows]
        return Text("; ".join(line.en for line in lines), "；".join(line.zh for line in lines)) if lines else Text("none", "无")
    return _scalar(field, value, currency)


def field_figure(field: Field, value: FieldValue) -> tuple[Decimal | None, Text]:
    """The value as a number that can be counted with, and its unit: per cent, seconds, or that of the field. None = words."""
    if isinstance(value, bool | str | date | tuple):
        return None, NO_TEXT
    if field.kind is FieldKind.SECONDS:
        return Decimal(value), Text("s", "秒")
    if field.kind is FieldKind.RATE:
        return Decimal(value) * 100, foreign("%")
    return Decimal(value), _UNITS.get(field.unit, foreign(field.unit))


def _scalar(field: Field | Column, value: Scalar, currency: str) -> Text:
    if isinstance(value, bool):
        return Text("yes", "是") if value else Text("no", "否")
    if field.kind is FieldKind.SECONDS and isinstance(value, int):
        return seconds_text(value)
    if isinstance(value, Decimal):
        return _decimal(field, value, currency)
    if isinstance(value, int):
        return _with_unit(f"{value:,}", field.unit)
    if isinstance(value, date):
        return foreign(value.isoformat())
    label = next((choice.label for choice in field.choices if choice.key == value), None)
    return label or foreign(visible(value))


def _decimal(field: Field | Column, value: Decimal, currency: str) -> Text:
    if field.kind is FieldKind.RATE:
        return foreign(f"{plain(value * 100)} %")
    if field.kind is FieldKind.MONEY:
        return foreign(f"{currency} {amount_text(value)}".strip())
    return _with_unit(plain(value), field.unit)


def _with_unit(figure: str, unit: str) -> Text:
    words = _UNITS.get(unit, foreign(unit))
    en = words.en.removesuffix("s") if figure == "1" and unit in _UNITS else words.en
    return Text(f"{figure} {en}".rstrip(), f"{figure} {words.zh}".rstrip())


def plain(value: Decimal) -> str:
    """A decimal without needless zeros, never in exponent form.

    >>> plain(Decimal("99.50")), plain(Decimal("100")), plain(Decimal("0.000"))
    ('99.5', '100', '0')
    """
    text = format(value, "f")
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def rate_text(rate: FxRate) -> Text:
    """A rate with what is added to it, its day and who said so.

    >>> str(rate_text(FxRate("USD", "CNY", Decimal("7.20"), date(2026, 3, 31), "bank", Decimal("0.03"))))
    '1 USD = 7.20 CNY + 3 % surcharge (2026-03-31, bank)'
    """
    said, source = f"1 {rate.from_currency} = {rate.rate:f} {rate.to_currency}", visible(rate.source)
    more = surcharge_text(rate)
    return Text(f"{said}{more.en} ({rate.day}{', ' if source else ''}{source})", f"{said}{more.zh}（{rate.day}{'，' if source else ''}{source}）")


def surcharge_text(rate: FxRate) -> Text:
    """What is added to a rate, to stand behind it; nothing where nothing is."""
    share = plain(rate.surcharge * 100)
    return Text(f" + {share} % surcharge", f" + {share} % 手续费") if rate.surcharge else NO_TEXT


_STEPS = ((86400, Text("d", "天")), (3600, Text("h", "小时")), (60, Text("min", "分钟")), (1, Text("s", "秒")))


def seconds_text(seconds: int) -> Text:
    """A duration in the largest unit that it is a whole number of; nothing is "none".

    >>> str(seconds_text(3600)), str(seconds_text(5400)), str(seconds_text(0))
    ('1 h', '90 min', 'none')
    """
    if seconds == 0:
        return Text("none", "无")
    size, unit = next((size, unit) for size, unit in _STEPS if seconds % size == 0)
    return Text(f"{seconds // size:,} {unit.en}", f"{seconds // size:,} {unit.zh}")
