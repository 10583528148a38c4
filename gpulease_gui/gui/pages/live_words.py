"""What does the Live page say beside its chart, and while there is nothing to draw?"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.gui.pages.live_lanes import gap_words
from gpulease_gui.gui.widgets.labels import fewer_letters
from gpulease_gui.telemetry.figure_bounds import BEYOND

if TYPE_CHECKING:
    from gpulease_gui.services.series import Ring
    from gpulease_gui.services.watch import WatchView

_LAST = 600
# A curve of each source that tells one at each reading, and how many of its newest readings say how often they come.
_PACED = frozenset({"ram.used_gib", "gpu.util_percent", "net.rx_gbit_s", "disk.read_mb_s"})
_STEPS, _LEAST_STEPS, _KEPT = 61, 10, 0.85
_COST, _NONSENSE = "agent.cpu_percent", Text("impossible figure", "数值不可能")
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


def kept_hz(view: WatchView) -> float:
    """How often readings really come of the source that is slowest of those that are asked at the node's rate, in tenths of that
    rate; the rate itself where it is kept, or too little came to say.
    """
    asked_hz, since_s = 1 / view.interval_s, view.paces[-1][0] if view.paces else 0.0
    of_source = {metric: ring for (metric, _), ring in tuple(view.rings.items()) if metric in _PACED}
    steps_s = [step_s for ring in of_source.values() if (step_s := _step_s(ring, since_s))]
    kept = view.interval_s / max(steps_s, default=view.interval_s)
    return asked_hz if kept > _KEPT else asked_hz * max(0.1, round(kept, 1))


def _step_s(ring: Ring, since_s: float) -> float:
    """From one reading to the next in the middle of the newest ones, so that a gap counts once; 0 for too few."""
    seen = ring.view()
    read = zip(seen.times_s[-_STEPS:].tolist(), seen.values[-_STEPS:].tolist(), strict=True)
    times_s = [at_s for at_s, value in read if value == value and at_s >= since_s]
    steps_s = sorted(after - before for before, after in pairwise(times_s))
    return steps_s[len(steps_s) // 2] if len(steps_s) >= _LEAST_STEPS else 0.0


def cost_words(view: WatchView) -> tuple[Text, Text]:
    """(label, value): how often the node is read and, where the agent tells it, what that costs of one processor."""
    asked_hz, hz = 1 / view.interval_s, kept_hz(view)
    kept = hz == asked_hz
    most = f"{number_text(asked_hz)} Hz"
    rate = foreign(most) if kept else Text(f"{number_text(hz)} of {most}", f"{number_text(hz)} / {most}")
    ring = view.rings.get((_COST, ""))
    told = [value for value in ring.view().values[-_LAST:].tolist() if value == value] if ring is not None and view.by_agent else []
    if view.by_agent and _costs_nonsense(view):
        return Text("Agent", "采集程序"), Text(f"{rate.en} · CPU: not available, {_NONSENSE.en}", f"{rate.zh} · CPU：不可用，{_NONSENSE.zh}")
    if not told and not kept:
        return Text("Sampled", "采样"), rate
    if not told:
        return Text("Sampled every", "采样间隔"), Text(f"{view.interval_s:g} s", f"{view.interval_s:g} 秒")
    # The mean of ten minutes: the words of a header are not to flicker.
    cost = f" · {number_text(sum(told) / len(told))}\N{THIN SPACE}% CPU"
    return Text("Agent", "采集程序"), Text(rate.en + cost, rate.zh + cost)


def _costs_nonsense(view: WatchView) -> bool:
    """Whether what the agent says of its own cost now can't be."""
    return any(gap.metric == _COST and gap.end_s is None and gap.reason.startswith(BEYOND) for gap in tuple(view.source_gaps))


def watch_words(name: str, *, running: bool) -> tuple[Text, str]:
    """What the button does next, and its icon."""
    name = fewer_letters(name)
    if running:
        return Text(f"Stop watching {name}", f"停止监控 {name}"), "stop"
    return Text(f"Watch {name}", f"监控 {name}"), "nav-live"
