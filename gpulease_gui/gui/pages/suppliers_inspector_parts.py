"""What do the panes beside the technical and the commercial terms have in common?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from gpulease_gui.domain.claim import ClaimState
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel
from gpulease_gui.gui.widgets.panes import KeyValues, Pane, Section, clear_layout

LEAST_WIDTH = 272


class PartsPane(Pane):
    """Sections one below the other that scroll together and are hidden while no row is shown."""

    def __init__(self) -> None:
        super().__init__(1)
        self.setMinimumWidth(LEAST_WIDTH)
        self._inside = Pane(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidget(self._inside)
        self.column.addWidget(area)
        self._inside.hide()

    def stack_parts(self, parts: Sequence[QWidget]) -> None:
        """Put the sections below each other; they scroll, and are never squeezed."""
        for part in parts:
            part.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
            self._inside.column.addWidget(part)
        self._inside.column.addStretch(1)


class Question(Section):
    """What to ask the supplier where nothing is stated. `asked`: the user says that it was asked."""

    asked = Signal()

    def __init__(self) -> None:
        super().__init__(Text("Ask the supplier", "询问供应商"))
        self._body = body_of(self)

    def show_question(self, question: Text, state: ClaimState, first: Text | None = None) -> None:
        """Show another question; `first` stands above it."""
        clear_layout(self._body)
        if first is not None:
            self._body.addWidget(PlainLabel(first, size="dense", level="2", wrap=True))
        self._body.addWidget(PlainLabel(question, size="dense", wrap=True, select=True))
        copy = Button(Text("Copy question", "复制问题"), icon="copy", small=True)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(say(question)))
        self._body.addWidget(copy, 0, Qt.AlignmentFlag.AlignLeft)
        if state is not ClaimState.ASKED:
            ask = Button(Text("Mark as asked", "标记为已询问"), small=True)
            ask.clicked.connect(lambda: self.asked.emit())
            self._body.addWidget(ask, 0, Qt.AlignmentFlag.AlignLeft)


class NameHead(Section):
    """Label, key, state and pairs of the row."""

    def __init__(self) -> None:
        super().__init__()
        self.badge = BadgeLabel()
        self.name = ElidedLabel("", size="section", weight=600)
        self.key = ElidedLabel("", size="caption", level="3", code=True)
        self.pairs = KeyValues(label_width=64)
        self.title.hide()
        self.note.hide()
        self.column.addWidget(self.name)
        line = QHBoxLayout()
        line.addWidget(self.key, 1)
        line.addWidget(self.badge)
        self.column.addLayout(line)
        self.column.addSpacing(4)
        self.column.addWidget(self.pairs)

    def name_row(self, label: Text, key: str, state: ClaimState) -> None:
        """Show another row's name and state."""
        self.name.set_words(label)
        self.key.set_words(key)
        self.badge.set_state(state)


def body_of(section: Section) -> QVBoxLayout:
    """A column inside `section` that is emptied and filled again."""
    body = QVBoxLayout()
    body.setSpacing(4)
    section.column.addLayout(body)
    return body


def change_lines(said: Text | None, by: str | Text) -> QVBoxLayout:
    """One change of a history: what was said, and by whom."""
    words = QVBoxLayout()
    words.setSpacing(0)
    if said is not None:
        words.addWidget(PlainLabel(said, size="dense", wrap=True))
    words.addWidget(PlainLabel(by, size="caption", level="2", wrap=True))
    return words
