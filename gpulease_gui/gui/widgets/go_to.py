"""How does one go anywhere by a few letters (Ctrl+K)?"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QVBoxLayout, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.two_lines import Line, LinesView
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.services.go_to import KIND_WORDS, Place, PlaceKind, Places

WIDTH, HEIGHT = 620, 420
_ICONS = {
    PlaceKind.PAGE: "nav-overview", PlaceKind.COMMAND: "terminal", PlaceKind.NODE: "nav-nodes", PlaceKind.CONTRACT: "document",
    PlaceKind.SUPPLIER: "nav-suppliers", PlaceKind.OFFER: "nav-offers", PlaceKind.CHECK: "nav-verify", PlaceKind.ITEM: "nav-checklist",
    PlaceKind.SITE: "pin", PlaceKind.WORKLOAD: "coin", PlaceKind.RUN: "clock", PlaceKind.FILE: "attachment", PlaceKind.TERM: "document",
}  # fmt: skip
_STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 8, Qt.Key.Key_PageUp: -8}
_NONE, _READING = Text("Nothing is called so", "没有匹配的内容"), Text("Still reading the records…", "正在读取记录…")


class GoToPanel(Lively, QFrame):
    """A field over a list, a child of the window: the keyboard stays in the field. `chosen` carries a Place."""

    chosen = Signal(object)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setProperty("box", "object")
        self._places = Places()
        self._found: list[Place] = []
        self._back: QWidget | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(6)
        self.field = QLineEdit()
        self.field.setMaxLength(200)
        self.field.installEventFilter(self)
        self.field.textChanged.connect(self.narrow)
        self.list = LinesView(Text("Where to go", "可跳转的位置"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setUniformItemSizes(True)
        self.list.clicked.connect(lambda index: self._choose(index.row()))
        self.none = PlainLabel(_NONE, size="dense", level="2")
        self._reading = False
        self.more = PlainLabel("", size="caption", level="3")
        for part in (self.field, self.list, self.none, self.more):
            column.addWidget(part)
        self.retranslate()
        self.hide()

    def retranslate(self) -> None:
        """Say what can be typed."""
        hint = say(Text("Supplier, offer, contract, node, site, run, file, workload, term, check, item, page or command",
                        "供应商、报价、合同、节点、机房、验收、附件、负载、条款、检查项、清单项、页面或命令"))
        self.field.setPlaceholderText(hint)
        self.field.setAccessibleName(hint)
        if self.isVisible():
            self._show(self._found)

    def begin(self) -> None:
        """Open with an empty field; the places come by `show_places`."""
        window = self.window()
        self._back = window.focusWidget()
        width, height = min(WIDTH, window.width() - 32), min(HEIGHT, window.height() - 120)
        self.setGeometry((window.width() - width) // 2, 72, width, height)
        self.field.clear()
        self.narrow("")
        self.show()
        self.raise_()
        self.field.setFocus()

    def show_places(self, places: Places, *, reading: bool = False) -> None:
        """Look in these from now on; while records are still being read, none of them is said to be missing."""
        self._places, self._reading = places, reading
        self.none.set_words(_READING if reading else _NONE)
        self.narrow(self.field.text())

    def tell_reading(self) -> None:
        """What is not found may be among the records that are being read anew."""
        self.none.set_words(_READING)

    def narrow(self, words: str) -> None:
        """Show what holds the words; the first is current."""
        found, total = self._places.look(words)
        self._show(found)
        shown = len(found)
        self.more.set_words(Text(f"{shown} of {total:,} shown: more letters narrow it", f"显示 {shown} / {total:,} 项，可继续输入以缩小范围"))
        self.more.setVisible(total > shown)

    def _show(self, found: list[Place]) -> None:
        self._found = found
        lines = [
            Line(str(n), place.title, place.note if say(place.note) else KIND_WORDS[place.kind], KIND_WORDS[place.kind], _ICONS[place.kind])
            for n, place in enumerate(found)
        ]
        self.list.rows.set_lines(lines)
        self.list.setCurrentIndex(self.list.rows.index(0, 0))
        self.list.setVisible(bool(found))
        self.none.setVisible(self._reading or not found)

    @property
    def found(self) -> tuple[Place, ...]:
        """What is listed now."""
        return tuple(self._found)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Arrows walk, Enter goes, Esc and leaving close."""
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._key(Qt.Key(event.key()))
        if event.type() is QEvent.Type.FocusOut and self.isVisible():
            QTimer.singleShot(0, self, self._left)
        return False

    def _key(self, key: Qt.Key) -> bool:
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self.list.currentIndex().row())
        elif key == Qt.Key.Key_Escape:
            self.end()
        elif key in _STEPS:
            last = self.list.rows.rowCount() - 1
            place = max(0, min(last, self.list.currentIndex().row() + _STEPS[key]))
            self.list.setCurrentIndex(self.list.rows.index(place, 0))
        else:
            return False
        return True

    def _left(self) -> None:
        if not self.field.hasFocus():
            self.hide()

    def end(self) -> None:
        """Close, and give the keyboard back to where it was."""
        self.hide()
        if self._back is not None:
            self._back.setFocus()

    def _choose(self, place: int) -> None:
        if 0 <= place < len(self._found):
            chosen = self._found[place]
            self.hide()
            self.chosen.emit(chosen)
