"""How is the shipped Chinese font made from the whole Noto Sans SC?

    npm pack @expo-google-fonts/noto-sans-sc
    python packaging/subset_font.py expo-google-fonts-noto-sans-sc-*.tgz resources/fonts

Needs fonttools (not a dependency of the program: the two results are committed).

What is kept: the characters of GB 2312, ASCII, Latin letters with accents, punctuation and the signs that the program
writes. What is left out on purpose: Kangxi radicals and compatibility forms (a PDF would give them back in place of the
ordinary character), ligatures and alternates (the same), hinting. When several kept characters share one glyph, each
gets a glyph of its own, so that text copied out of a PDF is the text that was written. The result is a changed font
and bears a name of its own.
"""

from __future__ import annotations

import argparse
import copy
import io
import sys
import tarfile
from pathlib import Path

from fontTools import subset
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

FAMILY = "GPULease Sans SC"
FACES = {"Regular": "400Regular/NotoSansSC_400Regular.ttf", "Bold": "700Bold/NotoSansSC_700Bold.ttf"}
LICENCE = "LICENSE_FONT"

# Inclusive ranges besides GB 2312.
LATIN = [(0x20, 0x7E), (0xA0, 0x17F)]
SIGNS = [
    (0x2010, 0x2027), (0x2030, 0x203B), (0x20AC, 0x20AC), (0x2103, 0x2103), (0x2116, 0x2116), (0x2122, 0x2122),
    (0x2190, 0x2199), (0x2212, 0x2212), (0x2248, 0x2248), (0x2260, 0x2265), (0x25A0, 0x25CF), (0x2713, 0x2717),
    (0x2400, 0x2426), (0x27E8, 0x27E9), (0x2009, 0x200A), (0x202F, 0x202F), (0x03A9, 0x03A9), (0x03BC, 0x03BC),
    (0xFFE5, 0xFFE5), (0xFFFD, 0xFFFD),
]  # fmt: skip
# Signs that Noto Sans SC lacks and the program writes: drawn like another sign, or an empty width in 1/1000 em.
STAND_INS = {0x27E8: 0x2039, 0x27E9: 0x203A}
BLANKS = {0x2009: 200, 0x200A: 100, 0x202F: 200}
# Control characters are shown by their names in small letters, since no usual font has the pictures U+2400...
CONTROLS = (
    "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US "
    "SP DEL"
).split()
SMALL = 0.55
# Rows of the GB 2312 table: signs, numbers, full-width ASCII, then the two levels of Chinese characters.
GB_ROWS = [*range(1, 4), *range(16, 88)]


def wanted() -> set[int]:
    """The code points that the program ships."""
    points = {point for first, last in [*LATIN, *SIGNS] for point in range(first, last + 1)}
    for row in GB_ROWS:
        for cell in range(1, 95):
            try:
                points.add(ord(bytes((row + 0xA0, cell + 0xA0)).decode("gb2312")))
            except UnicodeDecodeError:
                continue  # an empty place of the table
    return points


def cut(font: TTFont) -> None:
    """Keep the wanted characters, kerning and marks; nothing that swaps one glyph for another."""
    options = subset.Options()
    options.layout_features = ["kern", "mark", "mkmk"]
    options.hinting = False
    options.notdef_outline = True
    options.name_IDs = [0, 13, 14]
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=wanted())
    subsetter.subset(font)


def part_shared_glyphs(font: TTFont) -> int:
    """Give every character a glyph of its own; says how many glyphs were copied."""
    tables = [table.cmap for table in font["cmap"].tables if table.isUnicode()]
    owner: dict[str, int] = {}
    copies = 0
    for point, glyph in sorted(font.getBestCmap().items()):
        if owner.setdefault(glyph, point) == point:
            continue
        twin = f"{glyph}.u{point:04X}"
        font["glyf"][twin] = copy.deepcopy(font["glyf"][glyph])
        font["hmtx"][twin] = font["hmtx"][glyph]
        if "vmtx" in font:
            font["vmtx"][twin] = font["vmtx"][glyph]
        for cmap in tables:
            if point in cmap:
                cmap[point] = twin
        copies += 1
    return copies


def add_missing_signs(font: TTFont) -> None:
    """Add the stand-ins and the thin spaces that the whole font has no glyph for."""
    best = font.getBestCmap()
    for point in sorted({*STAND_INS, *BLANKS} - set(best)):
        model = best[STAND_INS.get(point, 0x20)]
        glyph = f"sign.u{point:04X}"
        font["glyf"][glyph] = copy.deepcopy(font["glyf"][model])
        width, left = font["hmtx"][model]
        font["hmtx"][glyph] = (BLANKS.get(point, width), left)
        if "vmtx" in font:
            font["vmtx"][glyph] = font["vmtx"][model]
        for table in font["cmap"].tables:
            if table.isUnicode():
                table.cmap[point] = glyph


def _compose(font: TTFont, point: int, parts: list[tuple[str, float, float]], width: int) -> None:
    """Draw `point` from other glyphs: (name, scale, x of its origin)."""
    pen = TTGlyphPen(font.getGlyphSet())
    for name, scale, x in parts:
        pen.addComponent(name, (scale, 0, 0, scale, round(x), 0))
    glyph = f"made.u{point:04X}"
    font["glyf"][glyph] = pen.glyph()
    font["hmtx"][glyph] = (width, 0)
    if "vmtx" in font:
        font["vmtx"][glyph] = font["vmtx"][parts[0][0]]
    for table in font["cmap"].tables:
        if table.isUnicode():
            table.cmap[point] = glyph


def draw_composed_signs(font: TTFont) -> None:
    """The pictures of control characters, and an ellipsis on the base line as a menu writes it."""
    best, advance = font.getBestCmap(), font["hmtx"]
    for number, letters in enumerate(CONTROLS):
        x, parts = 60.0, []
        for letter in letters:
            name = best[ord(letter)]
            parts.append((name, SMALL, x))
            x += advance[name][0] * SMALL
        _compose(font, 0x2400 + number, parts, round(x + 60))
    dot = best[ord(".")]
    step = advance[dot][0]
    _compose(font, 0x2026, [(dot, 1.0, step * n) for n in range(3)], step * 3)


def rename(font: TTFont, face: str) -> None:
    """Write our family name; the copyright and the licence stay."""
    words = {1: FAMILY, 2: face, 3: f"{FAMILY} {face} 1", 4: f"{FAMILY} {face}", 5: "Version 1.0",
             6: f"{FAMILY.replace(' ', '')}-{face}"}  # fmt: skip
    for name_id, text in words.items():
        font["name"].setName(text, name_id, 3, 1, 0x409)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", type=Path, help="the npm package as .tgz")
    parser.add_argument("folder", type=Path)
    args = parser.parse_args(argv)
    args.folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(args.package) as package:
        for face, member in FACES.items():
            data = package.extractfile(f"package/{member}")
            assert data is not None, member
            font = TTFont(io.BytesIO(data.read()), recalcTimestamp=False)
            cut(font)
            add_missing_signs(font)
            draw_composed_signs(font)
            copies = part_shared_glyphs(font)
            rename(font, face)
            target = args.folder / f"GPULeaseSansSC-{face}.ttf"
            font.save(target)
            size = target.stat().st_size / 2**20
            print(f"{target}: {len(font.getBestCmap())} characters, {copies} glyphs parted, {size:.2f} MiB")
        licence = package.extractfile(f"package/{LICENCE}")
        assert licence is not None
        (args.folder / "OFL.txt").write_bytes(licence.read())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
