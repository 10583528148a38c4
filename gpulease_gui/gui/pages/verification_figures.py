"""By which figures was a finding judged, in one line under it?"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.domain.threshold import JudgedBy, Origin, joined_words
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.labels import PlainLabel, plain_tip

# A narrow pane has room for two; the others stand in the tip and in the dialog.
_SHOWN = 2


class FiguresLine(QWidget):
    """The figures with origin and source, those that the user moved first; `edit_wanted` asks for the dialog."""

    edit_wanted = Signal()

    def __init__(self, *, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.words = PlainLabel("", size="caption", level="3", wrap=True, select=True)
        self.edit = Button(Text("Edit", "修改"), kind="link", small=True)
        self.edit.clicked.connect(self.edit_wanted)
        row.addWidget(self.words, 1)
        row.addWidget(self.edit, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def show_figures(self, figures: Sequence[JudgedBy]) -> None:
        """Show the figures of another finding; without any the line is gone."""
        self.setVisible(bool(figures))
        ordered = tuple(sorted(figures, key=lambda one: one.origin not in (Origin.SET, Origin.FLEET)))
        shown, more = joined_words(ordered[:_SHOWN]), len(ordered) - _SHOWN
        more_en, more_zh = (f"; {more} more", f"；另有 {more} 项") if more > 0 else ("", "")
        self.words.set_words(Text(f"Judged by: {shown.en}{more_en}", f"判定依据：{shown.zh}{more_zh}"))
        self.words.setToolTip(plain_tip(joined_words(ordered)))
