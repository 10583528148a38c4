"""Where does the style sheet find the arrows and ticks that it can only take from files?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QRectF, QSaveFile, Qt
from PySide6.QtGui import QImage, QImageWriter, QPainter
from PySide6.QtSvg import QSvgRenderer

from gpulease_gui.pdf.paint import icon_svg
from gpulease_gui.pdf.palette import Palette

# place in the sheet -> icon, colour token, px
_IMAGES: Mapping[str, tuple[str, str, int]] = {
    "img_down": ("chevron-down", "t2", 14),
    "img_down_off": ("chevron-down", "t3", 14),
    "img_up": ("chevron-up", "t2", 12),
    "img_spin_down": ("chevron-down", "t2", 12),
    "img_check": ("check", "ton", 12),
    "img_dash": ("dash", "ton", 12),
    "img_menu_check": ("check", "t1", 14),
    "img_right": ("chevron-right", "t2", 14),
}


def write_images(folder: Path, palette: Palette) -> Mapping[str, str]:
    """Write the images of one theme below `folder` (made if missing) and say where each lies, for `url(...)`.

    A file that is there already is kept: its name holds icon and colour.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = {}
    for place, (icon, token, size) in _IMAGES.items():
        colour = palette.colour(token)
        path = folder / f"{icon}-{size}-{colour[1:]}.png"
        for scale, target in ((1, path), (2, path.with_name(f"{path.stem}@2x.png"))):
            if not target.exists():
                _write(target, icon, colour, size * scale)
        found[place] = path.as_posix()
    return found


def _write(target: Path, icon: str, colour: str, side: int) -> None:
    """One image, in place as a whole or not at all (two windows may start at once)."""
    image = QImage(side, side, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(icon_svg(icon, colour)).render(painter, QRectF(0, 0, side, side))
    painter.end()
    file = QSaveFile(str(target))
    if file.open(QSaveFile.OpenModeFlag.WriteOnly) and QImageWriter(file, b"png").write(image):
        file.commit()
