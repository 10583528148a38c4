"""Which records does an exchange bundle hold, and is a file that somebody sent such a bundle?

A bundle is one JSON object: `format`, `version`, `made_at`, `tool_version`, `demo`, and one list a kind of record. It is
data only: no path in it is opened, no link followed, and what this version does not know is left out and named.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from gpulease_gui.domain.answer import AnswerState, AnswerValue
from gpulease_gui.domain.claim import ClaimState
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.economics.billing_terms import PriceUnit
from gpulease_gui.economics.offer_facts import PriceMode

FORMAT, VERSION = "gpulease-exchange", 1
MOST_BYTES = 256 * 1024 * 1024
MOST_RECORDS = 500_000
MOST_TEXT = 1_000_000
MOST_ATTACHMENT = 64 * 1024 * 1024

Value = str | int | None
Rule = Callable[[object], bool]


def _text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MOST_TEXT


def _one_of(*words: str) -> Rule:
    return lambda value: isinstance(value, str) and value in words


def _reads(read: Callable[[str], object]) -> Rule:
    def rule(value: object) -> bool:
        try:
            return isinstance(value, str) and len(value) <= 100 and read(value) is not None
        except ValueError:
            return False

    return rule


def _maybe(rule: Rule) -> Rule:
    return lambda value: value is None or rule(value)


_PLAIN_DIGITS = re.compile(r"\d{1,30}(?:\.\d{1,30})?")


def _amount(words: str) -> Decimal | None:
    return Decimal(words) if _PLAIN_DIGITS.fullmatch(words) else None


def _moment(words: str) -> datetime | None:
    at = datetime.fromisoformat(words)
    return at if at.tzinfo else None


def _json_object(value: object) -> bool:
    if not _text(value):
        return False
    try:
        return isinstance(json.loads(str(value)), dict)
    except (ValueError, RecursionError):
        return False


def _json_value(value: object) -> bool:
    """A promised value as the store keeps it: JSON of one plain value, or null for not stated."""
    if not _text(value):
        return False
    try:
        inner = json.loads(str(value))
        return inner is None or (isinstance(inner, str) and not isinstance(json.loads(inner), list))
    except (ValueError, RecursionError):
        return False


def _json_list(value: object) -> bool:
    try:
        said = json.loads(str(value))
    except (ValueError, RecursionError):
        return False
    return isinstance(said, list) and all(isinstance(word, str) for word in said)


def _bit(value: object) -> bool:
    return value in (0, 1) and isinstance(value, int) and not isinstance(value, bool)


def _calendar_day(words: str) -> date | None:
    """Only as we write days: what is kept in another spelling would differ from itself after the next export."""
    day = date.fromisoformat(words)
    return day if day.isoformat() == words else None


_money, _day, _at = _reads(_amount), _reads(_calendar_day), _reads(_moment)
_currency: Rule = lambda value: isinstance(value, str) and len(value) == 3 and value.isascii() and value.isupper()  # noqa: E731
_unit, _mode = _one_of(*PriceUnit), _one_of(*PriceMode)
_deal: Mapping[str, Rule] = {"holder_kind": _one_of("offer", "contract"), "holder_id": _text}
_holder: Mapping[str, Rule] = {"holder_kind": _one_of("supplier", "site", "offer", "contract"), "holder_id": _text}
_id: Mapping[str, Rule] = {"id": _text}
_PRICE: Mapping[str, Rule] = {"price_amount": _maybe(_money), "price_currency": _maybe(_currency), "price_unit": _unit}


@dataclass(frozen=True, slots=True)
class Section:
    """One list of a bundle: its name, the kind of record, which fields are its key, and what each field may be.

    `refers` names the fields that point to records of another section; `added` what a field is that older files lack;
    `follows` the fields that follow from other records: they tell a reader, and are no difference.
    """

    name: str
    kind: str
    key: Mapping[str, Rule]
    fields: Mapping[str, Rule]
    refers: Mapping[str, str] = field(default_factory=dict)
    added: Mapping[str, Value] = field(default_factory=dict)
    follows: tuple[str, ...] = ()


# In the order in which they are written: what others refer to comes first.
SECTIONS: tuple[Section, ...] = (
    Section("suppliers", "supplier", _id, {"name": _text, "country": _text, "contact": _text, "note": _text}),
    Section("sites", "site", _id, {"supplier_id": _text, "name": _text, "city": _text, "country": _text, "note": _text}, {"supplier_id": "suppliers"}),
    Section("offers", "offer", _id, {"supplier_id": _text, "quote_no": _text, "title": _text, **_PRICE, "valid_until": _maybe(_day), "note": _text},
            {"supplier_id": "suppliers"}, follows=tuple(_PRICE)),
    Section("contracts", "contract", _id, {"supplier_id": _text, "number": _text, "offer_id": _maybe(_text), "start_date": _maybe(_day),
            "end_date": _maybe(_day), **_PRICE, "note": _text}, {"supplier_id": "suppliers", "offer_id": "offers"}, follows=tuple(_PRICE)),
    Section("attachments", "attachment", _id, {**_holder, "sha256": _text, "name": _text, "kind": _text, "note": _text, "added_at": _at, "added_by": _text},
            {"holder_id": "holder"}),
    Section("claims", "claim", {**_deal, "term": _text}, {"value": _json_value, "state": _one_of(*ClaimState), "source": _text, "note": _text},
            {"holder_id": "holder"}),
    Section("terms", "terms", _holder, {"terms": _json_object}, {"holder_id": "holder"}),
    Section("prices", "price", _id, {**_deal, "amount": _money, "currency": _currency, "unit": _unit, "mode": _maybe(_mode), "valid_from": _maybe(_day),
            "valid_to": _maybe(_day), "tax_included": _maybe(_bit), "tax_rate": _maybe(_money), "invoice_kind": _text, "evidence_id": _maybe(_text),
            "note": _text}, {"holder_id": "holder"}),
    Section("answers", "answer", {**_deal, "item_id": _text}, {"state": _one_of(*AnswerState), "value": _one_of(*AnswerValue),
            "basis": _maybe(_one_of("reported", "measured")), "measured": _maybe(_money), "note": _text, "evidence": _json_list, "answered_at": _at,
            "answered_by": _text}, {"holder_id": "holder"}),
    Section("waivers", "waiver", {**_deal, "item_id": _text}, {"given_by": _text, "reason": _text, "expires": _day, "given_at": _at}, {"holder_id": "holder"}),
    Section("setups", "setup", _deal, {"template_id": _text, "scenario": _text}, {"holder_id": "holder"}),
    Section("templates", "template", _id, {"name": _text, "scenario": _text, "document": _json_object}),
    Section("weights", "weight", {"scenario": _text, "dimension": _text}, {"weight": _money}),
    Section("workloads", "workload", _id, {"name": _text, "document": _json_object}),
    Section("mappings", "mapping", {"supplier_id": _text, "kind": _text}, {"document": _json_object}),
    Section("market", "market", _id, {"import_id": _text, "gpu_model": _text, "price_gpu_hour": _money, "currency": _currency, "mode": _mode,
            "source": _text, "day": _day}),
    Section("rates", "rate", {"from_currency": _currency, "to_currency": _currency, "day": _day, "rate": _money, "source": _text, "surcharge": _money}, {},
            added={"surcharge": "0"}),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a bundle: its section, its key, its fields. Every value was checked."""

    section: Section
    key: tuple[str, ...]
    fields: tuple[tuple[str, Value], ...]

    def value(self, name: str) -> Value:
        """A field, or a part of the key."""
        return dict(zip(self.section.key, self.key, strict=True)).get(name, dict(self.fields).get(name))


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle that was read. `contents` are the bytes of attachments by SHA-256; `unknown` what was left out."""

    records: tuple[Record, ...]
    contents: Mapping[str, bytes]
    demo: bool = False
    unknown: tuple[str, ...] = ()


def parse_bundle(data: bytes) -> Bundle:
    """The bundle in a file. Raises UserFacing for what is none, a newer version, or a value that can't be; nothing is guessed."""
    if len(data) > MOST_BYTES:
        raise _refuse(f"it has {len(data) / 1e6:,.0f} MB; at most {MOST_BYTES / 1e6:,.0f} MB are read")
    try:
        said = json.loads(data.decode("utf-8-sig"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _refuse(f"it is no JSON: {str(error)[:100]}") from error
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise _refuse("it was not written by export-data")
    if said.get("version") != VERSION:
        raise UserFacing("this bundle is of another version", f"this program reads version {VERSION}, the file says {str(said.get('version'))[:20]}", "update the program")
    known = {section.name for section in SECTIONS}
    unknown = [str(name)[:60] for name in said if name not in known and name not in _HEAD]
    records: list[Record] = []
    for section in SECTIONS:
        records += _records(section, said.get(section.name, []), unknown)
    if len(records) > MOST_RECORDS:
        raise _refuse(f"it holds {len(records):,} records; at most {MOST_RECORDS:,} are read")
    return Bundle(tuple(records), _contents(said.get("contents", {})), said.get("demo") is True, tuple(dict.fromkeys(unknown)))


_HEAD = ("format", "version", "made_at", "tool_version", "demo", "contents")


def _no_constant(word: str) -> object:
    raise ValueError(f"{word} is no value")


def _refuse(why: str) -> UserFacing:
    return UserFacing("this is no exchange bundle", why, "ask for a file written by gpulease export-data --format json")


def _records(section: Section, said: object, unknown: list[str]) -> list[Record]:
    if not isinstance(said, list):
        raise _refuse(f"{section.name} is no list")
    found = [_record(section, entry, f"{section.name}[{place}]", unknown) for place, entry in enumerate(said)]
    if len({record.key for record in found}) != len(found):
        raise _refuse(f"{section.name} holds a record twice")
    return found


def _record(section: Section, entry: object, where: str, unknown: list[str]) -> Record:
    if not isinstance(entry, dict):
        raise _refuse(f"{where} is no record")
    rules, entry = {**section.key, **section.fields}, {**section.added, **entry}
    for name, rule in rules.items():
        if name not in entry or not rule(entry[name]):
            raise _refuse(f"{where}.{name} can't be {json.dumps(entry.get(name))[:60]}")
    unknown += [f"{section.name}.{str(name)[:60]}" for name in entry if name not in rules]
    return Record(section, tuple(str(entry[name]) for name in section.key), tuple((name, entry[name]) for name in section.fields))


def _contents(said: Any) -> Mapping[str, bytes]:
    if not isinstance(said, dict):
        raise _refuse("contents is no object")
    return {str(sha): _content(str(sha), packed) for sha, packed in said.items()}


def _content(sha: str, packed: object) -> bytes:
    try:
        inflater = zlib.decompressobj()
        content = inflater.decompress(base64.b64decode(str(packed), validate=True), MOST_ATTACHMENT)
        whole = inflater.eof and not inflater.unconsumed_tail
    except (binascii.Error, zlib.error, ValueError) as error:
        raise _refuse(f"the attachment {sha[:12]} is damaged") from error
    if not whole:
        raise _refuse(f"the attachment {sha[:12]} is cut, or larger than {MOST_ATTACHMENT // 1024 // 1024} MiB")
    if hashlib.sha256(content).hexdigest() != sha:
        raise _refuse(f"the attachment {sha[:12]} is not what its hash says")
    return content
