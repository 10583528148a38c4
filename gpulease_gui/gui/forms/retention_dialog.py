"""For how long does the user want readings to be kept?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QSpinBox, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.fields import Field, open_dialog
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.gui.widgets.fields import padded
from gpulease_gui.store.retention import Retention, get_retention, save_retention

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.page import Frame

TITLE = Text("How long readings are kept", "读数保留时长")
FOR_EVER = Text("for ever", "永久")
_LEVELS = (
    ("readings", Text("Readings as they were taken", "原始读数")), ("ten_seconds", Text("Summaries of 10 s", "10 秒汇总")),
    ("minutes", Text("Summaries of 1 min", "1 分钟汇总")), ("five_minutes", Text("Summaries of 5 min", "5 分钟汇总")),
)  # fmt: skip
_MOST_DAYS = 36_500


class RetentionDialog(FactDialog):
    """Days for each level; 0 keeps it for ever."""

    def __init__(self, frame: Frame, *, parent: QWidget | None = None) -> None:
        super().__init__(
            TITLE, TITLE, icon="disk", parent=parent,
            consequence=Text("What is older goes bit by bit. Readings that belong to a run stay, as do summaries of half an hour. A coarser "
                             "level is kept at least as long as the finer one.",
                             "超期数据逐步清除。属于某次验收的读数和半小时汇总始终保留；较粗的层级至少与较细的层级保留同样久。"),
        )  # fmt: skip
        self._frame = frame
        self.facts.hide()
        self.spins: dict[str, QSpinBox] = {}
        for name, words in _LEVELS:
            spin = self.spins[name] = padded(QSpinBox())
            spin.setRange(0, _MOST_DAYS)
            spin.setSpecialValueText(say(FOR_EVER))
            spin.setSuffix(say(Text(" days", " 天")))
            spin.setAccessibleName(say(words))
            self.column.addWidget(Field(words, spin))
        self.add_button(Button(CANCEL), rejects=True)
        self.save = self.add_button(Button(Text("Save", "保存"), kind="primary"), default=True)
        self.save.setEnabled(False)
        self.save.clicked.connect(self._save)
        frame.bridge.when_done(frame.services.query(get_retention), self._show)

    def _show(self, now: Retention) -> None:
        for name, spin in self.spins.items():
            spin.setValue(getattr(now, name))
        self.save.setEnabled(True)

    def _save(self) -> None:
        wanted = Retention(**{name: spin.value() for name, spin in self.spins.items()})
        frame = self._frame  # the dialog is gone by then
        frame.bridge.when_done(frame.services.change(lambda db: save_retention(db, wanted), "retention"), lambda _: frame.note(Text("Retention saved", "保留时长已保存")))
        self.accept()


def retention_dialog(frame: Frame, parent: QWidget) -> RetentionDialog:
    """The dialog, open."""
    dialog = RetentionDialog(frame, parent=parent)
    open_dialog(dialog)
    return dialog
