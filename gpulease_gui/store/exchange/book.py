"""How is a workbook read that may be hostile? By a child process, which is ended when it takes too long."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import IO, Any

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.store.exchange.sheet import (
    LIMITS,
    Cell,
    CellFault,
    Limits,
    Merged,
    Row,
    Sheet,
    clean,
    column_letters,
    fill_merged,
)

Progress = Callable[[int], None]
_ANOTHER = Text("open it in a spreadsheet program and save it again as XLSX", "请用表格软件打开并重新另存为 XLSX")


def read_book(
    path: Path, sheet: str = "", *, limits: Limits = LIMITS, cancel: CancelToken | None = None, progress: Progress | None = None
) -> Sheet:
    """One sheet of an XLSX file: `sheet`, else the first shown one that is not empty. `progress` is told the rows so far.

    Formulas are not evaluated: the saved result counts, and a formula without one is a `CellFault`. Links to other
    files are not followed. Raises UserFacing for what is refused or damaged, Cancelled.
    """
    cancel = cancel or CancelToken()
    reading = _Reading()
    with _child(path, sheet, limits, cancel) as lines:
        for line in lines:
            reading.take(json.loads(line, parse_float=_decimal, parse_constant=CellFault))
            if progress:
                progress(len(reading.rows))
    return reading.sheet(limits)


def _decimal(digits: str) -> Decimal:
    """A number as the spreadsheet shows it: it keeps fifteen digits, the file may hold the noise behind them."""
    return Decimal(f"{float(digits):.15g}")


def _said(words: Any) -> Text:
    """What the child says in both languages."""
    en, zh = words
    return Text(str(en), str(zh))


class _Reading:
    """What came from the child so far."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.name = "Sheet1"
        self.sheets: tuple[str, ...] = ()
        self.notes: list[Text] = []
        self.merged: list[Merged] = []
        self.ended = False

    def take(self, line: Any) -> None:
        if isinstance(line, list):
            for number, cells in line:
                self._put(number - 1, tuple(map(_cell, cells)))
        elif "trouble" in line:
            raise UserFacing(_said(line["trouble"]), str(line["why"]), _said(line["next"]))
        elif "sheets" in line:
            self.sheets = tuple(clean(str(name)) for name in line["sheets"])
            self._note(line)
        elif "sheet" in line:
            self.name = clean(str(line["sheet"]))
        else:
            self.ended = True
            self.merged = [range_ for ref in line["merged"] if (range_ := _merged(ref))]
            self._note_hidden(line.get("hidden") or {})

    def _put(self, place: int, row: Row) -> None:
        """Rows keep their numbers; those that come out of order, or with none that can be, too."""
        if 0 <= place < len(self.rows):
            self.rows[place] = row
            return
        self.rows.extend(() for _ in range(len(self.rows), place))
        self.rows.append(row)

    def _note(self, line: Any) -> None:
        if "links" in line["left"]:
            self.notes.append(Text("links to other files were not followed", "未读取指向其他文件的链接"))
        hidden = ", ".join(clean(str(name)) for name in line["hidden"][:5])
        if hidden:
            self.notes.append(Text(f"hidden sheets: {hidden}", f"隐藏的工作表：{hidden}"))

    def _note_hidden(self, hidden: Any) -> None:
        """What nobody sees who opens the sheet is left out, with a word."""
        rows, columns = hidden.get("rows", ()), [column_letters(column - 1) for column in hidden.get("columns", ())]
        if rows:
            count, some = hidden["row_count"], ", ".join(map(str, rows[:10])) + (" …" if hidden["row_count"] > 10 else "")
            self.notes.append(Text(f"hidden rows were left out ({count}): {some}", f"已略过隐藏的行（{count} 行）：{some}"))
        if columns:
            some = ", ".join(columns)
            self.notes.append(Text(f"hidden columns were left out: {some}", f"已略过隐藏的列：{some}"))

    def sheet(self, limits: Limits) -> Sheet:
        if not self.ended:
            raise UserFacing(Text("the workbook was not read to its end", "工作簿未读完"), Text("reading it failed", "读取失败"), _ANOTHER)
        return fill_merged(Sheet(self.name, tuple(self.rows), sheets=self.sheets, notes=tuple(self.notes)), self.merged, limits)


def _cell(value: Any) -> Cell:
    if isinstance(value, str):
        return clean(value) or None
    if isinstance(value, dict):
        if "day" in value:
            return date.fromisoformat(value["day"])
        return CellFault(clean(str(value["error"]))) if "error" in value else CellFault("", formula=True)
    return value  # type: ignore[no-any-return]


_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})")


def _merged(reference: str) -> Merged | None:
    found = _REFERENCE.fullmatch(reference)
    return Merged(int(found[2]), _number(found[1]), int(found[4]), _number(found[3])) if found else None


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


@contextmanager
def _child(path: Path, sheet: str, limits: Limits, cancel: CancelToken) -> Iterator[Iterator[str]]:
    """The lines of the child; it is ended at the deadline, at cancel, and when the block is left."""
    cancel.check()
    process = subprocess.Popen(
        [sys.executable, "-X", "utf8", "-m", "gpulease_gui.store.exchange.book_child", str(path), sheet],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8",
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )  # fmt: skip
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    clock = threading.Timer(limits.seconds, end)
    clock.start()
    forget = cancel.on_cancel(process.kill)
    try:
        yield _lines(process.stdout)
        cancel.check()
        _settle(process.wait(), late=late.is_set(), limits=limits)
    except UserFacing:
        cancel.check()
        if late.is_set():
            _settle(-1, late=True, limits=limits)
        raise
    finally:
        clock.cancel()
        forget()
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()
        clock.join()


def _lines(stream: IO[str] | None) -> Iterator[str]:
    """The whole lines; a torn last one belongs to a child that was ended."""
    for line in stream or ():
        if line.endswith("\n"):
            yield line


def _settle(code: int, *, late: bool, limits: Limits) -> None:
    if late:
        raise UserFacing(
            Text("the workbook takes too long to read", "工作簿读取时间过长"), Text(f"it was given {limits.seconds:g} seconds", f"限时 {limits.seconds:g} 秒"), Text("keep only the sheet with offers", "请只保留报价所在的工作表")
        )
    if code:
        raise UserFacing(Text("the workbook could not be read", "无法读取工作簿"), Text(f"its reader ended with code {code}", f"读取程序以代码 {code} 退出"), _ANOTHER)
