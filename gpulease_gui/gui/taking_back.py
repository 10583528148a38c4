"""How are the last acts of the workspace taken back and done again, on whatever page they were done?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from gpulease_gui.domain.text import Text
from gpulease_gui.services import commerce_undo
from gpulease_gui.services.events import Event, RecordsChanged
from gpulease_gui.store.journal import Act, Replay

if TYPE_CHECKING:
    import sqlite3

    from sqlite_utils import Database

    from gpulease_gui.gui.pages.page import Frame

# An act may have changed records of any kind.
KINDS = (
    "supplier", "site", "offer", "contract", "claim", "terms", "price", "answer", "waiver", "attachment", "rate", "workload",
    "weight", "template", "market", "node",
)  # fmt: skip


def undo_act(frame: Frame, entry: int | None = None) -> None:
    """Take the newest act back and say in the task strip which it was; `entry`: only if that one is still the newest."""

    def work(db: Database) -> Replay | None:
        newest = commerce_undo.can_undo(db.conn)
        mine = entry is None or (newest is not None and newest.entry == entry)
        return commerce_undo.undo(db) if mine else None

    nothing = _NO_UNDO if entry is None else _NOT_NEWEST
    frame.bridge.when_done(frame.services.change(work, *KINDS), lambda replay: _say(frame, replay, _UNDONE, nothing))


def way_back(frame: Frame, take: Callable[[Callable[[], None]], None]) -> None:
    """Hand `take` the way that takes back the act that is the newest now, and that one only."""

    def found(act: Act | None) -> None:
        if act is not None:
            take(lambda: undo_act(frame, act.entry))

    frame.bridge.when_done(frame.services.query(commerce_undo.can_undo), found)


def redo_act(frame: Frame) -> None:
    """Do the act again that was taken back last."""
    future = frame.services.change(commerce_undo.redo, *KINDS)
    frame.bridge.when_done(future, lambda replay: _say(frame, replay, _REDONE, _NO_REDO))


_UNDONE, _REDONE = Text("Undone", "已撤销"), Text("Done again", "已重做")
_NO_UNDO, _NO_REDO = Text("Nothing to undo", "没有可撤销的操作"), Text("Nothing to redo", "没有可重做的操作")
_NOT_NEWEST = Text("Something else was done since: Edit > Undo goes back step by step", "此后又有其他操作：可用“编辑 > 撤销”逐步返回")


def _say(frame: Frame, replay: Replay | None, word: Text, nothing: Text) -> None:
    if replay is None:
        frame.note(nothing)
        return
    kept_en = f"; {replay.kept} changed since and stay" if replay.kept else ""
    kept_zh = f"；{replay.kept} 项此后已变更，保持不变" if replay.kept else ""
    act = replay.act.words
    frame.note(Text(f"{word.en}: {act.en}{kept_en}", f"{word.zh}：{act.zh}{kept_zh}"))


class ActWords(QObject):
    """Keeps the words of Undo and Redo in the Edit menu those of the act that they would take back or do again."""

    def __init__(self, frame: Frame, name: Callable[[str, Text], None], parent: QObject) -> None:
        super().__init__(parent)
        self._frame, self._name = frame, name
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_WAIT_MS)
        self._soon.timeout.connect(self.read)

    def heard(self, event: Event) -> None:
        """Records changed: the newest act may be another one."""
        if isinstance(event, RecordsChanged) and not self._soon.isActive():
            self._soon.start()

    def stop(self) -> None:
        """The workspace is closed."""
        self._soon.stop()

    def read(self) -> None:
        """Ask for both acts on a worker."""

        def work(connection: sqlite3.Connection) -> tuple[Act | None, Act | None]:
            return commerce_undo.can_undo(connection), commerce_undo.can_redo(connection)

        self._frame.bridge.when_done(self._frame.services.query(work), self._show)

    def _show(self, acts: tuple[Act | None, Act | None]) -> None:
        for action, word, act in (("undo", _UNDO, acts[0]), ("redo", _REDO, acts[1])):
            self._name(action, word if act is None else Text(f"{word.en}: {act.words.en}", f"{word.zh}：{act.words.zh}"))


_WAIT_MS = 150
_UNDO, _REDO = Text("Undo", "撤销"), Text("Redo", "重做")
