"""Which runs, notes and pasted outputs of a bundle are new here, and is one that is known still the same?

They never change. A run is one with its outputs, findings and sightings: it is added as a whole, or is here as a whole.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.store.exchange.bundle import section_rows
from gpulease_gui.store.exchange.bundle_schema import Bundle, Record
from gpulease_gui.store.exchange.bundle_sections import SECTIONS, Section, Value

_FIXED = tuple(section for section in SECTIONS if section.fixed)
_PARTS = {section.name: tuple(part for part in SECTIONS if part.part_of == section.name) for section in _FIXED}
# What the file says of a run beside what is kept of it.
_ASIDE = ("run_hash",)
_CONTENTS = {"attachments": ("sha256",), "outputs": ("stdout_sha256", "stderr_sha256"), "paste_outputs": ("sha256",), "task_runs": ("log_sha256",),
             "watch_events": ("sha256",)}  # fmt: skip
Said = tuple[tuple[str, tuple[Value, ...]], ...]


def new_ids(connection: sqlite3.Connection, bundle: Bundle) -> dict[str, frozenset[str]]:
    """The ids of each fixed section that are not here. Raises UserFacing for one that is here with other content."""
    parts: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in bundle.records:
        if record.section.part_of:
            parts[record.section.part_of, _parent(record)].append(record)
    return {section.name: frozenset(_new(connection, section, bundle, parts)) for section in _FIXED}


def _new(connection: sqlite3.Connection, section: Section, bundle: Bundle, parts: dict[tuple[str, str], list[Record]]) -> list[str]:
    here = {row[0] for row in connection.execute(f"SELECT {next(iter(section.key))} FROM {section.name}")}
    found = []
    for record in bundle.of(section.name):
        id_ = record.key[0]
        if id_ not in here:
            found.append(id_)
            continue
        said = _here(connection, section, id_)
        if section.name == "watch_events" and not said:
            continue  # it lasts here, or may go on: the file told its end too early
        if said != _given([record, *parts[section.name, id_]]):
            raise UserFacing(
                Text(f"the bundle holds another {section.kind} {id_[:12]} than this workspace", f"数据包中的 {section.kind} {id_[:12]} 与此工作区的不同"), Text("the same number, other content: one of the two was changed", "编号相同，内容不同：两者之一被改动"),
                Text("ask for the file again; if it stays so, ask which of them is true", "请重新索取该文件；若仍如此，请询问哪一个属实"),
            )  # fmt: skip
    return found


def is_new(record: Record, news: dict[str, frozenset[str]]) -> bool:
    """Whether a record of a fixed section, or a part of one, is to be added."""
    section = record.section
    return record.key[0] in news[section.name] if section.fixed else _parent(record) in news[section.part_of]


def _parent(record: Record) -> str:
    return str(record.value(next(iter(record.section.refers))))


def _given(records: list[Record]) -> Said:
    return tuple((r.section.name, (*r.key, *(v for name, v in r.fields if name not in _ASIDE))) for r in records)


def _here(connection: sqlite3.Connection, section: Section, id_: str) -> Said:
    found = []
    for one in (section, *_PARTS[section.name]):
        for entry in section_rows(connection, one, only=id_):
            key = tuple(str(entry[name]) for name in one.key)
            found.append((one.name, (*key, *(entry[name] for name in one.fields if name not in _ASIDE))))
    return tuple(found)


def refuse_incomplete(bundle: Bundle) -> None:
    """Raise UserFacing where an output, a finding or an attachment names a content that the bundle does not hold."""
    for record in bundle.records:
        for sha in _named(record):
            if sha not in bundle.contents:
                what = "an attachment" if record.section.name == "attachments" else f"a record of {record.section.name}"
                raise UserFacing(Text("this bundle is not whole", "此数据包不完整"), Text(f"the content of {what} is missing: {sha[:12]}", f"缺少 {record.section.name} 一条记录的内容：{sha[:12]}"), Text("export it again", "请重新导出"))


def _named(record: Record) -> list[str]:
    if record.section.name == "findings":
        return list(json.loads(str(record.value("document")))["evidence"])
    return [str(sha) for name in _CONTENTS.get(record.section.name, ()) if (sha := record.value(name)) is not None]
