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
from gpulease_gui.gui.widgets.buttons import Button, focus_chain
from gpulease_gui.gui.widgets.fitted import FittedBand
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel, Words, plain_tip
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
        for place in range(self._crumbs.count()):
            item = self._crumbs.itemAt(place)
            if item is not None and (made := item.widget()) is not None:
                made.show()  # now, not with the next event: meanwhile the buttons would take the room of the crumbs
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
        focus_chain((self.search, *buttons))  # whichever of them was made first

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


class _Name(ElidedLabel):
    """A name whose tip is that of the band around it."""

    def retranslate(self) -> None:
        """Say the words, and leave the tip to the band."""
        super().retranslate()
        self.setToolTip("")


_BESIDE = 8  # px between the parts of the band


class TargetBand(FittedBand):
    """32 px: the node that the page speaks of, and at the right the load that is on it now.

    In a narrow window the last facts give way first, whole: nothing is cut in the middle of a word. The tooltip has them all.
    """

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("targetBand")
        self.setMinimumHeight(32)
        # Long names are cut off at the window's edge; they must not make the window wider.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 4, 16, 4)
        row.setSpacing(_BESIDE)
        self._facts = QHBoxLayout()
        self._facts.setSpacing(_BESIDE)
        row.addLayout(self._facts, 1)
        self.risk = RiskSegment()
        row.addWidget(self.risk)
        self._shown: Target | None = None
        self._groups: list[tuple[QWidget, ...]] = []
        self._pairs: tuple[tuple[Words, Words], ...] = ()
        self.hide()

    def show_target(self, target: Target | None) -> None:
        """Name another target; None hides the band."""
        self.setVisible(target is not None)
        if target is None or target == self._shown:
            return
        self._shown = target
        clear_layout(self._facts)
        self._groups = []
        self._add(PlainLabel(Text("Target", "目标"), size="dense", level="3"))
        self._add(BadgeLabel(target.state, filled=False))
        name = _Name(target.node, size="dense", weight=600)
        name.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        name.setMinimumWidth(min(name.sizeHint().width(), _SUBJECT))
        self._add(name)
        if target.address:
            self._add(PlainLabel(target.address, size="dense", level="2", code=True))
        if target.warns:
            self._add(PlainLabel(target.warns, size="dense", weight=600, level="warn"))
        pairs: tuple[tuple[Words, Words], ...] = (
            (Text("Contract", "合同"), target.contract), (Text("Supplier", "供应商"), target.supplier), *target.facts,
        )  # fmt: skip
        self._pairs = tuple((label, value) for label, value in pairs if value)
        for label, value in self._pairs:
            line = hairline(vertical=True)
            line.setFixedHeight(14)
            self._add(line, PlainLabel(label, size="dense", level="3"), PlainLabel(value, size="dense", weight=500))
        self._facts.addStretch(1)
        self.risk.set_impact(target.impact)
        self.retranslate()

    def _add(self, *parts: QWidget) -> None:
        for part in parts:
            self._facts.addWidget(part)
            part.ensurePolished()
        self._groups.append(parts)

    def retranslate(self) -> None:
        """Other words take other room."""
        self.fit()

    def _tip(self) -> str:
        """All of it, for who points at the band."""
        shown = self._shown
        said = [f"{say(label)}: {say(value)}" for label, value in self._pairs]
        return plain_tip("\n".join([shown.node, shown.address, *([say(shown.warns)] if shown.warns else []), *said])) if shown is not None else ""

    def fit(self) -> None:
        """Show as many facts as there is room for, in their order of weight; state and name always."""
        room = self.width() - 32 - self.risk.sizeHint().width() - _BESIDE
        weights = [sum(part.sizeHint().width() + _BESIDE for part in group) for group in self._groups]
        for place in _by_weight(len(self._groups), address=bool(self._shown and self._shown.address)):
            shown = place in (1, 2) or weights[place] <= room
            room -= weights[place] if shown else 0
            for part in self._groups[place]:
                part.setVisible(shown)
        hidden = any(part.isHidden() for group in self._groups[1:] for part in group) or room < 0
        self.setToolTip(self._tip() if hidden else "")


def _by_weight(count: int, *, address: bool) -> list[int]:
    """Places of the groups of a band, the one that stays longest first: state, name, facts, address, and the word Target."""
    first, facts = [1, 2], list(range(4 if address else 3, count))
    return [place for place in [*first, *facts, *([3] if address else []), 0] if place < count]
