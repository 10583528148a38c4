"""Is a zipped workbook harmless enough to be opened? Judged by its table of contents, before anything is unpacked."""

from __future__ import annotations

import zipfile
from xml.parsers import expat

from gpulease_gui.store.exchange.sheet import Limits


class Refused(Exception):
    """The file is not opened: `what` is wrong with it, and the `next_step`."""

    def __init__(self, what: str, next_step: str) -> None:
        super().__init__(what)
        self.what, self.next_step = what, next_step


_SAVE_AS = "open it in a spreadsheet program and save it as an ordinary XLSX"


def guard(file: str, limits: Limits) -> tuple[str, ...]:
    """What was left aside ("links to other files"); raises Refused for macros, passwords and bombs, OSError, BadZipFile."""
    with zipfile.ZipFile(file) as package:
        entries = package.infolist()
        _refuse_package(entries, limits)
        for entry in entries:
            _refuse_document_type(package, entry)
    return ("links",) if any(entry.filename.startswith("xl/externalLinks/") for entry in entries) else ()


# Tables of other programs, by a part that only they have.
_OTHER_TABLES = (("Numbers", ".iwa"), ("LibreOffice (ODS)", "META-INF/manifest.xml"), ("binary Excel (XLSB)", "xl/workbook.bin"))


def _refuse_package(entries: list[zipfile.ZipInfo], limits: Limits) -> None:
    names = {entry.filename for entry in entries}
    for kind, mark in _OTHER_TABLES:
        if any(name.endswith(mark) for name in names):
            raise Refused(f"this is a {kind} table", "save it as XLSX or CSV there, and import that file")
    if "[Content_Types].xml" not in names or not any(name.startswith("xl/") for name in names):
        raise Refused("this is a ZIP file, but no workbook", "unpack it, and import the table inside")
    if any(entry.flag_bits & 1 for entry in entries):
        raise Refused("the workbook is protected by a password", "remove the password, and import it again")
    if any(name.lower().endswith(("vbaproject.bin", ".exe", ".dll")) for name in names):
        raise Refused("the workbook carries macros", "save it as XLSX, without macros")
    _refuse_bomb(entries, limits)


def _refuse_bomb(entries: list[zipfile.ZipInfo], limits: Limits) -> None:
    unpacked, packed = sum(e.file_size for e in entries), sum(e.compress_size for e in entries)
    if len(entries) > limits.entries:
        raise Refused(f"the workbook holds {len(entries):,} parts; at most {limits.entries:,} are opened", _SAVE_AS)
    if unpacked > limits.unpacked_bytes:
        raise Refused(
            f"unpacked, the workbook has {unpacked / 1e6:,.0f} MB; at most {limits.unpacked_bytes / 1e6:,.0f} MB are opened",
            "keep only the sheet with offers",
        )
    # Small parts may pack very well; what blows up a large part is made to harm.
    worst = max(entries, key=lambda e: e.file_size, default=None)
    if worst and unpacked > 64 * 1024 * 1024 and unpacked > limits.ratio * max(packed, 1):
        raise Refused(f"the workbook unpacks to {unpacked // max(packed, 1):,} times its size, as bombs do", _SAVE_AS)


_LONGEST_PROLOG = 1024 * 1024


class _Root(Exception):
    """The first element was reached: no document type can follow."""


def _refuse_document_type(package: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    """Entities, which bombs and look-ups of files are made of, need a document type; no workbook has one."""

    def refuse(*_: object) -> None:
        raise Refused("the workbook declares XML entities, as bombs do", _SAVE_AS)

    def stop(*_: object) -> None:
        raise _Root

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler, parser.StartElementHandler = refuse, stop
    try:
        with package.open(entry) as part:
            for _ in range(_LONGEST_PROLOG // 4096):
                chunk = part.read(4096)
                parser.Parse(chunk, not chunk)
                if not chunk:
                    return
    except (_Root, expat.ExpatError):
        return  # what is no XML is no entity either: the reader below can't parse it
    raise Refused("a part of the workbook begins with a megabyte of nothing", _SAVE_AS)
