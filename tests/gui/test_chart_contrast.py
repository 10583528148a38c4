"""Can everything that a chart draws be seen on every ground that it is drawn on, in both themes?"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QFont, QImage, QPainter

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.theme.theme import Theme, ThemeMode, colours
from gpulease_gui.gui.widgets import lane_paint as parts
from gpulease_gui.gui.widgets.chart_pens import IDLE, KEPT, paint_strip
from gpulease_gui.gui.widgets.chart_scale import TimeScale, value_scale
from gpulease_gui.gui.widgets.chart_spec import Coarser, Hole, Promised, Rule
from gpulease_gui.pdf.palette import contrast

LINE, WORDS = 3.0, 4.5  # WCAG 2: what is drawn, what is read
PLOT = QRect(0, 0, 240, 200)
PROMISED = Promised(100.0, Rule.CHECKED)
VALUES, SCALE = value_scale(100.0, 100.0, None), TimeScale.ending(1000.0, 240.0, 240)
LINE_Y = round(VALUES.y(100.0, PLOT.height()))
HATCHED = (Hole(0.0, None, Text("no answer", "无应答")),)
Paint = Callable[[QPainter], None]
BOTH = pytest.mark.parametrize("mode", [ThemeMode.LIGHT, ThemeMode.DARK], ids=["light", "dark"])


def drawn(*paints: Paint) -> QImage:
    """A plot with so much painted on it."""
    image = QImage(PLOT.size(), QImage.Format.Format_RGB32)
    image.fill(colours().plot)
    painter = QPainter(image)
    for paint in paints:
        paint(painter)
    painter.end()
    return image


def over(image: QImage, ground: QImage, box: QRect = PLOT) -> float:
    """The lowest contrast that the most telling pixel of any column has to what lies under it."""
    columns = []
    for x in range(box.left(), box.right() + 1):
        pairs = ((image.pixelColor(x, y).name(), ground.pixelColor(x, y).name()) for y in range(box.top(), box.bottom() + 1))
        columns.append(max(contrast(upper, under) for upper, under in pairs))
    return min(columns)


def tolerance(painter: QPainter) -> None:
    parts.paint_tolerance(painter, PLOT, PROMISED, VALUES, 0)


def chosen(painter: QPainter) -> None:
    parts.paint_chosen(painter, PLOT, -10, 300)


def coarser(painter: QPainter) -> None:
    parts.paint_coarser(painter, PLOT, (Coarser(0.0, 2000.0, 60),), SCALE, 1.0)


def gap(painter: QPainter) -> None:
    parts.paint_holes(painter, PLOT, HATCHED, SCALE, 1.0, 2000.0)


def promise(words: str = "") -> Paint:
    return lambda painter: parts.paint_promise(painter, PLOT, QFont(), words, LINE_Y, LINE_Y - 12)


@BOTH
@pytest.mark.parametrize("ground", [(), (tolerance,), (coarser,), (gap,), (tolerance, gap)], ids=lambda ground: "+".join(one.__name__ for one in ground) or "plot")
@pytest.mark.parametrize("last", [(), (chosen,)], ids=["", "range"])
def test_that_the_contract_line_is_seen_over_all_that_lies_under_it(ground: tuple[Paint, ...], last: tuple[Paint, ...], mode: ThemeMode, theme: Theme) -> None:
    theme.choose(mode)
    assert over(drawn(*ground, promise(), *last), drawn(*ground, *last), QRect(20, LINE_Y - 1, 200, 3)) >= LINE


@BOTH
def test_that_the_words_of_the_contract_line_are_read_over_a_gap_and_on_its_flag(mode: ThemeMode, theme: Theme) -> None:
    theme.choose(mode)
    image = drawn(gap, promise("MMMM 100 W"))
    label = [image.pixelColor(x, y).name() for x in range(8, 40) for y in range(LINE_Y - 30, LINE_Y - 14)]
    grounds = [one for one in label if contrast(one, colours().plot) < 1.3]
    assert len(grounds) > 100
    assert min(contrast(colours().ink, one) for one in grounds) >= WORDS
    assert contrast(colours().plot, colours().ink) >= WORDS


@BOTH
@pytest.mark.parametrize("last", [(), (chosen,)], ids=["", "range"])
def test_that_the_edges_of_the_tolerance_are_seen_from_both_sides(last: tuple[Paint, ...], mode: ThemeMode, theme: Theme) -> None:
    theme.choose(mode)
    image = drawn(tolerance, *last)
    top = round(VALUES.y(110, PLOT.height()))
    row = [image.pixelColor(x, top).name() for x in range(20, 60)]
    outside, inside = image.pixelColor(40, top - 2).name(), image.pixelColor(40, top + 2).name()
    edge = max(row, key=lambda one: contrast(one, outside))
    assert outside != inside
    assert contrast(edge, outside) >= LINE and contrast(edge, inside) >= LINE


@BOTH
@pytest.mark.parametrize("ground", [(), (tolerance,), (chosen,), (coarser,)], ids=["plot", "tolerance", "range", "summaries"])
def test_that_curves_marks_and_the_cursor_are_seen_on_every_ground(ground: tuple[Paint, ...], mode: ThemeMode, theme: Theme) -> None:
    theme.choose(mode)
    palette = colours()
    under = drawn(*ground).pixelColor(120, LINE_Y + 4).name()
    drawn_on_it = [*(one.colour for one in palette.series), palette.fail, palette.warn, palette.t2, palette.accent]
    assert min(contrast(one, under) for one in drawn_on_it) >= LINE


@BOTH
def test_that_the_figures_of_the_axis_and_the_readout_are_read(mode: ThemeMode, theme: Theme) -> None:
    theme.choose(mode)
    palette = colours()
    pairs = [(palette.t3, palette.surface), (palette.t3, palette.bg1), (palette.t2, palette.bg1), (palette.fail, palette.bg1), (palette.t2, palette.plot)]
    assert min(contrast(*pair) for pair in pairs) >= WORDS


@BOTH
def test_that_a_gap_is_told_from_a_stretch_without_one(mode: ThemeMode, theme: Theme) -> None:
    theme.choose(mode)
    assert over(drawn(gap), drawn(), QRect(20, 20, 60, 40)) >= LINE


@BOTH
@pytest.mark.parametrize("token", [KEPT, IDLE, "warn", "fail"])
@pytest.mark.parametrize("ground", ["plot", "surface", "surface2", "bg0", "bg1", "accent_bg"])
def test_that_a_promise_kept_broken_or_not_judged_is_seen_on_every_ground(token: str, ground: str, mode: ThemeMode, theme: Theme) -> None:
    theme.choose(mode)
    under = QImage(PLOT.size(), QImage.Format.Format_RGB32)
    under.fill(colours().colour(ground))
    image = QImage(under)
    painter = QPainter(image)
    paint_strip(painter, QRect(0, 100, PLOT.width(), 4), token)
    painter.end()
    assert over(image, under, QRect(0, 98, PLOT.width(), 8)) >= LINE
