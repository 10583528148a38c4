"""Do the themes keep their numbers, and does everything change at once?"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from PySide6.QtGui import QFont, QFontInfo, QRawFont
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from gpulease_gui.gui.language import Translations
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.images import write_images
from gpulease_gui.gui.theme.sheet import fill, style_sheet
from gpulease_gui.gui.theme.sizes import TextSize, points, sized
from gpulease_gui.gui.theme.theme import Theme, ThemeMode, colours
from gpulease_gui.gui.widgets.buttons import IconButton
from gpulease_gui.pdf.fonts import FAMILY, base_font, shipped_font
from gpulease_gui.pdf.palette import DARK, LIGHT, Palette, contrast

from .conftest import settle

THEMES = pytest.mark.parametrize(("palette", "column"), [(LIGHT, 0), (DARK, 1)], ids=["light", "dark"])
GROUNDS = ("bg0", "bg1", "surface", "surface2", "hover", "sel")
TEXT_ON_EVERY_GROUND = {
    "t1": (14.4, 11.1), "t2": (7.0, 6.9), "t3": (4.6, 5.2), "accent": (5.4, 5.5),
    "pass": (4.6, 8.1), "warn": (4.8, 6.4), "fail": (6.3, 5.2), "inc": (6.0, 7.4), "na": (6.6, 4.9), "run": (5.4, 5.5),
}  # fmt: skip
PAIRS = {
    ("ton", "accent"): (6.6, 7.8), ("ton", "fail"): (7.6, 7.4), ("ton", "accent_h"): (8.6, 10.1),
    ("accent", "accent_bg"): (5.6, 5.7), ("ink", "plot"): (17.5, 15.9), ("hatch", "surface2"): (3.1, 3.5),
    ("pass", "pass_bg"): (4.8, 8.4), ("warn", "warn_bg"): (5.1, 6.7), ("fail", "fail_bg"): (6.4, 5.6),
    ("inc", "inc_bg"): (6.2, 8.2), ("na", "na_bg"): (6.9, 5.2), ("run", "run_bg"): (5.6, 5.7),
}  # fmt: skip


@THEMES
@pytest.mark.parametrize("token", TEXT_ON_EVERY_GROUND)
def test_that_text_has_its_contrast_on_every_ground(palette: Palette, column: int, token: str) -> None:
    lowest = min(contrast(palette.colour(token), palette.colour(ground)) for ground in GROUNDS)
    assert round(lowest, 1) == TEXT_ON_EVERY_GROUND[token][column]
    assert lowest >= 4.5


@THEMES
@pytest.mark.parametrize(("upper", "lower"), PAIRS)
def test_that_pairs_have_their_contrast(palette: Palette, column: int, upper: str, lower: str) -> None:
    assert round(contrast(palette.colour(upper), palette.colour(lower)), 1) == PAIRS[upper, lower][column]


@THEMES
def test_that_outlines_and_curves_can_be_seen(palette: Palette, column: int) -> None:
    outlines = min(contrast(palette.ctl, palette.colour(ground)) for ground in ("surface", "bg1"))
    assert round(outlines, 1) == (3.2, 3.9)[column]
    assert min(contrast(one.colour, palette.plot) for one in palette.series) >= 3.6
    assert min(contrast(palette.t2, palette.colour(f"{tint}_bg")) for tint in ("fail", "warn", "inc", "accent")) >= 4.5


def test_that_no_two_series_look_alike_in_grey() -> None:
    looks = [(one.dash, one.marker) for one in LIGHT.series]
    assert len(set(looks)) == 8
    assert [(one.dash, one.marker) for one in DARK.series] == looks


def test_that_a_place_without_a_colour_is_an_error() -> None:
    assert fill("a { color: @t1 }", {"t1": "#000000"}) == "a { color: #000000 }"
    with pytest.raises(KeyError):
        fill("a { color: @t9 }", {"t1": "#000000"})


@THEMES
def test_that_the_sheet_leaves_no_place_open_and_sets_no_pixels_of_text(palette: Palette, column: int, tmp_path: Path,
                                                                       theme: Theme) -> None:  # fmt: skip
    sheet = style_sheet(palette, QFont(), QFont(["Mono"]), write_images(tmp_path, palette))
    assert "@" not in sheet.replace("@2x", "")
    assert not [line for line in sheet.splitlines() if "font-size" in line and "px;" in line.split("font-size")[1][:12]]


def test_that_a_switch_reaches_colours_children_and_icons(theme: Theme) -> None:
    heard: list[bool] = []
    button, label, plain = IconButton("refresh", "Refresh"), QLabel("x"), QPushButton("y", None)
    label.setParent(button)
    label.ensurePolished()
    theme.changed.connect(lambda: heard.append(colours().dark))
    before = button.icon().pixmap(16, 16).toImage()
    theme.choose(ThemeMode.DARK)
    assert heard == [True]
    assert colours() is DARK
    assert label.palette().text().color().name().upper() == DARK.t1
    assert button.icon().pixmap(16, 16).toImage() != before
    theme.choose(ThemeMode.LIGHT)
    assert button.icon().pixmap(16, 16).toImage() == before
    for widget in (button, plain):
        widget.deleteLater()


def _cost_of_a_switch(theme: Theme, deep: int) -> float:
    """CPU seconds of a switch with 600 labels, so many of them in each other; the lowest of three."""
    window = QWidget()
    for _ in range(600 // deep):
        parent: QWidget = window
        for _ in range(deep):
            parent = QLabel("a", parent)
    spent = []
    for mode in (ThemeMode.DARK, ThemeMode.LIGHT, ThemeMode.DARK):
        begun = time.thread_time()
        theme.choose(mode)
        spent.append(time.thread_time() - begun)
    window.deleteLater()
    settle()
    return min(spent)


def test_that_widgets_within_widgets_are_polished_once_at_a_switch(theme: Theme) -> None:
    flat, deep = (_cost_of_a_switch(theme, deep) for deep in (1, 20))
    assert deep < 3 * flat, f"{deep:.3f} s against {flat:.3f} s"


def test_that_sizes_follow_the_font_of_the_user() -> None:
    small, large = QFont(), QFont()
    small.setPointSizeF(9.75)
    large.setPointSizeF(13.0)
    assert [points(small, size) for size in TextSize] == [8.25, 9.0, 9.75, 11.25, 12.0, 15.0, 16.5]
    assert points(large, TextSize.CAPTION) == 11.0
    assert sized(small, TextSize.BODY, 600).weight() == QFont.Weight.DemiBold


def test_that_larger_text_reaches_labels(theme: Theme) -> None:
    label = QLabel("x")
    label.ensurePolished()
    before = label.font().pointSizeF()
    theme.enlarge(4)
    label.ensurePolished()
    assert label.font().pointSizeF() == before + 4
    theme.enlarge(0)
    label.deleteLater()


def test_that_every_icon_draws_something_in_the_colour_asked_for(resources: Path, english: Translations) -> None:
    names = sorted(path.stem for path in (resources / "icons").glob("*.svg"))
    assert len(names) > 60
    for name in names:
        image = icons.pixmap(name, "#A5162A", 24, 2.0).toImage()
        opaque = [image.pixelColor(x, y) for x in range(48) for y in range(48) if image.pixelColor(x, y).alpha() > 200]
        assert opaque, name
        if name != "app":
            far = max(abs(colour.red() - 0xA5) + abs(colour.green() - 0x16) + abs(colour.blue() - 0x2A) for colour in opaque)
            assert far <= 6, name  # rounding of half-covered pixels
    assert icons.pixmap("run", "#A5162A", 16, 1.0) is icons.pixmap("run", "#A5162A", 16, 1.0)


def test_that_the_shipped_font_has_a_glyph_of_its_own_for_every_character(theme: Theme) -> None:
    raw = QRawFont.fromFont(shipped_font(10))
    assert raw.familyName() == FAMILY
    words = "足十力金见龙显存带宽无法判定不符 −≤≥→×·…␛⟨⟩\u2009µμ¥“”" + "".join(chr(point) for point in range(0x21, 0x7F))
    glyphs = raw.glyphIndexesForString(words)
    assert 0 not in glyphs
    assert len(set(glyphs)) == len(set(words))


def test_that_digits_are_of_one_width_and_bold_is_a_face_of_its_own(theme: Theme) -> None:
    raw, bold = QRawFont.fromFont(shipped_font(10)), QRawFont.fromFont(shipped_font(10, bold=True))
    advances = {round(point.x(), 3) for point in raw.advancesForGlyphIndexes(raw.glyphIndexesForString("0123456789"))}
    assert len(advances) == 1
    assert bold.styleName() == "Bold"


def test_that_chinese_is_never_tofu_on_a_bare_machine(theme: Theme) -> None:
    font = base_font(QFont("DejaVu Sans"))
    assert QFontInfo(font).family() == FAMILY
    assert FAMILY in base_font(QFont("Some Desktop Font")).families()
