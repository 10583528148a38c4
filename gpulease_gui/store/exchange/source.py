"""Which kind of table is a file, whatever its name says?"""

from __future__ import annotations

from pathlib import Path

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.os_reason import os_reason
from gpulease_gui.domain.text import Text
from gpulease_gui.store.exchange.book import Progress, read_book
from gpulease_gui.store.exchange.plain_text import read_text, too_large
from gpulease_gui.store.exchange.sheet import LIMITS, Limits, Sheet, clean

_SAVE = Text("open it in a spreadsheet program and save it as XLSX or CSV", "请用表格软件打开并另存为 XLSX 或 CSV")
_REFUSED: tuple[tuple[bytes, Text, Text], ...] = (
    (b"\xd0\xcf\x11\xe0", Text("this is an old XLS file, or a workbook with a password", "这是旧版 XLS 文件，或带密码的工作簿"), Text("remove the password, or save it as XLSX", "请去除密码，或另存为 XLSX")),
    (b"%PDF", Text("this is a PDF, no table", "这是 PDF，不是表格"), Text("ask the supplier for the spreadsheet, or attach the PDF to the offer", "请向供应商索取电子表格，或把 PDF 附到报价")),
    (b"{\\rtf", Text("this is a text document, no table", "这是文字文档，不是表格"), _SAVE),
    (b"SQLite format 3", Text("this is a database, no table", "这是数据库，不是表格"), Text("a workspace is opened from the File menu", "工作区请从“文件”菜单打开")),
    (b"\x1f\x8b", Text("this is a packed file, no table", "这是压缩文件，不是表格"), Text("unpack it, and import the table inside", "请解压后导入其中的表格")),
    (b"Rar!", Text("this is a packed file, no table", "这是压缩文件，不是表格"), Text("unpack it, and import the table inside", "请解压后导入其中的表格")),
    (b"7z\xbc\xaf", Text("this is a packed file, no table", "这是压缩文件，不是表格"), Text("unpack it, and import the table inside", "请解压后导入其中的表格")),
    (b"\x89PNG", Text("this is a picture, no table", "这是图片，不是表格"), Text("ask the supplier for the spreadsheet", "请向供应商索取电子表格")),
    (b"\xff\xd8\xff", Text("this is a picture, no table", "这是图片，不是表格"), Text("ask the supplier for the spreadsheet", "请向供应商索取电子表格")),
)
_WEB = (b"<html", b"<!doctype", b"<table", b"<?xml")


def read_file(
    path: Path, *, sheet: str = "", encoding: str = "", delimiter: str = "", limits: Limits = LIMITS,
    cancel: CancelToken | None = None, progress: Progress | None = None,
) -> Sheet:  # fmt: skip
    """The table in a file, told by its first bytes: XLSX (one `sheet`), else CSV or TSV.

    Raises UserFacing for everything else, for macros, and for what is too large; Cancelled.
    """
    try:
        size = path.stat().st_size if path.is_file() else -1
        head = _head(path) if size >= 0 else b""
    except OSError as error:
        raise UserFacing(Text(f"{clean(path.name)} can't be read", f"无法读取 {clean(path.name)}"), os_reason(error), Text("check the file and its permissions", "请检查该文件及其权限")) from error
    if size < 0:
        raise UserFacing(Text(f"{clean(path.name)} is no file", f"{clean(path.name)} 不是文件"), next_step=Text("choose a CSV or XLSX file", "请选择 CSV 或 XLSX 文件"))
    if size > limits.file_bytes:
        raise too_large(size, limits)
    _refuse_kind(path, head)
    if head.startswith(b"PK"):
        return read_book(path, sheet, limits=limits, cancel=cancel, progress=progress)
    return read_text(path.read_bytes(), clean(path.stem)[:60] or "CSV", encoding=encoding, delimiter=delimiter, limits=limits, cancel=cancel)


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(512)


def _refuse_kind(path: Path, head: bytes) -> None:
    for magic, what, next_step in _REFUSED:
        if head.startswith(magic):
            raise UserFacing(what, next_step=next_step)
    if head.lstrip(b"\xef\xbb\xbf \r\n\t").lower().startswith(_WEB):
        raise UserFacing(Text("this is a web page under the name of a table", "这是以表格命名的网页"), next_step=_SAVE)
    if path.suffix.lower() in (".xlsm", ".xltm", ".xlam"):
        raise UserFacing(Text("files with macros are not opened", "不打开带宏的文件"), next_step=Text("save it as XLSX, without macros", "请另存为不带宏的 XLSX"))
