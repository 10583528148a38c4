"""How do the actions become menus?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.actions import ACTIONS, ActionSpec, Menu, Scope, page_keys
from gpulease_gui.gui.language import say
from gpulease_gui.gui.pages.page import PageSpec


class Menus(QObject):
    """The menu bar of a window; `wanted` carries an ActionSpec, `page_wanted` a page's id."""

    wanted = Signal(object)
    page_wanted = Signal(str)

    def __init__(self, window: QMainWindow, pages: Sequence[PageSpec]) -> None:
        super().__init__(window)
        self._actions: dict[str, QAction] = {}
        self._words: dict[str, Text] = {}
        self._menus: dict[Menu, QMenu] = {}
        self._pages = [(spec, QAction(window)) for spec in pages]
        groups: dict[str, QActionGroup] = {}
        for menu in Menu:
            self._menus[menu] = window.menuBar().addMenu("")
        for spec in ACTIONS:
            action = QAction(window)
            action.setShortcuts([QKeySequence(keys) for keys in (spec.keys, spec.more) if keys])
            action.setCheckable(spec.checkable or bool(spec.choice))
            if spec.choice:
                groups.setdefault(spec.choice, QActionGroup(window)).addAction(action)
            action.triggered.connect(lambda _=False, spec=spec: self.wanted.emit(spec))
            if spec.after_line:
                self._menus[spec.menu].addSeparator()
            self._menus[spec.menu].addAction(action)
            self._actions[spec.id] = action
        self._add_pages(self._menus[Menu.VIEW])
        self.retranslate()
        self.allow(frozenset())

    def _add_pages(self, menu: QMenu) -> None:
        if self._pages:
            menu.addSeparator()
        for place, (spec, action) in enumerate(self._pages):
            action.setShortcut(page_keys(place))
            action.triggered.connect(lambda _=False, page=spec.id: self.page_wanted.emit(page))
            menu.addAction(action)

    def allow(self, doable: frozenset[str]) -> None:
        """Enable those actions of the page in sight that it can do now."""
        for spec in ACTIONS:
            if spec.scope is Scope.PAGE:
                self._actions[spec.id].setEnabled(spec.id in doable)

    def check(self, action: str, *, checked: bool = True) -> None:
        """Check an action without triggering it."""
        self._actions[action].setChecked(checked)

    def name(self, action: str, words: Text) -> None:
        """Give an action other words, such as what Undo would take back."""
        self._words[action] = words
        self._actions[action].setText(say(words).replace("&", "&&"))

    def retranslate(self) -> None:
        """Say all titles in the window's language."""
        for menu, made in self._menus.items():
            made.setTitle(say(menu.value))
        for spec in ACTIONS:
            self._actions[spec.id].setText(say(self._words.get(spec.id, spec.text)).replace("&", "&&"))
        for page, action in self._pages:
            action.setText(say(page.title).replace("&", "&&"))

    def shown(self) -> tuple[tuple[ActionSpec, QAction], ...]:
        """Every action beside the object that Qt knows it by."""
        return tuple((spec, self._actions[spec.id]) for spec in ACTIONS)

    def all_actions(self) -> tuple[QAction, ...]:
        """The actions and the pages, for the list of shortcuts."""
        return (*self._actions.values(), *(action for _, action in self._pages))
