"""Is a zipped workbook harmless enough to be opened? Judged by its table of contents, before anything is unpacked."""

from __future__ import annotations

import zipfile
from xml.parsers import expat

from gpulease_gui.domain.text import Text
from gpulease_gui.store.exchange.sheet import Limits


class Refused(Exception):
    """The file is not opened: `what` is wrong with it, and the `next_step`."""

    def __init__(self, what: Text, next_step: Text) -> None:
        super().__init__(what.en)
        self.what, self.next_step = what, next_step


_SAVE_AS = Text("open it in a spreadsheet program and save it as an ordinary XLSX", "请用表格软件打开，并另存为普通的 XLSX")
FEWER = Text("keep only the sheet with offers", "请只保留有报价的工作表")


def guard(file: str, limits: Limits) -> tuple[str, ...]:
    """What was left aside ("links to other files"); raises Refused for macros, passwords and bombs, OSError, BadZipFile."""
    with zipfile.ZipFile(file) as package:
        entries = package.infolist()
        _refuse_package(entries, limits)
        for entry in entries:
            _refuse_document_type(package, entry)
    return ("links",) if any(entry.filename.startswith("xl/externalLinks/") for entry in entries) else ()


# Tables of other programs, by a part that only they have.
_OTHER_TABLES = (
    (Text("Numbers", "Numbers "), ".iwa"), (Text("LibreOffice (ODS)", "LibreOffice（ODS）"), "META-INF/manifest.xml"),
    (Text("binary Excel (XLSB)", "二进制 Excel（XLSB）"), "xl/workbook.bin"),
)  # fmt: skip


def _refuse_package(entries: list[zipfile.ZipInfo], limits: Limits) -> None:
    names = {entry.filename for entry in entries}
    for kind, mark in _OTHER_TABLES:
        if any(name.endswith(mark) for name in names):
            raise Refused(Text(f"this is a {kind.en} table", f"这是 {kind.zh}表格"), Text("save it as XLSX or CSV there, and import that file", "请在该软件中另存为 XLSX 或 CSV，再导入"))
    if "[Content_Types].xml" not in names or not any(name.startswith("xl/") for name in names):
        raise Refused(Text("this is a ZIP file, but no workbook", "这是 ZIP 文件，不是工作簿"), Text("unpack it, and import the table inside", "请解压后导入其中的表格"))
    if any(entry.flag_bits & 1 for entry in entries):
        raise Refused(Text("the workbook is protected by a password", "工作簿有密码保护"), Text("remove the password, and import it again", "请取消密码后重新导入"))
    if any(name.lower().endswith(("vbaproject.bin", ".exe", ".dll")) for name in names):
        raise Refused(Text("the workbook carries macros", "工作簿含有宏"), Text("save it as XLSX, without macros", "请另存为不含宏的 XLSX"))
    _refuse_bomb(entries, limits)


def _refuse_bomb(entries: list[zipfile.ZipInfo], limits: Limits) -> None:
    unpacked, packed = sum(e.file_size for e in entries), sum(e.compress_size for e in entries)
    if len(entries) > limits.entries:
        raise Refused(Text(f"the workbook holds {len(entries):,} parts; at most {limits.entries:,} are opened", f"工作簿含有 {len(entries):,} 个部件，最多打开 {limits.entries:,} 个"), _SAVE_AS)
    if unpacked > limits.unpacked_bytes:
        size, most = f"{unpacked / 1e6:,.0f} MB", f"{limits.unpacked_bytes / 1e6:,.0f} MB"
        raise Refused(Text(f"unpacked, the workbook has {size}; at most {most} are opened", f"工作簿解压后有 {size}，最多打开 {most}"), FEWER)
    # Small parts may pack very well; what blows up a large part is made to harm.
    worst = max(entries, key=lambda e: e.file_size, default=None)
    if worst and unpacked > 64 * 1024 * 1024 and unpacked > limits.ratio * max(packed, 1):
        times = unpacked // max(packed, 1)
        raise Refused(Text(f"the workbook unpacks to {times:,} times its size, as bombs do", f"工作簿解压后是原来的 {times:,} 倍，与压缩炸弹相同"), _SAVE_AS)


_LONGEST_PROLOG = 1024 * 1024


class _Root(Exception):
    """The first element was reached: no document type can follow."""


def _refuse_document_type(package: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    """Entities, which bombs and look-ups of files are made of, need a document type; no workbook has one."""

    def refuse(*_: object) -> None:
        raise Refused(Text("the workbook declares XML entities, as bombs do", "工作簿声明了 XML 实体，与压缩炸弹相同"), _SAVE_AS)

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
    raise Refused(Text("a part of the workbook begins with a megabyte of nothing", "工作簿的某个部件以 1 MB 的空白开头"), _SAVE_AS)
