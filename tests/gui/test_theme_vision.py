"""Can people with any colour vision tell the verdicts apart?"""

from __future__ import annotations

import itertools

import pytest

from gpulease_gui.pdf.palette import DARK, LIGHT, Palette

VERDICTS = ("pass", "warn", "fail", "inc", "na", "run")
# Machado, Oliveira, Fernandes 2009, severity 1.0, for linear RGB.
MACHADO = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
SRGB_TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
D65 = (0.95047, 1.0, 1.08883)
Triple = tuple[float, float, float]


def _linear(colour: str) -> Triple:
    channels = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return red, green, blue


def _times(matrix: tuple[Triple, ...], vector: Triple) -> Triple:
    one, two, three = (sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix)
    return one, two, three


def _lab(linear: Triple) -> Triple:
    scaled = [value / white for value, white in zip(_times(SRGB_TO_XYZ, linear), D65, strict=True)]
    x, y, z = (v ** (1 / 3) if v > 216 / 24389 else 841 / 108 * v + 4 / 29 for v in scaled)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _seen(colour: str, kind: str) -> Triple:
    red, green, blue = (min(1.0, max(0.0, value)) for value in _times(MACHADO[kind], _linear(colour)))
    return _lab((red, green, blue))


def _distance(palette: Palette, kind: str, one: str, other: str) -> float:
    mine, theirs = _seen(palette.colour(one), kind), _seen(palette.colour(other), kind)
    return float(sum((a - b) ** 2 for a, b in zip(mine, theirs, strict=True)) ** 0.5)


@pytest.mark.parametrize(
    ("palette", "kind", "smallest"),
    [(LIGHT, "deutan", 11.2), (LIGHT, "protan", 12.4), (LIGHT, "tritan", 16.7),
     (DARK, "deutan", 17.4), (DARK, "protan", 16.1), (DARK, "tritan", 18.7)],
)  # fmt: skip
def test_that_verdicts_stay_apart_for_every_kind_of_colour_vision(palette: Palette, kind: str, smallest: float) -> None:
    distances = [_distance(palette, kind, one, other) for one, other in itertools.combinations(VERDICTS, 2)]
    assert round(min(distances), 1) == smallest
    assert _distance(palette, kind, "pass", "fail") >= 21
