"""What does a workbook hold? Run as a process of its own with little memory and time: the file may be hostile.

`python -m gpulease_gui.store.exchange.book_child FILE SHEET` reads and writes one JSON value a line: the sheets, lists of
rows, the merged ranges, the end, or the trouble. Nothing here evaluates a formula, follows a link or writes a file.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from datetime import date, datetime, time
from typing import IO, Any

from gpulease_gui.domain.text import Text
from gpulease_gui.store.exchange.package_guard import FEWER, Refused, guard
from gpulease_gui.store.exchange.sheet import LIMITS, Limits

BATCH = 200


def main(words: list[str]) -> int:
    """Write what the workbook holds; a last line names the trouble if there was one."""
    path, wanted = words
    _keep_small(LIMITS)
    gc.disable()  # rows make no cycles, and the memory is bounded
    warnings.simplefilter("ignore")
    sys.modules["numpy"] = None  # type: ignore[assignment]  # openpyxl loads it if it can, and needs it for nothing here
    # `guard` has refused every document type: the plain parser is safe then, and twice as fast.
    os.environ.update(OPENPYXL_DEFUSEDXML="False", OPENPYXL_LXML="False")
    try:
        for line in lines_of(path, wanted, LIMITS):
            _tell(line)
    except Refused as refused:
        _tell(_trouble(refused.what, refused.next_step))
    except MemoryError:
        _tell(_trouble(Text("the workbook needs more memory than it may have", "读取工作簿所需的内存超过上限"), FEWER))
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, LookupError, TypeError, AttributeError, SyntaxError, EOFError,
            NotImplementedError, ArithmeticError) as error:  # fmt: skip
        # The library raises all of these for what is wrong in a file.
        cause = error.__cause__ or error
        step = Text("open it in a spreadsheet program and save it again as XLSX", "请用表格软件打开并重新另存为 XLSX")
        _tell(_trouble(Text("the workbook is damaged", "工作簿已损坏"), step, f"{type(cause).__name__}: {str(cause)[:200]}"))
    return 0


def _trouble(what: Text, step: Text, why: str = "") -> dict[str, object]:
    """As it is said in each language; the reason is the library's."""
    return {"trouble": (what.en, what.zh), "why": why, "next": (step.en, step.zh)}


def _tell(line: object) -> None:
    sys.stdout.write(json.dumps(line, separators=(",", ":")) + "\n")


def _keep_small(limits: Limits) -> None:
    """Ask the system for less than it gives: each limit that this system knows. macOS refuses the one on memory."""
    if sys.platform == "win32":
        return
    import resource

    seconds = int(limits.seconds)
    for what, most in ((resource.RLIMIT_AS, limits.memory_bytes), (resource.RLIMIT_CPU, seconds), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0)):
        try:
            resource.setrlimit(what, (most, most))
        except ValueError:
            if sys.platform == "linux":
                raise


def lines_of(path: str, wanted: str, limits: Limits) -> Iterator[object]:
    """The lines for one sheet: `wanted`, else the first that is shown and holds anything. Raises Refused."""
    left_aside = guard(path, limits)
    with open(path, "rb") as file:
        book = _book(file)
        sheets = [s for s in book.worksheets if hasattr(s, "_get_source")]
        yield {"sheets": [s.title for s in sheets], "hidden": [s.title for s in sheets if s.sheet_state != "visible"],
               "left": left_aside}  # fmt: skip
        shown = [s for s in sheets if s.sheet_state == "visible"] or sheets
        chosen = [s for s in sheets if s.title == wanted] if wanted else shown
        if not chosen:
            raise Refused(Text(f"there is no sheet {wanted!r}", f"没有工作表 {wanted!r}"), Text("choose one of the sheets of the file", "请选择文件中的工作表"))
        for sheet in chosen:
            lines = _sheet_lines(book, sheet, limits)
            first = next(lines)
            if first != _EMPTY or sheet is chosen[-1]:
                yield {"sheet": sheet.title}
                yield first
                yield from lines
                return


def _book(file: IO[bytes]) -> Any:
    """As the library's `load_workbook`; shared texts without runs, which are nearly all there are, take a short way."""
    from openpyxl.cell.text import Text
    from openpyxl.reader.excel import ExcelReader
    from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS
    from openpyxl.xml.functions import iterparse

    plain, whole = f"{{{SHEET_MAIN_NS}}}t", f"{{{SHEET_MAIN_NS}}}si"

    class Reader(ExcelReader):
        def read_strings(self) -> None:
            part: Any = self.package.find(SHARED_STRINGS)  # type: ignore[no-untyped-call]
            if part is None:
                return
            with self.archive.open(part.PartName[1:]) as source:
                for _, node in iterparse(source):
                    if node.tag == whole:
                        short = len(node) == 1 and node[0].tag == plain
                        text: Any = node[0] if short else Text.from_tree(node)
                        words = (text.text or "") if short else text.content
                        self.shared_strings.append(words.replace("x005F_", ""))  # the library does so, too
                        node.clear()

    reader = Reader(file, read_only=True, data_only=True, keep_links=False)
    reader.read()
    return reader.wb


_EMPTY = {"end": 0, "merged": ()}
_NO_RESULT = object()
_MOST_OF_A_ROW = 16_384


def _sheet_lines(book: Any, sheet: Any, limits: Limits) -> Iterator[object]:
    from openpyxl.worksheet._reader import CELL_TAG, FORMULA_TAG, MERGE_TAG, ROW_TAG, VALUE_TAG, WorkSheetParser
    from openpyxl.xml.constants import SHEET_MAIN_NS
    from openpyxl.xml.functions import iterparse

    columns_tag = f"{{{SHEET_MAIN_NS}}}cols"
    columns: dict[str, int] = {}

    class Cells(WorkSheetParser):
        """The library's cells; one with a formula and no stored result says so instead of looking empty.

        Shared texts and plain numbers, which are nearly all there is, take a short way.
        """

        def parse_cell(self, element: Any) -> Any:
            kind, reference = element.get("t"), element.get("r")
            column = columns.get(reference.rstrip("0123456789")) if reference else None
            if column is None or len(element) != 1 or element[0].tag != VALUE_TAG or not element[0].text:
                return self._usual(element)
            if kind == "s":
                self.col_counter = column
                return {"column": column, "value": self.shared_strings[int(element[0].text)], "data_type": "s"}
            if kind in (None, "n") and int(element.get("s", 0)) not in self.date_formats:
                self.col_counter = column
                return {"column": column, "value": _number(element[0].text), "data_type": "n"}
            return self._usual(element)

        def _usual(self, element: Any) -> Any:
            cell = super().parse_cell(element)
            if element.get("r"):
                columns[element.get("r").rstrip("0123456789")] = cell["column"]
            if cell["value"] is None and len(element) and element.find(FORMULA_TAG) is not None:
                cell["value"] = _NO_RESULT
            return cell

    batch: list[list[object]] = []
    merged: list[str] = []
    unseen_rows: list[int] = []
    unseen_columns: frozenset[int] = frozenset()
    last, seen, inside = 0, 0, 0
    with sheet._get_source() as source:
        parser = Cells(
            source, sheet._shared_strings, data_only=True, epoch=book.epoch, date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )  # fmt: skip
        for _, element in iterparse(source):
            if element.tag == CELL_TAG:
                inside += 1
                if inside > _MOST_OF_A_ROW:
                    raise Refused(
                        Text("a row of the sheet has more cells than a spreadsheet can hold", "工作表中有一行的单元格超过表格软件的上限"),
                        Text("save it again as XLSX", "请重新另存为 XLSX"),
                    )
            elif element.tag == ROW_TAG:
                inside = 0
                unseen = element.get("hidden") in _ON
                number, cells = parser.parse_row(element)
                element.clear()
                row, width = _row(cells if not unseen_columns else [c for c in cells if c["column"] not in unseen_columns], limits.columns)
                if not width:
                    continue
                seen, last = seen + width, number
                _refuse_large(number, width, seen, limits)
                if unseen:
                    unseen_rows.append(number)
                    continue
                batch.append([number, row])
                if len(batch) >= BATCH:
                    yield batch
                    batch = []
            elif element.tag == columns_tag:
                unseen_columns = _unseen(element, limits.columns)
                element.clear()
            elif element.tag == MERGE_TAG:
                merged = [str(range_.get("ref", "")) for range_ in element]
                element.clear()
    if batch:
        yield batch
    hidden = {"rows": unseen_rows[:_MOST_NAMED], "row_count": len(unseen_rows), "columns": sorted(unseen_columns)[:_MOST_NAMED]}
    yield {"end": last, "merged": merged, "hidden": hidden} if last else _EMPTY


_ON = ("1", "true")
_MOST_NAMED = 20


def _unseen(element: Any, most: int) -> frozenset[int]:
    """The columns that are hidden: who reads the sheet does not see them."""
    spans = [(int(one.get("min", 0)), int(one.get("max", 0))) for one in element if one.get("hidden") in _ON]
    return frozenset(column for low, high in spans for column in range(max(low, 1), min(high, most) + 1))


def _number(text: str) -> int | float:
    return float(text) if "." in text or "E" in text or "e" in text else int(text)


def _refuse_large(rows: int, columns: int, cells: int, limits: Limits) -> None:
    if rows > limits.rows or columns > limits.columns or cells > limits.cells:
        raise Refused(
            Text(f"the sheet is too large: row {rows:,}, {columns:,} columns; at most {limits.rows:,} rows, {limits.columns:,} columns and "
                 f"{limits.cells:,} cells are read",
                 f"工作表过大：第 {rows:,} 行，{columns:,} 列；最多读取 {limits.rows:,} 行、{limits.columns:,} 列、{limits.cells:,} 个单元格"),
            Text("keep only the rows and columns with offers", "请只保留有报价的行和列"),
        )  # fmt: skip


def _row(cells: list[dict[str, Any]], most_columns: int) -> tuple[list[object], int]:
    """The values from column A on, and how wide the row is; empty cells at the end count for nothing."""
    row: list[object] = []
    for cell in cells:
        value = cell["value"]
        if value is None or value == "":
            continue
        column = cell["column"]
        if column > most_columns:
            return [], column
        if column > len(row) + 1:
            row.extend([None] * (column - len(row) - 1))
        plain = value if type(value) in _PLAIN and cell["data_type"] != "e" else _shaped(cell, value)
        if column <= len(row):
            row[column - 1] = plain
        else:
            row.append(plain)
    return row, len(row)


_PLAIN = frozenset([str, int, float, bool])


def _shaped(cell: dict[str, Any], value: object) -> object:
    if value is _NO_RESULT:
        return {"formula": 1}
    if cell["data_type"] == "e":
        return {"error": str(value)}
    if isinstance(value, datetime):
        return {"day": value.date().isoformat()} if value.time() == time(0) else value.isoformat(" ")
    if isinstance(value, date):
        return {"day": value.isoformat()}
    return str(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
