"""How often does the user want a node to be read while it is watched?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.forms.fields import LineField, open_dialog
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.gui.widgets.fields import Field
from gpulease_gui.services.watch_rate import parse_rate

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.page import Frame

TITLE = Text("Sampling rate", "采样频率")
RATE = Text("Samples a second (0.2 to 10)", "每秒采样次数（0.2 至 10）")
BAD_RATE = Text("Write a number from 0.2 to 10, such as 2", "请填写 0.2 至 10 之间的数，例如 2")


class SamplingDialog(FactDialog):
    """One figure for one node; a watch that runs goes on at it."""

    def __init__(self, frame: Frame, node: tuple[str, str], *, parent: QWidget | None = None) -> None:
        super().__init__(
            TITLE, TITLE, ((Text("Node", "节点"), node[1]),), icon="nav-live", parent=parent,
            consequence=Text("A higher rate takes more of the node's processor and more room on this disk. A watch that runs goes on at "
                             "the new rate after a second or two, which is a gap.",
                             "频率越高，节点的 CPU 占用和本机的磁盘占用越多。正在进行的监控会在一两秒后改用新频率，其间为一处缺口。"),
        )  # fmt: skip
        self._frame, self._node_id = frame, node[0]
        self.rate = LineField(RATE)
        self.rate.setText(f"{frame.services.watching.rates.hz(node[0]):g}")
        self.field = Field(RATE, self.rate)
        self.column.addWidget(self.field)
        self.add_button(Button(CANCEL), rejects=True)
        self.save = self.add_button(Button(Text("Save", "保存"), kind="primary"), default=True)
        self.save.clicked.connect(self._save)

    def _save(self) -> None:
        self.field.set_error("")
        try:
            rate_hz = parse_rate(self.rate.text())
        except UsageError:
            self.field.set_error(BAD_RATE)
            self.rate.setFocus()
            return
        frame, done = self._frame, Text(f"Read {rate_hz:g} times a second", f"每秒采样 {rate_hz:g} 次")  # the dialog is gone by then
        frame.bridge.when_done(frame.services.watching.set_rate(self._node_id, rate_hz), lambda _: frame.note(done))
        self.accept()


def sampling_dialog(frame: Frame, parent: QWidget, node: tuple[str, str]) -> SamplingDialog:
    """The dialog, open; `node` is (id, name)."""
    dialog = SamplingDialog(frame, node, parent=parent)
    open_dialog(dialog)
    return dialog
