"""Which hosts of the ssh config become nodes? They are shown as ssh understands them; nothing connects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QWidget

from gpulease_gui.domain.node import Node
from gpulease_gui.domain.supplier import Contract
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.fields import Chooser, Field, LineField
from gpulease_gui.gui.forms.node_form import contract_choices
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.search import SearchBox
from gpulease_gui.gui.widgets.table import TableView

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.page import Frame
    from gpulease_gui.remote.ssh_aliases import ConfigRow
    from gpulease_gui.services.jobs import Job

USUAL = "~/.ssh/config"
_TITLE = Text("Nodes from the ssh config", "从 ssh 配置添加节点")
_FILE = Text("Config file", "配置文件")


class ConfigDialog(FactDialog):
    """A list of aliases to choose many from; `saved` carries their nodes. Each file is read by a job of its own."""

    saved = Signal(object)

    def __init__(self, frame: Frame, contracts: Sequence[Contract], known: Sequence[Node], *, parent: QWidget | None = None) -> None:
        super().__init__(_TITLE, Text("Choose hosts of your ssh config", "从 ssh 配置中选择主机"), icon="nav-nodes", parent=parent)
        self._frame, self._known = frame, tuple(known)
        self._aliases: set[str] = set()
        self._job: Job | None = None
        self.facts.hide()
        self.setMinimumSize(860, 560)
        self._add_file()
        self._add_table()
        self._add_foot(contracts)
        self.fill()
        self.finished.connect(lambda _: self._stop())
        self.read()
        self.search.setFocus()

    def _add_file(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(12)
        self.file = LineField(_FILE, USUAL, code=True)
        self.file.setText(USUAL)
        self.file.editingFinished.connect(self._file_named)
        self._read_file = USUAL
        pick = Button(Text("Choose…", "选择…"))
        pick.clicked.connect(self._pick)
        row.addWidget(Field(_FILE, self.file, pick), 3)
        hint = Text("Name, address, jump host…", "名称、地址、跳板机…")
        self.search = SearchBox(hint)
        row.addWidget(Field(Text("Filter", "筛选"), self.search), 2)
        self.column.addLayout(row)

    def _add_table(self) -> None:
        row = QHBoxLayout()
        self.sums = PlainLabel("", size="dense", weight=600)
        self.errors = PlainLabel("", size="dense", weight=600, level="fail")
        self.every = Button(Text("Select all shown", "全选当前列表"), small=True)
        self.every.clicked.connect(self._choose_all)
        row.addWidget(self.sums)
        row.addWidget(self.errors)
        row.addStretch()
        row.addWidget(self.every)
        self.column.addLayout(row)
        self.model: TableModel[ConfigRow] = TableModel(self._columns(), lambda row: (row.place, row.name), search=_words)
        self.search.searched.connect(self.model.find)
        self.table = TableView(self.model, _TITLE, many=True)
        self.table.setMinimumHeight(260)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._count())
        self.column.addWidget(self.table, 1)

    def _columns(self) -> tuple[Column[ConfigRow], ...]:
        return (
            Column(Text("Alias", "别名"), lambda row: Cell(foreign(row.name)) if row.name else NOTHING, lambda row: row.name, 130),
            Column(Text("Endpoint", "端点"), _endpoint, _endpoint_text, 210),
            Column(Text("Jump hosts", "跳板机"), lambda row: _code(row.target.jump if row.target else ""), width=140),
            Column(Text("Key file", "密钥文件"), lambda row: _code(_short(row.target.identity_file) if row.target else ""), width=150),
            Column(Text("Result", "结果"), self._result, lambda row: 0 if row.target is None else 1 + self._is_there(row), stretch=True),
        )

    def _result(self, row: ConfigRow) -> Cell:
        place = _short(row.place)
        if row.target is None:
            where = Text(f"{row.error_text.en} ({place})", f"{row.error_text.zh}（{place}）")  # the reason first: a narrow cell cuts the rest
            return Cell(where, icon="verdict-fail", icon_tone="fail", tone="fail", tip=where)
        if self._is_there(row):
            return Cell(Text("is a node already", "已是节点"), icon="info", tone="3", tip=foreign(place))
        if row.target.notes:
            said = Text("; ".join(_short(note.en) for note in row.target.notes), "；".join(_short(note.zh) for note in row.target.notes))
            return Cell(said, icon="verdict-warn", icon_tone="warn", tone="2", tip=said)
        return Cell(Text("read", "已识别"), icon="check", icon_tone="pass", tone="2", tip=foreign(place))

    def _add_foot(self, contracts: Sequence[Contract]) -> None:
        name = Text("Contract", "合同")
        self.contract = Chooser(name, contract_choices(contracts))
        self.column.addWidget(Field(name, self.contract))
        self.consequence.set_words(Text(
            "Each row is what your own ssh makes of the alias. Nothing connects, and the config is not changed. A command in "
            "Match exec of your own config is run by ssh, as in a terminal; in any other file it is refused.",
            "每行均为本机 ssh 对该别名的解析结果。不会发起连接，也不会修改配置文件。"
            "您自己配置中 Match exec 的命令会由 ssh 执行，与终端中相同；其他文件中的一律拒绝。"))  # fmt: skip
        self.consequence.show()
        self.add_button(Button(CANCEL), rejects=True)
        self.save = self.add_button(Button(Text("Save", "保存"), kind="primary"), default=True)
        self.save.clicked.connect(self._save)

    # -- reading --------------------------------------------------------------------------------------------------------

    def read(self) -> None:
        """Read the file that is named, on a worker."""
        from gpulease_gui.remote.ssh_aliases import read_aliases

        self._stop()
        self._read_file = self.file.text().strip() or USUAL
        file = "" if self._read_file == USUAL else self._read_file
        self._show(())
        self.sums.set_words(Text("Reading…", "正在读取…"))
        job = self._frame.services.jobs.start(_TITLE, lambda cancel: read_aliases(file, cancel))
        self._job = job
        self._frame.bridge.when_done(job.done, lambda rows: self._arrived(job, rows))

    def _arrived(self, job: Job, rows: object) -> None:
        if job is self._job and isinstance(rows, tuple):
            self._job = None
            self._show(rows)

    def _stop(self) -> None:
        job, self._job = self._job, None
        if job is not None:
            job.cancel.cancel()

    def _file_named(self) -> None:
        if self.file.text().strip() != self._read_file:
            self.read()

    def _pick(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, say(_FILE), str(Path.home() / ".ssh"))
        if path:
            self.file.setText(path)
            self.read()

    # -- choosing -------------------------------------------------------------------------------------------------------

    def _is_there(self, row: ConfigRow) -> bool:
        from gpulease_gui.services.config_nodes import is_there

        return row.target is not None and is_there(row.target, self._known, self._aliases)

    def _show(self, rows: tuple[ConfigRow, ...]) -> None:
        self._aliases = {row.name for row in rows}
        self.model.set_rows(rows)
        good = sum(1 for row in rows if row.target)
        bad = len(rows) - good
        self.sums.set_words(Text(f"{good} {'host' if good == 1 else 'hosts'}", f"{good} 台主机"))
        self.errors.set_words(Text(f"{bad} refused", f"{bad} 条未采用") if bad else "")
        self.every.setEnabled(good > 0)
        self._count()

    def _choose_all(self) -> None:
        """Select what is shown and new."""
        flags = QItemSelectionModel.SelectionFlag
        found = QItemSelection()
        for place in range(self.model.rowCount()):
            row = self.model.row_at(place)
            if row is not None and row.target is not None and not self._is_there(row):
                found.select(self.model.index(place, 0), self.model.index(place, 0))
        # At once, as each change counts what is chosen.
        self.table.selectionModel().select(found, flags.ClearAndSelect | flags.Rows)
        self.table.setFocus()

    @property
    def chosen(self) -> tuple[ConfigRow, ...]:
        """The selected rows that become nodes."""
        return tuple(row for row in self.table.selected_rows if row.target is not None and not self._is_there(row))

    def _count(self) -> None:
        count = len(self.chosen)
        nodes = "node" if count == 1 else "nodes"
        self.save.set_words(Text(f"Save {count} {nodes}", f"保存 {count} 个节点") if count else Text("Save", "保存"))
        self.save.setEnabled(count > 0)

    def _save(self) -> None:
        from gpulease_gui.services.config_nodes import nodes_of

        made = nodes_of(self.chosen, self.contract.current or None, [node.name for node in self._known])
        self.accept()
        self.saved.emit(made)


def _endpoint(row: ConfigRow) -> Cell:
    return Cell(foreign(_endpoint_text(row)), code=True, tone="1" if row.target else "3")


def _endpoint_text(row: ConfigRow) -> str:
    return str(row.target.address) if row.target else row.text


def _code(words: str) -> Cell:
    return Cell(foreign(words), code=True, tone="2", tip=foreign(words)) if words else NOTHING


def _short(path: str) -> str:
    home = str(Path.home())
    return ", ".join("~" + name[len(home) :] if name.startswith(f"{home}/") else name for name in path.split("\n"))


def _words(row: ConfigRow) -> str:
    way = f"{row.target.jump} {row.target.identity_file}" if row.target else row.error
    return f"{row.name} {_endpoint_text(row)} {way}"
