"""Where is a quote pasted or dropped?"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QPlainTextEdit

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.lively import Lively

_NAME = Text("Quote", "报价")
_HINT = Text(
    "Paste cells from a spreadsheet or lines of a chat, or drop a file.\n\nH100 80G SXM 8卡 ¥12.5/卡/小时 含税 起租24小时",
    "粘贴表格单元格或聊天记录，或拖入文件。\n\nH100 80G SXM 8卡 ¥12.5/卡/小时 含税 起租24小时",
)
TABLES = (".xlsx", ".csv", ".tsv", ".txt", ".xls", ".xlsm")


class QuoteEdit(Lively, QPlainTextEdit):
    """Plain text only; `dropped` carries the path of a file."""

    dropped = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("code", "true")
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(True)
        self.retranslate()

    def retranslate(self) -> None:
        """Say name and hint."""
        self.setAccessibleName(say(_NAME))
        self.setPlaceholderText(say(_HINT))

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Plain text and files; nothing else of a clipboard is looked at."""
        return source.hasText() or file_of(source) is not None

    def insertFromMimeData(self, source: QMimeData) -> None:
        """A file goes to the form, text goes in at the cursor."""
        path = file_of(source)
        if path is not None:
            self.dropped.emit(path)
        else:
            self.insertPlainText(source.text())

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files and text are welcome."""
        if self.canInsertFromMimeData(event.mimeData()):
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """As `dragEnterEvent`."""
        if self.canInsertFromMimeData(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Take the file or the text."""
        self.insertFromMimeData(event.mimeData())
        event.acceptProposedAction()


def file_of(source: QMimeData) -> Path | None:
    """The first file on this computer that is dragged; None for text and addresses."""
    local = [url.toLocalFile() for url in source.urls() if url.isLocalFile()]
    return Path(local[0]) if local else None
