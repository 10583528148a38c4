"""What is known of the selected node, and what can be done with it?"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.node import AuthMethod, Reach
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.node_form import AUTH
from gpulease_gui.gui.pages.nodes_drift import grouped
from gpulease_gui.gui.pages.nodes_table import ShownNode, local_time, offset_text, run_badge
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel, Words
from gpulease_gui.gui.widgets.panes import Icon, KeyValues, Pane, Section, clear_layout, hairline
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.reports.known_notes import note_text
from gpulease_gui.services.kept_secrets import JUMP, PASSPHRASE, PASSWORD, PROXY, KeptSecret
from gpulease_gui.store.records import KeyDecision, KeyState

_DECIDED = {
    KeyState.TRUSTED: Text("trusted", "信任"), KeyState.REPLACED: Text("replaced", "已替换"),
    KeyState.REFUSED: Text("refused", "拒绝"),
}  # fmt: skip
_KEPT_KINDS = (
    (PASSPHRASE, Text("passphrase of the key", "密钥口令")), (PROXY, Text("password of the proxy", "代理密码")),
    (JUMP, Text("password of the jump host", "跳板机密码")),
    (PASSWORD, Text("password", "登录密码")),
)  # fmt: skip
_NOT_READ = Text("not read", "未读取")
_NONE = Text("none", "无")
_FORGET = Text("Take it out of the keyring", "从密钥环中移除")
_MOST_CHANGES = 6


class NodeInspector(Pane):
    """The right pane of the page of nodes; `wanted` carries verify, watch, connect, edit, remove, run, differences or forget."""

    wanted = Signal(str)

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(1, parent=parent)
        self.column.addWidget(self._head())
        area = QScrollArea()
        area.setWidgetResizable(True)
        inside = Pane(1)
        area.setWidget(inside)
        self._sections(inside.column)
        self.column.addWidget(area, 1)
        self.column.addWidget(hairline())
        self.column.addWidget(self._foot())
        self.show_node(None)

    def _head(self) -> QWidget:
        head = QWidget()
        column = QVBoxLayout(head)
        column.setContentsMargins(16, 12, 16, 12)
        column.setSpacing(4)
        row = QHBoxLayout()
        self.name = ElidedLabel("", size="section", weight=600)
        self.state = BadgeLabel(None, filled=False)
        row.addWidget(self.name, 1)
        row.addWidget(self.state)
        column.addLayout(row)
        self.place = PlainLabel("", size="dense", level="2", code=True, select=True)
        column.addWidget(self.place)
        column.addSpacing(4)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        self.verify = self._button(Text("Verify", "验收"), "nav-verify", "verify")
        self.watch = self._button(Text("Watch", "监控"), "nav-live", "watch")
        self.connect_button = self._button(Text("Test connection", "测试连接"), "refresh", "connect")
        for button in (self.verify, self.watch, self.connect_button):
            buttons.addWidget(button)
        buttons.addStretch()
        column.addLayout(buttons)
        return head

    def _button(self, words: Words, icon: str, action: str, kind: str = "") -> Button:
        button = Button(words, icon=icon, kind=kind, small=True)
        button.clicked.connect(lambda: self.wanted.emit(action))
        return button

    def _sections(self, column: QVBoxLayout) -> None:
        column.addWidget(hairline())
        self.connection = Section(Text("Connection", "连接"))
        self.reason = PlainLabel("", size="dense", wrap=True, select=True)
        self.step = PlainLabel("", size="dense", level="2", wrap=True, select=True)
        self.connection.column.addWidget(self.reason)
        self.connection.column.addWidget(self.step)
        column.addWidget(self.connection)
        self.changed = Section(Text("Changed since acceptance", "验收后的变化"))
        self.changes = QVBoxLayout()
        self.changes.setSpacing(4)
        self.changed.column.addLayout(self.changes)
        differences = Button(Text("Show differences", "查看差异"), kind="link", small=True)
        differences.clicked.connect(lambda: self.wanted.emit("differences"))
        self.changed.column.addWidget(differences, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.changed)
        self.last = Section(Text("Last run", "上次验收"))
        row = QHBoxLayout()
        self.verdict = BadgeLabel(None)
        self.open_run = Button(Text("Open the run", "打开验收记录"), kind="link", small=True)
        self.open_run.clicked.connect(lambda: self.wanted.emit("run"))
        row.addWidget(self.verdict)
        row.addStretch()
        row.addWidget(self.open_run)
        self.last.column.addLayout(row)
        self.broken = PlainLabel("", size="dense", level="2", wrap=True)
        self.last.column.addWidget(self.broken)
        column.addWidget(self.last)
        self.identity = Section(Text("Identity", "身份"))
        self.facts = KeyValues()
        self.identity.column.addWidget(self.facts)
        self.forget = Button(_FORGET, kind="link", small=True)
        self.forget.clicked.connect(lambda: self.wanted.emit("forget"))
        self.identity.column.addWidget(self.forget, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.identity)
        self.keys = Section(Text("Host keys", "主机密钥"))
        self.history = KeyValues(label_width=72)
        self.keys.column.addWidget(self.history)
        column.addWidget(self.keys)
        self.notes = Section(Text("Notes", "备注"), last=True)
        self.note = PlainLabel("", size="dense", level="2", wrap=True, select=True)
        self.notes.column.addWidget(self.note)
        column.addWidget(self.notes)
        column.addStretch(1)

    def _foot(self) -> QWidget:
        foot = QWidget()
        row = QHBoxLayout(foot)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(8)
        self.edit = self._button(Text("Edit…", "编辑…"), "edit", "edit")
        self.remove = self._button(Text("Remove", "移除"), "delete", "delete", "quiet")
        row.addWidget(self.edit)
        row.addStretch()
        row.addWidget(self.remove)
        return foot

    def show_node(self, shown: ShownNode | None) -> None:
        """Show another node; None shows that nothing is selected."""
        for button in (self.verify, self.watch, self.connect_button, self.edit, self.remove):
            button.setEnabled(shown is not None and not (shown.busy and button is not self.watch))
        self.changed.hide()
        for section in (self.connection, self.last, self.identity, self.keys, self.notes):
            section.setVisible(shown is not None)
        if shown is None:
            self.name.set_words(Text("No node selected", "未选择节点"))
            self.place.set_words("")
            self.state.set_state(None)
            return
        node = shown.row.node
        self.name.set_words(foreign(node.name))
        self.place.set_words(foreign(node.target))
        self.state.set_state(shown.badge)
        self._show_connection(shown)
        self._show_changes(shown)
        self._show_run(shown)
        self._show_identity(shown)
        self._show_keys(shown)
        self.notes.setVisible(bool(node.note))
        self.note.set_words(shown.row.note)

    def _show_connection(self, shown: ShownNode) -> None:
        reached = shown.reached
        self.connection.setVisible(reached is not None and bool(reached.reason.en))
        self.reason.set_words(reached.reason if reached else "")
        self.step.set_words(reached.next_step if reached else "")

    def _show_changes(self, shown: ShownNode) -> None:
        """In words, the worst first; the other node of a card that is in two comes before all."""
        lines = [(found.words, Verdict.FAIL) for found in shown.twice]
        lines += grouped(shown.drifted.changes) if shown.drifted else []
        self.changed.setVisible(bool(lines))
        since = f"{shown.since.astimezone():%m-%d %H:%M}" if shown.since and shown.drifted else ""
        self.changed.note.set_words(since)
        clear_layout(self.changes)
        for words, verdict in lines[:_MOST_CHANGES]:
            row = QHBoxLayout()
            row.setSpacing(8)
            badge = badge_of(verdict)
            row.addWidget(Icon(badge.icon, badge.token, 14), 0, Qt.AlignmentFlag.AlignTop)
            row.addWidget(PlainLabel(words, size="dense", wrap=True, select=True), 1)
            self.changes.addLayout(row)
        left = len(lines) - _MOST_CHANGES
        if left > 0:
            self.changes.addWidget(PlainLabel(Text(f"{left} more", f"另有 {left} 处"), size="caption", level="2"))

    def _show_run(self, shown: ShownNode) -> None:
        run = shown.row.run
        badge = run_badge(run)
        self.verdict.set_state(badge)
        self.last.note.set_words(local_time(run))
        self.open_run.setVisible(run is not None)
        broken = self._broken(shown)
        self.broken.setVisible(bool(broken))
        self.broken.set_words(Text(f"fails {broken}", f"不符：{broken}"))

    @staticmethod
    def _broken(shown: ShownNode) -> str:
        accepted = shown.acceptance.nodes if shown.acceptance else ()
        mine = next((node for node in accepted if node.node_id == shown.row.node.id), None)
        return ", ".join(mine.broken) if mine else ""

    def _show_identity(self, shown: ShownNode) -> None:
        row, node = shown.row, shown.row.node
        login: Words = dict(AUTH)[AuthMethod(node.auth)] if node.reach is Reach.SSH else _NONE
        pairs: list[tuple[Words, Words]] = [
            (Text("Contract", "合同"), foreign(row.contract.number) if row.contract else _NONE),
            (Text("Supplier", "供应商"), foreign(row.supplier) if row.supplier else _NONE),
            (Text("GPUs", "加速卡"), foreign(row.cards) if row.cards else _NOT_READ),
            (Text("Driver", "驱动"), foreign(row.driver) if row.driver else _NOT_READ),
            (Text("Clock", "时钟差"), foreign(f"{offset} s") if (offset := offset_text(row.run)) else _NOT_READ),
        ]
        if node.reach is Reach.SSH:
            pairs.append((Text("Login", "登录方式"), login))
        way = (
            (Text("Jump hosts", "跳板机"), node.jump), (Text("Proxy", "代理"), node.proxy),
            (Text("Key file", "密钥文件"), node.identity_file.replace("\n", ", ")), (Text("Certificate", "证书"), node.certificate_file.replace("\n", ", ")),
            (Text("SSH options", "SSH 选项"), node.ssh_options),
        )  # fmt: skip
        pairs += [(title, foreign(words)) for title, words in way if words]
        if row.kept:
            pairs.append((Text("In the keyring", "密钥环"), _kept_words(row.kept)))
        self.forget.setVisible(bool(row.kept))
        self.facts.set_pairs(pairs)

    def _show_keys(self, shown: ShownNode) -> None:
        self.keys.setVisible(shown.row.node.reach is not Reach.LOCAL)
        pairs = [pair for decision in reversed(shown.row.keys) for pair in _key_pairs(decision)]
        self.history.set_pairs(pairs or [(Text("State", "状态"), Text("never seen", "从未见过"))])


def _kept_words(kept: tuple[KeptSecret, ...]) -> Text:
    """What kinds of secrets the system's keyring keeps for a node."""
    kinds = dict.fromkeys(next(words for start, words in _KEPT_KINDS if one.what.startswith(start)) for one in kept)
    return Text(", ".join(words.en for words in kinds), "、".join(words.zh for words in kinds))


def _key_pairs(decision: KeyDecision) -> list[tuple[Words, Words]]:
    """When, what was decided and how it was compared; the key; the reason if one was typed."""
    how = note_text(decision.compared_with)
    word = _DECIDED[decision.state]
    said = Text(f"{word.en}, {how.en}" if how.en else word.en, f"{word.zh}，{how.zh}" if how.zh else word.zh)
    pairs: list[tuple[Words, Words]] = [(f"{decision.decided_at.astimezone():%m-%d %H:%M}", said)]
    pairs.append(("", foreign(f"{decision.key.kind} {decision.key.fingerprint[:19]}…")))
    return [*pairs, ("", foreign(decision.why))] if decision.why else pairs
