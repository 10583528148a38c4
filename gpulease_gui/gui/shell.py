"""How do navigation, header, bands, pages and task strip lie in the window?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from gpulease_gui.domain.text import Text
from gpulease_gui.gui.actions import shortcuts
from gpulease_gui.gui.first_run import FirstRun
from gpulease_gui.gui.pages.page import PageSpec
from gpulease_gui.gui.theme.theme import ThemeMode
from gpulease_gui.gui.widgets.bands import Band
from gpulease_gui.gui.widgets.buttons import Button, IconButton
from gpulease_gui.gui.widgets.header import PageHeader, TargetBand
from gpulease_gui.gui.widgets.navigation import Navigation, entries_of
from gpulease_gui.gui.widgets.panes import EmptyState
from gpulease_gui.gui.widgets.task_strip import TaskStrip


class PageStack(QStackedWidget):
    """The pages. No page makes the window wider or higher than a small laptop's screen; it scrolls or elides instead."""

    MOST = QSize(760, 440)

    def minimumSizeHint(self) -> QSize:
        """The least size of the page in sight, within reason; pages out of sight don't count."""
        page = self.currentWidget()
        return page.minimumSizeHint().boundedTo(self.MOST) if page is not None else QSize()


class Shell(QWidget):
    """The parts of the window around its pages; it decides nothing."""

    def __init__(self, pages: Sequence[PageSpec], data_folder: Path, theme: ThemeMode) -> None:
        super().__init__()
        self.navigation = Navigation(*entries_of(pages))
        self.header = PageHeader([(spec.id, spec.title) for spec in pages], shortcuts()["go_to"])
        self.own_workspace = Button(Text("Start my own workspace", "建立自己的工作区"), kind="link", small=True)
        self.demo_band = Band("inc", Text("Demo data", "演示数据"),
                              Text("simulated nodes on this computer; nothing here is a real supplier",
                                   "本机上的模拟节点，其中没有真实的供应商"), self.own_workspace)  # fmt: skip
        self.close_trouble = IconButton("close", Text("Close this message", "关闭此消息"), size=14)
        self.trouble_band = Band("fail", "", "", self.close_trouble)
        self.target_band = TargetBand()
        self.stack = PageStack()
        self.first_run = FirstRun(data_folder, theme)
        self.waiting = EmptyState("clock", Text("Opening the workspace", "正在打开工作区"),
                                  Text("This takes a moment.", "请稍候。"))  # fmt: skip
        self.task_strip = TaskStrip()
        self._arrange()

    def _arrange(self) -> None:
        page_side, centre = QWidget(), QWidget()
        column, row, whole = QVBoxLayout(page_side), QHBoxLayout(centre), QVBoxLayout(self)
        for layout in (column, row, whole):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        for part in (self.header, self.demo_band, self.trouble_band, self.target_band):
            column.addWidget(part)
        column.addWidget(self.stack, 1)
        self.stack.addWidget(self.first_run)
        self.stack.addWidget(self.waiting)
        row.addWidget(self.navigation)
        row.addWidget(page_side, 1)
        whole.addWidget(centre, 1)
        whole.addWidget(self.task_strip)

    def show_bare(self, page: QWidget) -> None:
        """A page before there is a workspace: nothing around it."""
        for part in (self.navigation, self.header, self.demo_band, self.trouble_band, self.target_band):
            part.hide()
        self.stack.setCurrentWidget(page)
        if page is self.first_run:
            self.first_run.demo.setFocus()

    def show_whole(self, *, demo: bool) -> None:
        """A workspace is open: everything around its pages."""
        self.navigation.show()
        self.header.show()
        self.trouble_band.hide()
        self.demo_band.setVisible(demo)
