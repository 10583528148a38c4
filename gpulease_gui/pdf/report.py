"""How does a document become pages of a PDF?"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF, QPointF, Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QGuiApplication,
    QPagedPaintDevice,
    QPageLayout,
    QPageSize,
    QPainter,
    QPdfWriter,
)

from gpulease_gui import __version__
from gpulease_gui.domain.text import Text
from gpulease_gui.pdf.draw_bars import bar_pieces
from gpulease_gui.pdf.draw_lines import line_pieces
from gpulease_gui.pdf.draw_table import table_pieces
from gpulease_gui.pdf.draw_text import (
    box_pieces,
    heading_pieces,
    items_pieces,
    marks_pieces,
    pairs_pieces,
    paragraph_pieces,
    sign_pieces,
    sub_pieces,
    title_pieces,
)
from gpulease_gui.pdf.fonts import load_fonts, shipped_font
from gpulease_gui.pdf.paint import with_alpha
from gpulease_gui.pdf.pieces import Piece, Placed, paginate
from gpulease_gui.pdf.sheet import FOOTER, MARGIN, PAGE_HEIGHT, PAGE_WIDTH, SMALL, WIDTH, Sheet
from gpulease_gui.reports.document import (
    BarChart,
    Document,
    Heading,
    Items,
    LineChart,
    Marks,
    Pairs,
    Paragraph,
    SignOff,
    SubHeading,
    Table,
    Title,
    VerdictBox,
)

DOTS_PER_INCH = 72
TEXT_HEIGHT = PAGE_HEIGHT - 2 * MARGIN - FOOTER
_WATERMARK_POINTS = 60.0
_WATERMARK_ALPHA = 0.08
_RENDERERS: Mapping[type, Callable[[Any, Sheet], list[Piece]]] = {
    Title: title_pieces, VerdictBox: box_pieces, Heading: heading_pieces, SubHeading: sub_pieces,
    Paragraph: paragraph_pieces, Items: items_pieces, Pairs: pairs_pieces, Table: table_pieces, BarChart: bar_pieces,
    LineChart: line_pieces, Marks: marks_pieces, SignOff: sign_pieces,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pages:
    """A document laid out on A4; the same pages go to a PDF and to a preview. Lengths in points."""

    document: Document
    sheet: Sheet
    pages: tuple[tuple[Placed, ...], ...]

    def paint(self, painter: QPainter, number: int) -> None:
        """Paint page `number` (from 0) on a page whose upper left corner is at (0, 0)."""
        if self.document.demo:
            _paint_watermark(painter, self.sheet)
        for placed in self.pages[number]:
            placed.piece.draw(painter, MARGIN, MARGIN + placed.y)
        _paint_footer(painter, self, number)


def lay_out(document: Document, device: QPagedPaintDevice) -> Pages:
    """Break the document into pages for a device of 72 dots an inch; a QGuiApplication must exist."""
    load_fonts()
    sheet = Sheet(device, document.language)
    pieces = [piece for block in document.blocks for piece in _RENDERERS[type(block)](block, sheet)]
    return Pages(document, sheet, paginate(pieces, TEXT_HEIGHT))


def pdf_bytes(document: Document) -> bytes:
    """The document as a PDF: vectors, selectable text, fonts embedded, no user name or path in it.

    Makes an application without a screen if there is none, so call it in a process of its own or on the main thread.
    Raises RuntimeError when the shipped font can't be read.
    """
    application = _application()
    content = _rendered(document)
    del application
    return content


def _rendered(document: Document) -> bytes:
    """Everything of Qt that this needs is gone again before the application may go."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = _writer(buffer, document)
    pages = lay_out(document, writer)
    painter = QPainter(writer)
    for number in range(len(pages.pages)):
        if number:
            writer.newPage()
        pages.paint(painter, number)
    painter.end()
    return bytes(buffer.data().data())


def _application() -> object:
    """The running application, or a new one that needs no screen; hold on to it while painting."""
    existing = QGuiApplication.instance()
    if existing is not None:
        return existing
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    return QGuiApplication(["gpulease"])


def _writer(buffer: QBuffer, document: Document) -> QPdfWriter:
    writer = QPdfWriter(buffer)
    writer.setResolution(DOTS_PER_INCH)
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    writer.setPageMargins(QMarginsF(0, 0, 0, 0), QPageLayout.Unit.Point)
    writer.setTitle(document.title.say(document.language))
    writer.setCreator(f"GPULease {__version__}")
    return writer


def _paint_watermark(painter: QPainter, sheet: Sheet) -> None:
    painter.save()
    font = shipped_font(_WATERMARK_POINTS, bold=True)
    painter.setFont(font)
    painter.setPen(with_alpha(sheet.palette.ink, _WATERMARK_ALPHA))
    painter.translate(PAGE_WIDTH / 2, PAGE_HEIGHT / 2)
    painter.rotate(-35)
    width = QFontMetricsF(font, sheet.device).horizontalAdvance("DEMO")
    for shift in (-1.3, 0.0, 1.3):
        painter.drawText(QPointF(shift * width - width / 2, _WATERMARK_POINTS / 3), "DEMO")
    painter.restore()


def _paint_footer(painter: QPainter, pages: Pages, number: int) -> None:
    sheet, document, count = pages.sheet, pages.document, len(pages.pages)
    top = PAGE_HEIGHT - MARGIN - FOOTER + 12
    sheet.rule(painter, MARGIN, top - 3, WIDTH, "border2", 0.5)
    demo = "DEMO · " if document.demo else ""
    left = sheet.set(demo + sheet.say(document.footer), WIDTH * 0.78, points=SMALL, token="t3", max_lines=1)
    page = sheet.say(Text(f"Page {number + 1} of {count}", f"第 {number + 1} 页，共 {count} 页"))
    right = sheet.set(page, WIDTH * 0.2, points=SMALL, token="t3", align=Qt.AlignmentFlag.AlignRight)
    hash_line = sheet.set(f"SHA-256 {document.hash}", WIDTH, points=SMALL, token="t3")
    left.draw(painter, MARGIN, top)
    right.draw(painter, MARGIN + WIDTH * 0.8, top)
    hash_line.draw(painter, MARGIN, top + left.first_height)
