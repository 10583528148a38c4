"""How is the raw output of a node shown without trusting it?"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QWidget

from gpulease_gui.domain.text import visible
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.lively import Lively

# What a screen can take: a longer output is cut here, with the cut stated; the whole is in the evidence.
SHOWN_CHARACTERS = 1_000_000


class RawOutput(Lively, QPlainTextEdit):
    """Plain text with line numbers; control characters are made visible, nothing is interpreted."""

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cut = False
        self._marks: list[tuple[str, str]] = []
        self.setProperty("raw", "true")
        self.setReadOnly(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self._gutter = _Gutter(self)
        self.blockCountChanged.connect(self._fit_gutter)
        self.updateRequest.connect(self._gutter.follow)
        self._fit_gutter()
        self.retranslate()

    def show_bytes(self, data: bytes) -> None:
        """Show an output; bytes that are no UTF-8 become replacement marks."""
        self.show_text(data.decode("utf-8", "replace"))

    def show_text(self, words: str) -> None:
        """Show a text; over a million characters only its head."""
        self._cut = len(words) > SHOWN_CHARACTERS
        self._marks = []
        self.setExtraSelections([])
        self.setPlainText(visible(words[:SHOWN_CHARACTERS].replace("\r\n", "\n")))
        self.retranslate()

    @property
    def is_cut(self) -> bool:
        """Whether more was sent than is shown."""
        return self._cut

    def mark_lines(self, parts: Iterable[tuple[str, str]]) -> None:
        """Tint every place of (text, tint token such as fail_bg or accent_bg), and show the first."""
        self._marks = list(parts)
        self.retheme()
        selections = self.extraSelections()
        if selections:
            first = min((s.cursor for s in selections), key=lambda c: c.position())
            self.setTextCursor(QTextCursor(self.document().findBlock(first.selectionStart())))
            self.centerCursor()

    def retheme(self) -> None:
        """Tint the marks in the theme's colours."""
        selections = []
        for words, token in self._marks:
            place = self.document().find(words) if words else QTextCursor()
            while not place.isNull() and place.hasSelection():
                selection = QTextEdit.ExtraSelection()
                selection.cursor = place
                selection.format.setBackground(QColor(colours().colour(token)))
                selections.append(selection)
                place = self.document().find(words, place)
        self.setExtraSelections(selections)

    def retranslate(self) -> None:
        """Name the field."""
        cut = self.tr("Raw output, only the beginning is shown")
        self.setAccessibleName(cut if self._cut else self.tr("Raw output"))

    def gutter_width(self) -> int:
        """Room for the largest line number."""
        digits = max(2, len(str(self.blockCount())))
        return 14 + self.fontMetrics().horizontalAdvance("0") * digits

    def _fit_gutter(self) -> None:
        self.setViewportMargins(self.gutter_width(), 0, 0, 0)
        self._place_gutter()

    def _place_gutter(self) -> None:
        inside = self.contentsRect()
        self._gutter.setGeometry(QRect(inside.left(), inside.top(), self.gutter_width(), inside.height()))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the numbers beside the text."""
        super().resizeEvent(event)
        self._place_gutter()

    def paint_numbers(self, painter: QPainter, area: QRect) -> None:
        """Draw the numbers of the lines that are in sight."""
        painter.setFont(self.font())
        painter.setPen(QColor(colours().t3))
        block, height = self.firstVisibleBlock(), self.fontMetrics().height()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= area.bottom():
            box = QRect(0, int(top), self._gutter.width() - 8, height)
            painter.drawText(box, Qt.AlignmentFlag.AlignRight, str(block.blockNumber() + 1))
            top += self.blockBoundingRect(block).height()
            block = block.next()


class _Gutter(QWidget):
    def __init__(self, view: RawOutput) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self) -> QSize:
        return QSize(self._view.gutter_width(), 0)

    def follow(self, area: QRect, scrolled: int) -> None:
        """Scroll or repaint with the text."""
        if scrolled:
            self.scroll(0, scrolled)
        else:
            self.update(0, area.y(), self.width(), area.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        self._view.paint_numbers(QPainter(self), event.rect())
