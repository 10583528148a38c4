"""How is a single node added from the line that the supplier sent?"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.fields import LineField
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel
from gpulease_gui.gui.widgets.panes import Icon, hairline
from gpulease_gui.remote.address import Target
from gpulease_gui.remote.pasted_nodes import parse_target


class AddBar(QWidget):
    """The foot of the page: one line, what was read in it, and the button; `added` carries the Target."""

    added = Signal(object)

    def __init__(self, *more: Button, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._target: Target | None = None
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(hairline())
        column = QVBoxLayout()
        column.setContentsMargins(16, 10, 16, 10)
        column.setSpacing(6)
        outer.addLayout(column)
        name = Text("Add from the supplier's line", "用供应商提供的连接信息添加")
        head = QHBoxLayout()
        head.addWidget(PlainLabel(name, size="dense", weight=600))
        head.addWidget(PlainLabel(Text("an ssh command or user@host:port", "ssh 命令或 user@host:port"), size="dense", level="3"))
        head.addStretch()
        column.addLayout(head)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.line = LineField(name, "ssh -p 34446 root@203.0.113.17", code=True)
        self.line.textChanged.connect(self._read)
        self.line.returnPressed.connect(self._add)
        self.button = Button(Text("Save and connect", "保存并连接"))
        self.button.clicked.connect(self._add)
        row.addWidget(self.line, 1)
        row.addWidget(self.button)
        for button in more:
            row.addWidget(button)
        column.addLayout(row)
        column.addWidget(self._answer())
        self._read("")

    def _answer(self) -> QWidget:
        self._said = QWidget()
        row = QHBoxLayout(self._said)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        self._mark = Icon("check", "pass", 14)
        self.answer = ElidedLabel("", size="dense", level="2")
        row.addWidget(self._mark)
        row.addWidget(self.answer, 1)
        return self._said

    def _read(self, words: str) -> None:
        self._target = None
        self._said.setVisible(bool(words.strip()))
        if words.strip():
            self._tell(words)
        self.button.setEnabled(self._target is not None)

    def _tell(self, words: str) -> None:
        try:
            self._target = parse_target(words)
        except UsageError as error:
            self._mark.set_icon("verdict-fail", "fail")
            self.answer.set_words(error.whole_text)
            return
        at = self._target.address
        key = f" · {self._target.identity_file}" if self._target.identity_file else ""
        key += " · •••" if self._target.password else ""
        notes = self._target.notes
        en, zh = "".join(f" · {note.en}" for note in notes), "".join(f" · {note.zh}" for note in notes)
        via = self._target.jump
        self._mark.set_icon("check", "pass")
        self.answer.set_words(Text(
            f"host {at.host} · port {at.port} · user {at.user}{f' · jump {via}' if via else ''}{key}{en}",
            f"主机 {at.host} · 端口 {at.port} · 用户 {at.user}{f' · 跳板 {via}' if via else ''}{key}{zh}",
        ))  # fmt: skip

    def _add(self) -> None:
        if self._target is not None:
            target = self._target
            self.line.clear()
            self.added.emit(target)
