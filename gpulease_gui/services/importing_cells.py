"""What does one cell of a quote say to the column that it stands in?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import TypeAlias

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.fields import validate_field
from gpulease_gui.catalog.terms import validate_term
from gpulease_gui.domain.commercial import Field, FieldKind, FieldValue
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.term import Term, TermKind, TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.quote_units import (
    RateReading,
    SizeReading,
    read_count,
    read_day,
    read_number,
    read_rate,
    read_size,
    read_whole_node,
    read_yes_no,
)
from gpulease_gui.economics.quote_words import Ambiguous, Doubtful, Option, Unread, Unstated, plain, says_nothing
from gpulease_gui.services.importing_amounts import (
    Elsewhere,
    foreign_unit,
    number_of,
    read_amount,
    read_discount,
    read_money,
    read_part,
    read_payment,
    read_seconds,
    whole_of,
)
from gpulease_gui.services.importing_targets import Part

Read: TypeAlias = (
    "TermValue | FieldValue | Elsewhere | Ambiguous[TermValue] | Ambiguous[FieldValue | Elsewhere | Unstated] | Doubtful[FieldValue] | Unread | Unstated"
)

_SOLD_BINARY = ("gpu.memory_gb", "npu.memory_gb", "ram_gb")
_CHOICES: Mapping[str, str] = {
    "bare_metal": "裸金属|物理机|bare metal|baremetal|裸机|独占物理机", "vm": "虚拟机|云主机|云服务器|vm|virtual machine", "container": "容器|docker|container|pod|容器实例",
    "dedicated": "独占|独享|dedicated|exclusive", "shared": "共享|shared", "sxm": "sxm|sxm2|sxm3|sxm4|sxm5|模组", "pcie": "pcie|pci-e|pci e", "nvl": "nvl",
    "oam": "oam", "module": "module", "nvswitch": "nvswitch|nv switch|hgx", "nvlink": "nvlink|nv link", "nvlink_bridge": "nvlink bridge|nvlink桥接|桥接",
    "infiniband": "ib|infiniband|ib网络|ndr|hdr", "roce": "roce|rocev2|roce v2|rdma以太网", "ethernet": "以太网|ethernet|tcp|普通以太网",
    "on_demand": "按需|按量|按量付费|按需付费|按量计费|按需计费|后付费|on demand|on-demand|pay as you go", "reserved": "预留|包年包月|reserved|长租", "prepaid": "预付|预付费|prepaid",
    "spot": "竞价|抢占式|spot|preemptible|interruptible", "subscription": "订阅|包月|包年|包季|包周|包日|包天|subscription|monthly", "custom": "定制|custom",
    "available": "现货|有货|available|in stock|是|有", "waitlist": "排队|预约|waitlist|pre-order|期货", "unavailable": "无货|缺货|unavailable|out of stock|否|无", "unknown": "未知|unknown",
}  # fmt: skip


def read_term(term: Term, words: str, heading: str, catalogue: Catalogue) -> Read:
    """The value of a technical term as the catalogue keeps it."""
    found = _of_term(term, words, heading, catalogue)
    if isinstance(found, Unread | Unstated):
        return found
    if isinstance(found, Ambiguous):
        # An option that the term can't have (12,800 Gbit/s of one network card) is no option.
        kept = tuple(o for o in found.options if not isinstance(_valid(term, o.reading, catalogue, words), Unread))
        if len(kept) > 1:
            return Ambiguous(found.kind, found.words, found.question, kept)
        return kept[0].reading if kept else _valid(term, found.options[0].reading, catalogue, words)
    return _valid(term, found, catalogue, words)


def _valid(term: Term, value: TermValue, catalogue: Catalogue, words: str) -> TermValue | Unread:
    try:
        return validate_term(term.key, value, catalogue)
    except UsageError as error:
        why = "; ".join(part for part in (error.what.removeprefix(f"{term.key}: "), error.why) if part)
        return Unread(words, Text(why, _why_zh(term)), Text(error.next_step or "write it again", _next_zh(term)))


def _why_zh(term: Term) -> str:
    if term.minimum is not None and term.maximum is not None:
        return f"超出 {term.minimum:g} 至 {term.maximum:g} 的范围"
    return f"“{term.label.zh}”不能取该值"


def _next_zh(term: Term) -> str:
    return f"单位为 {term.unit}，请改写" if term.unit else "请改写，或将单元格留空"


def _of_term(term: Term, words: str, heading: str, catalogue: Catalogue) -> TermValue | Ambiguous[TermValue] | Unread | Unstated:
    if says_nothing(words):
        return Unstated(words)
    if term.kind is TermKind.COUNT:
        return _other_thing(term.key, words) or foreign_unit(words) or read_count(_counted(words))
    if term.kind is TermKind.YES_NO:
        return read_yes_no(words)
    if term.kind is TermKind.NUMBER:
        return _measure(term, words, heading)
    return _choice(term.choices, words) if term.choices else plain(words)


_NODES = re.compile(r"台|节点|服务器|node|server|machine", re.IGNORECASE)
_CARDS = re.compile(r"卡|张|gpu|npu|card", re.IGNORECASE)


def _other_thing(key: str, words: str) -> Unread | None:
    """ "2台" is no count of cards, "8卡" none of nodes."""
    nodes, cards = _NODES.search(words) is not None, _CARDS.search(words) is not None
    if key == "node.count" and cards and not nodes:
        return Unread(words, Text("this counts cards, the column counts nodes", "此处为卡数，该列为台数"), Text("map the column to GPUs per node", "请将该列改为单机卡数"))
    if key in ("gpu.count", "npu.count") and nodes and not cards:
        return Unread(words, Text("this counts nodes, the column counts cards", "此处为台数，该列为卡数"), Text("map the column to the number of nodes", "请将该列改为台数"))
    return None


def _counted(words: str) -> str:
    """"单卡" and "八卡" are counts too."""
    said = plain(words)
    for word, digit in (("单", "1"), ("双", "2"), ("两", "2"), ("四", "4"), ("八", "8"), ("十六", "16")):
        if said.startswith(f"{word}卡") or said.startswith(f"{word}张"):
            return digit
    return said.lstrip("xX* ")


def _measure(term: Term, words: str, heading: str) -> TermValue | Ambiguous[TermValue] | Unread | Unstated:
    unit = term.unit.split(" ")[0]
    if unit in _RATES:
        return _rate(words, heading, _RATES[unit])
    if unit == "GB":
        found = read_size(words, heading)
        if not isinstance(found, SizeReading):
            return found
        return _float(found.sold_gb if term.key in _SOLD_BINARY else found.decimal_gb)
    number = foreign_unit(words, unit) or read_number(words)
    return _float(number) if isinstance(number, Decimal) else number


_RATES: Mapping[str, Callable[[RateReading], Decimal]] = {
    "Gbit/s": lambda rate: rate.gbit_s, "Mbit/s": lambda rate: rate.gbit_s * 1000, "GB/s": lambda rate: rate.gb_s,
    "MB/s": lambda rate: rate.gb_s * 1000,
}  # fmt: skip


def _rate(words: str, heading: str, unit: Callable[[RateReading], Decimal]) -> TermValue | Ambiguous[TermValue] | Unread | Unstated:
    found = read_rate(words, heading)
    if isinstance(found, RateReading):
        return _float(unit(found))
    if isinstance(found, Ambiguous):
        rates: tuple[Option[TermValue], ...] = tuple(Option(o.id, o.label, _float(unit(o.reading))) for o in found.options)
        return Ambiguous(found.kind, found.words, found.question, rates)
    return found


def _float(value: Decimal) -> int | float:
    return int(value) if value == int(value) else float(value)


def _choice(choices: tuple[str, ...], words: str) -> str | Unread:
    said = plain(words).casefold()
    for choice in choices:
        if said in (choice, choice.replace("_", " ")) or said in _CHOICES.get(choice, "").split("|"):
            return choice
    inside = [choice for choice in choices if any(w in said for w in _CHOICES.get(choice, choice).split("|") if len(w) > 2 or not w.isascii())]
    if len(inside) == 1:
        return inside[0]
    known = ", ".join(choices)
    return Unread(words, Text("this is no choice", "不在可选值之内"), Text(f"write one of: {known}", f"请写以下之一：{known}"))


def read_field(field: Field, words: str, heading: str, catalogue: Catalogue) -> Read:
    """The value of a commercial field as the catalogue keeps it."""
    found = _of_field(field, words, heading)
    if isinstance(found, Unread | Unstated | Ambiguous | Doubtful):
        return found
    try:
        if isinstance(found, Elsewhere):
            if found.key == Part.MODE:
                return found
            return replace(found, value=validate_field(found.key, found.value, catalogue.fields))
        return validate_field(field.key, found, catalogue.fields)
    except UsageError as error:
        return Unread(words, Text(error.what, error.what), Text(error.next_step, error.next_step))


def _of_field(field: Field, words: str, heading: str) -> Read:
    if says_nothing(words):
        return Unstated(words)
    if field.kind is FieldKind.CHOICE:
        labelled = next((c.key for c in field.choices if plain(words) in (c.label.en, c.label.zh)), None)
        found = labelled or _choice(tuple(choice.key for choice in field.choices), words)
        return replace(found, next_step=_one_of(field)) if isinstance(found, Unread) else found
    own = _OWN_WORDS.get(field.key)
    return own(field, words, heading) if own else _of_kind(field, words, heading)


def _one_of(field: Field) -> Text:
    en, zh = ", ".join(c.label.en for c in field.choices), "、".join(c.label.zh for c in field.choices)
    return Text(f"write one of: {en}", f"请写以下之一：{zh}")


def _text(words: str, heading: str) -> Read:
    return words


def _day(words: str, heading: str) -> Read:
    found = read_day(words)
    return found


def _of_kind(field: Field, words: str, heading: str) -> Read:
    if field.kind is FieldKind.MONEY:
        return read_money(field, words, heading)
    if field.kind is FieldKind.NUMBER:
        return read_amount(field, words, heading, number_of)
    if field.kind is FieldKind.WHOLE:
        return read_amount(field, _counted(words), heading, whole_of)
    if field.kind is FieldKind.SECONDS:
        return _time_or_mode(field, words, heading)
    return _FIELDS.get(field.kind, _text)(words, heading)


def _time_or_mode(field: Field, words: str, heading: str) -> Read:
    """A time; "包月" in a column of billing says how it is rented, and no time."""
    found = read_seconds(field, words, heading)
    mode = read_mode(words) if isinstance(found, Unread) and field.key.startswith("billing.") else None
    if not isinstance(mode, str):
        return found
    if field.key == "billing.granularity_s":
        return Elsewhere(str(Part.MODE), mode)
    empty: Doubtful[FieldValue] = Doubtful(words, None, Text("this says how it is rented, and no time", "此处为付费方式，未写明时长"),  # type: ignore[arg-type]  # nothing is kept
                                           Text("the offer comes without the time; write such as 24 hours", "导入后不含此项；请写成例如 24 小时"))  # fmt: skip
    return empty


_FIELDS: Mapping[FieldKind, Callable[[str, str], Read]] = {
    FieldKind.RATE: read_part, FieldKind.YES_NO: lambda words, _: read_yes_no(words), FieldKind.DAY: _day,
}  # fmt: skip
_OWN_WORDS: Mapping[str, Callable[[Field, str, str], Read]] = {
    "billing.whole_node_only": lambda _, words, __: read_whole_node(words), "billing.discounts": lambda _, words, above: read_discount(words, above),
    "deposit.pay_days": lambda field, words, _: read_payment(field, words),
}  # fmt: skip


def read_mode(words: str) -> str | Unread | Unstated:
    """How firmly the machine is rented: the key of a price mode."""
    if says_nothing(words):
        return Unstated(words)
    return _choice(("on_demand", "reserved", "prepaid", "spot", "subscription", "custom"), words)


_SERIALS = range(40_000, 80_000)  # 2009 to 2119, counted as spreadsheets do


def day_of(cell: object, words: str) -> date | Ambiguous[date] | Doubtful[date | None] | Unstated:
    """A day: a date cell as it is, else its words; a bare number is the day that a spreadsheet counts so.

    Words that name no day ("30天", "长期有效") leave it open, with a warning.
    """
    if isinstance(cell, date):
        return cell
    if re.fullmatch(r"[4-7]\d{4}", words) and int(words) in _SERIALS:
        day = date(1899, 12, 30) + timedelta(days=int(words))
        return Doubtful(words, day, Text(f"a day number of a spreadsheet: {day}", f"表格日期序号，读作 {day}"),
                        Text("compare it with the quote", "请与报价单核对"))  # fmt: skip
    found = read_day(words)
    if isinstance(found, Unread):
        return Doubtful(words, None, Text("this names no day", "未写明具体日期"), Text("the offer comes without it; write such as 2026-12-31", "导入后不含该日期；请写成 2026-12-31"))
    return found
