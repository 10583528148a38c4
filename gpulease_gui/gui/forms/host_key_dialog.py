"""How does the user decide about a host key: new, of a new type, or changed?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QDialog, QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from gpulease_gui.domain.node import HostKey, Node
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.gui.forms.fields import Field, LineField
from gpulease_gui.gui.forms.host_key_words import grouped, matching
from gpulease_gui.gui.forms.key_box import KeyBox, stated_box, stated_match, vouched
from gpulease_gui.gui.forms.typing_guard import TypingGuard
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme.sheet import set_role
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.panes import Icon, hairline
from gpulease_gui.reports.known_notes import note_text
from gpulease_gui.services.events import HostKeyQuestion
from gpulease_gui.services.nodes_view import KeyStory

COMPARED = "fingerprint from the supplier"
NOT_COMPARED = "not compared"
_FIELD = Text("Fingerprint from the supplier", "供应商提供的指纹")


def is_changed(question: HostKeyQuestion) -> bool:
    """Whether a key of a type that is pinned has been replaced by another."""
    kinds = {key.kind for key in question.pinned}
    return bool(question.offered) and question.offered[0].kind in kinds


def _whose(question: HostKeyQuestion) -> Text:
    """Who showed the key: the node, or the jump host on the way to it."""
    return Text(f"Jump host {question.hop}", f"跳板机 {question.hop}") if question.hop else foreign(question.node.name)


def _hop_facts(question: HostKeyQuestion) -> list[tuple[Text, Text]]:
    """That the key is not the node's own but that of a jump host on the way to it."""
    return [(Text("Key of jump host", "密钥所属跳板机"), foreign(question.hop))] if question.hop else []


def _stops(node: Node) -> str:
    """The proxy and the jump hosts on the way to a node, "" where it is reached straight."""
    return " → ".join(filter(None, [node.proxy, *(hop.strip() for hop in node.jump.split(","))]))


def path_facts(node: Node) -> list[tuple[Text, Text]]:
    """The proxy and the jump hosts on the way to a node, as a fact; nothing where it is reached straight."""
    stops = _stops(node)
    return [(Text("Way there", "连接路径"), foreign(f"{stops} → {node.target}"))] if stops else []


class UnknownKeyDialog(FactDialog):
    """A host that nobody has vouched for yet, or a new type of key of a known one.

    `decided` carries the key to trust and how it was compared; `once` the key of a single connection.
    """

    decided = Signal(object, str)
    once = Signal(object)

    def __init__(self, question: HostKeyQuestion, *, parent: QWidget | None = None) -> None:
        node, self._offered = question.node, question.offered
        title = Text("New type of host key", "新类型主机密钥") if question.pinned and not question.edited else Text("Unknown host key", "未知主机密钥")
        who = _whose(question)
        headline = (
            Text(f"{who.en} shows a new type of host key", f"{who.zh} 出示了新类型的主机密钥") if question.pinned and not question.edited
            else Text(f"{who.en} is not known yet at its new address", f"{who.zh} 的地址被修改过，新地址的主机密钥未知") if question.edited
            else Text(f"{who.en} is not known yet", f"首次连接 {who.zh}，主机密钥未知")
        )  # fmt: skip
        facts = [(Text("Node", "节点"), foreign(node.name)), (Text("Address", "地址"), foreign(node.target))]
        facts += path_facts(node) + _hop_facts(question)
        facts += [(Text("Address edited", "地址已修改"), foreign(_from_to(question)))] if question.edited else []
        facts += [(Text("Trusted so far", "已信任"), foreign(f"{key.kind} {key.fingerprint}")) for key in question.pinned]
        facts += [(Text("Same address", "相同地址"), words) for words in question.others]
        super().__init__(title, headline, facts, icon="key", token="accent", parent=parent, consequence=Text(
            "The connection was closed before any login; nothing was sent. Trust is kept in the node's history. "
            "Connecting once pins nothing, and sends no password.",
            "连接在登录前已断开，没有发送任何数据。信任会记入节点的历史；“仅此次连接”不固定密钥，也不发送密码。"))  # fmt: skip
        self._add_keys(stated_box(question))
        self._add_compare()
        self.cancel = self.add_button(Button(CANCEL), rejects=True, default=True)
        self.connect_once = self.add_button(Button(Text("Connect once", "仅此次连接")))
        self.connect_once.clicked.connect(self._decide_once)
        self.trust = self.add_button(Button(Text("Trust this key", "信任此密钥"), kind="primary"))
        self.trust.clicked.connect(self._decide)
        self._compare("")
        self._fill_in(question)
        self.line.setFocus()
        self.column.addWidget(TypingGuard(self).note)

    def _fill_in(self, question: HostKeyQuestion) -> None:
        """The fingerprint on record: the one that is equal, else the only one."""
        match = stated_match(question)
        if match is not None:
            self.line.setText(match[0].fingerprint)
        elif len(question.stated) == 1 and not question.hop:
            self.line.setText(question.stated[0].fingerprint)

    def _add_keys(self, stated: KeyBox | None) -> None:
        shown, others = self._offered[0], self._offered[1:]
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(KeyBox(Text("Key offered now", "当前出示的密钥"), "", shown), 1)
        if stated is not None:
            row.addWidget(stated, 1)
        self.setMinimumWidth(620 if stated is None else 740)
        self.column.addLayout(row)
        for key in others:
            row = QHBoxLayout()
            row.addWidget(PlainLabel(key.kind, size="dense", level="2", code=True))
            row.addWidget(PlainLabel(grouped(key.fingerprint, lines=1), size="caption", code=True, select=True), 1)
            self.column.addLayout(row)

    def _add_compare(self) -> None:
        self.line = LineField(_FIELD, Text("SHA256:… or a line of ssh-keygen -l", "SHA256:… 或 ssh-keygen -l 的输出"), code=True)
        self.line.textChanged.connect(self._compare)
        self.column.addWidget(Field(_FIELD, self.line))
        row = QHBoxLayout()
        self._mark = Icon("question", "t3", 14)
        self.verdict = PlainLabel("", size="dense", level="2", wrap=True)
        row.addWidget(self._mark)
        row.addWidget(self.verdict, 1)
        self.column.addLayout(row)
        self.unable = TickBox(Text("I could not compare the fingerprint", "我无法比对指纹"))
        self.unable.toggled.connect(lambda: self._compare(self.line.text()))
        self.column.addWidget(self.unable)

    def _compare(self, words: str) -> None:
        self._match = matching(words, self._offered)
        asked = bool(words.strip())
        if self._match is not None:
            self._tell("check", "pass", Text(f"The same as the node's {self._match.kind} key", f"与节点的 {self._match.kind} 密钥一致"))
        elif asked:
            self._tell("verdict-fail", "fail", Text("None of the node's keys has this fingerprint", "节点的各个密钥均与此指纹不符"))
        else:
            self._tell("question", "t3", Text("Ask the supplier for it by phone or signed mail", "请通过电话或签名邮件向供应商索取"))
        self.unable.setEnabled(not asked)
        self.trust.setEnabled(self._match is not None or (not asked and self.unable.isChecked()))
        self.connect_once.setEnabled(self._match is not None or not asked)

    def _tell(self, icon: str, token: str, words: Text) -> None:
        self._mark.set_icon(icon, token)
        self.verdict.set_words(words)
        self.verdict.set_level(token if token != "t3" else "3")

    def _decide(self) -> None:
        key, how = (self._match, COMPARED) if self._match is not None else (self._offered[0], NOT_COMPARED)
        self.accept()
        self.decided.emit(key, how)

    def _decide_once(self) -> None:
        key = self._match or self._offered[0]
        self.accept()
        self.once.emit(key)


def _from_to(question: HostKeyQuestion) -> str:
    """Where the pinned key was met, and where the record leads now."""
    return " → ".join(question.edited or ())


class TickBox(Lively, QCheckBox):
    """A check box whose words follow the language."""

    def __init__(self, words: Words, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.retranslate()

    def retranslate(self) -> None:
        """Say the words."""
        self.setText(say(self._words))


_CAUSES: tuple[tuple[Text, Text], ...] = (
    (Text("The supplier rebuilt the node.", "供应商重装了节点。"),
     Text("Ask for the ticket and the new fingerprint, by phone or signed mail.", "请通过电话或签名邮件索取工单号和新指纹。")),
    (Text("The address now belongs to another machine.", "该地址已分配给另一台机器。"),
     Text("Compare the serial numbers of the GPUs before any data goes there.", "传输数据前先核对 GPU 序列号。")),
    (Text("Someone sits between you and the node.", "有人在你与节点之间截取连接。"),
     Text("Try from another network. Do not enter a password.", "换一个网络再试，不要输入密码。")),
)  # fmt: skip


_EDITED: tuple[tuple[Text, Text], ...] = (
    (Text("The address leads to another machine.", "新地址是另一台机器。"),
     Text("It has a key of its own. Compare that with the fingerprint that the supplier names for it.", "它有自己的密钥，请与供应商为该机器提供的指纹核对。")),
    (Text("The edit was a mistake.", "地址改错了。"), Text("Keep the old key, and correct the address.", "保留旧密钥，并更正地址。")),
)  # fmt: skip


class ChangedKeyDialog(QDialog):
    """A known host with another key, or one whose address was edited: keeping the old one is the default, replacing it needs a name and a reason.

    `decided` carries the reason.
    """

    decided = Signal(str)

    def __init__(self, question: HostKeyQuestion, stories: Sequence[KeyStory] = (), *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._node, self._replaced, self._edited = question.node, question.replaced, question.edited is not None
        self.setModal(True)
        self.setMinimumWidth(740)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(_changed_head(question))
        body = QWidget()
        self._body = QVBoxLayout(body)
        self._body.setContentsMargins(20, 16, 20, 16)
        self._body.setSpacing(12)
        outer.addWidget(body)
        self._add_keys(question, stories)
        self._add_causes(question)
        self._body.addWidget(hairline())
        self._add_fields()
        self._add_foot()
        self.name_window()
        self.keep.setFocus()
        self._body.addWidget(TypingGuard(self).note)

    def name_window(self) -> None:
        """Name the window in its language."""
        self.setWindowTitle(say(Text("Host key at an edited address", "修改地址后的主机密钥") if self._edited else Text("Host key changed", "主机密钥已变更")))

    def _add_keys(self, question: HostKeyQuestion, stories: Sequence[KeyStory]) -> None:
        new = question.offered[0]
        old = next((key for key in question.pinned if key.kind == new.kind), question.pinned[0])
        story = next((s for s in stories if s.key == old), None)
        row = QHBoxLayout()
        row.setSpacing(12)
        since = _since(story.since, story.compared_with) if story else Text("", "")
        seen = Text(f"met in {story.seen} runs", f"{story.seen} 次验收中出现") if story else NO_TEXT
        of_node = () if question.hop else question.stated
        named = any(one.fingerprint == old.fingerprint for one in of_node)
        row.addWidget(KeyBox(Text("Pinned key", "已固定的密钥"), since, old, foot=_both(seen, vouched(old, of_node)), tone="pass" if named else "t3"), 1)
        for name, place in _hop_facts(question):
            self._body.addWidget(PlainLabel(Text(f"{name.en}: {place.en}", f"{name.zh}：{place.zh}"), size="dense", weight=500))
        for words in question.others:
            self._body.addWidget(PlainLabel(words, size="dense", level="2", wrap=True))
        now = foreign(f"{datetime.now(UTC).astimezone():%Y-%m-%d %H:%M:%S}")
        first = Text("met for the first time", "首次出现") if of_node else Text("met for the first time, not vouched for by anyone", "首次出现，无人证实")
        self.offered = KeyBox(Text("Key offered now", "当前出示的密钥"), now, new, foot=_both(first, vouched(new, of_node)), tone="warn" if self._edited else "fail")
        row.addWidget(self.offered, 1)
        self._body.addLayout(row)

    def _add_causes(self, question: HostKeyQuestion) -> None:
        row = QHBoxLayout()
        row.setSpacing(24)
        left = QVBoxLayout()
        left.setSpacing(6)
        left.addWidget(PlainLabel(Text("What it can mean", "可能的原因"), size="dense", weight=600))
        for cause, advice in _EDITED if self._edited else _CAUSES:
            line = QVBoxLayout()
            line.setSpacing(0)
            line.addWidget(PlainLabel(cause, size="dense", weight=500))
            line.addWidget(PlainLabel(advice, size="dense", level="2", wrap=True))
            left.addLayout(line)
        row.addLayout(left, 3)
        right = QVBoxLayout()
        right.setSpacing(8)
        right.addWidget(PlainLabel(Text("Safe way out", "稳妥的做法"), size="dense", weight=600))
        ask = Button(Text("Copy question to supplier", "复制给供应商的询问"), icon="copy", small=True)
        ask.clicked.connect(lambda: QGuiApplication.clipboard().setText(say(_question_to_supplier(question))))
        right.addWidget(ask, 0, Qt.AlignmentFlag.AlignLeft)
        self._add_compare(right, question.offered)
        right.addStretch()
        row.addLayout(right, 2)
        self._body.addLayout(row)

    def _add_compare(self, column: QVBoxLayout, offered: tuple[HostKey, ...]) -> None:
        self.line = LineField(_FIELD, "SHA256:…", code=True)
        self.verdict = PlainLabel("", size="dense", wrap=True)

        def compare(words: str) -> None:
            match = matching(words, offered)
            self.verdict.set_level("pass" if match else "fail")
            same = Text("the same as the key offered now", "与当前出示的密钥一致")
            other = Text("not the key offered now", "与当前出示的密钥不符")
            self.verdict.set_words((same if match else other) if words.strip() else "")

        self.line.textChanged.connect(compare)
        column.addWidget(Field(_FIELD, self.line))
        column.addWidget(self.verdict)

    def _add_fields(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        name = Text("Type the node name to replace the key", "输入节点名称以替换密钥")
        why = Text("Reason, with the supplier's ticket number", "原因（含供应商工单号）")
        self.name = LineField(name)
        self.why = LineField(why, Text("such as board swapped, ticket 88213", "例如：更换主板，工单 88213"))
        grid.addWidget(Field(name, self.name), 0, 0)
        grid.addWidget(Field(why, self.why), 0, 1)
        grid.setColumnStretch(0, 2)
        grid.setColumnStretch(1, 3)
        self._body.addLayout(grid)
        self._body.addWidget(PlainLabel(
            Text("The old key stays in the history, and the report lists every change. The first connection after a change sends no password.",
                 "旧密钥保留在历史中，报告会列出每一次变更。更换后的首次连接不发送密码。"),
            size="caption", level="3", wrap=True))  # fmt: skip
        for line in (self.name, self.why):
            line.textChanged.connect(self._check)

    def _add_foot(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        if self._replaced:
            row.addWidget(PlainLabel(_often(self._replaced + 1), size="dense", level="warn"))
        row.addStretch()
        self.replace = Button(Text("Replace key", "替换密钥"), kind="danger")
        self.keep = Button(Text("Keep the old key", "保留旧密钥"), kind="primary")
        self.keep.setDefault(True)
        self.keep.clicked.connect(self.reject)
        self.replace.clicked.connect(self._decide)
        row.addWidget(self.replace)
        row.addWidget(self.keep)
        self._body.addLayout(row)
        self._check()

    def _check(self) -> None:
        self.replace.setEnabled(self.name.text() == self._node.name and bool(self.why.text().strip()))

    def _decide(self) -> None:
        why = self.why.text().strip()
        self.accept()
        self.decided.emit(why)


def _changed_head(question: HostKeyQuestion) -> QWidget:
    node, via = question.node, _stops(question.node)
    place, place_zh = (f"{node.target} via {via}", f"{node.target}（经 {via}）") if via else (node.target, node.target)
    head = QFrame()
    tone = "warn" if question.edited else "fail"
    set_role(head, "band", tone)
    row = QHBoxLayout(head)
    row.setContentsMargins(20, 14, 20, 14)
    row.setSpacing(12)
    row.addWidget(Icon("edit" if question.edited else "verdict-fail", tone, 24))
    words = QVBoxLayout()
    words.setSpacing(2)
    who = _whose(question)
    headline = Text(f"{who.en} answered with a different host key", f"{who.zh} 出示了不同的主机密钥")
    if question.edited:
        headline = Text(f"The address of {who.en} was edited since its key was pinned", f"固定密钥之后，{who.zh} 的地址被修改过")
        place = place_zh = _from_to(question)
    words.addWidget(PlainLabel(headline, size="headline", weight=600, level=tone, wrap=True))
    words.addWidget(PlainLabel(
        Text(f"{place}. The connection was closed before any login. Nothing was sent.",
             f"{place_zh}。连接在登录前已断开，没有发送任何数据。"), level="2", wrap=True))  # fmt: skip
    row.addLayout(words, 1)
    return head


def _often(number: int) -> Text:
    return Text(f"Change number {number} of this node's host key in 30 days", f"30 天内该节点主机密钥的第 {number} 次变更")


def _both(first: Text, second: Text) -> Text:
    """Two remarks in one line."""
    return Text(*(" · ".join(filter(None, pair)) for pair in ((first.en, second.en), (first.zh, second.zh))))


def _since(at: datetime, compared_with: str) -> Text:
    day = f"{at.astimezone():%Y-%m-%d}"
    how = Text("compared", "已比对") if compared_with == COMPARED else note_text(compared_with)
    return Text(f"since {day}, {how.en}", f"自 {day}，{how.zh}")


def _question_to_supplier(question: HostKeyQuestion) -> Text:
    node, new = question.node, question.offered[0]
    if question.edited:
        return Text(
            f"Please name the fingerprints of the SSH host keys of {node.target} (ssh-keygen -lf). It shows {new.kind} {new.fingerprint}.",
            f"请告知 {node.target} 的 SSH 主机密钥指纹（ssh-keygen -lf）。它出示的是 {new.kind} {new.fingerprint}。",
        )
    return Text(
        f"{node.target} answers with another SSH host key than before: {new.kind} {new.fingerprint}. Was the node rebuilt "
        "or moved? Please name the ticket and the fingerprints of its host keys (ssh-keygen -lf).",
        f"{node.target} 的 SSH 主机密钥与之前不同：{new.kind} {new.fingerprint}。节点是否重装或更换？"
        "请告知工单号和主机密钥指纹（ssh-keygen -lf）。",
    )
