"""How does the whole workspace leave for another computer, and how does one that comes in get merged?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QFileDialog, QWidget

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import Text, visible
from gpulease_gui.gui.forms.fields import open_dialog
from gpulease_gui.gui.forms.merge_dialog import MergeDialog
from gpulease_gui.gui.language import say
from gpulease_gui.gui.widgets.buttons import Button
from gpulease_gui.gui.widgets.dialogs import CANCEL, FactDialog
from gpulease_gui.gui.widgets.labels import PlainLabel
from gpulease_gui.services.exchange import (
    CARRIED,
    KINDS,
    LEFT_OUT,
    apply_merge,
    export_bundle,
    merge_in,
    read_bundle,
    write_private,
)
from gpulease_gui.store.exchange.merging import Merge

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.page import Frame

_BUNDLES = Text("Bundles", "数据包")


def export_workspace(frame: Frame, parent: QWidget) -> FactDialog:
    """Say what goes along and what stays, then ask for the file."""
    dialog = FactDialog(
        Text("Export workspace", "导出工作区"), Text("Take the whole workspace to another computer?", "将整个工作区带到另一台电脑？"), icon="export",
        parent=parent, consequence=Text("Who has the file can read all of it: send it only to those who may.", "拿到文件的人可以读取全部内容，请只发给有权查看的人。"),
    )  # fmt: skip
    for words in (CARRIED, LEFT_OUT):
        dialog.column.addWidget(PlainLabel(words, level="2", wrap=True))
    dialog.add_button(Button(CANCEL), rejects=True)
    dialog.add_button(Button(Text("Choose the file…", "选择文件…"), kind="primary"), accepts=True, default=True)
    dialog.accepted.connect(lambda: _ask_where(frame, parent))
    open_dialog(dialog)
    return dialog


def _ask_where(frame: Frame, parent: QWidget) -> None:
    folder = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation))
    name = f"gpulease-{utc_now().date().isoformat()}.json"
    chosen, _ = QFileDialog.getSaveFileName(parent, say(Text("Export workspace", "导出工作区")), str(folder / name), f"{say(_BUNDLES)} (*.json)")
    if chosen:
        write_bundle(frame, Path(chosen))


def write_bundle(frame: Frame, path: Path) -> None:
    """Write the workspace to `path` beside the window; the task strip can cancel it."""
    services = frame.services

    def work(token: CancelToken) -> int:
        with services.workspace.read() as connection:
            content = export_bundle(connection, at=utc_now(), demo=services.demo, tick=token.check)
        token.check()
        write_private(path, content)
        return len(content)

    job = services.jobs.start(Text("Export", "导出"), work)
    done = visible(path.name)[:80]
    frame.bridge.when_done(job.done, lambda size: frame.note(Text(f"{done}: {_mb(size)} MB written", f"已写入 {done}（{_mb(size)} MB）")))


def _mb(size: object) -> str:
    return f"{int(str(size)) / 1e6:,.1f}"


def ask_bundle(frame: Frame, parent: QWidget) -> None:
    """Ask for a bundle, then what to do with it."""
    chosen, _ = QFileDialog.getOpenFileName(parent, say(Text("Merge a bundle", "合并数据包")), "", f"{say(_BUNDLES)} (*.json)")
    if chosen:
        MergeDesk(frame, parent, lambda done, _: frame.note(done)).open_bundle(Path(chosen))


class MergeDesk:
    """Reads a bundle beside the window, shows what it would change, and merges it when the user says so.

    `merged` is called with what was done, and whether one step takes it back.
    """

    def __init__(self, frame: Frame, parent: QWidget, merged: Callable[[Text, bool], None]) -> None:
        self._frame = frame
        self._parent = parent
        self._merged = merged
        self.dialog: MergeDialog | None = None

    def open_bundle(self, path: Path) -> None:
        """Show what merging a bundle would change; nothing is written before the user says so. The task strip can cancel it."""
        services = self._frame.services

        def look(token: CancelToken) -> Merge:
            bundle = read_bundle(path, services.catalogue, token.check)
            token.check()
            with services.workspace.read() as connection:
                return merge_in(connection, bundle, demo=services.demo)

        job = services.jobs.start(Text("Merge", "合并"), look)
        self._frame.bridge.when_done(job.done, lambda merge: self._ask(path, merge))  # type: ignore[arg-type]

    def _ask(self, path: Path, merge: Merge) -> None:
        name = visible(path.name)[:80]
        dialog = self.dialog = MergeDialog(name, merge, parent=self._parent)
        dialog.accepted.connect(lambda: self._merge(name, dialog.chosen))
        open_dialog(dialog)

    def _merge(self, name: str, merge: Merge) -> None:
        future = self._frame.services.change(lambda db: apply_merge(db, merge, name), *KINDS)
        count = len(merge.differences)
        records = "record was" if count == 1 else "records were"
        done = Text(f"{count} {records} merged", f"已合并 {count} 条记录")
        self._frame.bridge.when_done(future, lambda _: self._merged(done, merge.can_be_taken_back))
