"""How is a password or passphrase asked for, so that it is plain which node and which file it is for?"""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QWidget

from gpulease_gui.domain.node import Node
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.fields import Field, LineField
from gpulease_gui.gui.forms.host_key_dialog import TickBox, path_facts
from gpulease_gui.gui.forms.typing_guard import TypingGuard
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.remote.credentials import PASSPHRASES_MAX
from gpulease_gui.services.kept_secrets import JUMP, PASSPHRASE, PASSWORD, PROXY
from gpulease_gui.services.ways import SecretAsked

_KEPT = Text("It is sent to nobody but this program's own login and is kept in memory until you quit.",
             "仅用于本程序登录，只保存在内存中，退出即清除。")  # fmt: skip
_KEEP = Text("Keep in the system keyring", "保存到系统密钥环")
_ONCE = Text("The answer is sent to this node once and is not kept. Enter sends an empty one, as for a push to your phone.",
             "答案仅发送给该节点一次，不会保存。直接按回车发送空答案，例如手机推送确认。")  # fmt: skip


class SecretDialog(FactDialog):
    """Asks for one secret of one node, or for the answer to a question of the node's own, which may be empty; Cancel is the default.

    `shown`: the node says that the answer may be seen while it is typed. `keepable`: the system has a keyring that
    takes it. `trouble`: why the keyring did not give what it keeps. It opens by itself, so a `TypingGuard` keeps out what is
    typed for something else.
    """

    def __init__(self, node: Node, asked: SecretAsked, *, shown: bool = False, keepable: bool = False, trouble: Text | None = None,
                 parent: QWidget | None = None) -> None:  # fmt: skip
        name, headline, about = _words(node, asked)
        hop: list[tuple[Words, Words]] = [(Text("Jump host", "跳板机"), foreign(asked.hop))] if asked.hop else []
        # Others may wait for the same password, and one of them go on with this dialog.
        is_shared = asked.what.startswith((JUMP, PROXY))
        of_node = Text("Asked first for", "最先用于") if is_shared else Text("Node", "节点")
        facts: list[tuple[Words, Words]] = [
            (of_node, foreign(node.name)), (Text("Address", "地址"), foreign(node.target)), *path_facts(node), *hop, *about,
        ]  # fmt: skip
        title = name if is_shared else Text(f"{name.en}: {node.name}", f"{name.zh}：{node.name}")
        super().__init__(title, headline, facts, icon="key", consequence=_KEPT if name is not _ANSWER else _ONCE, parent=parent)
        self._for, self.is_over = Text(asked.hop, asked.hop) if asked.hop else Text(node.name, node.name), False
        self.line = LineField(name)
        self.line.setEchoMode(QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password)
        self._field = field = Field(name, self.line)
        if asked.number > 1:
            again = f"{asked.number} of {PASSPHRASES_MAX}", f"第 {asked.number} 次，共 {PASSPHRASES_MAX} 次"
            wrong = (
                Text("it does not open this key", "口令不正确，无法解开该密钥") if asked.what.startswith(PASSPHRASE)
                else Text("the login was refused", "登录被拒绝")  # it may have been another answer
            )  # fmt: skip
            field.complain(Text(f"{wrong.en}; try {again[0]}", f"{wrong.zh}；{again[1]}"))
        self.column.addWidget(field)
        self.keep = TickBox(_KEEP)
        self.keep.setVisible(keepable)
        self.column.addWidget(self.keep)
        if trouble is not None:
            said = Text(f"It is kept in the system keyring, but {trouble.en}.", f"系统密钥环中存有此项，但未能取出：{trouble.zh}。")
            self.column.addWidget(PlainLabel(said, level="2", wrap=True))
        self.cancel = self.add_button(Button(CANCEL), rejects=True, default=True)
        self.go_on = self.add_button(Button(Text("Log in", "登录") if name is not _ANSWER else _SEND, kind="primary"), accepts=True)
        self._may_be_empty = name is _ANSWER  # a node that asks to press Enter, such as after a push to a phone
        self._fit("")
        self.line.textChanged.connect(self._fit)
        self.line.returnPressed.connect(self.go_on.click)
        self.line.setFocus()
        self._guard = TypingGuard(self)
        self.column.addWidget(self._guard.note)

    def withdraw(self) -> None:
        """Nobody waits for the answer any more: it goes; if something was typed, not before the user has read that this was not sent.

        The rest of what he types meanwhile goes nowhere, and not into what lies below.
        """
        if self.is_over:
            return
        if not self.line.text():
            self.reject()
            return
        self.is_over = True
        self.line.clear()
        for part in (self._field, self.keep, self.go_on, self._guard.note):
            part.hide()
        self.headline.set_words(Text(f"What you typed for {self._for.en} was not sent", f"为 {self._for.zh} 输入的内容未发送"))
        self.consequence.set_words(_OVER)
        self.cancel.set_words(_CLOSE)
        self._guard.shut(self.cancel)

    def _fit(self, words: str) -> None:
        self.go_on.setEnabled(bool(words) or self._may_be_empty)

    @property
    def secret(self) -> Secret:
        """What was typed."""
        return Secret(self.line.text())

    @property
    def wants_keeping(self) -> bool:
        """Whether it shall go into the system's keyring once it was accepted."""
        return self.keep.isChecked()


_OVER = Text("The login that asked for it is over. It was sent nowhere and is not kept.", "请求该内容的登录已结束。内容未发送，也未保存。")
_CLOSE = Text("Close", "关闭")
_ANSWER, _SEND = Text("Answer", "答案"), Text("Send", "发送")


def _words(node: Node, asked: SecretAsked) -> tuple[Text, Text, list[tuple[Words, Words]]]:
    """The name of what is typed, the headline, and what it is about."""
    what = asked.what
    if what.startswith(PASSPHRASE):
        file = foreign(what.removeprefix(PASSPHRASE))
        place = Text(f"jump host {asked.hop}", f"跳板机 {asked.hop}") if asked.hop else Text(node.name, node.name)
        headline = Text(f"The key for {place.en} is encrypted", f"{place.zh} 的密钥已加密")
        return Text("Passphrase", "口令"), headline, [(Text("Key file", "密钥文件"), file)]
    password = Text("Password", "密码")
    if what.startswith(PROXY):
        login = what.removeprefix(PROXY)
        by = login.rpartition("@")[2]
        return password, Text(f"Proxy {by} asks for a password", f"代理 {by} 需要密码"), [(Text("Login", "登录"), foreign(login))]
    if what.startswith(JUMP):
        headline = Text(f"Jump host {asked.hop} asks for a password", f"跳板机 {asked.hop} 需要密码")
        return password, headline, [(Text("Login", "登录"), foreign(what.removeprefix(JUMP)))]
    if what == PASSWORD:
        return password, Text(f"{node.name} asks for a password", f"{node.name} 需要密码"), []
    said = (Text("The node says", "节点提示"), foreign(what[:400]))
    who = Text(f"Jump host {asked.hop}", f"跳板机 {asked.hop}") if asked.hop else Text(node.name, node.name)
    return _ANSWER, Text(f"{who.en} asks a question before it lets you in", f"{who.zh} 登录时要求验证"), [said]
