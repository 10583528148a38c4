"""Which colours do the screen and the paper use?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class SeriesStyle:
    """One curve of a chart: colour, dash lengths in px (empty = solid), marker name."""

    colour: str
    dash: tuple[float, ...]
    marker: str


@dataclass(frozen=True, slots=True)
class Palette:
    """Every colour of one theme as `#RRGGBB`. A name ending in `_bg` is the tint under the colour of that name."""

    dark: bool
    bg0: str
    bg1: str
    surface: str
    surface2: str
    hover: str
    sel: str
    border: str
    border2: str
    ctl: str
    t1: str
    t2: str
    t3: str
    accent: str
    accent_h: str
    accent_bg: str
    ton: str
    ink: str
    hatch: str
    plot: str
    grid: str
    pass_: str
    pass_bg: str
    warn: str
    warn_bg: str
    fail: str
    fail_bg: str
    inc: str
    inc_bg: str
    na: str
    na_bg: str
    run: str
    run_bg: str
    series: tuple[SeriesStyle, ...]

    def tokens(self) -> Mapping[str, str]:
        """All colours by the name that the style sheet uses: the field's name without a closing underscore."""
        named = {f.name.rstrip("_"): getattr(self, f.name) for f in fields(self)}
        return {name: value for name, value in named.items() if isinstance(value, str)}

    def colour(self, token: str) -> str:
        """The colour of a token such as `t2` or `fail_bg`. Raises KeyError for any other word.

        Every painted cell asks; a cache by palette would hash all its colours each time.
        """
        value = getattr(self, token, None) or getattr(self, f"{token}_", None)
        if not isinstance(value, str) or token.endswith("_"):
            raise KeyError(token)
        return value


_DASHES: tuple[tuple[float, ...], ...] = (
    (), (6, 3), (2, 2), (8, 3, 2, 3), (12, 3), (4, 2, 1, 2, 1, 2), (1, 3), (10, 2, 2, 2, 2, 2),
)  # fmt: skip
_MARKERS = ("disc", "square", "triangle", "diamond", "open_disc", "open_square", "plus", "cross")


def _series(*colours: str) -> tuple[SeriesStyle, ...]:
    return tuple(SeriesStyle(*style) for style in zip(colours, _DASHES, _MARKERS, strict=True))


LIGHT = Palette(
    dark=False,
    bg0="#E9ECF0", bg1="#F4F6F8", surface="#FFFFFF", surface2="#F0F2F5", hover="#F3F6FB", sel="#E1EAFB",
    border="#DDE1E7", border2="#C3CAD4", ctl="#818B99", t1="#161A20", t2="#454E5B", t3="#5F6977",
    accent="#2156C4", accent_h="#1A479F", accent_bg="#E6EEFC", ton="#FFFFFF", ink="#161A20", hatch="#818B99",
    plot="#FFFFFF", grid="#E6E9EE",
    pass_="#0F7566", pass_bg="#E2F2EF", warn="#8F5A08", warn_bg="#FBF0D9", fail="#A5162A", fail_bg="#FBE6E3",
    inc="#7A37A0", inc_bg="#F0E9F9", na="#4A515F", na_bg="#ECEEF1", run="#2156C4", run_bg="#E6EEFC",
    series=_series("#1B4FE0", "#8A3A00", "#0B5548", "#A62A80", "#7A6E00", "#69289F", "#1E8FC2", "#808690"),
)  # fmt: skip

DARK = Palette(
    dark=True,
    bg0="#0F1216", bg1="#14181D", surface="#1A1F26", surface2="#222830", hover="#212833", sel="#20304F",
    border="#2B323C", border2="#404956", ctl="#717C8B", t1="#E9ECF1", t2="#B4BCC8", t3="#99A3B1",
    accent="#7FA5FF", accent_h="#A2BEFF", accent_bg="#1F2D4A", ton="#0F1216", ink="#F3F5F8", hatch="#717C8B",
    plot="#161B21", grid="#262D36",
    pass_="#7FDCC6", pass_bg="#14332F", warn="#E6AB19", warn_bg="#372B12", fail="#F77F74", fail_bg="#43201D",
    inc="#E6B0F5", inc_bg="#2E2442", na="#979EAD", na_bg="#272D36", run="#7FA5FF", run_bg="#1F2D4A",
    series=_series("#4D8DFF", "#EE6A2E", "#25CFA8", "#F56BC4", "#E0DC5E", "#C386F7", "#B5DFF2", "#7C858D"),
)  # fmt: skip


def luminance(colour: str) -> float:
    """Relative luminance 0..1 of `#RRGGBB` (WCAG 2)."""
    channels = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio 1..21 of two colours (WCAG 2)."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
