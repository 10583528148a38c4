"""How are the last acts of the workspace taken back and done again, on whatever page they were done?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpulease_gui.domain.text import Text
from gpulease_gui.services import commerce_undo
from gpulease_gui.store.journal import Replay

if TYPE_CHECKING:
    from gpulease_gui.gui.pages.page import Frame

# An act may have changed records of any kind.
KINDS = (
    "supplier", "site", "offer", "contract", "claim", "terms", "price", "answer", "waiver", "attachment", "rate", "workload",
    "weight", "template", "market",
)  # fmt: skip


def undo_act(frame: Frame) -> None:
    """Take the newest act back and say in the task strip which it was."""
    frame.bridge.when_done(frame.services.change(commerce_undo.undo, *KINDS), lambda replay: _say(frame, replay, _UNDONE))


def redo_act(frame: Frame) -> None:
    """Do the act again that was taken back last."""
    frame.bridge.when_done(frame.services.change(commerce_undo.redo, *KINDS), lambda replay: _say(frame, replay, _REDONE))


_UNDONE, _REDONE = Text("Undone", "已撤销"), Text("Done again", "已重做")
_NOTHING = {_UNDONE: Text("Nothing to undo", "没有可撤销的操作"), _REDONE: Text("Nothing to redo", "没有可重做的操作")}


def _say(frame: Frame, replay: Replay | None, word: Text) -> None:
    if replay is None:
        frame.note(_NOTHING[word])
        return
    kept_en = f"; {replay.kept} changed since and stay" if replay.kept else ""
    kept_zh = f"；{replay.kept} 项此后已变更，保持不变" if replay.kept else ""
    act = replay.act.words
    frame.note(Text(f"{word.en}: {act.en}{kept_en}", f"{word.zh}：{act.zh}{kept_zh}"))
