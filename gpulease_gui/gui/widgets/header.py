"""What stands over a page: where it is, what it does, which node it speaks of?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QCompleter, QFrame, QHBoxLayout, QSizePolicy, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.pages.page import Target
from gpulease_gui.gui.widgets.badge import BadgeLabel
from gpulease_gui.gui.widgets.bands import RiskSegment
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel, Words
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.panes import clear_layout, hairline
from gpulease_gui.gui.widgets.search import SearchBox

_SUBJECT = 132  # px that the subject of a page keeps
_BETWEEN = 24  # px that what lies between keeps: its first letter and …


class PageHeader(Lively, QFrame):
    """48 px: breadcrumb, search, secondary buttons, the primary at the far right.

    `searched` carries the words for the page in sight, `gone_to` the id of a page that was picked by name.
    """

    searched = Signal(str)
    gone_to = Signal(str)

    def __init__(self, pages: Sequence[tuple[str, Text]], keys: str, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pageHeader")
        self.setMinimumHeight(48)
        self._pages = tuple(pages)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 8, 16, 8)
        row.setSpacing(8)
        self._crumbs = QHBoxLayout()
        self._crumbs.setSpacing(6)
        self.search = SearchBox(keys=keys)
        self.search.setMaximumWidth(280)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(8)
        row.addLayout(self._crumbs, 1)
        row.addWidget(self.search, 1)
        row.addLayout(self._buttons)
        self.search.searched.connect(self.searched)
        self.retranslate()

    def show_page(self, crumbs: Sequence[Words], buttons: Sequence[Button]) -> None:
        """Show where the user is (the last crumb is the page's subject) and what can be done there."""
        clear_layout(self._crumbs)
        for place, words in enumerate(crumbs):
            last = place == len(crumbs) - 1
            if place:
                self._crumbs.addWidget(PlainLabel("/", level="3"))
            if last:
                subject = ElidedLabel(words, size="section", weight=600)
                subject.setAccessibleName(say(words))
                subject.setMinimumWidth(min(subject.sizeHint().width(), _SUBJECT))
                self._crumbs.addWidget(subject, 3)
            elif place:  # what lies between gives way first: the subject is what the page is about
                between = ElidedLabel(words, level="2")
                between.setMaximumWidth(between.sizeHint().width() + 1)
                between.setMinimumWidth(min(between.sizeHint().width(), _BETWEEN))
                self._crumbs.addWidget(between, 2)
            else:
                self._crumbs.addWidget(PlainLabel(words, level="2"))
        self._take_buttons(buttons)

    def _take_buttons(self, buttons: Sequence[Button]) -> None:
        """The buttons belong to their page: they are lent, not deleted."""
        while (item := self._buttons.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None and widget not in buttons:
                widget.hide()
        for button in buttons:
            self._buttons.addWidget(button)
            button.show()

    def take_in(self) -> None:
        """Buttons that a new page made but does not show yet wait here, out of sight, instead of being windows."""
        for widget in QApplication.topLevelWidgets():
            if isinstance(widget, Button):
                widget.setParent(self)

    def forget_buttons(self) -> None:
        """The pages are gone: so are their buttons."""
        self._take_buttons(())
        for button in self.findChildren(Button, options=Qt.FindChildOption.FindDirectChildrenOnly):
            button.deleteLater()

    def retranslate(self) -> None:
        """Names of pages that can be typed, in the window's language."""
        names = [say(title) for _, title in self._pages]
        completer = QCompleter(names, self.search)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.activated.connect(self._picked)
        self.search.setCompleter(completer)

    def _picked(self, name: str) -> None:
        page = next((page for page, title in self._pages if say(title) == name), "")
        QTimer.singleShot(0, self, self.search.clear)  # the completer writes the name after this call
        self.gone_to.emit(page)


class TargetBand(Lively, QFrame):
    """32 px: the node that the page speaks of, and at the right the load that is on it now."""

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("targetBand")
        self.setMinimumHeight(32)
        # Long names are cut off at the window's edge; they must not make the window wider.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 4, 16, 4)
        row.setSpacing(8)
        self._facts = QHBoxLayout()
        self._facts.setSpacing(8)
        row.addLayout(self._facts, 1)
        self.risk = RiskSegment()
        row.addWidget(self.risk)
        self._shown: Target | None = None
        self.hide()

    def show_target(self, target: Target | None) -> None:
        """Name another target; None hides the band."""
        self.setVisible(target is not None)
        if target is None or target == self._shown:
            return
        self._shown = target
        clear_layout(self._facts)
        self._facts.addWidget(PlainLabel(Text("Target", "目标"), size="dense", level="3"))
        self._facts.addWidget(BadgeLabel(target.state, filled=False))
        self._facts.addWidget(PlainLabel(target.node, size="dense", weight=600))
        if target.address:
            self._facts.addWidget(PlainLabel(target.address, size="dense", level="2", code=True))
        pairs = [(Text("Contract", "合同"), target.contract), (Text("Supplier", "供应商"), target.supplier), *target.facts]
        for label, value in pairs:
            if value:
                line = hairline(vertical=True)
                line.setFixedHeight(14)
                self._facts.addWidget(line)
                self._facts.addWidget(PlainLabel(label, size="dense", level="3"))
                self._facts.addWidget(PlainLabel(value, size="dense", weight=500))
        self._facts.addStretch(1)
        self.risk.set_impact(target.impact)
