"""How are the columns of a comparison moved, pinned and removed?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMenu

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.services.compare_page import look_of

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.compare import ComparePage


class CompareColumns:
    """Acts on the columns, by mouse, menu and keyboard alike."""

    def __init__(self, page: ComparePage) -> None:
        self._page = page
        button = page.bar.columns
        button.clicked.connect(lambda: self.menu().popup(button.mapToGlobal(QPoint(0, button.height()))))
        page.matrix.column_moved.connect(self.move_column)
        page.matrix.pin_wanted.connect(self.toggle_pin)
        page.matrix.menu_wanted.connect(lambda column, at: self.offer_menu(column).popup(at) if column > 0 else None)

    def move_column(self, source: int, target: int) -> None:
        """Put the offer of one column in the place of another (1 is the first)."""
        look = self._page.look
        count = len(look.comparison.heads) if look is not None else 0
        if look is None or not (0 < source <= count and 0 < target <= count):
            return
        order = list(range(count))
        order.insert(target - 1, order.pop(source - 1))
        self._page.take_look(look_of(look.comparison.arranged(order), self._page.frame.services.catalogue.gpus))
        self._page.matrix.choose_column(target)

    def toggle_pin(self, column: int) -> None:
        """Keep an offer beside the labels, or let it go."""
        look = self._page.look
        if look is not None and 0 < column <= len(look.comparison.heads):
            self._page.matrix.pin(self._page.matrix.pinned ^ {look.comparison.heads[column - 1].row.deal})

    def remove_column(self, column: int) -> None:
        """Untick an offer."""
        look = self._page.look
        if look is not None:
            gone = look.comparison.heads[column - 1].row.subject
            self._page.compare([subject for subject in self._page.subjects if subject != gone])

    def offer_menu(self, column: int, menu: QMenu | None = None) -> QMenu:
        """What can be done with the column of an offer."""
        look = self._page.look
        menu = menu or self._menu()
        if look is None or not 0 < column <= len(look.comparison.heads):
            return menu
        head = look.comparison.heads[column - 1]
        pinned = head.row.deal in self._page.matrix.pinned
        pin = Text("Unpin", "取消固定") if pinned else Text("Pin beside the terms", "固定在条款旁")
        acts = ((pin, True, lambda: self.toggle_pin(column)),
                (Text("Move left", "左移"), column > 1, lambda: self.move_column(column, column - 1)),
                (Text("Move right", "右移"), column < len(look.comparison.heads), lambda: self.move_column(column, column + 1)),
                (Text("Remove from the comparison", "移出对比"), True, lambda: self.remove_column(column)),
                (Text("Open the offer", "打开报价"), True, lambda: self._page.open_deal(head)))  # fmt: skip
        for words, enabled, do in acts:
            menu.addAction(say(words), do).setEnabled(enabled)
        return menu

    def _menu(self) -> QMenu:
        menu = QMenu(self._page)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return menu

    def menu(self) -> QMenu:
        """Every offer with what can be done with its column, and the groups."""
        menu = self._menu()
        look = self._page.look
        for column, head in enumerate(look.comparison.heads if look is not None else (), 1):
            title = look.titles[column - 1] if look is not None else ""
            self.offer_menu(column, menu.addMenu(f"{say(head.row.supplier)} · {say(title)}".replace("&", "&&")))
        menu.addSeparator()
        menu.addAction(say(Text("Fold all groups", "折叠全部分组")), lambda: self._page.rows.fold_all(folded=True))
        menu.addAction(say(Text("Open all groups", "展开全部分组")), lambda: self._page.rows.fold_all(folded=False))
        return menu
