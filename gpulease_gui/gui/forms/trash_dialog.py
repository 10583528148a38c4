"""What was deleted in the last thirty days, and how does it come back?"""

from __future__ import annotations

from datetime import datetime

from PySide6.QtWidgets import QWidget

from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.taking_back import KINDS
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import FactDialog
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.commerce import trash_in
from gpulease_gui.services.commerce_edit import Restored, restore
from gpulease_gui.store.trash import SHOWN, Trashed, empty_trash

KIND_WORDS = {
    "supplier": Text("supplier", "供应商"), "site": Text("site", "机房"), "offer": Text("offer", "报价"), "contract": Text("contract", "合同"),
    "attachment": Text("file", "附件"),
}  # fmt: skip


class TrashDialog(FactDialog):
    """The trash as a table; Restore brings a record back, and what was deleted together with it."""

    def __init__(self, frame: Frame, *, parent: QWidget | None = None) -> None:
        days = SHOWN.days
        super().__init__(
            Text("Trash", "回收站"), Text(f"Deleted in the last {days} days", f"最近 {days} 天删除的内容"), icon="delete", parent=parent,
        )  # fmt: skip
        self._frame = frame
        self.rows: TableModel[Trashed] = TableModel(_columns(), lambda entry: (entry.kind, entry.id))
        self.table = TableView(self.rows, Text("Trash", "回收站"))
        self.table.setMinimumSize(720, 260)
        self.none = PlainLabel(Text("The trash is empty.", "回收站为空。"), level="2")
        self.column.addWidget(self.none)
        self.column.addWidget(self.table, 1)
        self.close_button = self.add_button(Button(Text("Close", "关闭")), rejects=True)
        self.empty = self.add_button(Button(Text("Empty now…", "立即清空…"), icon="delete", kind="danger"))
        self.empty.clicked.connect(self.ask_empty)
        self.restore = self.add_button(Button(Text("Restore", "恢复"), icon="undo", kind="primary"), default=True)
        self.restore.clicked.connect(self.bring_back)
        self.table.opened.connect(lambda _: self.bring_back())
        self.table.chosen.connect(lambda _: self._fit())
        self._fit()
        self.read()

    def read(self) -> None:
        """Read the trash on a worker."""
        future = self._frame.services.query(lambda connection: trash_in(connection, utc_now()))
        self._frame.bridge.when_done(future, self._show)

    def _show(self, found: tuple[Trashed, ...]) -> None:
        self.rows.set_rows(found)
        self.table.choose_first()
        self._fit()

    def _fit(self) -> None:
        self.none.setVisible(not self.rows.rows)
        self.table.setVisible(bool(self.rows.rows))
        self.restore.setEnabled(self.table.current_row is not None)
        self.empty.setEnabled(bool(self.rows.rows))

    def bring_back(self) -> None:
        """Restore the chosen record."""
        entry: Trashed | None = self.table.current_row
        if entry is not None:
            frame = self._frame
            future = frame.services.change(lambda db: restore(db, entry.kind, entry.id), *KINDS)
            frame.bridge.when_done(future, lambda back: frame.note(_restored(entry, back)))
            frame.bridge.when_done(future, lambda _: self.read())

    def ask_empty(self) -> EmptyDialog:
        """Ask before what is listed goes out of sight."""
        dialog = EmptyDialog(len(self.rows.rows), parent=self)
        newest = max(entry.at for entry in self.rows.rows)
        dialog.accepted.connect(lambda: self._empty(newest))
        open_dialog(dialog)
        return dialog

    def _empty(self, newest: datetime) -> None:
        future = self._frame.services.change(lambda db: empty_trash(db, newest), "trash")
        self._frame.bridge.when_done(future, lambda _: self.read())


class EmptyDialog(FactDialog):
    """The question before the trash is emptied; the button says how much of it goes."""

    def __init__(self, count: int, *, parent: QWidget | None = None) -> None:
        super().__init__(
            Text(f"Empty the trash of {_count(count)}?", f"清空回收站中的 {count} 条记录？"),
            Text("They can't be restored from here afterwards. The history in the workspace file keeps them, as after 30 days.",
                 "清空后不能再从此处恢复。与满 30 天后相同，工作区文件的历史中仍有保留。"),
            icon="delete", parent=parent,
        )  # fmt: skip
        self.add_button(Button(Text("Keep them", "保留")), rejects=True, default=True)
        self.sure = self.add_button(Button(Text(f"Empty {_count(count)}", f"清空 {count} 条记录"), kind="danger_filled"))
        self.sure.clicked.connect(self.accept)


def _count(count: int) -> str:
    return "1 record" if count == 1 else f"{count} records"


def _restored(entry: Trashed, back: Restored) -> Text:
    """What came back, how many records it was, and what had to come along."""
    en, zh = f"Restored: {entry.name}", f"已恢复：{entry.name}"
    if back.count > 1:
        en, zh = f"{en}, {back.count} records", f"{zh}，共 {back.count} 条记录"
    if back.owners:
        en, zh = f"{en}; with it {', '.join(back.owners)}, which it belongs to", f"{zh}；所属的{'、'.join(back.owners)}一并恢复"
    return Text(en, zh)


def open_trash(frame: Frame, parent: QWidget) -> TrashDialog:
    """Show the trash of the open workspace."""
    dialog = TrashDialog(frame, parent=parent)
    open_dialog(dialog)
    return dialog


def _columns() -> tuple[Column[Trashed], ...]:
    return (
        Column(Text("What", "类别"), lambda e: Cell(KIND_WORDS.get(e.kind, foreign(e.kind)), tone="2"), width=90),
        Column(Text("Name", "名称"), lambda e: Cell(e.name, weight=500, tip=e.name), width=240, stretch=True),
        Column(Text("Deleted", "删除时间"), lambda e: Cell(f"{e.at.astimezone():%Y-%m-%d %H:%M}", tone="2"), width=130),
        Column(Text("By", "操作人"), lambda e: Cell(e.by, tone="2") if e.by else NOTHING, width=90),
        Column(Text("Can be restored until", "可恢复至"), lambda e: Cell(f"{(e.at + SHOWN).astimezone():%Y-%m-%d}", tone="2"), width=130),
    )
