"""Which bands tell what is going on, and which load is on the target?"""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.sheet import set_role
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import ElidedLabel, PlainLabel, Words
from gpulease_gui.gui.widgets.lively import Lively
from gpulease_gui.gui.widgets.panes import Icon

_MARKS = {"fail": ("verdict-fail", "fail"), "warn": ("edit", "warn"), "inc": ("info", "inc"), "accent": ("check", "accent")}


class Band(QFrame):
    """One line over the whole width: mark, 600 headline, sentence, buttons at the right.

    `tone`: fail (an error), warn (unsaved changes), inc (demo data), accent (several rows chosen).
    """

    def __init__(self, tone: str, headline: Words = "", sentence: Words = "", *buttons: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("band", tone)
        self.setMinimumHeight(32)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 3, 16, 3)
        row.setSpacing(8)
        icon, token = _MARKS[tone]
        self._mark = Icon(icon, token, 16)
        row.addWidget(self._mark)
        self.headline = PlainLabel(headline, size="dense", weight=600, level=token if tone in ("fail", "inc") else "1")
        self.sentence = ElidedLabel(sentence, size="dense", level="2")
        row.addWidget(self.headline)
        row.addWidget(self.sentence, 1)
        for button in buttons:
            row.addWidget(button)

    def warn(self, *, only: bool) -> None:
        """Wear the colours of a warning (`only`), or those of what is broken."""
        tone = "warn" if only else "fail"
        set_role(self, "band", tone)
        self._mark.set_icon(f"verdict-{tone}", tone)
        self.headline.set_level(tone)

    def show_mark(self, icon: str) -> None:
        """Another icon, in the same colour."""
        self._mark.set_icon(icon, _MARKS[str(self.property("band"))][1])

    def tell(self, headline: Words, sentence: Words = "") -> None:
        """Say something else and show the band."""
        self.headline.set_words(headline)
        self.sentence.set_words(sentence)
        self.show()


class UnsavedBand(Band):
    """The foot of a form that was changed: what changed, Discard, Save."""

    def __init__(self, *, parent: QWidget | None = None) -> None:
        self.discard = Button(Text("Discard", "放弃"), kind="quiet", small=True)
        self.save = Button(Text("Save", "保存"), kind="primary", small=True)
        super().__init__("warn", "", "", self.discard, self.save, parent=parent)
        self.hide()


_RISKS: tuple[tuple[Impact, str, Text, str], ...] = (
    (Impact.PASSIVE, "shield", Text("Read-only", "只读"), "pass"),
    (Impact.ACTIVE, "load", Text("Light load", "轻负载"), "warn"),
    (Impact.DISRUPTIVE, "heavy", Text("Heavy load", "重负载"), "fail"),
)


class RiskSegment(Lively, QWidget):
    """What runs on the target now: three parts, the active one tinted. It shows, it is no button."""

    def __init__(self, impact: Impact = Impact.PASSIVE, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._impact = impact
        self.retranslate()

    def set_impact(self, impact: Impact) -> None:
        """Show another load."""
        self._impact = impact
        self.retranslate()

    def retranslate(self) -> None:
        """Name the load for assistive tools."""
        self.setAccessibleName(say(next(words for impact, _, words, _ in _RISKS if impact is self._impact)))
        self.updateGeometry()
        self.update()

    def _font(self, *, active: bool) -> QFont:
        return sized(self.font(), TextSize.CAPTION, 600 if active else 400)

    def _widths(self) -> list[int]:
        metrics = QFontMetrics(self._font(active=True))
        return [13 + 5 + metrics.horizontalAdvance(say(words)) + 18 for _, _, words, _ in _RISKS]

    def sizeHint(self) -> QSize:
        """Three parts wide enough for 600."""
        return QSize(sum(self._widths()) + 1, max(22, self.fontMetrics().height() + 4))

    def minimumSizeHint(self) -> QSize:
        """No part is ever cut."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the three parts."""
        palette, painter = colours(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        height = self.sizeHint().height()
        box = QRectF(0.5, (self.height() - height) // 2 + 0.5, self.width() - 1, height - 1)
        outline = QPainterPath()
        outline.addRoundedRect(box, 4, 4)
        painter.setClipPath(outline)
        left = 0
        for (impact, icon, words, token), width in zip(_RISKS, self._widths(), strict=True):
            part = QRectF(left, box.top(), width, box.height())
            active = impact is self._impact
            if active:
                painter.fillRect(part, QColor(palette.colour(f"{token}_bg")))
            colour = palette.colour(token) if active else palette.t3
            icons.paint(painter, QRectF(left + 9, round(part.center().y() - 6.5), 13, 13), icon, colour)
            painter.setPen(QColor(colour))
            painter.setFont(self._font(active=active))
            painter.drawText(part.adjusted(27, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, say(words))
            left += width
            if left < self.width() - 2:
                painter.fillRect(QRectF(left - 1, box.top(), 1, box.height()), QColor(palette.border2))
        painter.setClipping(False)
        painter.setPen(QPen(QColor(palette.border2), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(outline)
