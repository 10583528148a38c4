"""Which letters do the screen and the paper use?"""

from __future__ import annotations

from importlib.resources import files

from PySide6.QtGui import QFont, QFontDatabase, QFontInfo

FAMILY = "GPULease Sans SC"
_FACES = ("GPULeaseSansSC-Regular.ttf", "GPULeaseSansSC-Bold.ttf")
# What Qt falls back to where nobody set up a desktop font; not a choice of the user's.
_NOBODYS_CHOICE = ("dejavu", "bitstream vera", "sans serif", "gpulease")
_BASE_POINTS = 9.75  # 13 px at 96 dpi


def load_fonts() -> None:
    """Make the shipped family known to Qt; call once per process, after the application exists.

    Raises RuntimeError when Qt refuses a face: without it Chinese would print as boxes, in silence.
    """
    if FAMILY in QFontDatabase.families():
        return
    folder = files("gpulease_gui.resources") / "fonts"
    for face in _FACES:
        if QFontDatabase.addApplicationFontFromData((folder / face).read_bytes()) < 0:
            raise RuntimeError(f"Qt cannot read the shipped font {face}")


def base_font(system: QFont) -> QFont:
    """The user's font followed by the shipped one; the shipped one first where no desktop font is set.

    Digits are of one width (tnum) so that columns of numbers line up.
    """
    family = QFontInfo(system).family()
    ours_first = family.lower().startswith(_NOBODYS_CHOICE)
    font = QFont(system)
    font.setFamilies([FAMILY, family] if ours_first else [family, FAMILY])
    points = system.pointSizeF() if system.pointSizeF() > 0 else QFontInfo(system).pointSizeF()
    font.setPointSizeF(_BASE_POINTS if ours_first else points)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


def shipped_font(points: float, *, bold: bool = False) -> QFont:
    """Only the shipped family, for paper: the same letters on every computer."""
    font = QFont([FAMILY])
    font.setPointSizeF(points)
    font.setBold(bold)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


def code_font(points: float) -> QFont:
    """The system's monospace, for commands, keys and raw output; Chinese in it comes from the shipped family."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setFamilies([QFontInfo(font).family(), FAMILY])
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setPointSizeF(points)
    return font
