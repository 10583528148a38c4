"""What is a page, and what may it ask of the window?

A page is one module in this folder with a constant `PAGE: PageSpec`; the window finds it by looking here and shows it
in the navigation. `make(frame)` builds it at its first visit. Modules of pages are imported at start, so heavy
libraries (pyqtgraph, numpy) are imported inside `make` only; services are typed under TYPE_CHECKING.

    class Notes(Page):
        def __init__(self, frame: Frame) -> None:
            super().__init__(frame)
            ...
            self.retranslate()

    PAGE = PageSpec("notes", Text("Notes", "备注"), "edit", NavGroup.USE, 45, Notes)

Reading: `frame.bridge.when_done(services.query(work), self._show)`; never read on the main thread. Events of the bus
come to `handle`. Strings: gui/language.py. Drawing: gui/widgets, gui/models. Colours: `theme.colours()`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.bridge import Bridge
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.services.events import Event, NodeState

if TYPE_CHECKING:
    from gpulease_gui.services.composition import Services


class NavGroup(Enum):
    """The parts of the navigation, from top to bottom."""

    TOP = Text("", "")
    CHOOSE = Text("Choose", "选型")
    USE = Text("Use", "使用")
    SETTLE = Text("Settle", "结算")
    FOOT = Text(" ", " ")


@dataclass(frozen=True, slots=True)
class Target:
    """The node that a page speaks of, as the target band names it. `facts` are more label and value pairs, `warns` stands before all of them."""

    node: str
    address: str = ""
    contract: str = ""
    supplier: str = ""
    state: NodeState = NodeState.NEVER_SEEN
    impact: Impact = Impact.PASSIVE
    facts: tuple[tuple[Words, Words], ...] = ()
    warns: Words = ""


class Frame(Protocol):
    """What the window gives to its pages."""

    @property
    def services(self) -> Services:
        """The use cases. Raises RuntimeError before a workspace is open (pages are made only after that)."""

    @property
    def is_open(self) -> bool:
        """Whether the window still shows the workspace; a page lives for some turns longer."""

    @property
    def bridge(self) -> Bridge:
        """Where results of workers come back to the main thread."""

    @property
    def widget(self) -> QWidget:
        """The parent of dialogs that belong to no page."""

    def go(self, page: str, *path: str) -> None:
        """Show another page, and there the record of `path` (ids); an unknown page is ignored."""

    def note(self, words: Words) -> None:
        """Say in the task strip what was done."""

    def trouble(self, headline: Words, sentence: Words = "") -> None:
        """Say in a band what failed; it stays until closed."""

    def set_count(self, page: str, count: Words, *, alarm: bool = False) -> None:
        """Show a count beside a page in the navigation; an alarm is drawn in the colour of fail."""


class Page(Lively, QWidget):
    """Base of all pages. `header_changed` tells the window to ask for crumbs, buttons, actions and target again."""

    header_changed = Signal()
    narrow_navigation = False  # Verification, Live, Checklist: icons only

    def __init__(self, frame: Frame) -> None:
        super().__init__()
        self.frame = frame
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)

    def crumbs(self) -> tuple[Words, ...]:
        """What stands after the page's title in the header, such as the supplier and the offer."""
        return ()

    def buttons(self) -> tuple[Button, ...]:
        """The header's buttons from left to right; the last may be the page's one primary."""
        return ()

    def target(self) -> Target | None:
        """The node that this page speaks of now; None shows no target band."""
        return None

    def doable(self) -> frozenset[str]:
        """Ids of menu actions (gui/actions.py, scope page) that work now."""
        return frozenset()

    def act(self, action: str) -> None:
        """Do a menu action that `doable` named."""

    def visit(self, path: tuple[str, ...]) -> None:
        """The page comes into sight; `path` names a record, or is empty: refresh what is shown."""

    def search(self, words: str) -> None:
        """Narrow what is shown to rows that hold all of `words`."""

    def handle(self, event: Event) -> None:
        """An event of the bus, on the main thread; comes to built pages also while they are out of sight."""

    def may_leave(self) -> bool:
        """False keeps the user here, because something typed would be lost; the page then says so itself."""
        return True


@dataclass(frozen=True, slots=True)
class PageSpec:
    """How the window finds and names a page. `order` sorts within the whole navigation."""

    id: str
    title: Text
    icon: str
    group: NavGroup
    order: int
    make: Callable[[Frame], Page]
