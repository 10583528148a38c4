"""What does the Live page say beside its chart, and while there is nothing to draw?"""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.gui.pages.live_lanes import gap_words

if TYPE_CHECKING:
    from gpulease_gui.services.watch import WatchView

_LAST, _MOST_WIDE = 600, 14
WATCH_A_LOG = "log"  # the word after a node's id by which Verification offers to follow a log


def empty_words(name: str, view: WatchView | None, *, running: bool) -> tuple[Text, Text]:
    """(headline, sentence) for a node without samples; no name = no node at all."""
    if not name:
        return (Text("No node to watch yet", "还没有可监控的节点"),
                Text("Add a node, or watch this computer.", "请先添加节点，或监控本机。"))  # fmt: skip
    if view is not None and view.gaps and not view.gaps[-1].resumed:
        return Text(f"No data from {name}", f"{name} 没有数据"), view.why if view.why.en else gap_words(view.gaps[-1].reason, None)
    if view is None or not running:
        return (Text(f"{name} is not watched", f"尚未监控 {name}"),
                Text("Watching keeps one connection open and reads the node at its sampling rate, 0.2 to 10 times a second.", "监控只保持一条连接，定时读取节点，每秒 0.2 至 10 次。"))  # fmt: skip
    return (Text(f"Connecting to {name}", f"正在连接 {name}"),
            Text("The first samples arrive in a few seconds.", "几秒后显示首批样本。"))  # fmt: skip


def age_s(view: WatchView, now_s: float) -> float:
    """How long ago the first sample came; 0 without samples."""
    begins = [ring.view().times_s[0] for ring in tuple(view.rings.values())[:1] if ring.total]
    return max(0.0, now_s - begins[0]) if begins else 0.0


def cost_words(view: WatchView) -> tuple[Text, Text]:
    """(label, value): how often the node is read and, where the agent tells it, what that costs of one processor."""
    ring = view.rings.get(("agent.cpu_percent", ""))
    told = [value for value in ring.view().values[-_LAST:].tolist() if value == value] if ring is not None and view.by_agent else []
    if not told:
        return Text("Sampled every", "采样间隔"), Text(f"{view.interval_s:g} s", f"{view.interval_s:g} 秒")
    # The mean of ten minutes: the words of a header are not to flicker.
    return Text("Agent", "采集程序"), foreign(f"{number_text(1 / view.interval_s)} Hz · {number_text(sum(told) / len(told))}\N{THIN SPACE}% CPU")


def fewer_letters(name: str) -> str:
    """A name for a button: a long one ends in …, so that the button leaves room for the rest of the header. Wide letters count twice."""
    width = 0
    for kept, letter in enumerate(name):
        width += 2 if east_asian_width(letter) in "WF" else 1
        if width > _MOST_WIDE:
            return name[:kept].rstrip() + "…"
    return name


def watch_words(name: str, *, running: bool) -> tuple[Text, str]:
    """What the button does next, and its icon."""
    name = fewer_letters(name)
    if running:
        return Text(f"Stop watching {name}", f"停止监控 {name}"), "stop"
    return Text(f"Watch {name}", f"监控 {name}"), "nav-live"
