"""Where is the report written to?"""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget

from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.language import say

_ODD = re.compile(r"[^\w.-]+")


def proposed_name(contract: str, language: Language, day: date) -> str:
    """A file name out of foreign words: letters, digits, dot and dash only, and never long."""
    plain = _ODD.sub("-", contract).strip(".-_")[:60] or "contract"
    return f"{plain}-{day.isoformat()}-{language}.pdf"


def ask_file(name: str, parent: QWidget) -> Path | None:
    """The file that the user names, ending in .pdf; None on Cancel."""
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    title = say(Text("Export PDF", "导出 PDF"))
    chosen, _ = QFileDialog.getSaveFileName(parent, title, str(Path(folder) / name), "PDF (*.pdf)")
    if not chosen:
        return None
    path = Path(chosen)
    return path if path.suffix.lower() == ".pdf" else path.with_name(f"{path.name}.pdf")
