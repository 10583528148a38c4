"""How do a supplier's ssh lines or a CSV become nodes, each line with its own error?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QWidget

from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.supplier import Contract
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.fields import Chooser, Field
from gpulease_gui.gui.forms.node_form import LoginFields, contract_choices
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import NOTHING, Cell, Column
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.remote.pasted_nodes import ListLine, parse_list
from gpulease_gui.services.nodes_view import new_nodes

_LATER_MS = 150


def _place(line: ListLine) -> Cell:
    return Cell(str(line.target.address), code=True) if line.target else Cell(line.text, code=True, tone="3")


def _says(line: ListLine) -> Cell:
    if line.target is None:
        return Cell(line.error_text, icon="verdict-fail", icon_tone="fail", tone="fail", tip=line.error_text)
    notes = line.target.notes
    said = Text("; ".join(note.en for note in notes), "；".join(note.zh for note in notes))
    read = Text("read, with its password", "已识别，含密码") if line.target.password else Text("read", "已识别")
    words = Text(f"{read.en}; {said.en}", f"{read.zh}；{said.zh}") if notes else read
    return Cell(words, icon="check", icon_tone="pass", tone="2", tip=words)


_COLUMNS = (
    Column[ListLine](Text("Line", "行"), lambda line: Cell(str(line.number), tone="3"), width=56, number=True),
    Column[ListLine](Text("Name", "名称"), lambda line: Cell(line.target.name) if line.target and line.target.name else NOTHING, width=120),
    Column[ListLine](Text("Endpoint", "端点"), _place, width=230),
    Column[ListLine](Text("Result", "结果"), _says, stretch=True),
)  # fmt: skip


class PasteDialog(FactDialog):
    """Reads what was pasted as it is typed; `saved` carries the nodes of the good lines, `know` is told their passwords."""

    saved = Signal(object)

    def __init__(
        self, contracts: Sequence[Contract], taken: Iterable[str], know: Callable[[Node, Secret], None], *, parent: QWidget | None = None
    ) -> None:
        super().__init__(Text("Paste nodes", "粘贴节点"), Text("Add nodes from the supplier's lines", "从供应商的连接信息添加节点"),
                         icon="paste", parent=parent)  # fmt: skip
        self._taken, self._know = frozenset(taken), know
        self.facts.hide()
        self.setMinimumSize(760, 600)
        self._lines: tuple[ListLine, ...] = ()
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(_LATER_MS)
        self._later.timeout.connect(self.read_now)
        self._add_text()
        self._add_preview()
        self._add_choices(contracts)
        self.add_button(Button(CANCEL), rejects=True)
        self.save = self.add_button(Button(Text("Save", "保存"), kind="primary"), default=True)
        self.save.clicked.connect(self._save)
        self.read_now()
        self.text.setFocus()

    def _add_text(self) -> None:
        label = Text("ssh commands, user@host:port, tables, or what the supplier wrote (host: ... port: ... password: ...)",
                     "ssh 命令、user@host:port、表格，或供应商发来的“主机：… 端口：… 密码：…”")  # fmt: skip
        self.text = QPlainTextEdit()
        self.text.setProperty("code", "true")
        self.text.setPlaceholderText("ssh -p 34446 root@203.0.113.17")
        self.text.setAccessibleName(say(label))
        self.text.setTabChangesFocus(True)
        self.text.setFixedHeight(150)
        self.text.textChanged.connect(self._later.start)
        self.column.addWidget(Field(label, self.text))

    def _add_preview(self) -> None:
        row = QHBoxLayout()
        self.sums = PlainLabel("", size="dense", weight=600)
        self.errors = PlainLabel("", size="dense", weight=600, level="fail")
        row.addWidget(self.sums)
        row.addWidget(self.errors)
        row.addStretch()
        self.column.addLayout(row)
        self.model = TableModel[ListLine](_COLUMNS, lambda line: line.number)
        self.table = TableView(self.model, Text("What was read", "识别结果"))
        self.table.setMinimumHeight(230)
        self.column.addWidget(self.table, 1)

    def _add_choices(self, contracts: Sequence[Contract]) -> None:
        row = QHBoxLayout()
        row.setSpacing(12)
        name = Text("Contract", "合同")
        self.contract = Chooser(name, contract_choices(contracts))
        row.addWidget(Field(name, self.contract), 1)
        self.login = LoginFields()
        row.addWidget(self.login, 2)
        self.column.addLayout(row)

    def read_now(self) -> None:
        """Read what stands in the text; errors go with their lines."""
        self._later.stop()
        self._lines = parse_list(self.text.toPlainText())
        self.model.set_rows(self._lines)
        good = sum(1 for line in self._lines if line.target)
        bad = len(self._lines) - good
        nodes, lines = "node" if good == 1 else "nodes", "line" if bad == 1 else "lines"
        self.sums.set_words(Text(f"{good} {nodes}", f"{good} 个节点"))
        self.errors.set_words(Text(f"{bad} {lines} with an error", f"{bad} 行有错误") if bad else "")
        self.save.set_words(Text(f"Save {good} {nodes}", f"保存 {good} 个节点"))
        self.save.setEnabled(good > 0)

    def _save(self) -> None:
        self.read_now()
        template = Node(
            "", "", Reach.SSH, contract_id=self.contract.current or None, auth=self.login.method,
            identity_file=self.login.identity_file,
        )  # fmt: skip
        good = [line.target for line in self._lines if line.target]
        made = new_nodes(good, template, self._taken)
        for node, target in zip(made, good, strict=True):
            if target.password:
                self._know(node, target.password)
        self.accept()
        self.saved.emit(made)
