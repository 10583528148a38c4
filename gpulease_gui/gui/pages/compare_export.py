"""How does a comparison leave the page: clipboard, CSV, XLSX, picture?"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QStandardPaths, QTimer
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtWidgets import QFileDialog, QMenu

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.os_reason import os_reason
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import current_language, say
from gpulease_gui.gui.png import png_bytes
from gpulease_gui.gui.theme.sizes import row_height
from gpulease_gui.gui.widgets.matrix import Matrix
from gpulease_gui.services.compare_sheet import csv_bytes, sheet_bytes, tsv_text
from gpulease_gui.services.overview import local_day
from gpulease_gui.services.whole_file import whole_file

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.compare import ComparePage

_KINDS = {"csv": "CSV (*.csv)", "xlsx": "XLSX (*.xlsx)", "png": "PNG (*.png)"}
_ROWS_A_TURN = 24
_COLUMN, _MOST_PX = 170, 16_000


class CompareExport:
    """Writes what is shown, in the language and column order of the window; files are written by a worker."""

    def __init__(self, page: ComparePage) -> None:
        self._page = page
        self.menu = QMenu(page)
        self._acts = {kind: self.menu.addAction("", partial(self.save_as, kind)) for kind in _KINDS}
        self.menu.aboutToShow.connect(self.retranslate)
        self._drawing: _Drawing | None = None
        self.retranslate()

    def retranslate(self) -> None:
        """Say the entries."""
        words = {"csv": Text("CSV…", "CSV…"), "xlsx": Text("Excel workbook (XLSX)…", "Excel 工作簿（XLSX）…"), "png": Text("Picture (PNG)…", "图片（PNG）…")}
        for kind, act in self._acts.items():
            act.setText(say(words[kind]))

    def copy(self) -> None:
        """The whole matrix with its heads, ready for a spreadsheet."""
        look = self._page.look
        if look is None:
            return
        comparison, language, only = look.comparison, current_language(), self._page.bar.differences.isChecked()
        future = self._page.frame.services.jobs.local(lambda: tsv_text(comparison, language, differences_only=only))
        self._page.frame.bridge.when_done(future, self._copied)

    def _copied(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self._page.frame.note(Text("Copied for a spreadsheet", "已复制，可粘贴到表格"))

    def save_as(self, kind: str) -> None:
        """Ask for a file and write it."""
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        name = f"comparison-{local_day(utc_now()).isoformat()}.{kind}"
        chosen, _ = QFileDialog.getSaveFileName(self._page, say(Text("Export the comparison", "导出对比")), str(Path(folder) / name), _KINDS[kind])
        if chosen:
            path = Path(chosen)
            self.save(path if path.suffix.lower() == f".{kind}" else path.with_name(f"{path.name}.{kind}"), kind)

    def save(self, path: Path, kind: str) -> None:
        """Write the comparison as `kind` to `path`."""
        look = self._page.look
        if look is None:
            return
        if kind == "png":
            self._drawing = _Drawing(self._page.matrix, lambda image: self._write(path, lambda: _write_bytes(path, png_bytes(image))))
            return
        comparison, language, only = look.comparison, current_language(), self._page.bar.differences.isChecked()
        make = csv_bytes if kind == "csv" else sheet_bytes
        self._write(path, lambda: _write_bytes(path, make(comparison, language, differences_only=only)))

    def _write(self, path: Path, work: Callable[[], None]) -> None:
        self._drawing = None
        future = self._page.frame.services.jobs.local(work)
        self._page.frame.bridge.when_done(future, lambda _: self._page.frame.note(Text(f"Written: {path.name}", f"已写入：{path.name}")))


def _write_bytes(path: Path, content: bytes) -> None:
    try:
        with whole_file(path) as file:
            file.write(content)
    except OSError as fault:
        raise UserFacing(Text(f"{path.name} could not be written", f"无法写入 {path.name}"), os_reason(fault), Text("Choose another folder", "请换一个文件夹")) from fault


class _Drawing:
    """Draws heads and lines into one picture, a few lines a turn of the event loop, so that the window goes on."""

    def __init__(self, matrix: Matrix, done: Callable[[QImage], None]) -> None:
        self._matrix, self._done = matrix, done
        self._row, self._height = 0, row_height(matrix.font())
        self._head = matrix.main.head.sizeHint().height()
        columns = matrix.rows.columnCount()
        self._widths = [matrix.frozen.columnWidth(0), *(max(_COLUMN, matrix.main.columnWidth(n)) for n in range(1, columns))]
        ratio = matrix.devicePixelRatioF()
        rows = min(matrix.rows.rowCount(), int(_MOST_PX / ratio - self._head) // self._height)
        self._rows = rows
        self._image = QImage(int(sum(self._widths) * ratio), int((self._head + rows * self._height) * ratio), QImage.Format.Format_RGB32)
        self._image.setDevicePixelRatio(ratio)
        self._draw_heads()
        QTimer.singleShot(0, matrix, self._turn)

    def _lefts(self) -> list[int]:
        return [sum(self._widths[:n]) for n in range(len(self._widths))]

    def _draw_heads(self) -> None:
        painter = QPainter(self._image)
        painter.setFont(self._matrix.font())
        for column, left in enumerate(self._lefts()):
            self._matrix.main.head.draw(painter, QRect(left, 0, self._widths[column], self._head), column)
        painter.end()

    def _turn(self) -> None:
        painter = QPainter(self._image)
        painter.setFont(self._matrix.font())
        rows, delegate, last = self._matrix.rows, self._matrix.delegate, min(self._row + _ROWS_A_TURN, self._rows)
        for row in range(self._row, min(last, rows.rowCount())):
            for column, left in enumerate(self._lefts()):
                rect = QRect(left, self._head + row * self._height, self._widths[column], self._height)
                delegate.draw(painter, rect, self._matrix.font(), (row, column))
        painter.end()
        self._row = last
        if last < self._rows:
            QTimer.singleShot(0, self._matrix, self._turn)
        else:
            self._done(self._image)
