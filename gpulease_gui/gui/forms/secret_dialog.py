"""How is a password or passphrase asked for, so that it is plain which node and which file it is for?"""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QWidget

from gpulease_gui.domain.node import Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.fields import Field, LineField
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.gui.widgets.labels import Words

_PASSPHRASE = "passphrase of "


class SecretDialog(FactDialog):
    """Asks for one secret of one node; it is kept in memory only, and Cancel is the default."""

    def __init__(self, node: Node, what: str, *, parent: QWidget | None = None) -> None:
        is_passphrase = what.startswith(_PASSPHRASE)
        name = Text("Passphrase", "口令") if is_passphrase else Text("Password", "密码")
        headline = (
            Text(f"The key for {node.name} is encrypted", f"{node.name} 的密钥已加密") if is_passphrase
            else Text(f"{node.name} asks for a password", f"{node.name} 需要密码")
        )  # fmt: skip
        facts: list[tuple[Words, Words]] = [
            (Text("Node", "节点"), foreign(node.name)), (Text("Address", "地址"), foreign(node.target)),
        ]  # fmt: skip
        if is_passphrase:
            facts.append((Text("Key file", "密钥文件"), foreign(what.removeprefix(_PASSPHRASE))))
        elif what != "password":
            facts.append((Text("The node says", "节点提示"), foreign(what[:400])))
        kept = Text("It is sent to nobody but this program's own login and is kept in memory until you quit.",
                    "仅用于本程序登录，只保存在内存中，退出即清除。")  # fmt: skip
        super().__init__(name, headline, facts, icon="key", consequence=kept, parent=parent)
        self.line = LineField(name)
        self.line.setEchoMode(QLineEdit.EchoMode.Password)
        self.column.addWidget(Field(name, self.line))
        self.cancel = self.add_button(Button(CANCEL), rejects=True, default=True)
        self.go_on = self.add_button(Button(Text("Log in", "登录"), kind="primary"), accepts=True)
        self.go_on.setEnabled(False)
        self.line.textChanged.connect(lambda words: self.go_on.setEnabled(bool(words)))
        self.line.returnPressed.connect(self.go_on.click)
        self.line.setFocus()

    @property
    def secret(self) -> Secret:
        """What was typed."""
        return Secret(self.line.text())
