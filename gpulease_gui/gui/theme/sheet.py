"""Which style sheet does the application wear?

Colours are written `@token` (pdf/palette.py), text sizes `@pt_body`, images `@img_down`. There are no `::item` rules:
a delegate paints the cells of views. Roles are dynamic properties: `kind`, `level`, `textsize`, `weight`, `band`, `chip`,
`seg`, `state`, `pane`; after a change of one call `repolish(widget)`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from PySide6.QtGui import QFont
from PySide6.QtWidgets import QWidget

from gpulease_gui.gui.theme.sizes import TextSize, points
from gpulease_gui.pdf.palette import Palette

_PLACE = re.compile(r"@([a-z][a-z0-9_]*)")


def fill(sheet: str, values: Mapping[str, str]) -> str:
    """Put `values` in the places of `sheet`. Raises KeyError for a place without a value."""
    return _PLACE.sub(lambda place: values[place[1]], sheet)


def style_sheet(palette: Palette, font: QFont, code: QFont, images: Mapping[str, str]) -> str:
    """The whole sheet of one theme under one base font."""
    sizes = {f"pt_{size.name.lower()}": f"{points(font, size)}pt" for size in TextSize}
    mono = ", ".join(f'"{family}"' for family in code.families())
    return fill(_sheet_text(), {**palette.tokens(), **sizes, **images, "mono": mono})


@cache
def _sheet_text() -> str:
    return (files("gpulease_gui.resources") / "theme" / "sheet.qss").read_text(encoding="utf-8")


def repolish(widget: QWidget) -> None:
    """Draw `widget` anew after one of its role properties changed."""
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)
    widget.update()


def set_role(widget: QWidget, role: str, value: object) -> None:
    """Change a role property and draw the widget anew, if it is not so already."""
    if widget.property(role) != value:
        widget.setProperty(role, value)
        repolish(widget)
