"""What does a picture of a chart say by itself, when it lies in a mail and nobody knows where it came from?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timezone

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QImage, QPainter
from PySide6.QtWidgets import QWidget

from gpulease_gui.domain.text import NO_TEXT, Text, visible
from gpulease_gui.gui.language import say
from gpulease_gui.gui.theme.sizes import TextSize, sized
from gpulease_gui.gui.theme.theme import colours
from gpulease_gui.gui.widgets.chart_scale import local
from gpulease_gui.gui.widgets.chart_spec import LaneSpec
from gpulease_gui.gui.widgets.lane_paint import promise_words
from gpulease_gui.reports.wording import zone_name

_MARGIN, _GAP = 16, 4


@dataclass(frozen=True, slots=True)
class Caption:
    """The lines above a chart: of which node, from when to when and in which zone, what is drawn, and what the contract lines are."""

    node: str
    span: str
    groups: str
    lines: str


def caption_of(node: str, contract: str, span_s: tuple[float, float], lanes: Iterable[LaneSpec]) -> Caption:
    """`node` and `contract` are foreign words ("": no contract), the span is in UTC seconds."""
    first, last = (local(at_s) for at_s in span_s)
    offset = last.utcoffset()
    zone = zone_name(timezone(offset)) if offset is not None else "UTC"
    before = first.utcoffset()
    # A clock that was put forward or back in between: the start is told in its own zone.
    early = f" {zone_name(timezone(before))}" if before is not None and before != offset else ""
    span = f"{first:%Y-%m-%d %H:%M:%S}{early} – {last:%Y-%m-%d %H:%M:%S} {zone}"
    shown = tuple(lanes)
    listed, ended = say(Text(", ", "，")), say(Text("; ", "；"))
    groups = listed.join(f"{say(lane.title)} [{lane.unit}]" if lane.unit else say(lane.title) for lane in shown)
    stated = ended.join(filter(None, map(_line, shown))) or say(Text("no contract line", "无合同线"))
    of = Text(f"contract {visible(contract)[:48]}", f"合同 {visible(contract)[:48]}")
    return Caption(" · ".join((visible(node)[:96], say(of))) if contract else visible(node)[:96], span, groups, stated)


def _line(lane: LaneSpec) -> str:
    """A contract line by its name, as it stands in its lane, and the term that promises it; "" for a lane without."""
    if lane.promised is None:
        return ""
    words = promise_words(lane, lane.promised)
    of = Text(f" ({lane.term})", f"（{lane.term}）") if lane.term else NO_TEXT
    return say(Text(f"{say(lane.title)}: {words}{of.en}", f"{say(lane.title)}：{words}{of.zh}"))


def chart_image(chart: QWidget, caption: Caption) -> QImage:
    """The chart as it is on the screen, with its caption above, in the colours that it wears."""
    shown, wears = chart.grab(), colours()
    ratio, width = shown.devicePixelRatio(), chart.width()
    lines = (
        (caption.node, sized(chart.font(), TextSize.SECTION, 600), wears.t1), (caption.span, chart.font(), wears.t1),
        (caption.groups, chart.font(), wears.t2), (caption.lines, chart.font(), wears.t2),
    )  # fmt: skip
    rooms = _rooms(lines, width)
    head = rooms[-1].bottom() + 1 + _MARGIN // 2
    image = QImage(shown.width(), shown.height() + round(head * ratio), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(QColor(wears.surface))
    painter = QPainter(image)
    for (words, font, colour), room in zip(lines, rooms, strict=True):
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawText(room, Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft, words)
    painter.drawPixmap(0, head, shown)
    painter.end()
    image.setText("Title", f"{caption.node}, {caption.span}")
    return image


def _rooms(lines: Iterable[tuple[str, QFont, str]], width: int) -> list[QRect]:
    """Where each line stands, one below the other; a long one takes several rows."""
    rooms: list[QRect] = []
    top = _MARGIN // 2
    for words, font, _ in lines:
        free = QRect(_MARGIN, top, width - 2 * _MARGIN, 10_000)
        taken = QFontMetrics(font).boundingRect(free, int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft), words)
        rooms.append(QRect(free.left(), top, free.width(), taken.height()))
        top += taken.height() + _GAP
    return rooms
