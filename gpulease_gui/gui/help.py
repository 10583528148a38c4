"""Which keys are there, and what is this program?"""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpulease_gui import __version__
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.chart_keys import KEYS
from gpulease_gui.gui.widgets.dialogs import FactDialog
from gpulease_gui.gui.widgets.labels import PlainLabel, Words
from gpulease_gui.gui.widgets.panes import KeyValues

LIVE_CHART = Text("In the live chart", "实时图表中")


def shortcuts_dialog(actions: Iterable[QAction], parent: QWidget) -> FactDialog:
    """All keys: those of the real actions, and those of the chart."""
    title = Text("Keyboard shortcuts", "键盘快捷键")
    dialog = FactDialog(title, title, parent=parent)
    pairs = [(_keys(action), action.text().replace("&&", "&")) for action in actions if not action.shortcut().isEmpty()]
    half = (len(pairs) + 1) // 2
    row = QHBoxLayout()
    row.setSpacing(32)
    row.addWidget(KeyValues(pairs[:half]))
    row.addWidget(KeyValues(pairs[half:]))
    dialog.column.addLayout(row)
    dialog.column.addWidget(PlainLabel(LIVE_CHART, size="section", weight=600))
    chart = [(key.shown, key.act.value) for key in KEYS]
    half, row = (len(chart) + 1) // 2, QHBoxLayout()
    row.setSpacing(32)
    row.addWidget(KeyValues(chart[:half]))
    row.addWidget(KeyValues(chart[half:]))
    dialog.column.addLayout(row)
    return _closable(dialog)


def _keys(action: QAction) -> str:
    return action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)


def about_dialog(parent: QWidget) -> FactDialog:
    """Version and licences."""
    facts: list[tuple[Words, Words]] = [
        (Text("Version", "版本"), __version__),
        (Text("Licence", "许可证"), "Apache-2.0"),
        ("Qt, PySide6", Text("LGPL 3, libraries that you may exchange", "LGPL 3，可自行替换的库")),
        ("paramiko", "LGPL 2.1"),
        ("Noto Sans SC", Text("SIL Open Font License 1.1, shipped as a renamed subset", "SIL 开放字体许可 1.1，以改名子集形式附带")),
    ]
    return _closable(FactDialog(Text("About GPULease", "关于 GPULease"), "GPULease", facts, icon="app", parent=parent))


def _closable(dialog: FactDialog) -> FactDialog:
    dialog.add_button(Button(Text("Close", "关闭")), rejects=True, default=True)
    dialog.finished.connect(dialog.deleteLater)
    return dialog
