"""How are badges, promise rulers, stacked bars and hatching drawn, on screen and on paper?

All lengths are px on screen and points on paper. Text is drawn with the painter's font.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetricsF, QPainter, QPen, QPixmap, QTransform
from PySide6.QtSvg import QSvgRenderer

from gpulease_gui.pdf.badges import Badge
from gpulease_gui.pdf.palette import Palette

IconPainter = Callable[[QPainter, QRectF, str, str], None]

_PAD, _GAP = 7.0, 5.0
_BAR = 6
_SCALE = 1.12
_BAND_ALPHA = 0.13
_HATCH_STEP = 8
_HATCH_LINE = 1.2


@lru_cache(maxsize=512)
def icon_svg(name: str, colour: str) -> bytes:
    """The SVG of an icon with `currentColor` replaced. Raises FileNotFoundError for an unknown name."""
    raw = (files("gpulease_gui.resources") / "icons" / f"{name}.svg").read_bytes()
    return raw.replace(b"currentColor", colour.encode("ascii"))


def paint_icon(painter: QPainter, rect: QRectF, name: str, colour: str) -> None:
    """Draw an icon as paths (sharp at every scale); the window's own painter uses kept pixmaps."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    QSvgRenderer(icon_svg(name, colour)).render(painter, rect)
    painter.restore()


def with_alpha(colour: str, alpha: float) -> QColor:
    """`#RRGGBB` at an opacity of 0..1."""
    mixed = QColor(colour)
    mixed.setAlphaF(alpha)
    return mixed


def badge_icon_size(metrics: QFontMetricsF) -> float:
    """The mark beside a word: 14 at the usual dense font, growing with it."""
    return max(13.0, float(round(metrics.height() * 0.78)))


def badge_width(metrics: QFontMetricsF, word: str, *, filled: bool) -> float:
    """How wide `paint_badge` draws `word` at most."""
    pads = 2 * _PAD if filled else 0.0
    return badge_icon_size(metrics) + _GAP + metrics.horizontalAdvance(word) + pads


def paint_badge(
    painter: QPainter,
    rect: QRectF,
    badge: Badge,
    word: str,
    palette: Palette,
    *,
    filled: bool,
    icon: IconPainter = paint_icon,
) -> None:
    """Draw mark and word at the left of `rect`, vertically centred; filled ones stand on their tint."""
    painter.save()
    painter.setFont(_badge_font(painter.font(), strong=filled and badge.loud))
    metrics = QFontMetricsF(painter.font(), painter.device())
    colour, side = palette.colour(badge.token), badge_icon_size(metrics)
    width = min(badge_width(metrics, word, filled=filled), rect.width())
    left = rect.left()
    if filled:
        height = min(rect.height(), max(20.0, metrics.height() + 3))
        ground = QRectF(left, round(rect.center().y() - height / 2), width, height)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(palette.colour(badge.tint)))
        painter.drawRoundedRect(ground, 3, 3)
        left, width = left + _PAD, width - 2 * _PAD
    icon(painter, QRectF(round(left), round(rect.center().y() - side / 2), side, side), badge.icon, colour)
    text = QRectF(left + side + _GAP, rect.top(), width - side - _GAP + 1, rect.height())
    painter.setPen(QColor(colour))
    shown = metrics.elidedText(word, Qt.TextElideMode.ElideRight, text.width())
    painter.drawText(text, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, shown)
    painter.restore()


def _badge_font(font: QFont, *, strong: bool) -> QFont:
    drawn = QFont(font)
    drawn.setWeight(QFont.Weight.DemiBold if strong else QFont.Weight.Medium)
    return drawn


@dataclass(frozen=True, slots=True)
class Ruler:
    """A promise and what was measured, in one unit. `tolerance` is a fraction of the promise, 0..1."""

    promised: float
    measured: float | None
    token: str = "t3"
    tolerance: float = 0.0
    less_is_better: bool = False


@dataclass(frozen=True, slots=True)
class RulerRects:
    """Where the four parts of a ruler lie; `band` and `bar` may be empty."""

    track: QRect
    band: QRect
    bar: QRect
    tick: QRect


def ruler_rects(rect: QRect, ruler: Ruler) -> RulerRects | None:
    """The parts of a ruler on whole pixels; None when there is no length to draw (promise and reading 0)."""
    measured = max(0.0, ruler.measured or 0.0)
    top_value = max(ruler.promised, measured)
    if top_value <= 0 or rect.width() < 8:
        return None
    width, left, middle = rect.width(), rect.left(), rect.top() + rect.height() // 2

    def at(value: float) -> int:
        return left + round(min(value / (top_value * _SCALE), 1.0) * width)

    tick_x = max(left, at(ruler.promised) - 1)
    slack = ruler.promised * ruler.tolerance
    low, high = (0.0, slack) if ruler.less_is_better else (-slack, 0.0)
    band_left, band_right = at(ruler.promised + low), at(ruler.promised + high)
    bar_width = 0 if ruler.measured is None else max(1, at(measured) - left)
    return RulerRects(
        QRect(left, middle, width, 1),
        QRect(band_left, rect.top(), band_right - band_left, rect.height()),
        QRect(left, middle - _BAR // 2, bar_width, _BAR),
        QRect(tick_x, rect.top(), 2, rect.height()),
    )


def paint_ruler(painter: QPainter, rect: QRect, ruler: Ruler, palette: Palette) -> None:
    """Draw the promise ruler: track, tolerance band, bar of the measurement, tick of the promise."""
    rects = ruler_rects(rect, ruler)
    if rects is None:
        return
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.fillRect(rects.track, QColor(palette.border2))
    if not rects.band.isEmpty():
        painter.fillRect(rects.band, with_alpha(palette.ink, _BAND_ALPHA))
    if not rects.bar.isEmpty():
        painter.fillRect(rects.bar, QColor(palette.colour(ruler.token)))
    painter.fillRect(rects.tick, QColor(palette.ink))
    painter.restore()


@dataclass(frozen=True, slots=True)
class Promises:
    """How many promises were kept, broken, kept with a warning, cannot be told, do not apply."""

    kept: int = 0
    broken: int = 0
    warned: int = 0
    unknown: int = 0
    not_applicable: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.kept + self.broken + self.warned + self.unknown + self.not_applicable


def stack_parts(width: int, promises: Promises) -> tuple[tuple[str, int, int], ...]:
    """(part, left, width) of a stacked bar in px: 1 px gaps, no present part under 2 px, together never over `width`."""
    counts = [
        ("kept", promises.kept), ("broken", promises.broken), ("warned", promises.warned),
        ("unknown", promises.unknown), ("na", promises.not_applicable),
    ]  # fmt: skip
    present = [(name, count) for name, count in counts if count > 0]
    room = width - (len(present) - 1)
    if not present or room < 2 * len(present):
        return ()
    spare, left, parts = room - 2 * len(present), 0, []
    done = 0
    for name, count in present:
        before, done = done, done + count
        part = 2 + spare * done // promises.total - spare * before // promises.total
        parts.append((name, left, part))
        left += part + 1
    return tuple(parts)


def paint_stack(painter: QPainter, rect: QRect, promises: Promises, palette: Palette) -> None:
    """Draw the stacked promise bar: kept grey, broken, warned, unknown hatched, not applicable pale."""
    solid = {
        "kept": with_alpha(palette.t3, 0.5), "broken": QColor(palette.fail), "warned": QColor(palette.warn),
        "na": QColor(palette.border2),
    }  # fmt: skip
    for name, left, width in stack_parts(rect.width(), promises):
        part = QRect(rect.left() + left, rect.top(), width, rect.height())
        if name == "unknown":
            paint_hatch(painter, QRectF(part), palette.inc, palette.inc_bg, step=4)
        else:
            painter.fillRect(part, solid[name])


def paint_hatch(painter: QPainter, rect: QRectF, line: str, ground: str | None, *, step: float = _HATCH_STEP) -> None:
    """Fill `rect` with diagonals as paths; hatching means "unknown" and nothing else."""
    painter.save()
    painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
    if ground is not None:
        painter.fillRect(rect, QColor(ground))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(line), min(_HATCH_LINE, step / 4)))
    x = rect.left()
    while x < rect.right() + rect.height():
        painter.drawLine(QPointF(x, rect.top() - 0.5), QPointF(x - rect.height() - 1, rect.bottom() + 0.5))
        x += step
    painter.restore()


def hatch_brush(line: str, ground: str, ratio: float) -> QBrush:
    """The hatching as a texture for large moving areas of a screen with `ratio` device pixels per px."""
    side = round(_HATCH_STEP * ratio)
    tile = QPixmap(side, side)
    tile.fill(QColor(ground))
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(line), _HATCH_LINE * ratio))
    for shift in (-side, 0, side):  # the diagonal and the corners of its neighbours
        painter.drawLine(QPointF(shift - 1, side + 1), QPointF(shift + side + 1, -1))
    painter.end()
    brush = QBrush(tile)
    brush.setTransform(QTransform.fromScale(1 / ratio, 1 / ratio))
    return brush
