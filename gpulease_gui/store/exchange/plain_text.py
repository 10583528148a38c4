"""Which encoding, delimiter and rows does a text table have?"""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.store.exchange.sheet import LIMITS, Cell, Limits, Row, Sheet, clean, refuse_size, without_empty_ends

ENCODINGS = ("utf-8", "gb18030", "utf-16", "utf-16-le", "utf-16-be", "big5", "cp1252")
DELIMITERS = (",", "\t", ";", "|")
_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_CHECK_EVERY = 500
_SAMPLE_LINES = 50


def encoding_of(data: bytes) -> str:
    """The encoding by the byte order mark, else UTF-16 by its zero bytes, else UTF-8 if it is that strictly, else GB18030.

    Raises UserFacing for bytes that are no text.
    """
    for mark, name in _BOMS:
        if data.startswith(mark):
            return name
    guess = _utf16_without_mark(data)
    if guess:
        return guess
    if b"\0" in data:
        raise _no_text(Text("it holds zero bytes", "含有零字节"))
    for name in ("utf-8", "gb18030"):
        try:
            data.decode(name)
        except UnicodeDecodeError:
            continue
        return name
    raise _no_text(Text("it is neither UTF-8 nor GB18030", "既不是 UTF-8 也不是 GB18030"))


def _no_text(why: Text) -> UserFacing:
    return UserFacing(Text("this file is no text table", "此文件不是文本表格"), why, Text("save it as CSV (UTF-8) or XLSX, or choose its encoding", "请另存为 CSV（UTF-8）或 XLSX，或选择其编码"))


_USUAL = (b"\n", b",", b"\t", b";", b"1", b"0", b" ")


def _utf16_without_mark(data: bytes) -> str:
    """UTF-16 text of a table has delimiters and line ends whose other byte is zero, all at the same side."""
    head = data[:4096]
    if len(head) < 4 or b"\0" not in head:
        return ""
    pairs = Counter(head[place : place + 2] for place in range(0, len(head) - 1, 2))
    little, big = sum(pairs[mark + b"\0"] for mark in _USUAL), sum(pairs[b"\0" + mark] for mark in _USUAL)
    if max(little, big) == 0 or len(data) % 2:
        return ""
    return "utf-16-le" if little > big else "utf-16-be"


def decode(data: bytes, encoding: str = "") -> tuple[str, str]:
    """The text, and the encoding that was taken. Raises UserFacing when `encoding` does not fit."""
    name = encoding or encoding_of(data)
    try:
        text = data.decode(name)
    except (UnicodeDecodeError, LookupError) as error:
        raise UserFacing(Text(f"the file is not {name}", f"此文件不是 {name}"), Text("some of its bytes mean nothing in it", "部分字节在该编码中无意义"), Text("choose another encoding", "请选择其他编码")) from error
    return text.removeprefix("\ufeff"), "utf-8" if name == "utf-8-sig" else name


def delimiter_of(text: str) -> str:
    """The delimiter that cuts the first lines into the same number of cells, at least two; else the tab of a single column."""
    lines = [line for line in text[:65_536].splitlines()[:_SAMPLE_LINES] if line.strip()]
    best, best_score = ",", 0.0
    for delimiter in DELIMITERS:
        widths = Counter(len(row) for row in _rows("\n".join(lines), delimiter) if row)
        if not widths:
            continue
        width, often = max(widths.items(), key=lambda pair: (pair[1], pair[0]))
        score = 0.0 if width < 2 else often / sum(widths.values()) * min(width, 20)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def read_text(
    data: bytes, name: str = "CSV", *, encoding: str = "", delimiter: str = "", limits: Limits = LIMITS, cancel: CancelToken | None = None
) -> Sheet:
    """A CSV or TSV, or what a spreadsheet puts on the clipboard. `encoding` and `delimiter` "" are guessed.

    Raises UserFacing for no text, a wrong encoding, or a table that is too large.
    """
    if len(data) > limits.file_bytes:
        raise too_large(len(data), limits)
    text, encoding = decode(data, encoding)
    delimiter = delimiter or delimiter_of(text)
    rows = tuple(_kept(text, delimiter, limits, cancel or CancelToken()))
    cut = without_empty_ends(rows)
    notes = () if text or not data else (Text("the file is empty", "文件为空"),)
    return Sheet(name, cut, notes=notes, encoding=encoding, delimiter=delimiter)


def too_large(size: int, limits: Limits) -> UserFacing:
    """The refusal of a file of `size` bytes."""
    return UserFacing(
        Text(f"the file has {size / 1e6:,.0f} MB", f"文件大小 {size / 1e6:,.0f} MB"), Text(f"files of more than {limits.file_bytes / 1e6:,.0f} MB are not read", f"不读取超过 {limits.file_bytes / 1e6:,.0f} MB 的文件"),
        Text("keep only the rows with offers, and import that file", "请只保留报价所在的行后导入"),
    )  # fmt: skip


def _kept(text: str, delimiter: str, limits: Limits, cancel: CancelToken) -> Iterator[Row]:
    count = 0
    for count, row in enumerate(_rows(text, delimiter), 1):
        if count % _CHECK_EVERY == 0:
            cancel.check()
        refuse_size(count, len(row), limits)
        yield tuple(map(_cell, row))


def _cell(words: str) -> Cell:
    """Text as it stands; the apostrophe with which tables keep "=1+1" from being a formula is no part of it."""
    if words[:1] == "'" and words[1:2] in _GUARDED:
        words = words[1:]
    return clean(words) or None if words else None


_GUARDED = tuple("=+-@＝＋－＠")


def _rows(text: str, delimiter: str) -> Iterator[Sequence[str]]:
    # The module's limit is one for the whole process and must hold what one cell of ours may.
    csv.field_size_limit(max(csv.field_size_limit(), 16 * 1024 * 1024))
    lines = io.StringIO(text.replace("\0", "␀"), newline="")
    try:
        yield from csv.reader(lines, delimiter=delimiter)
    except csv.Error as error:
        raise UserFacing(Text("the text is no table", "此文本不是表格"), str(error), Text("save it again as CSV (UTF-8) or XLSX", "请重新另存为 CSV（UTF-8）或 XLSX")) from error
