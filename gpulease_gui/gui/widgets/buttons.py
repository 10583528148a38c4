"""Which buttons and switches does the window have?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QCheckBox, QHBoxLayout, QPushButton, QToolButton, QWidget

from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.sheet import set_role
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.labels import Words, plain_tip
from gpulease_gui.gui.widgets.lively import Lively

_ICON_TOKENS = {
    "primary": "ton", "danger_filled": "ton", "danger": "fail", "quiet": "t2", "link": "accent", "": "t1",
}  # fmt: skip


class Button(Lively, QPushButton):
    """`kind`: "" plain, primary (one per page), danger, danger_filled, quiet, link. Words are plain text."""

    def __init__(self, words: Words = "", *, icon: str = "", kind: str = "", small: bool = False,
                 parent: QWidget | None = None) -> None:  # fmt: skip
        super().__init__(parent)
        self._words, self._icon, self._kind = words, icon, kind
        self.setProperty("kind", kind)
        self.setProperty("small", str(small).lower())
        self.setAutoDefault(False)
        self.setIconSize(icons.icon_size(14 if small else 16))
        if kind == "link":
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.retranslate()
        self.retheme()

    def set_words(self, words: Words, *, icon: str | None = None) -> None:
        """Show other words, and another icon if named."""
        self._words = words
        self._icon = self._icon if icon is None else icon
        self.retranslate()
        self.retheme()

    def set_kind(self, kind: str) -> None:
        """Change the role of the button, such as primary while a form is dirty."""
        self._kind = kind
        set_role(self, "kind", kind)
        self.retheme()

    def retranslate(self) -> None:
        """Say the words; & is no mnemonic here, since names of nodes may hold one."""
        gap = "\N{NO-BREAK SPACE}" if self._icon and say(self._words) else ""  # the sheet cannot set this distance
        self.setText(gap + say(self._words).replace("&", "&&"))
        self.setAccessibleName(say(self._words))

    def retheme(self) -> None:
        """Tint the icon."""
        if self._icon:
            self.setIcon(icons.icon(self._icon, colours(), _ICON_TOKENS[self._kind]))


class IconButton(Lively, QToolButton):
    """An icon alone; the words are its tooltip and accessible name."""

    def __init__(self, icon: str, words: Words, *, outlined: bool = False, size: int = 16,
                 parent: QWidget | None = None) -> None:  # fmt: skip
        super().__init__(parent)
        self._words, self._icon = words, icon
        self.setProperty("outlined", str(outlined).lower())
        self.setIconSize(icons.icon_size(size))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.retranslate()
        self.retheme()

    def set_words(self, words: Words, *, icon: str | None = None) -> None:
        """Another meaning, such as Resume for Pause."""
        self._words = words
        self._icon = self._icon if icon is None else icon
        self.retranslate()
        self.retheme()

    def retranslate(self) -> None:
        """Say the words in tooltip and accessible name."""
        self.setToolTip(plain_tip(self._words))
        self.setAccessibleName(say(self._words))

    def retheme(self) -> None:
        """Tint the icon."""
        self.setIcon(icons.icon(self._icon, colours(), "t2"))


class Chip(Lively, QToolButton):
    """A filter that is on or off, with an optional count."""

    def __init__(self, words: Words, count: int | None = None, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words, self._count = words, count
        self.setProperty("chip", "true")
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.retranslate()

    def set_count(self, count: int | None) -> None:
        """Show another count."""
        if count != self._count:
            self._count = count
            self.retranslate()

    def retranslate(self) -> None:
        """Say words and count."""
        said = say(self._words).replace("&", "&&")
        self.setText(said if self._count is None else f"{said}  {self._count}")


class Segment(QWidget):
    """One choice out of a few, side by side; `chosen` carries the key."""

    chosen = Signal(str)

    def __init__(self, choices: Sequence[tuple[str, Words]], *, current: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._keys = [key for key, _ in choices]
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        for number, (key, words) in enumerate(choices):
            button = _SegmentButton(words)
            button.setProperty("seg", _place(number, len(choices)))
            button.setChecked(key == current)
            self._group.addButton(button, number)
            row.addWidget(button)
        self._group.idClicked.connect(self._clicked)

    def _clicked(self, number: int) -> None:
        self.chosen.emit(self._keys[number])

    @property
    def current(self) -> str:
        """The key that is chosen, or an empty text."""
        number = self._group.checkedId()
        return self._keys[number] if number >= 0 else ""

    def choose(self, key: str) -> None:
        """Choose without telling anyone."""
        self._group.button(self._keys.index(key)).setChecked(True)

    def choose_none(self) -> None:
        """Show that several things differ: none of the choices is marked."""
        self._group.setExclusive(False)
        for button in self._group.buttons():
            button.setChecked(False)
        self._group.setExclusive(True)


def _place(number: int, count: int) -> str:
    if count == 1:
        return "only"
    return "first" if number == 0 else "last" if number == count - 1 else "mid"


class _SegmentButton(Lively, QToolButton):
    def __init__(self, words: Words) -> None:
        super().__init__()
        self._words = words
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.retranslate()

    def retranslate(self) -> None:
        self.setText(say(self._words).replace("&", "&&"))

    def sizeHint(self) -> QSize:
        """As wide as the words in 600, so that choosing moves nothing."""
        hint = super().sizeHint()
        heavy = QFontMetrics(sized(self.font(), TextSize.BODY, 600)).horizontalAdvance(say(self._words))
        return QSize(max(hint.width(), heavy + 24), hint.height())

    def minimumSizeHint(self) -> QSize:
        """The words are never cut: who has no room for them shows something else."""
        return self.sizeHint()


class Switch(Lively, QCheckBox):
    """On or off, at once, without Save."""

    _TRACK = QSize(28, 16)

    def __init__(self, words: Words = "", *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = words
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.retranslate()

    def retranslate(self) -> None:
        """Say the words."""
        self.setText(say(self._words))

    def sizeHint(self) -> QSize:
        """Track, gap and words."""
        words = self.fontMetrics().horizontalAdvance(self.text())
        return QSize(self._TRACK.width() + 8 + words + 4, max(24, self.fontMetrics().height() + 6))

    def minimumSizeHint(self) -> QSize:
        """The words are never cut."""
        return self.sizeHint()

    def hitButton(self, pos: object) -> bool:
        """The words switch as well as the track."""
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        """A pill with a knob at the side of the state; the focus is a ring around it."""
        palette = colours()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        size = self._TRACK
        track = QRectF(2, round((self.height() - size.height()) / 2), size.width(), size.height())
        on = palette.accent if self.isEnabled() else palette.t3
        painter.setPen(QPen(QColor(palette.ctl), 1) if not self.isChecked() else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(on if self.isChecked() else palette.surface2))
        painter.drawRoundedRect(track.adjusted(0.5, 0.5, -0.5, -0.5), 8, 8)
        knob = track.right() - 14 if self.isChecked() else track.left() + 3
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(palette.ton if self.isChecked() else palette.ctl))
        painter.drawEllipse(QRectF(knob, track.top() + 2.5, 11, 11))
        if self.hasFocus():
            painter.setPen(QPen(QColor(palette.accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(track.adjusted(-1, -1, 1, 1), 9, 9)
        painter.setPen(QColor(palette.t1 if self.isEnabled() else palette.t3))
        painter.setFont(sized(self.font(), TextSize.BODY, 500))
        words = self.rect().adjusted(size.width() + 10, 0, 0, 0)
        painter.drawText(words, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, self.text())


class ChoiceBlock(Lively, QAbstractButton):
    """A large choice: icon, headline, one sentence. The filled one is the page's primary."""

    def __init__(self, headline: Words, sentence: Words, *, icon: str, filled: bool = False,
                 parent: QWidget | None = None) -> None:  # fmt: skip
        super().__init__(parent)
        self._headline, self._sentence, self._icon, self._filled = headline, sentence, icon, filled
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.retranslate()

    def retranslate(self) -> None:
        """Say both lines."""
        self.setText(say(self._headline))
        self.setAccessibleName(say(self._headline))
        self.setAccessibleDescription(say(self._sentence))
        self.updateGeometry()

    def _sentence_height(self, width: int) -> int:
        box = QFontMetrics(sized(self.font(), TextSize.DENSE)).boundingRect(
            0, 0, max(width - 96, 80), 1000, Qt.TextFlag.TextWordWrap, say(self._sentence)
        )
        return box.height()

    def heightForWidth(self, width: int) -> int:
        """Headline, the wrapped sentence and 14 px above and below."""
        return 28 + QFontMetrics(sized(self.font(), TextSize.SECTION, 600)).height() + self._sentence_height(width)

    def sizeHint(self) -> QSize:
        """A usual block of the first-run page."""
        return QSize(416, self.heightForWidth(416))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter chooses like Space."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the block in its state."""
        palette, painter = colours(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        hovered = self.underMouse()
        if self._filled:
            ground, edge, text, second = (palette.accent_h if hovered else palette.accent), "", palette.ton, palette.ton
        else:
            ground, edge = (palette.hover if hovered else palette.surface), palette.ctl
            text, second = palette.t1, palette.t2
        ring = palette.t1 if self._filled else palette.accent
        pen = QPen(QColor(ring), 2) if self.hasFocus() else QPen(QColor(edge or ground), 1)
        painter.setPen(pen)
        painter.setBrush(QColor(ground))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
        middle = self.height() / 2
        icons.paint(painter, QRectF(18, round(middle - 9), 18, 18), self._icon, text)
        icons.paint(painter, QRectF(self.width() - 34, round(middle - 8), 16, 16), "chevron-right", text)
        self._paint_words(painter, text, second)

    def _paint_words(self, painter: QPainter, text: str, second: str) -> None:
        top = max(14.0, 14 + (self.height() - self.heightForWidth(self.width())) / 2)
        painter.setFont(sized(self.font(), TextSize.SECTION, 600))
        line = painter.fontMetrics().height()
        painter.setPen(QColor(text))
        painter.drawText(QRectF(48, top, self.width() - 96, line), Qt.AlignmentFlag.AlignVCenter, say(self._headline))
        painter.setFont(sized(self.font(), TextSize.DENSE))
        painter.setPen(QColor(second))
        below = QRectF(48, top + line, self.width() - 96, self.height() - top - line)
        painter.drawText(below, Qt.TextFlag.TextWordWrap, say(self._sentence))


def focus_chain(widgets: Iterable[QWidget]) -> None:
    """Set the tab order to the order of `widgets`."""
    chain = list(widgets)
    for before, after in zip(chain, chain[1:], strict=False):
        QWidget.setTabOrder(before, after)
