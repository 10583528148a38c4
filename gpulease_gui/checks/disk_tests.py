"""What do all fio tests of one kind have in common: page cache, troubles, and the words about them?"""

from __future__ import annotations

from collections.abc import Sequence

from gpulease_gui.checks.repeats import MOVED_NOTHING
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.fio_set import FioTest
from gpulease_gui.facts.raw_runs import NOTHING_MOVED

IN_MEMORY = ("tmpfs", "ramfs", "devtmpfs")

DIRECT_STEP = Text(
    "Measure in a folder on the rented disk itself (ext4, xfs), not on overlay or memory.",
    "请在所租磁盘本身（ext4、xfs）的目录中测量，不要在 overlay 或内存中。",
)
SLOW_STEP = Text(
    "Ask the supplier which disk lies behind this folder and whether its rate is limited.",
    "请询问供应商该目录背后是什么磁盘、是否限速。",
)
AGAIN_STEP = Text(
    "Measure again on an idle node: one slow test alone proves nothing.", "请在节点空闲时复测：单次偏慢不足为据。"
)
_INSTALL = Text("Install fio on the node: apt-get install -y fio", "请在节点上安装 fio：apt-get install -y fio")
_BY_HAND = Text("Run fio by hand in a folder on the rented disk.", "请在所租磁盘的目录中手动运行 fio。")
_NOTHING = Text("no rate was measured", "没有测得速率")


def in_memory(filesystem: str | None) -> Text | None:
    """Words for a scratch folder that lies in memory; None for any other."""
    if filesystem not in IN_MEMORY:
        return None
    return Text(f"{filesystem} lies in memory, so no disk was tested", f"{filesystem} 位于内存中，并未测到磁盘")


def cached(tests: Sequence[FioTest], direct: bool | None, filesystem: str | None) -> Text | None:
    """Why the rates may be those of memory; None if the tests surely passed the page cache by."""
    if words := in_memory(filesystem):
        return words
    if direct is False or any(test.direct is False for test in tests):
        return Text("the page cache took part, so this is not the disk's own rate", "页缓存参与了读写，这不是磁盘本身的速率")
    if direct is None and any(test.direct is None for test in tests):
        return Text("the output does not say whether the page cache took part", "输出未说明页缓存是否参与")
    return None


def no_test(tests: Sequence[FioTest]) -> tuple[Text, str, Text]:
    """Reason, reason code and next step when there is no rate."""
    last = tests[-1] if tests else None
    if last is None:
        return _NOTHING, Reason.NOT_COLLECTED, _BY_HAND
    code = last.code or Reason.UNREADABLE
    if code == NOTHING_MOVED:
        return MOVED_NOTHING, NOTHING_MOVED, SLOW_STEP
    said = last.trouble
    reason = Text(f"no rate was measured: {said}", f"没有测得速率：{said}") if said else _NOTHING
    step = _INSTALL if code == Reason.MISSING_TOOL else foreign(last.next_step) if last.next_step else _BY_HAND
    return reason, str(code), step


def seconds_text(test: FioTest, asked: int | None) -> str:
    """How long a test took, in whole seconds; `?` when nobody knows."""
    seconds = test.seconds if test.seconds is not None else asked
    return number_text(round(seconds)) if seconds is not None else "?"


def joined(first: Text, second: Text) -> Text:
    """Two half sentences in a row."""
    return Text(f"{first.en}; {second.en}", f"{first.zh}；{second.zh}")
