"""Where is text from a chat pasted or dropped, without the window standing still for eight mebibytes?"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from gpulease_gui.domain.text import Text, visible
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.gui.widgets.lively import Lively

# What a field can lay out in one turn; of more only the head is shown, and all of it is judged.
SHOWN_CHARACTERS = 24_000

_NAME = Text("Output as the supplier sent it", "供应商发来的输出")
_HINT = Text(
    "Paste here what the supplier sent, or drop a file.\n\nSeveral outputs may follow each other when the prompts are kept:\n"
    "root@node:~# nvidia-smi -q -x\n…",
    "把供应商发来的输出粘贴到这里，或拖入文件。\n\n保留命令提示符时，可一次粘贴多段输出：\nroot@node:~# nvidia-smi -q -x\n…",
)


class PasteEdit(Lively, QPlainTextEdit):
    """Plain text only. `changed`: other text stands here; `dropped` carries the path of a file."""

    changed = Signal()
    dropped = Signal(object)

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._whole: str | None = None
        self.setProperty("raw", "true")
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.textChanged.connect(self.changed)
        self.retranslate()

    @property
    def text(self) -> str:
        """All that was pasted, also what is not shown."""
        return self.toPlainText() if self._whole is None else self._whole

    @property
    def is_head(self) -> bool:
        """Whether more was pasted than is shown; then the field is read-only."""
        return self._whole is not None

    def show_text(self, text: str) -> None:
        """Put other text in place of what stands here."""
        is_long = len(text) > SHOWN_CHARACTERS
        self._whole = text if is_long else None
        self.setReadOnly(is_long)
        self.setPlainText(visible(text[:SHOWN_CHARACTERS]) if is_long else text)

    def retranslate(self) -> None:
        """Say name and hint."""
        self.setAccessibleName(say(_NAME))
        self.setPlaceholderText(say(_HINT))

    # -- pasting and dropping -----------------------------------------------------------------------------------------

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Plain text and files; nothing else of a clipboard is looked at."""
        return source.hasText() or _file_of(source) is not None

    def insertFromMimeData(self, source: QMimeData) -> None:
        """A file goes to the page, a long text is taken whole, a short one goes in at the cursor."""
        path = _file_of(source)
        if path is not None:
            self.dropped.emit(path)
            return
        text = source.text()
        if len(text) > SHOWN_CHARACTERS:
            self.show_text(text)
        elif not self.isReadOnly():
            super().insertFromMimeData(source)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files are welcome, also while the field is read-only."""
        self._welcome(event)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """As `dragEnterEvent`."""
        self._welcome(event)

    def _welcome(self, event: QDragEnterEvent | QDragMoveEvent) -> None:
        if self.canInsertFromMimeData(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Take the file or the text."""
        self.insertFromMimeData(event.mimeData())
        event.acceptProposedAction()


def _file_of(source: QMimeData) -> Path | None:
    local = [url.toLocalFile() for url in source.urls() if url.isLocalFile()]
    return Path(local[0]) if local else None


def size_words(characters: int, *, is_head: bool) -> Words:
    """How much stands in the field."""
    if not characters:
        return Text("at most 8 MiB", "最多 8 MiB")
    if is_head:
        return Text(f"{characters:,} characters, the beginning is shown, all is judged", f"共 {characters:,} 个字符，仅显示开头，全部参与判定")
    return Text(f"{characters:,} characters", f"{characters:,} 个字符")
