"""Which kind of table is a file, whatever its name says?"""

from __future__ import annotations

from pathlib import Path

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.store.exchange.book import Progress, read_book
from gpulease_gui.store.exchange.plain_text import read_text, too_large
from gpulease_gui.store.exchange.sheet import LIMITS, Limits, Sheet, clean

_SAVE = "open it in a spreadsheet program and save it as XLSX or CSV"
_REFUSED: tuple[tuple[bytes, str, str], ...] = (
    (b"\xd0\xcf\x11\xe0", "this is an old XLS file, or a workbook with a password", "remove the password, or save it as XLSX"),
    (b"%PDF", "this is a PDF, no table", "ask the supplier for the spreadsheet, or attach the PDF to the offer"),
    (b"{\\rtf", "this is a text document, no table", _SAVE),
    (b"SQLite format 3", "this is a database, no table", "a workspace is opened from the File menu"),
    (b"\x1f\x8b", "this is a packed file, no table", "unpack it, and import the table inside"),
    (b"Rar!", "this is a packed file, no table", "unpack it, and import the table inside"),
    (b"7z\xbc\xaf", "this is a packed file, no table", "unpack it, and import the table inside"),
    (b"\x89PNG", "this is a picture, no table", "ask the supplier for the spreadsheet"),
    (b"\xff\xd8\xff", "this is a picture, no table", "ask the supplier for the spreadsheet"),
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
        raise UserFacing(f"{clean(path.name)} can't be read", error.strerror or str(error), "check the file and its permissions") from error
    if size < 0:
        raise UserFacing(f"{clean(path.name)} is no file", next_step="choose a CSV or XLSX file")
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
        raise UserFacing("this is a web page under the name of a table", next_step=_SAVE)
    if path.suffix.lower() in (".xlsm", ".xltm", ".xlam"):
        raise UserFacing("files with macros are not opened", next_step="save it as XLSX, without macros")
