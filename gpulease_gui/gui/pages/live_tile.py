"""What does the tile of one node say: how it fares, what it does now, what it did lately?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpulease_gui.checks.watch_rules import WATCH_RULES
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.gui.models.cards import OfCards, card_name
from gpulease_gui.gui.pages.live_cards import fewer_cards, fresh_since_s
from gpulease_gui.gui.pages.live_lanes import gap_words
from gpulease_gui.gui.pages.live_nodes import LiveNode
from gpulease_gui.gui.pages.live_table import length_text
from gpulease_gui.gui.widgets.chart_spec import Promised, fixed
from gpulease_gui.gui.widgets.tile_spec import Broken, Rank, Tile, TileFigure
from gpulease_gui.pdf.paint import Ruler
from gpulease_gui.services.events import NodeState
from gpulease_gui.services.watch_words import trouble_words

if TYPE_CHECKING:
    from gpulease_gui.gui.widgets.tile_lines import LaneChoice
    from gpulease_gui.services.watch import WatchView

# A young watch fills the tiles with five minutes.
WINDOWS_S = (300.0, 1800.0)
_TITLES = {rule.id: rule.title for rule in WATCH_RULES}
_LOST = frozenset([NodeState.LOST, NodeState.REFUSED, NodeState.KEY_CHANGED])
_CAPTIONS = {
    "util": (Text("Util.", "利用率"), "%", 0), "power": (Text("Power", "功耗"), "W", 0),
    "temperature": (Text("Hottest", "最高温"), "°C", 0), "network": (Text("Network", "网络"), "Gbit/s", 1),
}  # fmt: skip
_TERMS = {"power": "gpu.power_w", "network": "network.gbit_s"}


@dataclass(frozen=True, slots=True)
class Known:
    """All that is known of a node when its tile is made."""

    node: LiveNode
    view: WatchView | None
    running: bool
    broken: tuple[Broken, ...] = ()
    promised: Mapping[str, Promised] | None = None


def tile_of(known: Known, lane: LaneChoice, now_s: float, window_s: float) -> Tile:
    """The tile of a node at `now_s` (UTC seconds), with its line over the `window_s` before."""
    from gpulease_gui.gui.widgets.tile_lines import SLOTS, line_of

    rank, words, short = _state(known, now_s)
    made = known.node
    start_s = now_s - window_s
    line = line_of(known.view.rings, lane, start_s, now_s) if known.view is not None else [None] * SLOTS
    promise = (known.promised or {}).get(_TERMS.get(lane.value, ""))
    full = _full(lane, line, promise)
    shares = tuple(None if value is None else round(value / full, 3) for value in line)
    strip = _strip(line, known.broken, start_s, window_s / SLOTS, now_s)
    return Tile(
        made.node.id, made.node.name, made.supplier, rank, words, figures_of(known, now_s), shares,
        None if promise is None else min(1.0, promise.value / full), strip, short,
    )  # fmt: skip


def _full(lane: LaneChoice, line: Sequence[float | None], promise: Promised | None) -> float:
    """What the height of the plot stands for."""
    if lane.value in ("util", "temperature"):
        return 105.0
    highest = max((value for value in line if value is not None), default=0.0)
    return 1.12 * max(highest, promise.value if promise is not None else 0.0, 1e-6)


def _strip(line: Sequence[float | None], broken: Sequence[Broken], start_s: float, slot_s: float, now_s: float) -> tuple[str, ...]:
    """Red or amber where a rule was broken, grey where none was, nothing where nobody looked."""
    made = ["" if value is None else "kept" for value in line]
    for one in sorted(broken, key=lambda each: each.degraded):
        end_s = now_s if one.end_s is None else one.end_s
        first, last = int((one.start_s - start_s) // slot_s), int((end_s - start_s) // slot_s)
        for place in range(max(0, first), min(len(made) - 1, last) + 1):
            if made[place]:
                made[place] = one.token
    return tuple(made)


def _state(known: Known, now_s: float) -> tuple[Rank, Text, Text]:
    """How the node fares, the one thing that is most worth saying, and a shorter way to say it if there is one."""
    view = known.view
    if view is None or not known.running:
        return Rank.UNWATCHED, Text("not watched", "未监控"), NO_TEXT
    if view.state in _LOST:
        return Rank.LOST, _lost_words(view, now_s), NO_TEXT
    going = [one for one in known.broken if one.end_s is None]
    worst = min(going, key=lambda one: (not one.degraded, one.start_s), default=None)
    if view.lost and (worst is None or not worst.degraded):
        return Rank.BROKEN, lost_words(view), NO_TEXT
    if (fewer := fewer_cards(known.node, view, now_s)) is not None and (worst is None or not worst.degraded):
        return Rank.WARNED, fewer, NO_TEXT
    if worst is not None:
        return (Rank.BROKEN if worst.degraded else Rank.WARNED), *_broken_words(worst, going, view, now_s)
    if view.state is not NodeState.CONNECTED:
        return Rank.CONNECTING, Text("connecting", "正在连接"), NO_TEXT
    trouble = next((words for source, words in view.troubles.items() if source == "gpu"), "")
    if trouble and not any(metric.startswith("npu.") for metric, _ in view.rings):
        return Rank.WARNED, trouble_words(trouble), NO_TEXT
    return Rank.FINE, Text("no rule broken", "未违反规则") if known.node.contract else Text("no contract", "无合同"), NO_TEXT


def _lost_words(view: WatchView, now_s: float) -> Text:
    gap = view.gaps[-1] if view.gaps and view.gaps[-1].end_s is None else None
    if gap is None:
        return Text("lost", "连接中断")
    why, since = gap_words(gap.reason, None), length_text(max(1, round(now_s - gap.start_s)))
    return Text(f"{since.en}: {why.en}", f"{since.zh}：{why.zh}")


def lost_words(view: WatchView) -> Text:
    """Which cards are not read any more, and why the first of them."""
    subject, why = next(iter(view.lost.items()))
    name = card_name(subject, view.numbers)
    more_en, more_zh = (f" and {len(view.lost) - 1} more", f" 等 {len(view.lost)} 张") if len(view.lost) > 1 else ("", "")
    said = trouble_words(why)
    return Text(f"{name}{more_en} lost: {said.en}", f"{name}{more_zh} 丢失：{said.zh}")


def _broken_words(one: Broken, going: Sequence[Broken], view: WatchView, now_s: float) -> tuple[Text, Text]:
    """The rule, all cards that break it, and for how long the first of them does; then the same without the cards."""
    title, since = _TITLES.get(one.rule, Text(one.rule, one.rule)), length_text(max(1, round(now_s - one.start_s)))
    said = OfCards(title, tuple(each.subject for each in going if each.rule == one.rule)).words(view.numbers, _cards_of(view))
    whole, short = (Text(f"{words.en}, {since.en}", f"{words.zh}，{since.zh}") for words in (said, title))
    return whole, short


def _cards_of(view: WatchView) -> int:
    """How many cards the node has: GPUs with a number, or chips of NPUs."""
    return len(view.indexes) or len({subject for metric, subject in view.rings if metric.startswith("npu.")})


def figures_of(known: Known, now_s: float) -> tuple[TileFigure, ...]:
    """What the node does now; a dash where nothing fresh was read."""
    from gpulease_gui.gui.widgets.tile_lines import LaneChoice, now_of

    view, made = known.view, []
    bad = {one.term for one in known.broken if one.end_s is None and one.degraded}
    fresh = view is not None and known.running and view.state is NodeState.CONNECTED
    since_s = fresh_since_s(view, now_s) if view is not None else now_s
    for lane in LaneChoice:
        caption, unit, decimals = _CAPTIONS[lane.value]
        value = now_of(view.rings, lane, since_s) if fresh and view is not None else None
        term = _TERMS.get(lane.value, "")
        promise = (known.promised or {}).get(term)
        token = "t3" if value is None else "fail" if term and term in bad else "t1"
        ruler = Ruler(promise.value, value, "fail" if token == "fail" else "t3", promise.tolerance) if promise and value is not None else None
        made.append(TileFigure(caption, "–" if value is None else fixed(value, decimals), unit, token, ruler))
    return tuple(made)
