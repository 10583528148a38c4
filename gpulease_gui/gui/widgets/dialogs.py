"""How does a dialog put facts before a decision?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import Icon, KeyValues

CANCEL = Text("Cancel", "取消")


class FactDialog(QDialog):
    """What and on which target, facts as pairs, consequence, buttons at the right; the safe one is default.

    `column` is the place for more widgets between facts and buttons. Buttons are added from left to right.
    """

    def __init__(
        self,
        title: Words,
        headline: Words,
        facts: Sequence[tuple[Words, Words]] = (),
        *,
        icon: str = "",
        token: str = "t2",
        consequence: Words = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._title = title
        self.setModal(True)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(20, 16, 20, 16)
        outer.setSpacing(12)
        head = QHBoxLayout()
        head.setSpacing(10)
        if icon:
            head.addWidget(Icon(icon, token, 20))
        self.headline = PlainLabel(headline, size="headline", weight=600, wrap=True)
        head.addWidget(self.headline, 1)
        outer.addLayout(head)
        self.facts = KeyValues(facts)
        outer.addWidget(self.facts)
        self.column = QVBoxLayout()
        self.column.setSpacing(8)
        outer.addLayout(self.column)
        self.consequence = PlainLabel(consequence, level="2", wrap=True)
        self.consequence.setVisible(bool(str(consequence)))
        outer.addWidget(self.consequence)
        outer.addStretch()
        self._foot = QHBoxLayout()
        self._foot.setSpacing(8)
        self._foot.addStretch()
        outer.addLayout(self._foot)
        self.setMinimumWidth(460)
        self._name()

    def fill(self) -> None:
        """Give the column all the room that there is, such as for a table."""
        outer = self.layout()
        if isinstance(outer, QVBoxLayout):
            outer.setStretchFactor(self.column, 1)

    def add_button(self, button: Button, *, accepts: bool = False, rejects: bool = False, default: bool = False) -> Button:
        """Put `button` at the right end of the foot."""
        if accepts:
            button.clicked.connect(self.accept)
        if rejects:
            button.clicked.connect(self.reject)
        if default:
            button.setDefault(True)
            button.setFocus()
        self._foot.addWidget(button)
        return button

    def event(self, event: QEvent) -> bool:
        """What comes into sight later, such as an error below a field, makes the dialog higher and cuts nothing."""
        done = super().event(event)
        if event.type() is QEvent.Type.LayoutRequest and self.isVisible():
            self._grow()
        return done

    def _grow(self) -> None:
        layout = self.layout()
        if layout is not None and layout.hasHeightForWidth():
            needed = min(layout.totalHeightForWidth(self.width()), self.screen().availableGeometry().height())
            if needed > self.height():
                self.resize(self.width(), needed)

    def changeEvent(self, event: QEvent) -> None:
        """Keep the window's title in the window's language."""
        if event.type() is QEvent.Type.LanguageChange:
            self._name()
        super().changeEvent(event)

    def _name(self) -> None:
        self.setWindowTitle(say(self._title))
        self.setAccessibleName(say(self._title))


def heavy_dialog(headline: Words, facts: Sequence[tuple[Words, Words]], verb: Words, *, parent: QWidget | None = None) -> FactDialog:
    """The named confirmation of a check that loads the node; `verb` repeats check and node. Cancel is the default."""
    dialog = FactDialog(Text("Heavy check", "重负载检查"), headline, facts, icon="heavy", token="fail", parent=parent)
    cancel = Button(CANCEL)
    dialog.add_button(cancel, rejects=True, default=True)
    dialog.add_button(Button(verb, kind="danger_filled"), accepts=True)
    return dialog


def question(title: Words, headline: Words, consequence: Words, verb: Words, *, danger: bool = False,
             parent: QWidget | None = None) -> FactDialog:  # fmt: skip
    """A plain decision: Cancel beside one verb; Cancel is the default where the verb destroys something."""
    dialog = FactDialog(title, headline, consequence=consequence, parent=parent)
    dialog.add_button(Button(CANCEL), rejects=True, default=danger)
    dialog.add_button(Button(verb, kind="danger" if danger else "primary"), accepts=True, default=not danger)
    return dialog
