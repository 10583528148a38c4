"""Which theme does the window wear, and how is it changed while it runs?"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.theme import icons
from gpulease_gui.gui.theme.images import write_images
from gpulease_gui.gui.theme.sheet import style_sheet
from gpulease_gui.pdf.fonts import base_font, code_font
from gpulease_gui.pdf.palette import DARK, LIGHT, Palette


class ThemeMode(StrEnum):
    """What the user chose."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


THEME_WORDS = {
    ThemeMode.SYSTEM: Text("System", "跟随系统"),
    ThemeMode.LIGHT: Text("Light", "浅色"),
    ThemeMode.DARK: Text("Dark", "深色"),
}


def colours() -> Palette:
    """The palette that the application wears now; cheap enough for every paint event."""
    dark = QGuiApplication.palette().color(QPalette.ColorRole.Window).lightness() < 128
    return DARK if dark else LIGHT


def qt_palette(palette: Palette) -> QPalette:
    """The roles that Fusion draws with."""
    role = QPalette.ColorRole
    roles = {
        role.Window: palette.surface, role.WindowText: palette.t1, role.Base: palette.surface,
        role.AlternateBase: palette.bg1, role.Text: palette.t1, role.Button: palette.surface,
        role.ButtonText: palette.t1, role.BrightText: palette.fail, role.Highlight: palette.accent,
        role.HighlightedText: palette.ton, role.Link: palette.accent, role.LinkVisited: palette.accent,
        role.ToolTipBase: palette.surface, role.ToolTipText: palette.t1, role.PlaceholderText: palette.t3,
        role.Accent: palette.accent, role.Mid: palette.border2, role.Midlight: palette.border,
        role.Dark: palette.ctl, role.Light: palette.surface, role.Shadow: palette.border2,
    }  # fmt: skip
    made = QPalette()
    for one, colour in roles.items():
        made.setColor(one, QColor(colour))
    for one in (role.WindowText, role.Text, role.ButtonText):
        made.setColor(QPalette.ColorGroup.Disabled, one, QColor(palette.t3))
    return made


class Theme(QObject):
    """Puts palette, font and style sheet on the application; `changed` follows each change."""

    changed = Signal()

    def __init__(self, app: QApplication, image_folder: Path, mode: ThemeMode = ThemeMode.SYSTEM) -> None:
        super().__init__(app)
        self._app = app
        self._folder = image_folder
        self._system_font = app.font()
        self._extra_points = 0.0
        self._mode = mode
        app.setStyle(QStyleFactory.create("Fusion"))
        app.styleHints().colorSchemeChanged.connect(self._system_changed)
        self._wear()

    @property
    def mode(self) -> ThemeMode:
        """What the user chose."""
        return self._mode

    def choose(self, mode: ThemeMode) -> None:
        """Change to `mode` at once."""
        self._mode = mode
        self._wear()

    def enlarge(self, points: float) -> None:
        """Make all text `points` larger than the user's system font says."""
        self._extra_points = points
        self._wear()

    def palette_of_mode(self) -> Palette:
        """The palette that the mode asks for on this system."""
        system_dark = self._app.styleHints().colorScheme() is Qt.ColorScheme.Dark
        dark = system_dark if self._mode is ThemeMode.SYSTEM else self._mode is ThemeMode.DARK
        return DARK if dark else LIGHT

    def _system_changed(self) -> None:
        if self._mode is ThemeMode.SYSTEM:
            self._wear()

    def _wear(self) -> None:
        palette = self.palette_of_mode()
        font = base_font(self._system_font)
        font.setPointSizeF(font.pointSizeF() + self._extra_points)
        images = write_images(self._folder, palette)
        icons.clear()
        # Exchanging one sheet for another polishes every widget once more for each of its ancestors: 4 s for the 2,000
        # widgets of all pages. Taken off first and put on anew, each is polished once: a tenth.
        self._app.setStyleSheet("")
        self._app.setPalette(qt_palette(palette))
        if font != self._app.font():  # each of these calls visits every widget
            self._app.setFont(font)
        self._app.setStyleSheet(style_sheet(palette, font, code_font(font.pointSizeF()), images))
        self.changed.emit()
