"""How does the user decide about a host key: new, of a new type, or changed?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox, QDialog, QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from gpulease_gui.domain.node import HostKey, Node
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.fields import Field, LineField
from gpulease_gui.gui.forms.host_key_words import grouped, matching, randomart
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme.sheet import set_role
from gpulease_gui.gui.theme.theme import colours
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


class KeyBox(QFrame):
    """One key as an object: type, fingerprint in groups of four, its picture, two notes."""

    def __init__(self, title: Words, note: Words, key: HostKey, *, foot: Words = "", tone: str = "t3",
                 parent: QWidget | None = None) -> None:  # fmt: skip
        super().__init__(parent)
        self._tone = tone
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(8)
        head = QHBoxLayout()
        head.addWidget(PlainLabel(title, size="dense", weight=600))
        head.addStretch()
        head.addWidget(PlainLabel(note, size="caption", level="3"))
        column.addLayout(head)
        body = QHBoxLayout()
        left = QVBoxLayout()
        left.setSpacing(4)
        left.addWidget(PlainLabel(f"{key.kind} SHA256", size="dense", level="2", code=True))
        left.addWidget(PlainLabel(grouped(key.fingerprint), size="dense", code=True, select=True))
        left.addStretch()
        body.addLayout(left, 1)
        picture = PlainLabel(randomart(key), size="caption", level="2", code=True)
        picture.setAccessibleName(say(Text("picture of the key", "密钥图形")))
        body.addWidget(picture)
        column.addLayout(body)
        if say(foot):
            column.addWidget(PlainLabel(foot, size="caption", level=tone if tone != "t3" else "3", wrap=True))


    def paintEvent(self, event: QPaintEvent) -> None:
        """A key is an object: it has an outline, and the suspicious one says so."""
        painter, palette = QPainter(self), colours()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(palette.fail if self._tone == "fail" else palette.border2), 1))
        painter.setBrush(QColor(palette.surface if self._tone == "fail" else palette.bg1))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)


def _hop_facts(question: HostKeyQuestion) -> list[tuple[Text, Text]]:
    """That the key is not the node's own but that of a jump host on the way to it."""
    return [(Text("Key of jump host", "密钥所属跳板机"), foreign(question.hop))] if question.hop else []


class UnknownKeyDialog(FactDialog):
    """A host that nobody has vouched for yet, or a new type of key of a known one.

    `decided` carries the key to trust and how it was compared.
    """

    decided = Signal(object, str)

    def __init__(self, question: HostKeyQuestion, *, parent: QWidget | None = None) -> None:
        node, self._offered = question.node, question.offered
        title = Text("New type of host key", "新类型主机密钥") if question.pinned else Text("Unknown host key", "未知主机密钥")
        headline = (
            Text(f"{node.name} shows a new type of host key", f"{node.name} 出示了新类型的主机密钥") if question.pinned
            else Text(f"{node.name} is not known yet", f"首次连接 {node.name}，主机密钥未知")
        )  # fmt: skip
        facts = [(Text("Node", "节点"), foreign(node.name)), (Text("Address", "地址"), foreign(node.target))]
        facts += _hop_facts(question)
        facts += [(Text("Trusted so far", "已信任"), foreign(f"{key.kind} {key.fingerprint}")) for key in question.pinned]
        facts += [(Text("Same address", "相同地址"), words) for words in question.others]
        super().__init__(title, headline, facts, icon="key", token="accent", parent=parent, consequence=Text(
            "The connection was closed before any login; nothing was sent. Your decision stays in the node's history.",
            "连接在登录前已断开，没有发送任何数据。你的决定会保留在节点的历史中。"))  # fmt: skip
        self.setMinimumWidth(620)
        self._add_keys()
        self._add_compare()
        self.cancel = self.add_button(Button(CANCEL), rejects=True, default=True)
        self.trust = self.add_button(Button(Text("Trust this key", "信任此密钥"), kind="primary"))
        self.trust.clicked.connect(self._decide)
        self._compare("")
        self.line.setFocus()

    def _add_keys(self) -> None:
        shown, others = self._offered[0], self._offered[1:]
        self.column.addWidget(KeyBox(Text("Key offered now", "当前出示的密钥"), "", shown))
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

    def _tell(self, icon: str, token: str, words: Text) -> None:
        self._mark.set_icon(icon, token)
        self.verdict.set_words(words)
        self.verdict.set_level(token if token != "t3" else "3")

    def _decide(self) -> None:
        key, how = (self._match, COMPARED) if self._match is not None else (self._offered[0], NOT_COMPARED)
        self.accept()
        self.decided.emit(key, how)


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


class ChangedKeyDialog(QDialog):
    """A known host with another key: keeping the old one is the default, replacing it needs a name and a reason.

    `decided` carries the reason.
    """

    decided = Signal(str)

    def __init__(self, question: HostKeyQuestion, stories: Sequence[KeyStory] = (), *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._node = question.node
        self.setModal(True)
        self.setMinimumWidth(740)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(_changed_head(question.node))
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

    def name_window(self) -> None:
        """Name the window in its language."""
        self.setWindowTitle(say(Text("Host key changed", "主机密钥已变更")))

    def _add_keys(self, question: HostKeyQuestion, stories: Sequence[KeyStory]) -> None:
        new = question.offered[0]
        old = next((key for key in question.pinned if key.kind == new.kind), question.pinned[0])
        story = next((s for s in stories if s.key == old), None)
        row = QHBoxLayout()
        row.setSpacing(12)
        since = _since(story.since, story.compared_with) if story else Text("", "")
        seen = Text(f"met in {story.seen} runs", f"{story.seen} 次验收中出现") if story else ""
        row.addWidget(KeyBox(Text("Pinned key", "已固定的密钥"), since, old, foot=seen), 1)
        for name, place in _hop_facts(question):
            self._body.addWidget(PlainLabel(Text(f"{name.en}: {place.en}", f"{name.zh}：{place.zh}"), size="dense", weight=500))
        now = foreign(f"{datetime.now(UTC).astimezone():%Y-%m-%d %H:%M:%S}")
        first = Text("met for the first time, not vouched for by anyone", "首次出现，无人证实")
        self.offered = KeyBox(Text("Key offered now", "当前出示的密钥"), now, new, foot=first, tone="fail")
        row.addWidget(self.offered, 1)
        self._body.addLayout(row)

    def _add_causes(self, question: HostKeyQuestion) -> None:
        row = QHBoxLayout()
        row.setSpacing(24)
        left = QVBoxLayout()
        left.setSpacing(6)
        left.addWidget(PlainLabel(Text("What it can mean", "可能的原因"), size="dense", weight=600))
        for cause, advice in _CAUSES:
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
            Text("The old key stays in the history, and the report lists every change.", "旧密钥保留在历史中，报告会列出每一次变更。"),
            size="caption", level="3", wrap=True))  # fmt: skip
        for line in (self.name, self.why):
            line.textChanged.connect(self._check)

    def _add_foot(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
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


def _changed_head(node: Node) -> QWidget:
    head = QFrame()
    set_role(head, "band", "fail")
    row = QHBoxLayout(head)
    row.setContentsMargins(20, 14, 20, 14)
    row.setSpacing(12)
    row.addWidget(Icon("verdict-fail", "fail", 24))
    words = QVBoxLayout()
    words.setSpacing(2)
    headline = Text(f"{node.name} answered with a different host key", f"{node.name} 出示了不同的主机密钥")
    words.addWidget(PlainLabel(headline, size="headline", weight=600, level="fail", wrap=True))
    words.addWidget(PlainLabel(
        Text(f"{node.target}. The connection was closed before any login. Nothing was sent.",
             f"{node.target}。连接在登录前已断开，没有发送任何数据。"), level="2", wrap=True))  # fmt: skip
    row.addLayout(words, 1)
    return head


def _since(at: datetime, compared_with: str) -> Text:
    day = f"{at.astimezone():%Y-%m-%d}"
    how = Text("compared", "已比对") if compared_with == COMPARED else note_text(compared_with)
    return Text(f"since {day}, {how.en}", f"自 {day}，{how.zh}")


def _question_to_supplier(question: HostKeyQuestion) -> Text:
    node, new = question.node, question.offered[0]
    return Text(
        f"{node.target} answers with another SSH host key than before: {new.kind} {new.fingerprint}. Was the node rebuilt "
        "or moved? Please name the ticket and the fingerprints of its host keys (ssh-keygen -lf).",
        f"{node.target} 的 SSH 主机密钥与之前不同：{new.kind} {new.fingerprint}。节点是否重装或更换？"
        "请告知工单号和主机密钥指纹（ssh-keygen -lf）。",
    )
