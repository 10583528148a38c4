"""Which commercial terms can be written down, and is a given value one of them?"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, InvalidOperation

from gpulease_gui.catalog.loader import CatalogueFault, build, read_toml, resource
from gpulease_gui.domain.commercial import Column, Field, FieldKind, FieldValue, HolderOf, Row, Scalar, Stated, Terms
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text, foreign

# Files of resources/fields in the order of screens and reports.
GROUPS: Mapping[str, Text] = {
    "offer": Text("Offer", "报价"),
    "billing": Text("Billing", "计费"),
    "storage": Text("Storage and traffic", "存储与流量"),
    "commitment": Text("Commitment, deposit and leaving", "承诺、押金与退租"),
    "sla": Text("SLA and compensation", "SLA 与赔付"),
    "security": Text("Data security", "数据安全"),
    "contract": Text("Contract", "合同"),
    "supplier": Text("Supplier", "供应商"),
    "site": Text("Site", "机房"),
}


@dataclass(frozen=True, slots=True)
class _FieldFile:
    field: tuple[Field, ...]


def load_fields() -> Mapping[str, Field]:
    """All commercial terms of resources/fields by key, in the order of `GROUPS`. Raises CatalogueFault."""
    found: dict[str, Field] = {}
    for group in GROUPS:
        file = f"{group}.toml"
        for entry in build(_FieldFile, read_toml(resource("fields", file)), file).field:
            if entry.key in found or entry.group != group:
                raise CatalogueFault(file, entry.key, "the field stands twice, or in the file of another group")
            if (entry.kind is FieldKind.CHOICE) != bool(entry.choices) or (entry.kind is FieldKind.ROWS) != bool(entry.columns):
                raise CatalogueFault(file, entry.key, "choices belong to a choice, columns to rows")
            found[entry.key] = entry
    return found


def fields_of(fields: Mapping[str, Field], holder: HolderOf) -> tuple[Field, ...]:
    """The fields that a kind of record has."""
    return tuple(entry for entry in fields.values() if holder in entry.holders)


def validate_field(key: str, value: object, fields: Mapping[str, Field]) -> FieldValue:
    """`value` as the field keeps it; text is read where that is exact (a decimal, a day).

    Raises UsageError that says what is wrong where, and how to write it.
    """
    entry = fields.get(key)
    if entry is None:
        near = difflib.get_close_matches(key, fields, n=3, cutoff=0.5)
        closest = Text(f"closest: {', '.join(near)}", f"最接近的有：{'、'.join(near)}") if near else Text("see the list of fields", "请查看字段列表")
        raise UsageError(Text(f"{key}: there is no such field", f"{key}：没有这个字段"), next_step=closest)
    if entry.kind is FieldKind.ROWS:
        return _rows(entry, value)
    return _scalar(key, entry, value)


def validate_terms(terms: Terms, fields: Mapping[str, Field]) -> Terms:
    """The terms with every value as its field keeps it. Raises UsageError."""
    return Terms({key: _validated(key, said, fields) for key, said in terms.stated.items()})


def _validated(key: str, said: Stated, fields: Mapping[str, Field]) -> Stated:
    return said if said.value is None else replace(said, value=validate_field(key, said.value, fields))


def _scalar(key: str, entry: Field | Column, value: object) -> Scalar:
    return _READERS[entry.kind](key, entry, value)


def _rows(entry: Field, value: object) -> tuple[Row, ...]:
    if not isinstance(value, list | tuple):
        raise UsageError(Text(f"{entry.key}: {value!r} is no list", f"{entry.key}：{value!r} 不是列表"), next_step=Text("write one row after the other", "请逐行填写"))
    columns = {column.key: column for column in entry.columns}
    return tuple(_row(entry.key, columns, row) for row in value)


def _row(key: str, columns: Mapping[str, Column], row: object) -> Row:
    cells = dict(row) if isinstance(row, tuple | list | Mapping) else {}
    for name in cells:
        if name not in columns:
            raise UsageError(Text(f"{key}: there is no column {name!r}", f"{key}：没有列 {name!r}"), next_step=Text(f"the columns are {', '.join(columns)}", f"可用的列：{'、'.join(columns)}"))
    return tuple((name, _scalar(f"{key}.{name}", columns[name], cells[name])) for name in columns if cells.get(name) not in (None, ""))


def _text(key: str, entry: Field | Column, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise UsageError(Text(f"{key}: {value!r} is no text", f"{key}：{value!r} 不是文字"), next_step=Text("write some words, or leave it open", "请填写文字，或留空"))
    return value.strip()


def _choice(key: str, entry: Field | Column, value: object) -> str:
    known = [choice.key for choice in entry.choices]
    if value not in known:
        raise UsageError(Text(f"{key}: {value!r} is no choice", f"{key}：{value!r} 不在可选范围内"), next_step=Text(f"write one of: {', '.join(known)}", f"请填写其中之一：{'、'.join(known)}"))
    return str(value)


def _decimal(key: str, entry: Field | Column, value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise UsageError(Text(f"{key}: {value!r} is no decimal", f"{key}：{value!r} 不是小数"), next_step=_DIGITS)
    try:
        found = value if isinstance(value, Decimal) else Decimal(str(value).strip())
    except InvalidOperation:
        found = Decimal("NaN")
    if not found.is_finite() or found < 0:
        raise UsageError(Text(f"{key}: {value!r} is no amount", f"{key}：{value!r} 不是金额或数量"), next_step=_DIGITS)
    return found


def _rate(key: str, entry: Field | Column, value: object) -> Decimal:
    found = _decimal(key, entry, value)
    if found > 1:
        raise UsageError(Text(f"{key}: {value} is more than the whole", f"{key}：{value} 超过了 100 %"), next_step=Text("write 0.06 for 6 %", "6 % 请写作 0.06"))
    return found


def _whole(key: str, entry: Field | Column, value: object) -> int:
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0 or value >= 1 << 53:
        unit = foreign(entry.unit) if entry.unit else _UNITS.get(entry.kind, _ONES)
        raise UsageError(Text(f"{key}: {value!r} is no whole number", f"{key}：{value!r} 不是非负整数"), next_step=Text(f"count in {unit.en}", f"请按{unit.zh}填写整数"))
    return value


def _yes_no(key: str, entry: Field | Column, value: object) -> bool:
    if not isinstance(value, bool):
        raise UsageError(Text(f"{key}: {value!r} is neither yes nor no", f"{key}：{value!r} 既不是“是”也不是“否”"), next_step=Text("write true or false; leave it open when unknown", "请填写 true 或 false；未知请留空"))
    return value


def _day(key: str, entry: Field | Column, value: object) -> date:
    if isinstance(value, date):
        return value
    try:
        return date.fromisoformat(str(value).strip())
    except ValueError:
        raise UsageError(Text(f"{key}: {value!r} is no day", f"{key}：{value!r} 不是日期"), next_step=Text("write it as 2026-03-31", "请写作 2026-03-31")) from None


_UNITS, _ONES = {FieldKind.SECONDS: Text("seconds", "秒")}, Text("ones", "个数")
_DIGITS = Text("write digits and a dot, such as 16.20", "请填写数字与小数点，如 16.20")
_READERS: Mapping[FieldKind, Callable[[str, Field | Column, object], Scalar]] = {
    FieldKind.TEXT: _text, FieldKind.CHOICE: _choice, FieldKind.MONEY: _decimal, FieldKind.NUMBER: _decimal,
    FieldKind.RATE: _rate, FieldKind.WHOLE: _whole, FieldKind.SECONDS: _whole, FieldKind.YES_NO: _yes_no, FieldKind.DAY: _day,
}  # fmt: skip
