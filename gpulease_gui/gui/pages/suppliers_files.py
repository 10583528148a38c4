"""Which files prove what a supplier said, and how do they come in and leave again?"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QDropEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout

from gpulease_gui.domain.commercial import Subject
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.forms.import_source import TABLES
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.pages.suppliers_acts import ActsBand
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import question
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.panes import EmptyState, Pane, hairline
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.commerce_edit import delete
from gpulease_gui.services.files_view import (
    MOST_BYTES,
    SHOWABLE,
    FileLine,
    files_in,
    keep_file,
    open_name,
    read_file,
    write_file,
)
from gpulease_gui.store.records import EvidenceBlob

if TYPE_CHECKING:
    import sqlite3

_KINDS = {
    "application/pdf": "PDF", "image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP", "application/zip": "ZIP / Office",
}  # fmt: skip
_MOST_AT_ONCE = 20


class FilesPane(Pane):
    """The files of a record; nothing is opened by itself."""

    def __init__(self) -> None:
        super().__init__(2)
        self.lines: TableModel[FileLine] = TableModel(_columns(), lambda line: line.file.id)
        self.table = TableView(self.lines, Text("Files", "附件"))
        self.add = Button(Text("Add file…", "添加文件…"), icon="add", small=True)
        self.open = Button(Text("Open a copy…", "打开副本…"), icon="external", small=True)
        self.save = Button(Text("Save as…", "另存为…"), icon="download", small=True)
        self.delete = Button(Text("Delete", "删除"), icon="delete", small=True)
        most = MOST_BYTES >> 20
        self.hint = PlainLabel(Text(f"Drop a PDF or a picture here, up to {most} MiB; it is kept in the workspace by its hash.",
                                    f"可将 PDF 或图片拖到此处，单个不超过 {most} MiB；按哈希存入工作区。"), size="dense", level="2", wrap=True)  # fmt: skip
        tools = QHBoxLayout()
        tools.setContentsMargins(16, 8, 16, 8)
        tools.setSpacing(8)
        self.hint.setContentsMargins(16, 8, 16, 0)
        self.column.addWidget(self.hint)
        for button in (self.add, self.open, self.save, self.delete):
            tools.addWidget(button)
        tools.addStretch(1)
        self.column.addLayout(tools)
        self.column.addWidget(hairline())
        self.first = Button(Text("Add file…", "添加文件…"), icon="add", kind="primary")
        self.first.clicked.connect(self.add.click)
        self.empty = EmptyState(
            "attachment", Text("No file yet", "还没有附件"),
            Text("Keep the quote, the contract or a picture of the chat here; a term can then name it as its evidence.",
                 "在此保存报价单、合同或聊天截图，条款即可引用它作为凭据。"), primary=self.first,
        )  # fmt: skip
        self.column.addWidget(self.table, 1)
        self.column.addWidget(self.empty, 1)
        self.table.chosen.connect(lambda _: self._fit())
        self._fit()

    def show_files(self, lines: tuple[FileLine, ...]) -> None:
        """Show the files of a record."""
        self.lines.set_rows(lines)
        self.table.setVisible(bool(lines))
        self.empty.setVisible(not lines)
        if self.table.current_row is None:
            self.table.choose_first()
        self._fit()

    def _fit(self) -> None:
        line: FileLine | None = self.table.current_row
        self.save.setEnabled(line is not None)
        self.delete.setEnabled(line is not None)
        self.open.setEnabled(line is not None and line.file.kind in SHOWABLE)


class FilesDesk(QObject):
    """Between the files and the services: reads, attaches, writes out. `counted` carries how many there are."""

    counted = Signal(int)

    def __init__(self, frame: Frame, pane: FilesPane, acts: ActsBand) -> None:
        super().__init__(pane)
        self._frame, self._pane, self._acts = frame, pane, acts
        self._subject: Subject | None = None
        pane.add.clicked.connect(self.choose)
        pane.save.clicked.connect(self.save_as)
        pane.open.clicked.connect(self.ask_to_open)
        pane.delete.clicked.connect(self.delete)

    def open_subject(self, subject: Subject) -> None:
        """Show the files of a record."""
        self._subject = subject
        future = self._frame.services.query(lambda connection: files_in(connection, subject))
        self._frame.bridge.when_done(future, lambda lines: self._take(subject, lines))

    def _take(self, subject: Subject, lines: tuple[FileLine, ...]) -> None:
        if subject == self._subject:
            self._pane.show_files(lines)
            self.counted.emit(len(lines))

    # -- in --------------------------------------------------------------------------------------------------------------------

    def choose(self) -> None:
        """Let the user point at a file."""
        kinds = say(Text("Documents and pictures", "文档与图片")) + " (*.pdf *.png *.jpg *.jpeg *.gif *.webp *.docx *.xlsx *.eml *.txt);;*"
        paths, _ = QFileDialog.getOpenFileNames(self._pane, say(Text("Add files", "添加文件")), "", kinds)
        self.attach([Path(path) for path in paths])

    def attach(self, paths: list[Path]) -> None:
        """Read files on a worker and keep them with the shown record."""
        subject = self._subject
        if subject is None:
            return
        for path in paths[:_MOST_AT_ONCE]:
            future = self._frame.services.jobs.local(partial(read_file, path))
            self._frame.bridge.when_done(future, partial(self._keep, subject))

    def _keep(self, subject: Subject, read: tuple[str, str, EvidenceBlob]) -> None:
        self._acts.do(keep_file(subject, read), "attachment")

    # -- out -------------------------------------------------------------------------------------------------------------------

    def save_as(self) -> None:
        """Write a file to a place that the user chooses."""
        line: FileLine | None = self._pane.table.current_row
        if line is None:
            return
        path, _ = QFileDialog.getSaveFileName(self._pane, say(Text("Save as", "另存为")), line.file.name)
        if path:
            self.write(line, Path(path))

    def write(self, line: FileLine, path: Path, *, then_open: bool = False) -> None:
        """Write the bytes on a worker, checked against their hash."""

        def work(connection: sqlite3.Connection) -> Path:
            return write_file(connection, line.file, path)

        self._frame.bridge.when_done(self._frame.services.query(work), lambda done: self._written(done, then_open=then_open))

    def _written(self, path: Path, *, then_open: bool) -> None:
        self._frame.note(Text(f"Written: {path}", f"已写入：{path}"))
        if then_open:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))

    def ask_to_open(self) -> None:
        """Opening hands a stranger's file to another program: never without a yes."""
        line: FileLine | None = self._pane.table.current_row
        if line is None or line.file.kind not in SHOWABLE:
            return
        dialog = question(
            Text("Open a copy", "打开副本"), line.file.name,
            Text("A copy goes to the temporary folder and is shown by the program that this system uses for it.",
                 "将在临时文件夹中生成副本，并由系统关联的程序打开。"),
            Text("Open the copy", "打开副本"), danger=True, parent=self._pane,
        )  # fmt: skip
        dialog.accepted.connect(lambda: self._open(line))
        open_dialog(dialog)

    def _open(self, line: FileLine) -> None:
        folder = Path(tempfile.mkdtemp(prefix="gpulease-"))
        self.write(line, folder / open_name(line.file), then_open=True)

    def delete(self) -> None:
        """Put the chosen file into the trash."""
        line: FileLine | None = self._pane.table.current_row
        if line is not None:
            file = line.file.id
            self._acts.do(lambda db: delete(db, "attachment", file), "attachment")


def files_of(event: QDropEvent) -> list[Path]:
    """Local files of a drop that are no tables and no bundle: those are imported."""
    paths = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    return [path for path in paths if path.suffix.lower() not in (*TABLES, ".json")]


def _columns() -> tuple[Column[FileLine], ...]:
    return (
        Column(Text("File", "文件"), lambda line: Cell(line.file.name, weight=500, icon="attachment", tip=line.file.name), width=220, stretch=True),
        Column(Text("Kind", "类型"), lambda line: Cell(_KINDS.get(line.file.kind, Text("other", "其他")), tone="2"), width=90),
        Column(Text("Size", "大小"), lambda line: Cell(_size(line.size), tone="2"), lambda line: line.size, width=84, number=True),
        Column(Text("Proves", "佐证条款"), lambda line: Cell(str(line.proves), tone="2") if line.proves else NOTHING, width=72, number=True),
        Column(Text("Added", "添加时间"), lambda line: Cell(f"{line.file.at.astimezone():%Y-%m-%d %H:%M}", tone="2"),
               lambda line: line.file.at.timestamp(), width=128),
        Column(Text("By", "操作人"), lambda line: Cell(line.file.by, tone="2"), width=80),
        Column("SHA-256", lambda line: Cell(line.file.sha256[:12], code=True, tone="3", tip=line.file.sha256), width=104),
    )  # fmt: skip


def _size(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB" if size >= 1 << 20 else f"{size / 1024:.1f} KiB"
