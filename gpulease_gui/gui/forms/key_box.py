"""How are host keys shown side by side: the one that is offered, the one that is pinned, the one that the supplier named?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from gpulease_gui.domain.node import HostKey
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.gui.forms.host_key_words import grouped, randomart
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import Icon
from gpulease_gui.services.events import HostKeyQuestion, StatedKey

_LEVELS = {"t3": "3"}
_MARKS = {"pass": "check", "fail": "verdict-fail"}
_NAMED = Text("Named by the supplier", "供应商提供的指纹")


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
        left.addWidget(PlainLabel(f"{key.kind} SHA256".lstrip(), size="dense", level="2", code=True))
        left.addWidget(PlainLabel(grouped(key.fingerprint), size="dense", code=True, select=True))
        left.addStretch()
        body.addLayout(left, 1)
        picture = PlainLabel(randomart(key), size="caption", level="2", code=True)
        picture.setAccessibleName(say(Text("picture of the key", "密钥图形")))
        body.addWidget(picture)
        column.addLayout(body)
        if say(foot):
            end = QHBoxLayout()
            end.setSpacing(6)
            if tone in _MARKS:
                end.addWidget(Icon(_MARKS[tone], tone, 14))
            end.addWidget(PlainLabel(foot, size="caption", level=_LEVELS.get(tone, tone), wrap=True), 1)
            column.addLayout(end)

    def paintEvent(self, event: QPaintEvent) -> None:
        """A key is an object: it has an outline, and the suspicious one says so."""
        painter, palette = QPainter(self), colours()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(palette.fail if self._tone == "fail" else palette.border2), 1))
        painter.setBrush(QColor(palette.surface if self._tone == "fail" else palette.bg1))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)


def stated_match(question: HostKeyQuestion) -> tuple[StatedKey, HostKey] | None:
    """A fingerprint that the supplier named and the offered key that has it."""
    found = ((stated, key) for stated in question.stated for key in question.offered if key.fingerprint == stated.fingerprint)
    return next(found, None)


def stated_box(question: HostKeyQuestion) -> KeyBox | None:
    """What the supplier named, marked as equal or not; None where nothing is on record that speaks of this host.

    Of a jump host only a fingerprint that is equal does: the others are those of nodes.
    """
    match, count = stated_match(question), len(question.stated)
    if match is not None:
        stated, key = match
        same = Text("the same as the key offered now", "与当前出示的密钥一致")
        other = Text(f"the same as the node's {key.kind} key", f"与节点的 {key.kind} 密钥一致")
        return KeyBox(_NAMED, stated.where, key, foot=same if key == question.offered[0] else other, tone="pass")
    if not count or question.hop:
        return None
    first = question.stated[0]
    none = Text("not the key offered now", "与当前出示的密钥不符")
    if count > 1:
        none = Text(f"none of the {count} on record is the key offered now", f"记录中的 {count} 个指纹均与当前出示的密钥不符")
    return KeyBox(_NAMED, first.where, HostKey("", first.fingerprint), foot=none, tone="fail")


def vouched(key: HostKey, stated: Sequence[StatedKey]) -> Text:
    """Whether a key is one that the supplier named, in a word; nothing where none was named."""
    if not stated:
        return NO_TEXT
    if any(one.fingerprint == key.fingerprint for one in stated):
        return Text("the supplier named it", "与供应商提供的指纹一致")
    return Text("not one that the supplier named", "不在供应商提供的指纹中")
