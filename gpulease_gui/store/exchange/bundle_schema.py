"""Is a file that somebody sent an exchange bundle, and what does it hold?

A bundle is one JSON object: `format`, `version`, `made_at`, `tool_version`, `demo`, and one list a kind of record. It is
data only: no path in it is opened, no link followed, and what this version does not know is left out and named.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.store.exchange.bundle_sections import FIRST_SECTIONS, SECTIONS, Section, Value, section_of
from gpulease_gui.store.records import EvidenceBlob

__all__ = ["FORMAT", "MOST_BYTES", "SECTIONS", "VERSION", "Bundle", "Record", "Section", "Value", "parse_bundle"]

FORMAT, VERSION = "gpulease-exchange", 2
MOST_BYTES = 256 * 1024 * 1024
MOST_RECORDS = 500_000
# A list of nothing but brackets takes thirty times its size when it is read: what a file may hold is counted before.
MOST_VALUES = 16_000_000
MOST_CONTENT = 64 * 1024 * 1024
Tick = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a bundle: its section, its key, its fields. Every value was checked."""

    section: Section
    key: tuple[str, ...]
    fields: tuple[tuple[str, Value], ...]

    def value(self, name: str) -> Value:
        """A field, or a part of the key."""
        for known, value in self.fields:
            if known == name:
                return value
        return next((part for known, part in zip(self.section.key, self.key, strict=True) if known == name), None)

    @property
    def group(self) -> tuple[str, ...]:
        """The key without the place, for an earlier state: whose state it is."""
        return self.key[:-1]

    @property
    def said(self) -> tuple[Value, ...]:
        """The fields without their names."""
        return tuple(value for _, value in self.fields)


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle that was read. `contents` are outputs and attachments by SHA-256, packed; `unknown` what was left out.

    `made_at` (UTC, as it was written) and `tool_version` are what the file says of itself.
    """

    records: tuple[Record, ...]
    contents: Mapping[str, EvidenceBlob]
    demo: bool = False
    unknown: tuple[str, ...] = ()
    version: int = VERSION
    made_at: str = ""
    tool_version: str = ""

    def of(self, *names: str) -> Iterator[Record]:
        """The records of these sections."""
        return (record for record in self.records if record.section.name in names)


def _silent() -> None:
    """Nobody wants to know how far it is, or to stop it."""


def parse_bundle(data: bytes, tick: Tick = _silent) -> Bundle:
    """The bundle in a file. Raises UserFacing for what is none, a newer version, or a value that can't be; nothing is guessed.

    `tick` is called between the parts; it may raise Cancelled.
    """
    said = _whole(data)
    version = said.get("version")
    if version not in (1, VERSION) or isinstance(version, bool):
        raise UserFacing(
            Text("this bundle is of another version", "此数据包属于另一版本"),
            Text(f"this program reads versions 1 to {VERSION}, the file says {str(version)[:20]}", f"本程序读取版本 1 至 {VERSION}，文件写的是 {str(version)[:20]}"),
            Text("update the program", "请更新本程序") if isinstance(version, int) and version > VERSION else Text("export it again", "请重新导出"),
        )  # fmt: skip
    tick()
    contents = _contents(said.pop("contents", {}), tick)
    known = {section.name: section for section in SECTIONS if version == VERSION or section.name in FIRST_SECTIONS}
    unknown = [str(name)[:60] for name in said if name not in known and name not in _HEAD]
    records: list[Record] = []
    for section in known.values():
        tick()
        records += _records(section, said.pop(section.name, []), unknown)
        if len(records) > MOST_RECORDS:
            raise _refuse(_too_many(len(records)))
    _refuse_earlier(records)
    made_at, tool = (str(said.get(name, ""))[:60] for name in ("made_at", "tool_version"))
    return Bundle(tuple(records), contents, said.get("demo") is True, tuple(dict.fromkeys(unknown)), int(str(version)), made_at, tool)


_HEAD = ("format", "version", "made_at", "tool_version", "demo")


def _whole(data: bytes) -> dict[str, Any]:
    if len(data) > MOST_BYTES:
        mb, most = f"{len(data) / 1e6:,.0f} MB", f"{MOST_BYTES / 1e6:,.0f} MB"
        raise _refuse(Text(f"it has {mb}; at most {most} are read", f"文件有 {mb}，最多读取 {most}"))
    if sum(data.count(mark) for mark in (b",", b"[", b"{")) > MOST_VALUES:
        raise _refuse(Text(f"it holds more than {MOST_VALUES:,} values", f"其中的值超过 {MOST_VALUES:,} 个"))
    try:
        said = json.loads(data.decode("utf-8-sig"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise _refuse(Text(f"it is no JSON: {str(error)[:100]}", f"不是 JSON：{str(error)[:100]}")) from error
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise _refuse(Text("it was not written by export-data", "不是本程序导出的数据包"))
    return said


def _no_constant(word: str) -> object:
    raise ValueError(f"{word} is no value")


def _too_many(count: int, name: str = "") -> Text:
    what = name or "records"
    most = f"at most {MOST_RECORDS:,} records are read" if name else f"at most {MOST_RECORDS:,} are read"
    return Text(f"it holds {count:,} {what}; {most}", f"其中有 {count:,} 条{f' {name} ' if name else ''}记录，最多读取 {MOST_RECORDS:,} 条")


def _refuse(why: Text) -> UserFacing:
    return UserFacing(Text("this is no exchange bundle", "这不是交换数据包"), why, Text("ask for a file that was written as an exchange bundle", "请索取导出为交换数据包的文件"),
                      "ask for a file written by gpulease export-data --format json")  # fmt: skip


def _records(section: Section, said: object, unknown: list[str]) -> list[Record]:
    if not isinstance(said, list):
        raise _refuse(Text(f"{section.name} is no list", f"{section.name} 不是列表"))
    if len(said) > MOST_RECORDS:
        raise _refuse(_too_many(len(said), section.name))
    found = [_record(section, entry, f"{section.name}[{place}]", unknown) for place, entry in enumerate(said)]
    if len({record.key for record in found}) != len(found):
        raise _refuse(Text(f"{section.name} holds a record twice", f"{section.name} 中有重复的记录"))
    return found


def _record(section: Section, entry: object, where: str, unknown: list[str]) -> Record:
    if not isinstance(entry, dict):
        raise _refuse(Text(f"{where} is no record", f"{where} 不是记录"))
    rules, entry = {**section.key, **section.fields}, {**section.added, **entry}
    for name in section.later:
        if name not in entry:
            del rules[name]
    for name, rule in rules.items():
        if name not in entry or not rule(entry[name]):
            said = json.dumps(entry.get(name))[:60]
            raise _refuse(Text(f"{where}.{name} can't be {said}", f"{where}.{name} 不能是 {said}"))
    unknown += [f"{section.name}.{str(name)[:60]}" for name in entry if name not in rules]
    return Record(section, tuple(str(entry[name]) for name in section.key), tuple((name, entry[name]) for name in section.fields if name in rules))


def _refuse_earlier(records: list[Record]) -> None:
    """What a record was must be such as the record may be: it is shown beside it."""
    for record in records:
        if record.section.name == "earlier":
            rules = section_of(record.key[0]).fields
            was = json.loads(str(record.value("document")))
            for name, rule in rules.items():
                if name not in was or not rule(was[name]):
                    said = json.dumps(was.get(name))[:60]
                    raise _refuse(Text(f"an earlier {record.key[0]} has a {name} that can't be {said}", f"{record.key[0]} 的旧版本中，{name} 不能是 {said}"))


def _contents(said: Any, tick: Tick) -> Mapping[str, EvidenceBlob]:
    if not isinstance(said, dict):
        raise _refuse(Text("contents is no object", "contents 不是对象"))
    found: dict[str, EvidenceBlob] = {}
    while said:  # each text is let go of as soon as it is read
        sha, packed = said.popitem()
        tick()
        found[str(sha)] = _content(str(sha), packed)
    return found


def _content(sha: str, words: object) -> EvidenceBlob:
    try:
        packed = base64.b64decode(str(words), validate=True)
        inflater = zlib.decompressobj()
        content = inflater.decompress(packed, MOST_CONTENT)
        whole = inflater.eof and not inflater.unconsumed_tail and not inflater.unused_data
    except (binascii.Error, zlib.error, ValueError) as error:
        raise _refuse(Text(f"the content {sha[:12]} is damaged", f"内容 {sha[:12]} 已损坏")) from error
    if not whole:
        most = f"{MOST_CONTENT // 1024 // 1024} MiB"
        raise _refuse(Text(f"the content {sha[:12]} is cut, or larger than {most}", f"内容 {sha[:12]} 不完整，或大于 {most}"))
    if hashlib.sha256(content).hexdigest() != sha:
        raise _refuse(Text(f"the content {sha[:12]} is not what its hash says", f"内容 {sha[:12]} 与其哈希值不符"))
    return EvidenceBlob(sha, packed, len(content))
