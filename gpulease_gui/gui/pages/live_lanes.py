"""Which lanes does a watched node have, and what was promised for each?

A lane holds the metrics of one quantity with one promise. Series keep their number by UUID for as long as the page
lives, so a card that vanishes takes no other card's colour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from gpulease_gui.checks import disk_seq, net_iperf_multi, power_limit, work_task
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.checks.repeats import Bands
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.pages.live_curve_gaps import curve_hole, is_unheard, lost_hole, unheard_holes
from gpulease_gui.gui.widgets.chart_spec import Curve, Hole, LaneSpec, Promised, Rule
from gpulease_gui.gui.widgets.labels import Words
from gpulease_gui.services.gap_words import NOT_REACHED, origin_told
from gpulease_gui.services.series import Ring
from gpulease_gui.services.watch_words import trouble_words
from gpulease_gui.telemetry.source import Metric, sources

if TYPE_CHECKING:
    from gpulease_gui.catalog.catalogue import Catalogue
    from gpulease_gui.services.watch import GapSpan, SeriesKey, WatchView

PromiseOf = Callable[[str], Stated | None]

# Drawn when the user asks for them.
ASIDE = ("memory_util", "memory_temperature", "memory_clock", "power_limit", "process_memory", "agent_cpu", "agent_memory")
# Lanes from top to bottom; errors and event bits are marks in the event row.
ORDER = ("task_tokens", "task_samples", "task_tokens_gpu", "util", "npu_util", "power", "npu_power", "network", "disk", "task_step",
         "task_tflops", "task_loss", "memory", "npu_memory", "temperature",
         "npu_temperature", "clock", "cpu", "ram", "rdma", "nvlink_rx", "nvlink_tx", "pcie_rx", "pcie_tx",
         *ASIDE)  # fmt: skip
# Where several metrics share a lane, it has a name of its own.
SHARED: Mapping[str, Text] = {"network": Text("Network", "网络"), "cpu": Text("CPU", "CPU"), "rdma": Text("RDMA", "RDMA")}
_FULL: Mapping[str, float] = {"%": 100.0, "°C": 100.0}
_ALIKE: Mapping[str, str] = {"gpu": "GPU", "npu": "NPU"}
_MOST_SUBJECTS, _BUSY_SHARE = 3, 0.1
_REASONS = "gpu.event_reasons"

# A draw is no limit: 3 % under it the card is at its limit, as the program's own busy cards show.
_POWER = Bands(passes=0.97, warns=power_limit.LOWERED.value)
_RULES: Mapping[str, tuple[Rule, Bands]] = {
    "gpu.power_w": (Rule.HELD, _POWER), "network.gbit_s": (Rule.CHECKED, net_iperf_multi.BANDS.shipped),
    "disk.read_mb_s": (Rule.CHECKED, disk_seq.BANDS.shipped), "disk.write_mb_s": (Rule.CHECKED, disk_seq.BANDS.shipped),
    "ram_gb": (Rule.SIZE, Bands(passes=1.0, warns=1.0)),
    # More seconds a step are worse: such a promise is drawn, but what lies below it breaks nothing.
    "work.tokens_s": (Rule.CHECKED, work_task.BANDS.shipped), "work.samples_s": (Rule.CHECKED, work_task.BANDS.shipped),
}  # fmt: skip

GAPS: Mapping[str, Text] = {
    "connection_lost": Text("connection lost", "连接中断"), "no_answer": Text("no answer", "无应答"),
    "nothing_to_read": Text("nothing to read", "无可读数据"), "not_watched": Text("not watched", "未监控"),
    "not_recorded": Text("not recorded", "未记录"),
    "not_saved": Text("the store could not be written", "存储写入失败"),
    "fault": Text("an internal error of the program", "程序内部错误"),
    "own_network": Text("this computer had no network", "本机无网络"),
    "computer_slept": Text("this computer slept, this program stood still, or the clock was set", "本机休眠、程序停顿或时钟被调整"),
    "clock_set": Text("the clock of this computer was set", "本机时钟被调整"),
    "clock_wrong": Text("the clock of this computer was wrong", "本机时钟有误"),
    "agent_ended": Text("the agent on the node ended", "节点上的采集程序已退出"),
    **NOT_REACHED,
}
_QUIET = frozenset(["not_watched", "not_recorded", "computer_slept", "clock_set", "not_saved", "clock_wrong"])  # nothing was lost, so nothing was reconnected  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Group:
    """The metrics of one lane."""

    id: str
    lane: str
    term: str | None
    source: str
    metrics: tuple[Metric, ...]
    ids: frozenset[str]

    @property
    def title(self) -> Text:
        """A name for all of them."""
        return SHARED.get(self.lane, self.metrics[0].title)


def _groups() -> tuple[_Group, ...]:
    found: dict[tuple[str, str | None], tuple[str, list[Metric]]] = {}
    for source in sources().values():
        for metric in source.metrics:
            if metric.lane in ORDER:
                found.setdefault((metric.lane, metric.term), (source.id, []))[1].append(metric)
    made = [
        _Group(f"{lane}:{term or ''}", lane, term, source, tuple(held), frozenset(metric.id for metric in held))
        for (lane, term), (source, held) in found.items()
    ]  # fmt: skip
    return tuple(sorted(made, key=lambda group: ORDER.index(group.lane)))


def promise_of(catalogue: Catalogue, terms: Mapping[str, TermValue]) -> PromiseOf:
    """What a contract states or implies, term by term; a model name that means nothing implies nothing."""
    promise = Promise(catalogue, terms)

    def stated(term: str) -> Stated | None:
        try:
            return promise.get(term)
        except UsageError:
            return None

    return stated


class Lanes:
    """Makes the lanes of one node from what its watch holds. `hidden` are ids of lanes that are put away: the user chooses."""

    def __init__(self, promise: PromiseOf) -> None:
        self._promise = promise
        self._groups = _groups()
        self._numbers: dict[tuple[str, str], int] = {}
        self._chosen: dict[str, tuple[str, ...]] = {}
        self.hidden = {group.id for group in self._groups if group.lane in ASIDE}

    def promised(self, term: str) -> Promised | None:
        """What was promised of a term, as a lane draws it."""
        return promised(term, self._promise(term))

    @property
    def judged_terms(self) -> tuple[str, ...]:
        """The terms that a lane can be judged by."""
        return tuple(dict.fromkeys(group.term for group in self._groups if group.term))

    def of(self, view: WatchView) -> tuple[LaneSpec, ...]:
        """The lanes with data, and in the place of those without the words why; accelerators that are not there are not missed."""
        held = self._sampled(view)
        sampled = {group.source for group in held}
        made, told = [], set()
        for group in self._groups:
            if group in held:
                if group.id not in self.hidden:
                    made.append(self._lane(group, view))
            elif group.lane not in ASIDE and group.source in view.troubles and group.source not in told and not self._not_missed(group.source, sampled):
                told.add(group.source)
                made.append(_trouble_lane(group, view.troubles[group.source]))
        return tuple(made)

    def known(self, view: WatchView) -> tuple[tuple[str, Text], ...]:
        """(id, title) of all lanes with data, hidden or not."""
        return tuple((group.id, group.title) for group in self._sampled(view))

    def _sampled(self, view: WatchView) -> list[_Group]:
        """The lanes with data. Looked for four times a second over hundreds of rings: one walk over them."""
        seen = {metric for (metric, _), ring in view.rings.items() if ring.total}
        return [group for group in self._groups if not seen.isdisjoint(group.ids)]

    @staticmethod
    def _not_missed(source: str, sampled: set[str]) -> bool:
        """A node has one kind of accelerator: the other one's tool is not expected."""
        return source in _ALIKE and bool(sampled & (_ALIKE.keys() - {source}))

    @property
    def numbers(self) -> Mapping[str, int]:
        """Which number each card has in the lanes: of a GPU by UUID, of an NPU by its chip."""
        return {subject: number for (_, subject), number in self._numbers.items()}

    def _number(self, source: str, subject: str, view: WatchView) -> int:
        """As the whole window calls the card; one that no watch has numbered gets the next number that is free."""
        told = view.numbers.get(subject)
        if told is not None:
            self._numbers[source, subject] = told
            return told
        taken = {number for (kind, _), number in self._numbers.items() if kind == source}.union(view.numbers.values())
        return self._numbers.setdefault((source, subject), next(number for number in count() if number not in taken))

    def _lane(self, group: _Group, view: WatchView) -> LaneSpec:
        alike, rings = group.source in _ALIKE, view.rings
        curves = self._cards(group, view) if alike else self._named(group, rings)
        stated = self._promise(group.term) if group.term else None
        first = group.metrics[0]
        subjects = self._chosen.get(group.id, ())
        return LaneSpec(
            group.id, group.title, first.unit, curves, max(metric.decimals for metric in group.metrics), promised(group.term, stated),
            group.term or "", alike, _FULL.get(first.unit), _ALIKE.get(group.source, "GPU"), subjects[0] if len(subjects) == 1 else "",
            at_times=not sources()[group.source].of_node, own_pace=first.own_pace, source=group.source,
        )  # fmt: skip

    def _cards(self, group: _Group, view: WatchView) -> tuple[Curve, ...]:
        metric = group.metrics[0].id
        made = [
            Curve(subject, self._number(group.source, subject, view), subject, ring, view.rings.get((_REASONS, subject)),
                  lost_words(view.lost[subject]) if subject in view.lost else "", view.indexes.get(subject),
                  view.away.get(subject))
            for (id_, subject), ring in view.rings.items() if id_ == metric
        ]  # fmt: skip
        return tuple(sorted(made, key=lambda curve: curve.number))

    def _named(self, group: _Group, rings: Mapping[SeriesKey, Ring]) -> tuple[Curve, ...]:
        subjects = self._busiest(group, rings)
        made: list[Curve] = []
        for subject in subjects:
            for metric in group.metrics:
                ring = rings.get((metric.id, subject))
                if ring is not None:
                    made.append(Curve(f"{metric.id} {subject}", len(made), _named(metric, subject, len(subjects) > 1), ring))
        return tuple(made)

    def _busiest(self, group: _Group, rings: Mapping[SeriesKey, Ring]) -> tuple[str, ...]:
        """The interfaces or disks that carry something; a choice once made stays while they do."""
        ids = [metric.id for metric in group.metrics]
        subjects = list(dict.fromkeys(subject for id_, subject in rings if id_ in ids))
        load = {subject: sum(_recent(rings.get((id_, subject))) for id_ in ids) for subject in subjects}
        most = max(load.values(), default=0.0)
        before = self._chosen.get(group.id, ())
        if before and most > 0 and load.get(before[0], 0.0) >= _BUSY_SHARE * most or before and most <= 0:
            return before
        ranked = sorted(subjects, key=lambda subject: -load[subject])
        chosen = [s for s in ranked if load[s] >= _BUSY_SHARE * most and load[s] > 0][:_MOST_SUBJECTS] or ranked[:1]
        self._chosen[group.id] = tuple(chosen)
        return self._chosen[group.id]


def promised(term: str | None, stated: Stated | None) -> Promised | None:
    """The figure of a lane's contract line; None when nothing, or no number, was promised."""
    if term is None or stated is None or isinstance(stated.value, str | bool):
        return None
    rule, bands = _RULES.get(term, (Rule.SIZE, Bands(passes=1.0, warns=1.0)))
    return Promised(float(stated.value), rule, bands.passes, bands.warns, stated.implied)


def _recent(ring: Ring | None, count: int = 30) -> float:
    """The sum of the newest values."""
    if ring is None:
        return 0.0
    return sum(value for value in ring.view().values[-count:].tolist() if value == value)


def _named(metric: Metric, subject: str, several: bool) -> Words:
    return Text(f"{metric.title.en} {subject}", f"{metric.title.zh} {subject}") if several and subject else metric.title


def lost_words(why: str) -> Words:
    """Why a card is not read any more; the node's own words stay as they are."""
    words = trouble_words(why)
    return words if words.en != words.zh else why


def _trouble_lane(group: _Group, words: str) -> LaneSpec:
    source = sources()[group.source]
    return LaneSpec(f"trouble:{group.source}", source.title, "", trouble=trouble_words(words) if words else words)


def holes_of(view: WatchView, numbers: Mapping[str, int] | None = None) -> tuple[Hole, ...]:
    """The gaps of a watch with their reasons in words; what the node or the system said stays as it is.

    `numbers`: what the lanes call the cards, where the view is of what was stored and knows none.
    """
    named, gaps = view.numbers if numbers is None else numbers, (*view.gaps, *view.source_gaps)
    holes = [
        curve_hole(gap, view, named) if gap.metric else Hole(gap.start_s, gap.end_s, _hole_words(gap), gap.source)
        for gap in gaps if not is_unheard(gap)
    ]  # fmt: skip
    lost = [lost_hole(gap, view) for gap in view.missed]
    return (*holes, *lost, *unheard_holes([gap for gap in gaps if is_unheard(gap)], named))


def _hole_words(gap: GapSpan) -> Words:
    if not gap.source:
        return origin_told(gap_words(gap.reason, _length(gap)), imported=gap.imported)
    title, why = sources()[gap.source].title, trouble_words(gap.reason)
    return origin_told(Text(f"{title.en}: {why.en}", f"{title.zh}：{why.zh}"), imported=gap.imported)


def _length(gap: GapSpan) -> int | None:
    return None if gap.end_s is None or not gap.resumed else max(1, round(gap.end_s - gap.start_s))


def gap_words(reason: str, seconds: int | None) -> Text:
    """Why, and how long it took when samples came again."""
    why = GAPS.get(reason, Text(reason, reason))
    if seconds is None or reason in _QUIET:
        return why
    return Text(f"{why.en} {seconds} s, reconnected", f"{why.zh} {seconds} 秒，已重连")
