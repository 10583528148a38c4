"""How is one node written down: name, address, login, contract?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QGridLayout, QHBoxLayout, QPlainTextEdit, QWidget

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import AuthMethod, Node, Reach
from gpulease_gui.domain.supplier import Contract
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.fields import Chooser, Field, LineField
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.buttons import Button, Segment, Switch
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.remote.address import parse_jump
from gpulease_gui.remote.pasted_nodes import parse_target
from gpulease_gui.remote.proxy import parse_proxy
from gpulease_gui.remote.ssh_options import OPTIONS, in_one_line, one_a_line, parse_options

T = TypeVar("T")
AUTH: tuple[tuple[str, Words], ...] = (
    (AuthMethod.KEY, Text("Key file", "密钥文件")), (AuthMethod.AGENT, Text("Agent", "SSH agent")),
    (AuthMethod.PASSWORD, Text("Password", "密码")),
)  # fmt: skip
_NONE = Text("none", "无")


def contract_choices(contracts: Sequence[Contract]) -> list[tuple[str, Words]]:
    """All contracts by number, and none."""
    return [("", _NONE), *((contract.id, foreign(contract.number)) for contract in contracts)]


class LoginFields(QWidget):
    """Which way of logging in is tried, and with which key file."""

    def __init__(self, auth: AuthMethod = AuthMethod.KEY, identity_file: str = "", *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        self.auth = Segment(AUTH, current=auth)
        self.auth.chosen.connect(self._fit)
        row.addWidget(Field(Text("Login", "登录方式"), self.auth))
        name = Text("Key file", "密钥文件")
        self.file = LineField(name, "~/.ssh/id_ed25519", code=True)
        self.file.setText(identity_file)
        self.pick = Button(Text("Choose…", "选择…"))
        self.pick.clicked.connect(self._choose)
        self._key_field = Field(name, self.file, self.pick)
        row.addWidget(self._key_field, 1)
        self._fit()

    @property
    def method(self) -> AuthMethod:
        """The chosen way."""
        return AuthMethod(self.auth.current)

    @property
    def identity_file(self) -> str:
        """The key file (with the agent: which of its keys is meant), empty for a password."""
        return self.file.text().strip() if self.method is not AuthMethod.PASSWORD else ""

    def _fit(self) -> None:
        self._key_field.setEnabled(self.method is not AuthMethod.PASSWORD)

    def _choose(self) -> None:
        _choose_file(self.file, Text("Key file", "密钥文件"), self)


def _choose_file(line: LineField, title: Words, parent: QWidget) -> None:
    path, _ = QFileDialog.getOpenFileName(parent, say(title))
    if path:
        line.setText(path)


class NodeForm(FactDialog):
    """Edits one node or writes a new one down; `saved` carries it."""

    saved = Signal(object)

    def __init__(self, node: Node, contracts: Sequence[Contract], taken: frozenset[str] = frozenset(), *,
                 is_new: bool = False, parent: QWidget | None = None) -> None:  # fmt: skip
        title = Text("Add node", "添加节点") if is_new else Text("Edit node", "编辑节点")
        headline = title if is_new else Text(f"Edit {node.name}", f"编辑 {node.name}")
        super().__init__(title, headline, icon="edit", parent=parent)
        self._node, self._taken = node, taken
        self.facts.hide()
        self.setMinimumWidth(560)
        self._add_fields(node, contracts)
        self.add_button(Button(CANCEL), rejects=True)
        self.save = self.add_button(Button(Text("Save", "保存"), kind="primary"), default=True)
        self.save.clicked.connect(self._save)
        self.name.setFocus()

    def _add_fields(self, node: Node, contracts: Sequence[Contract]) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(12)
        label = Text("Name", "名称")
        self.name = LineField(label)
        self.name.setText(node.name)
        self.name_field = Field(label, self.name)
        grid.addWidget(self.name_field, 0, 0)
        self.contract = Chooser(Text("Contract", "合同"), contract_choices(contracts))
        self.contract.choose(node.contract_id or "")
        grid.addWidget(Field(Text("Contract", "合同"), self.contract), 0, 1)
        self.column.addLayout(grid)
        self._add_reach(node)
        label = Text("Notes", "备注")
        self.notes = QPlainTextEdit(node.note)
        self.notes.setAccessibleName(say(label))
        self.notes.setFixedHeight(64)
        self.column.addWidget(Field(label, self.notes))

    def _add_reach(self, node: Node) -> None:
        label = Text("Address", "地址")
        self.address = LineField(label, "root@203.0.113.17:34446", code=True)
        self.address.setText(str(node.address) if node.address else "")
        self.address_field = Field(label, self.address)
        self.login = LoginFields(node.auth, node.identity_file)
        label = Text("Jump hosts", "跳板机")
        self.jump = LineField(label, Text("none, or ops@198.51.100.9:22", "无，或 ops@198.51.100.9:22"), code=True)
        self.jump.setText(node.jump)
        self.jump_field = Field(label, self.jump)
        way = self._add_way(node)
        self.sudo = Switch(Text("May use sudo -n for the kernel log", "允许用 sudo -n 读取内核日志"))
        self.sudo.setChecked(node.use_sudo)
        if node.reach is Reach.SSH:
            for widget in (self.address_field, self.login, way, self.sudo):
                self.column.addWidget(widget)
        else:
            self.column.addWidget(PlainLabel(foreign(node.target), code=True, level="2"))
            for widget in (self.address_field, self.login, way, self.sudo):
                widget.setParent(self)
                widget.hide()

    def _add_way(self, node: Node) -> QWidget:
        """Proxy, options of this computer's side, jump hosts and certificate: empty for most nodes."""
        way = QWidget()
        grid = QGridLayout(way)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(12)
        label = Text("Proxy", "代理")
        self.proxy = LineField(label, Text("none, or socks5://gw:1080", "无，或 socks5://gw:1080"), code=True)
        self.proxy.setText(node.proxy)
        self.proxy.setToolTip(say(Text("socks5://[user@]host[:port] or http://[user@]host[:port]; a password is asked for",
                                       "socks5://[用户@]主机[:端口] 或 http://[用户@]主机[:端口]；密码在连接时询问")))  # fmt: skip
        self.proxy_field = Field(label, self.proxy)
        label = Text("Certificate file", "证书文件")
        self.certificate = LineField(label, Text("none, or KEY-cert.pub", "无，或 KEY-cert.pub"), code=True)
        self.certificate.setText(in_one_line(node.certificate_file))
        pick = Button(Text("Choose…", "选择…"))
        pick.clicked.connect(lambda: _choose_file(self.certificate, label, self))
        grid.addWidget(self.proxy_field, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self._options(node), 0, 1, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self.jump_field, 1, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(Field(label, self.certificate, pick), 1, 1, Qt.AlignmentFlag.AlignTop)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)
        return way

    def _options(self, node: Node) -> Field:
        label = Text("SSH options", "SSH 选项")
        self.options = LineField(label, Text("none, or AddressFamily inet", "无，或 AddressFamily inet"), code=True)
        self.options.setText(in_one_line(node.ssh_options))
        self.options.setCursorPosition(0)
        known = ", ".join(OPTIONS.values())
        self.options.setToolTip(say(Text(
            f"As in an ssh config, with a semicolon between them: {known}", f"写法与 ssh 配置相同，用分号隔开：{known}")))  # fmt: skip
        self.options_field = Field(label, self.options)
        return self.options_field

    def _save(self) -> None:
        name = self.name.text().strip()
        wrong = Text("", "")
        if not name:
            wrong = Text("a node needs a name", "请填写节点名称")
        elif name in self._taken - {self._node.name}:
            wrong = Text("another node has this name", "已有同名节点")
        self.name_field.complain(wrong)
        changed = self._with_address()
        if not wrong.en and changed is not None:
            self.accept()
            self.saved.emit(replace(
                changed, name=name, contract_id=self.contract.current or None, note=self.notes.toPlainText().strip(),
            ))  # fmt: skip

    def _with_address(self) -> Node | None:
        """The node at the address that was typed; None when it is none, which is then said."""
        if self._node.reach is not Reach.SSH:
            return self._node
        target = _read(self.address_field, lambda: parse_target(self.address.text()))
        jump = (target.jump if target else "") or self.jump.text().strip()
        proxy = self.proxy.text().strip()
        options = one_a_line(self.options.text()) or (target.ssh_options if target else "")
        # All are looked at, so that all complaints show at once.
        good = [_read(self.jump_field, lambda: (parse_jump(jump),)), _read(self.proxy_field, lambda: (parse_proxy(proxy),)),
                _read(self.options_field, lambda: (parse_options(options),))]  # fmt: skip
        if target is None or None in good:
            return None
        identity = self.login.identity_file or target.identity_file
        # A password that was pasted with the address is no part of the record: it is asked for.
        method = AuthMethod.PASSWORD if target.password and not identity else self.login.method
        return replace(
            self._node, address=target.address, auth=method, identity_file=identity, jump=jump,
            proxy=proxy, certificate_file=one_a_line(self.certificate.text()), use_sudo=self.sudo.isChecked(),
            ssh_options=options,
        )  # fmt: skip


def _read(field: Field, work: Callable[[], T]) -> T | None:
    """What stands in a field; None when it can't be read, which is then said below it."""
    try:
        read = work()
    except UsageError as error:
        field.complain(error.whole_text)
        return None
    field.complain("")
    return read
