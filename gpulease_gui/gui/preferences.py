"""What does the window remember from one start to the next?"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

from gpulease_gui.domain.text import Language
from gpulease_gui.gui.language import system_language
from gpulease_gui.gui.theme.theme import ThemeMode


class Preferences:
    """Choices of the window in an INI file; a value that cannot be read is as good as none."""

    def __init__(self, file: Path) -> None:
        self._store = QSettings(str(file), QSettings.Format.IniFormat)

    def _text(self, key: str) -> str:
        return str(self._store.value(key, ""))

    @property
    def language(self) -> Language:
        """The language chosen, else that of the system."""
        saved = self._text("language")
        return Language(saved) if saved in list(Language) else system_language()

    @language.setter
    def language(self, language: Language) -> None:
        self._store.setValue("language", language.value)

    @property
    def theme(self) -> ThemeMode:
        """The theme chosen, else the system's."""
        saved = self._text("theme")
        return ThemeMode(saved) if saved in list(ThemeMode) else ThemeMode.SYSTEM

    @theme.setter
    def theme(self, mode: ThemeMode) -> None:
        self._store.setValue("theme", mode.value)

    @property
    def workspace(self) -> Path | None:
        """The workspace that was open last; None before the first run."""
        saved = self._text("workspace")
        return Path(saved) if saved else None

    @property
    def workspace_is_demo(self) -> bool:
        """Whether that was the demo."""
        return self._text("workspace_is_demo") == "true"

    def remember_workspace(self, path: Path, *, demo: bool) -> None:
        """Open this one at the next start."""
        self._store.setValue("workspace", str(path))
        self._store.setValue("workspace_is_demo", "true" if demo else "false")

    @property
    def folder(self) -> Path | None:
        """The folder of the workspaces, chosen at the first run."""
        saved = self._text("folder")
        return Path(saved) if saved else None

    @folder.setter
    def folder(self, folder: Path) -> None:
        self._store.setValue("folder", str(folder))

    @property
    def page(self) -> str:
        """The page that was open last."""
        return self._text("page")

    @page.setter
    def page(self, page: str) -> None:
        self._store.setValue("page", page)

    @property
    def geometry(self) -> QByteArray | None:
        """Where the window stood."""
        saved = self._store.value("geometry")
        return saved if isinstance(saved, QByteArray) else None

    @geometry.setter
    def geometry(self, geometry: QByteArray) -> None:
        self._store.setValue("geometry", geometry)

    @property
    def larger_text(self) -> float:
        """Points added to the system's font size, 0 to 8."""
        saved = self._text("larger_text")
        return min(8.0, float(saved)) if saved.replace(".", "", 1).isdigit() else 0.0

    @larger_text.setter
    def larger_text(self, points: float) -> None:
        self._store.setValue("larger_text", str(points))
