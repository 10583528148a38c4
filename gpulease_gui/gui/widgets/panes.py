"""What are pages built from: panes, hairlines, headings, pairs, empty states?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLayout,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QSplitterHandle,
    QTabBar,
    QVBoxLayout,
    QWidget,
)

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel, Words
from gpulease_gui.gui.widgets.lively import Lively


class Pane(QFrame):
    """A ground: 0 the frame, 1 a side pane, 2 the page. `column` is its vertical layout, without margins."""

    def __init__(self, ground: int = 1, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("pane", str(ground))
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)


def hairline(*, vertical: bool = False) -> QFrame:
    """A line of 1 px between panes or sections."""
    line = QFrame()
    line.setProperty("line", "v" if vertical else "h")
    return line


def clear_layout(layout: QLayout) -> None:
    """Take everything out of `layout` and delete it; nested layouts too."""
    while (item := layout.takeAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        elif inner is not None:
            clear_layout(inner)


class Section(QFrame):
    """A part of an inspector: a 600 title, a note at the right, content below in `column`, a hairline under it."""

    def __init__(self, title: Words = "", note: Words = "", *, last: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        body = QWidget()
        self.column = QVBoxLayout(body)
        self.column.setContentsMargins(16, 12, 16, 12)
        self.column.setSpacing(6)
        self.title = PlainLabel(title, size="dense", weight=600)
        self.note = PlainLabel(note, size="caption", level="3")
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addStretch()
        head.addWidget(self.note)
        self.column.addLayout(head)
        outer.addWidget(body)
        if not last:
            outer.addWidget(hairline())


class KeyValues(QWidget):
    """Label and value pairs in two columns; values can be selected, foreign words stay plain text."""

    def __init__(self, pairs: Sequence[tuple[Words, Words]] = (), *, label_width: int = 96,
                 parent: QWidget | None = None) -> None:  # fmt: skip
        super().__init__(parent)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnMinimumWidth(0, label_width)
        self._grid.setColumnStretch(1, 1)
        self.set_pairs(pairs)

    def set_pairs(self, pairs: Sequence[tuple[Words, Words]], *, code: frozenset[int] = frozenset()) -> None:
        """Show other pairs; the rows in `code` are drawn in monospace."""
        clear_layout(self._grid)
        for row in range(self._grid.rowCount()):
            self._grid.setRowStretch(row, 0)
        self._grid.setRowStretch(len(pairs), 1)
        for row, (label, value) in enumerate(pairs):
            name = PlainLabel(label, size="dense", level="3")
            shown = PlainLabel(value, size="dense", code=row in code, wrap=True, select=True)
            self._grid.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(shown, row, 1, Qt.AlignmentFlag.AlignTop)


class Icon(Lively, QLabel):
    """An icon that is no button."""

    def __init__(self, name: str, token: str = "t3", size: int = 16, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name, self._token, self._size = name, token, size
        self.setFixedSize(size, size)
        self.retheme()

    def set_icon(self, name: str, token: str) -> None:
        """Show another icon."""
        self._name, self._token = name, token
        self.retheme()

    def retheme(self) -> None:
        """Draw in the theme's colour, sharp on this screen."""
        ratio = self.devicePixelRatioF()
        self.setPixmap(icons.pixmap(self._name, colours().colour(self._token), self._size, ratio))


class EmptyState(QWidget):
    """What stands where nothing is yet: icon, one line, one sentence, one primary, one secondary; a third down."""

    def __init__(self, icon: str, line: Words, sentence: Words, *, primary: Button | None = None,
                 secondary: Button | None = None, parent: QWidget | None = None) -> None:  # fmt: skip
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(32, 16, 32, 16)
        column.setSpacing(6)
        column.addStretch(1)
        column.addWidget(Icon(icon, "t3", 20))
        column.addSpacing(4)
        self.line = PlainLabel(line, weight=600)
        self.sentence = PlainLabel(sentence, level="2", wrap=True)
        column.addWidget(self.line)
        column.addWidget(self.sentence)
        column.addSpacing(6)
        row = QHBoxLayout()
        row.setSpacing(8)
        for button in (primary, secondary):
            if button is not None:
                row.addWidget(button)
        row.addStretch()
        column.addLayout(row)
        column.addStretch(2)


class KeyFigure(Lively, QWidget):
    """A number that decides: caption, figure of 20/600, what it is of."""

    def __init__(self, caption: Words, figure: Words = "–", note: Words = "", *, level: str = "1",
                 parent: QWidget | None = None) -> None:  # fmt: skip
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 10, 16, 10)
        column.setSpacing(1)
        self._words = figure
        self._figure = PlainLabel(figure, size="key_figure", weight=600, level=level)
        self._note = ElidedLabel(note, size="caption", level="2")
        column.addWidget(PlainLabel(caption, size="caption", level="3"))
        column.addWidget(self._figure)
        column.addWidget(self._note)

    def set_figure(self, figure: Words, note: Words = "", level: str = "1") -> None:
        """Show another figure."""
        self._figure.set_words(figure)
        self._figure.set_level(level)
        self._note.set_words(note)
        self._words = figure
        self.retranslate()

    def retranslate(self) -> None:
        """Say the figure in the window's language."""
        self.setAccessibleName(say(self._words))


_TABS = Text("Parts of this page", "本页各部分")


class TabRow(Lively, QTabBar):
    """Tabs over a part of a page; the words follow the language."""

    def __init__(self, words: Sequence[Words], *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = tuple(words)
        self.setExpanding(False)
        self.setDrawBase(False)
        for _ in self._words:
            self.addTab("")
        self.retranslate()

    def name(self, place: int, words: Words) -> None:
        """Give a tab other words, such as another count."""
        if self._words[place] != words:
            self._words = (*self._words[:place], words, *self._words[place + 1 :])
            self.retranslate()

    def retranslate(self) -> None:
        """Say the words of the tabs."""
        for place, words in enumerate(self._words):
            self.setTabText(place, say(words).replace("&", "&&"))
        self.setAccessibleName(say(_TABS))


class ThinSplitter(QSplitter):
    """Panes side by side: a hairline that can be grabbed 5 px wide."""

    def __init__(self, orientation: Qt.Orientation = Qt.Orientation.Horizontal, *, parent: QWidget | None = None) -> None:
        super().__init__(orientation, parent)
        self.setHandleWidth(5)
        self.setChildrenCollapsible(False)

    def createHandle(self) -> QSplitterHandle:
        """The handle that paints only its middle pixel."""
        return _ThinHandle(self.orientation(), self)


class Sideways(QScrollArea):
    """Panes that need more width than a small window has are moved sideways under it, and none lies over another."""

    def __init__(self, panes: QWidget) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidgetResizable(True)
        self.setWidget(panes)


class _ThinHandle(QSplitterHandle):
    def __init__(self, orientation: Qt.Orientation, parent: QSplitter) -> None:
        super().__init__(orientation, parent)
        # Not asked for at each paint: a wrapper that nobody else holds could be collected under our hands.
        self._splitter = parent
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Half of the handle takes the ground of either pane; the line is accent under the pointer."""
        painter, palette = QPainter(self), colours()
        colour = palette.accent if self.underMouse() else palette.border
        self._paint_sides(painter)
        if self.orientation() is Qt.Orientation.Horizontal:
            painter.fillRect(QRect(self.width() // 2, 0, 1, self.height()), QColor(colour))
        else:
            painter.fillRect(QRect(0, self.height() // 2, self.width(), 1), QColor(colour))

    def _paint_sides(self, painter: QPainter) -> None:
        splitter = self._splitter
        place = splitter.indexOf(self)
        across = self.orientation() is Qt.Orientation.Horizontal
        half = (self.width() if across else self.height()) // 2
        for widget, start in ((splitter.widget(place - 1), 0), (splitter.widget(place), half)):
            ground = QColor(_ground_of(widget))
            length = half + 1
            rect = QRect(start, 0, length, self.height()) if across else QRect(0, start, self.width(), length)
            painter.fillRect(rect, ground)


def _ground_of(widget: QWidget | None) -> str:
    palette = colours()
    pane = widget.property("pane") if widget is not None else None
    return {"0": palette.bg0, "1": palette.bg1}.get(str(pane), palette.surface)


def expanding(widget: QWidget) -> QWidget:
    """`widget`, taking all the room there is."""
    widget.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
    return widget
