"""Which stretches does the report of a node show, and how is one of them taken out again?"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFileDialog, QWidget

from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column, action_cell
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.pages.live_table import length_text
from gpulease_gui.gui.pages.page import Frame
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import FactDialog
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.kept_words import trouble_of
from gpulease_gui.services.live_export import ReportStretch, report_stretches, take_out_of_report
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.kept_state import node_states

TITLE = Text("Stretches in the report", "报告中的区间")
REMOVE = "remove"
SENTENCES = 4


class ReportDialog(FactDialog):
    """The stretches as a table, the newest first; `shown` carries (start, end) of one to be looked at, `changed`: one was taken out."""

    shown = Signal(float, float)
    changed = Signal()

    def __init__(self, frame: Frame, node: tuple[str, str], *, parent: QWidget | None = None) -> None:
        super().__init__(TITLE, TITLE, ((Text("Node", "节点"), foreign(node[1])),), icon="nav-reports", parent=parent,
                         consequence=Text("What was kept as evidence of a run stays, also of a stretch that leaves the report.",
                                          "区间移出报告后，已作为验收证据保存的读数仍会保留。"))  # fmt: skip
        self._frame, self._node_id = frame, node[0]
        self.rows: TableModel[ReportStretch] = TableModel(_columns(), lambda row: row.id)
        self.table = TableView(self.rows, TITLE)
        self.table.setMinimumSize(600, 200)
        self.none = PlainLabel(Text("The report shows what lies near its run.", "报告显示验收前后的读数。"), level="2")
        self.altered = PlainLabel("", level="fail", wrap=True)
        self.column.addWidget(self.none)
        self.column.addWidget(self.table, 1)
        self.column.addWidget(self.altered)
        self.fill()
        self.all = self.add_button(Button(Text("Take all out", "全部移除"), kind="danger"))
        self.one = self.add_button(Button(Text("Take out", "移除"), icon="delete"))
        self.look = self.add_button(Button(Text("Show in the chart", "在图表中查看")))
        self.kept = self.add_button(Button(Text("Save kept readings…", "保存存证读数…"), icon="download"))
        self.add_button(Button(Text("Close", "关闭"), kind="primary"), rejects=True, default=True)
        self.kept.clicked.connect(self._ask_folder)
        self.all.clicked.connect(lambda: self._take_out(""))
        self.one.clicked.connect(self._take_chosen)
        self.look.clicked.connect(self._show_chosen)
        self.table.acted.connect(lambda row, _: self._take_out(row.id))
        self.table.opened.connect(lambda _: self._show_chosen())
        self.table.chosen.connect(lambda _: self._fit())
        self._show(())
        self.altered.hide()
        self._read()

    def _read(self) -> None:
        node_id = self._node_id
        query, when_done = self._frame.services.query, self._frame.bridge.when_done
        when_done(query(lambda db: report_stretches(db, node_id)), self._show)
        # All readings of all runs are compared: that may take its time.
        when_done(query(lambda db: _altered(db, node_id)), self._show_altered)

    def _show_altered(self, altered: tuple[Text, ...]) -> None:
        self.altered.set_words(Text("\n".join(one.en for one in altered), "\n".join(one.zh for one in altered)))
        self.altered.setVisible(bool(altered))

    def _show(self, found: tuple[ReportStretch, ...]) -> None:
        self.rows.set_rows(found)
        self.table.choose_first()
        self._fit()

    def _fit(self) -> None:
        any_, chosen = bool(self.rows.rows), self.table.current_row is not None
        self.none.setVisible(not any_)
        self.table.setVisible(any_)
        self.all.setEnabled(any_)
        self.one.setEnabled(chosen)
        self.look.setEnabled(chosen)

    def _take_chosen(self) -> None:
        row = self.table.current_row
        if row is not None:
            self._take_out(row.id)

    def _take_out(self, id_: str) -> None:
        node_id, frame = self._node_id, self._frame
        done = frame.services.change(lambda db: take_out_of_report(db, node_id, id_), "mark")
        frame.bridge.when_done(done, self._taken)

    def _taken(self, count: int) -> None:
        words = Text("1 stretch left the report", "已从报告移除 1 个区间")
        self._frame.note(words if count == 1 else Text(f"{count} stretches left the report", f"已从报告移除 {count} 个区间"))
        self.changed.emit()
        self._read()

    def _ask_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, say(Text("A folder for the kept readings", "选择保存存证读数的文件夹")))
        if folder:
            self.save_kept(Path(folder))

    def save_kept(self, folder: Path) -> None:
        """Write what was kept of the node's runs into a folder; a worker does the work."""
        from gpulease_gui.services.kept_files import save_kept

        workspace, node_id = self._frame.services.workspace, self._node_id
        done = self._frame.services.jobs.local(lambda: save_kept(workspace, node_id, folder))
        self._frame.bridge.when_done(done, lambda count: self._frame.note(Text(f"Written: {count} files in {folder.name}", f"已写入 {folder.name}：{count} 个文件")))

    def _show_chosen(self) -> None:
        row = self.table.current_row
        if row is not None:
            self.shown.emit(row.start_s, row.end_s)
            self.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Delete takes the chosen one out."""
        if event.key() == Qt.Key.Key_Delete:
            self._take_chosen()
        else:
            super().keyPressEvent(event)


def _altered(connection: Reader, node_id: str) -> tuple[Text, ...]:
    """What was done to readings that were kept of a node's runs, as far as there is room to say it."""
    return tuple(words for state in node_states(connection, node_id) if (words := trouble_of(state)) is not None)[:SENTENCES]


def _columns() -> tuple[Column[ReportStretch], ...]:
    return (
        Column(Text("From", "开始"), lambda row: Cell(_when(row.start_s)), width=150),
        Column(Text("To", "结束"), lambda row: Cell(_when(row.end_s)), width=150),
        Column(Text("Length", "时长"), lambda row: Cell(length_text(max(1, round(row.end_s - row.start_s)))), width=96, number=True),
        Column(Text("Report of the run of", "所属验收"), lambda row: Cell(f"{row.run_at.astimezone():%Y-%m-%d %H:%M}", tone="2") if row.run_at else NOTHING, width=150, stretch=True),
        Column("", lambda row: action_cell(Text("Take out", "移除"), REMOVE), width=80, number=True),
    )  # fmt: skip


def _when(at_s: float) -> str:
    return f"{datetime.fromtimestamp(at_s).astimezone():%Y-%m-%d %H:%M:%S}"
