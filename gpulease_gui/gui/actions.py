"""Which commands does the window have, where do they stand, and which keys call them?

An action of scope page is sent to the page in sight and is enabled while the page names it. The keys of the pages
themselves (Ctrl+1 ...) are given by the navigation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence

from gpulease_gui.domain.text import Text

_Key = QKeySequence.StandardKey


class Menu(Enum):
    """The menu bar from left to right."""

    FILE = Text("File", "文件")
    EDIT = Text("Edit", "编辑")
    VIEW = Text("View", "视图")
    NODE = Text("Node", "节点")
    RUN = Text("Run", "运行")
    TOOLS = Text("Tools", "工具")
    HELP = Text("Help", "帮助")


class Scope(StrEnum):
    """Who does the action."""

    WINDOW = "window"
    PAGE = "page"
    FIELD = "field"  # the widget that has the keyboard: its method of this name


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One line of a menu. `choice` makes it one of a group of which one is checked."""

    id: str
    menu: Menu
    text: Text
    keys: QKeySequence.StandardKey | str = ""
    scope: Scope = Scope.WINDOW
    choice: str = ""
    checkable: bool = False
    after_line: bool = False
    more: str = ""  # keys that do the same

    @property
    def sequence(self) -> QKeySequence:
        """The keys on this system; empty when there are none."""
        return QKeySequence(self.keys)


ACTIONS: tuple[ActionSpec, ...] = (
    ActionSpec("new", Menu.FILE, Text("New in this page", "在本页新建"), _Key.New, Scope.PAGE),
    ActionSpec("open_workspace", Menu.FILE, Text("Open workspace…", "打开工作区…"), _Key.Open),
    ActionSpec("open_demo", Menu.FILE, Text("Open the demo", "打开演示")),
    ActionSpec("open_own", Menu.FILE, Text("Open my own workspace", "打开自己的工作区")),
    ActionSpec("save", Menu.FILE, Text("Save", "保存"), _Key.Save, Scope.PAGE, after_line=True),
    ActionSpec("export", Menu.FILE, Text("Export PDF…", "导出 PDF…"), "Ctrl+E", Scope.PAGE),
    ActionSpec("export_workspace", Menu.FILE, Text("Export workspace…", "导出工作区…"), after_line=True),
    ActionSpec("merge_bundle", Menu.FILE, Text("Merge a bundle…", "合并数据包…")),
    ActionSpec("quit", Menu.FILE, Text("Quit", "退出"), _Key.Quit, after_line=True),
    ActionSpec("undo", Menu.EDIT, Text("Undo", "撤销"), _Key.Undo, Scope.FIELD),
    ActionSpec("redo", Menu.EDIT, Text("Redo", "重做"), "Ctrl+Shift+Z", Scope.FIELD, more="Ctrl+Y"),
    ActionSpec("cut", Menu.EDIT, Text("Cut", "剪切"), _Key.Cut, Scope.FIELD, after_line=True),
    ActionSpec("copy", Menu.EDIT, Text("Copy", "复制"), _Key.Copy, Scope.FIELD),
    ActionSpec("paste", Menu.EDIT, Text("Paste", "粘贴"), _Key.Paste, Scope.FIELD),
    ActionSpec("selectAll", Menu.EDIT, Text("Select all", "全选"), _Key.SelectAll, Scope.FIELD),
    ActionSpec("delete", Menu.EDIT, Text("Delete", "删除"), "Del", Scope.PAGE),
    ActionSpec("trash", Menu.EDIT, Text("Trash…", "回收站…")),
    ActionSpec("find", Menu.EDIT, Text("Find on this page", "在本页查找"), _Key.Find, after_line=True),
    ActionSpec("go_to", Menu.EDIT, Text("Go to…", "跳转…"), "Ctrl+K"),
    ActionSpec("navigation", Menu.VIEW, Text("Wide navigation", "宽导航栏"), "Ctrl+B", checkable=True),
    ActionSpec("inspector", Menu.VIEW, Text("Show or hide details", "显示或隐藏详情"), "Ctrl+I", Scope.PAGE),
    ActionSpec("differences", Menu.VIEW, Text("Only differences", "只看差异"), "Ctrl+Shift+D", Scope.PAGE),
    ActionSpec("larger", Menu.VIEW, Text("Larger text", "放大文字"), _Key.ZoomIn, after_line=True),
    ActionSpec("smaller", Menu.VIEW, Text("Smaller text", "缩小文字"), _Key.ZoomOut),
    ActionSpec("theme_system", Menu.VIEW, Text("Theme: system", "主题：跟随系统"), choice="theme", after_line=True),
    ActionSpec("theme_light", Menu.VIEW, Text("Theme: light", "主题：浅色"), choice="theme"),
    ActionSpec("theme_dark", Menu.VIEW, Text("Theme: dark", "主题：深色"), choice="theme"),
    ActionSpec("language_zh", Menu.VIEW, Text("中文", "中文"), choice="language", after_line=True),
    ActionSpec("language_en", Menu.VIEW, Text("English", "English"), choice="language"),
    ActionSpec("full_screen", Menu.VIEW, Text("Full screen", "全屏"), "F11", checkable=True, after_line=True),
    ActionSpec("connect", Menu.NODE, Text("Test connection", "测试连接"), scope=Scope.PAGE),
    ActionSpec("watch", Menu.NODE, Text("Watch live", "实时监控"), scope=Scope.PAGE),
    ActionSpec("verify", Menu.RUN, Text("Run checks", "执行检查"), "Ctrl+R", Scope.PAGE),
    ActionSpec("rerun", Menu.RUN, Text("Run this check again", "重新执行此检查"), "Ctrl+Shift+R", Scope.PAGE),
    ActionSpec("compare_runs", Menu.RUN, Text("Compare runs…", "比较验收记录…"), "Ctrl+D", Scope.PAGE),
    ActionSpec("own_task", Menu.RUN, Text("Run an own task…", "运行自有任务…"), "Ctrl+T", Scope.PAGE),
    ActionSpec("cancel", Menu.RUN, Text("Cancel the run", "取消执行"), "Ctrl+.", Scope.PAGE),
    ActionSpec("thresholds", Menu.TOOLS, Text("Figures that nodes are judged by…", "判定阈值…")),
    ActionSpec("copy_commands", Menu.TOOLS, Text("Copy commands that run on a node", "复制节点上会执行的命令"), scope=Scope.PAGE),
    ActionSpec("shortcuts", Menu.HELP, Text("Keyboard shortcuts", "键盘快捷键"), _Key.HelpContents),
    ActionSpec("about", Menu.HELP, Text("About GPULease", "关于 GPULease"), after_line=True),
)  # fmt: skip


def shortcuts() -> Mapping[str, str]:
    """Action id -> its keys as people read them, for those that have keys."""
    text = QKeySequence.SequenceFormat.NativeText
    return {spec.id: spec.sequence.toString(text) for spec in ACTIONS if not spec.sequence.isEmpty()}


def page_keys(place: int) -> QKeySequence:
    """Ctrl+1 to Ctrl+9 for the first nine pages; none after."""
    return QKeySequence(Qt.Modifier.CTRL | Qt.Key(Qt.Key.Key_1 + place)) if place < 9 else QKeySequence()
