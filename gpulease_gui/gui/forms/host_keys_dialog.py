"""How are the unknown and the changed host keys of many nodes told, and the unknown ones compared in one go?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from gpulease_gui.domain.node import HostKey
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.gui.forms.fields import Field
from gpulease_gui.gui.forms.host_key_dialog import COMPARED, NOT_COMPARED, TickBox, is_changed
from gpulease_gui.gui.forms.host_key_words import matching
from gpulease_gui.gui.forms.key_box import stated_match
from gpulease_gui.gui.language import say
from gpulease_gui.gui.models.cell import Cell, Column
from gpulease_gui.gui.models.table import TableModel
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.gui.widgets.table import TableView
from gpulease_gui.services.events import HostKeyQuestion

_FIELD = Text("Fingerprints from the supplier", "供应商提供的指纹")
_CHANGED = Cell(Text("changed: decide by itself", "已变更：须单独决定"), icon="verdict-fail", icon_tone="fail", tone="fail", weight=600)
_SAME = Cell(Text("the same", "一致"), icon="check", icon_tone="pass", tone="pass")
_OPEN = Cell(Text("not compared", "未比对"), icon="question", icon_tone="3", tone="2")


@dataclass(frozen=True, slots=True)
class AskedKey:
    """The key of one node and which of its keys was found among the pasted fingerprints."""

    question: HostKeyQuestion
    match: HostKey | None = None

    @property
    def is_changed(self) -> bool:
        """A key that took the place of a pinned one is never trusted together with others."""
        return is_changed(self.question)


class HostKeysDialog(FactDialog):
    """All keys in one table, all fingerprints in one field. `decided` carries (question, key, how compared) of each.

    Keys that match are trusted at once; the others only after the user says that they could not be compared; a changed
    key is never trusted here.
    """

    decided = Signal(object)

    def __init__(self, questions: Sequence[HostKeyQuestion], *, parent: QWidget | None = None) -> None:
        asked = sorted((AskedKey(question) for question in questions), key=lambda one: not one.is_changed)  # the worst first
        changed = sum(one.is_changed for one in asked)
        super().__init__(
            Text("Host keys", "主机密钥"), _headline(changed, len(asked) - changed), [], icon="key",
            token="fail" if changed else "accent", parent=parent, consequence=Text(
            "The connections were closed before any login; nothing was sent. Each decision stays in its node's history.",
            "连接均在登录前已断开，没有发送任何数据。每个决定会保留在各节点的历史中。"))  # fmt: skip
        self._asked = asked
        self.setMinimumSize(1000, 460)
        # With large text a fingerprint needs more room than that, as far as the screen has it.
        wide, room = round(1000 * max(1.0, self.fontMetrics().height() / 18)), self.screen().availableSize()
        self.resize(min(wide, room.width() - 40), min(560, room.height() - 80))
        columns = (
            Column[AskedKey](Text("Node", "节点"), lambda a: Cell(foreign(a.question.node.name), weight=500), lambda a: a.question.node.name, width=130),
            Column[AskedKey](Text("Address", "地址"), lambda a: Cell(foreign(a.question.hop or a.question.node.target), code=True, tone="2"), width=180),
            Column[AskedKey](Text("Key offered now", "当前出示的密钥"), _key, width=260, stretch=True),
            Column[AskedKey](Text("Compared", "比对"), _compared, width=230),
        )  # fmt: skip
        self.model = TableModel(columns, lambda asked: asked.question.node.id)
        self.table = TableView(self.model, Text("Host keys", "主机密钥"))
        self.column.addWidget(self.table, 1)
        self.fill()
        self.lines = QPlainTextEdit()
        self.lines.setProperty("code", "true")
        self.lines.setAccessibleName(say(_FIELD))
        self.lines.setPlaceholderText(say(Text("one SHA256:… or line of ssh-keygen -l a line", "每行一个 SHA256:… 或 ssh-keygen -l 的输出")))
        self.lines.setMaximumHeight(84)
        self.lines.setTabChangesFocus(True)
        self.lines.textChanged.connect(self._compare)
        self.column.addWidget(Field(_FIELD, self.lines))
        self.unable = TickBox(Text("I could not compare the rest", "其余的我无法比对"))
        self.unable.toggled.connect(self._compare)
        self.column.addWidget(self.unable)
        self.add_button(Button(CANCEL), rejects=True, default=True)
        self.trust = self.add_button(Button("", kind="primary"))
        self.trust.clicked.connect(self._decide)
        self.lines.setPlainText("\n".join(dict.fromkeys(stated[0].fingerprint for stated in map(stated_match, questions) if stated)))
        self._compare()
        self.lines.setFocus()

    def _compare(self) -> None:
        words = self.lines.toPlainText().splitlines()
        self._asked = [AskedKey(a.question, _found(words, a.question.offered)) for a in self._asked]
        self.model.set_rows(self._asked)
        count = len(self._decisions())
        counted = Text(f"Trust {count} {'key' if count == 1 else 'keys'} and verify", f"信任 {count} 个密钥并验收")
        self.trust.set_words(counted if count else Text("Trust and verify", "信任并验收"))
        self.trust.setEnabled(count > 0)

    def _decisions(self) -> list[tuple[HostKeyQuestion, HostKey, str]]:
        judged = [asked for asked in self._asked if not asked.is_changed]
        same = [(asked.question, asked.match, COMPARED) for asked in judged if asked.match is not None]
        blind = [(a.question, a.question.offered[0], NOT_COMPARED) for a in judged if a.match is None] if self.unable.isChecked() else []
        return [*same, *blind]

    def _decide(self) -> None:
        decided = self._decisions()
        self.accept()
        self.decided.emit(decided)


def _headline(changed: int, unknown: int) -> Text:
    """What the user has to decide on, the most severe first: a changed key may be somebody between."""
    parts = []
    if changed:
        parts.append(Text(f"{_nodes(changed)} with a changed host key", f"{changed} 个节点的主机密钥已变更"))
    if unknown:
        parts.append(Text(f"{_nodes(unknown)} with a host key that is not known", f"{unknown} 个节点的主机密钥未知"))
    return Text(", ".join(part.en for part in parts), "，".join(part.zh for part in parts))


def _nodes(count: int) -> str:
    return f"{count} {'node' if count == 1 else 'nodes'}"


def _found(lines: Sequence[str], offered: Sequence[HostKey]) -> HostKey | None:
    return next((key for key in (matching(line, offered) for line in lines) if key is not None), None)


def _key(asked: AskedKey) -> Cell:
    key = asked.match or asked.question.offered[0]
    return Cell(foreign(key.fingerprint), code=True, tip=foreign(f"{key.kind} {key.fingerprint}"))


def _compared(asked: AskedKey) -> Cell:
    if asked.is_changed:
        return _CHANGED
    return _SAME if asked.match is not None else _OPEN
