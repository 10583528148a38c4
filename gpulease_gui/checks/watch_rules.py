"""When does what flows from a watched node break a rule, from which reading on, and until which?

Pure: readings go in with their time, episodes come out. A rule begins when nearly all of the last readings are bad and ends
when nearly all are good, so that one odd reading is no event and ends none; its times are those of the first bad and the first
good one of them. What was not read is neither: nobody saw it, so it is not counted as degraded either.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from gpulease_gui.checks.thresholds import NOTHING_MOVED, Threshold, Thresholds
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.threshold import SHARE

Values = Mapping[str, float | None]
NODE = ""

SHORT = Threshold("watch", "share", 0.95, SHARE, Text("a promised figure is kept from this part of it on", "达到承诺值的此比例即视为履约"), "<", high=1.0)
BROKEN_SAMPLES = Threshold("watch", "samples", 10, "samples", Text("a rule is judged by so many last readings", "按最近多少次读数判断是否违反"), ">=", low=1.0, high=100_000.0)
GOOD_SAMPLES = Threshold("watch", "good_samples", 10, "samples", Text("whether it is over, by so many last readings", "按最近多少次读数判断是否恢复"), ">=", low=1.0, high=100_000.0)
IDLE_SAMPLES = Threshold("watch", "idle_samples", 1800, "samples", Text("a card is idle after so many readings in a row", "连续多少次空闲读数视为闲置"), ">=", low=1.0, high=1_000_000.0)
HOT = Threshold("watch", "hot", 87.0, "°C", Text("a card is too hot from", "显卡过热的下限"), ">=", high=150.0)
MEMORY_HOT = Threshold("watch", "memory_hot", 100.0, "°C", Text("its memory is too hot from", "显存过热的下限"), ">=", high=150.0)
IDLE_PERCENT = Threshold("watch", "idle", 1.0, "%", Text("a card does nothing up to a use of", "利用率不超过此值即空闲"), "<=", high=100.0)
ONE = Threshold("watch", "lost_samples", 1, "samples", Text("a card is lost after so many readings without it", "连续多少次读不到视为丢卡"), ">=", low=1.0, high=1000.0)
MOST_OF = Threshold("watch", "most", 0.8, SHARE, Text("the last readings are alike when this part of them is", "最近读数中同类占比达到此值即作数"), ">=", low=0.51, high=1.0)
# The two ways of a line. A check loads one after the other and rests between: a way counts only while it carries the larger
# figure of the two and a part of the promise, and only if it carried next to nothing before the check began.
# Both ways loaded at once, the one full and the other slow, break nothing here, whatever the promise says of each way: no check
# of ours loads both, so one of them is somebody else's traffic that began meanwhile, and nothing in the counters tells which.
# That way may carry little because little is wanted. The check's own findings judge each way by the bytes that it sent itself.
LOADED = Threshold("watch", "loaded", 0.25, SHARE, Text("a line is loaded from this part of the promise on", "线路流量达到承诺值的此比例视为有负载"), ">=", high=1.0)
QUIET = Threshold("watch", "quiet", 0.05, SHARE, Text("a line was in use before a check from this part of the promise on", "检查前线路流量达到承诺值的此比例视为已被占用"), ">=", high=1.0)
WATCH_THRESHOLDS = (
    SHORT, BROKEN_SAMPLES, GOOD_SAMPLES, IDLE_SAMPLES, HOT, MEMORY_HOT, IDLE_PERCENT, ONE, MOST_OF, LOADED, QUIET,
)  # fmt: skip

_WAYS = (("net.rx_gbit_s", "net.tx_gbit_s"), ("disk.read_mb_s", "disk.write_mb_s"))
LINES = frozenset(metric for ways in _WAYS for metric in ways)
_BEFORE = 10

# Clock event reasons (nvml.h): software power cap; those by which a card protects itself or is braked from outside.
POWER_CAP, PROTECTED = 0x4, 0x8 | 0x20 | 0x40 | 0x80


@dataclass(frozen=True, slots=True)
class WatchPromise:
    """What the contract says of a watched node. `floors` are promised figures by metric, with their term.

    `under_load`: metrics that a running check loads, so that their floor counts. `billed`: whether the node is paid for now.
    """

    floors: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    under_load: frozenset[str] = frozenset()
    billed: bool = False
    thresholds: Thresholds = NOTHING_MOVED


@dataclass(frozen=True, slots=True)
class Judged:
    """What one reading means for one rule: broken, kept, or (None) no word on it. `value` is what was compared.

    `metric`: which one of the node's lines. Not `asked`: the line rests, which breaks no rule, and excuses none either.
    """

    broken: bool | None
    value: float | None = None
    unit: str = ""
    term: str | None = None
    promised: float | None = None
    metric: str = ""
    asked: bool = True


NO_WORD = Judged(None)
# Of a rule that is kept nobody asks by which figure: most readings are such.
KEPT = Judged(False)


@dataclass(frozen=True, slots=True)
class WatchRule:
    """One rule. `degraded`: whether the time counts as less than what is paid for."""

    id: str
    title: Text
    why: Text
    begin: Threshold
    verdict: Verdict
    degraded: bool
    judge: Callable[[Values, WatchPromise], Judged]
    thresholds: tuple[Threshold, ...] = ()
    next_step: Text = NO_TEXT


def _floor(values: Values, promise: WatchPromise) -> Judged:
    """Power counts only while the card says that it is capped. Lines have two ways: see `WatchRules.feed_lines`."""
    floor, value = promise.floors.get("gpu.power_w"), values.get("gpu.power_w")
    if floor is None or value is None:
        return NO_WORD
    held = bool(_mask(values) & (POWER_CAP | PROTECTED))
    return Judged(True, value, "W", *floor) if held and value < floor[1] * promise.thresholds.value(SHORT) else KEPT


_UNITS = {"net.rx_gbit_s": "Gbit/s", "net.tx_gbit_s": "Gbit/s", "disk.read_mb_s": "MB/s", "disk.write_mb_s": "MB/s"}


def _mask(values: Values) -> int:
    mask = values.get("gpu.event_reasons")
    return 0 if mask is None or not math.isfinite(mask) else int(mask)


def _throttled(values: Values, promise: WatchPromise) -> Judged:
    mask = values.get("gpu.event_reasons")
    if mask is None or not math.isfinite(mask):
        return NO_WORD
    return Judged(True, values.get("gpu.clock_sm_mhz"), "MHz") if int(mask) & PROTECTED else KEPT


def _hot(values: Values, promise: WatchPromise) -> Judged:
    core, memory = values.get("gpu.temperature_c"), values.get("gpu.temperature_memory_c")
    if core is None and memory is None:
        return NO_WORD
    limit = promise.thresholds.value
    over = [value for value, most in ((core, HOT), (memory, MEMORY_HOT)) if value is not None and value >= limit(most)]
    return Judged(True, max(over), "°C") if over else KEPT


def _idle(values: Values, promise: WatchPromise) -> Judged:
    use = values.get("gpu.util_percent")
    if use is None:
        return NO_WORD
    return Judged(True, use, "%") if promise.billed and use <= promise.thresholds.value(IDLE_PERCENT) else KEPT


def _never(values: Values, promise: WatchPromise) -> Judged:
    return KEPT


FLOOR = WatchRule(
    "watch.floor", Text("Under the contract", "低于合同"),
    Text("a promised figure is not reached although the node is asked for it", "在需要时未达到承诺值"),
    BROKEN_SAMPLES, Verdict.FAIL, True, _floor, (SHORT, LOADED, QUIET, BROKEN_SAMPLES, GOOD_SAMPLES, MOST_OF),
    Text("Ask the supplier why, and send the readings", "请连同读数询问供应商原因"),
)  # fmt: skip
LOST = WatchRule(
    "watch.lost", Text("GPU lost", "GPU 丢失"), Text("a card that was there is not read any more", "原有的卡已读不到"),
    ONE, Verdict.FAIL, True, _never, (ONE, GOOD_SAMPLES, MOST_OF),
    Text("Look for an Xid in the kernel log, and ask the supplier to bring the card back or to replace it", "请查看内核日志中的 Xid，并要求供应商恢复或更换此卡"),
)  # fmt: skip
DRIVER = WatchRule(
    "watch.driver", Text("Driver does not answer", "驱动无应答"),
    Text("the node is there, but nothing of its cards can be read", "节点在线，但读不到任何显卡"),
    ONE, Verdict.FAIL, True, _never, (ONE, GOOD_SAMPLES, MOST_OF),
    Text("Run nvidia-smi (npu-smi) on the node, read the kernel log, and ask the supplier to reload the driver or to restart the node", "请在节点上运行 nvidia-smi（npu-smi）并查看内核日志，要求供应商重新加载驱动或重启节点"),
)  # fmt: skip
THROTTLED = WatchRule(
    "watch.throttled", Text("Throttled", "降频"), Text("the card slows itself down to protect itself", "显卡为自我保护而降频"),
    BROKEN_SAMPLES, Verdict.FAIL, True, _throttled, (BROKEN_SAMPLES, GOOD_SAMPLES, MOST_OF),
    Text("Ask the supplier for cooling and power; verify the clocks under load", "请向供应商询问散热与供电情况，并在负载下检查频率"),
)  # fmt: skip
HOT_RULE = WatchRule(
    "watch.hot", Text("Too hot", "过热"), Text("the card is near the point at which it slows itself down", "温度接近降频点"),
    BROKEN_SAMPLES, Verdict.WARN, False, _hot, (HOT, MEMORY_HOT, BROKEN_SAMPLES, GOOD_SAMPLES, MOST_OF),
    Text("Ask the supplier about the cooling", "请向供应商询问散热情况"),
)  # fmt: skip
IDLE = WatchRule(
    "watch.idle", Text("Idle while billed", "计费中闲置"), Text("the card does nothing while it is paid for", "显卡在计费但无任何负载"),
    IDLE_SAMPLES, Verdict.WARN, False, _idle, (IDLE_PERCENT, IDLE_SAMPLES, GOOD_SAMPLES, MOST_OF),
    Text("Give the node work, or give it back", "请安排任务，或退租此节点"),
)  # fmt: skip
WATCH_RULES = (FLOOR, LOST, DRIVER, THROTTLED, HOT_RULE, IDLE)


@dataclass(frozen=True, slots=True)
class Episode:
    """A rule that is broken on one subject ("" = the whole node), times in UTC seconds; `ended_s` None while it lasts.

    `readings` are the first bad ones: (time, value). `cut`: it was not seen to end, but nobody could look any more.
    """

    rule: WatchRule
    subject: str
    began_s: float
    ended_s: float | None = None
    worst: Judged = NO_WORD
    readings: tuple[tuple[float, float | None], ...] = ()
    words: str = ""
    cut: bool = False


_KEPT_READINGS = 60


class _Streak:
    """One rule on one subject: the last readings, from the first on that may begin or end an episode, and what lasts."""

    __slots__ = ("alike", "episode", "last_s", "recent")

    def __init__(self) -> None:
        self.recent: deque[tuple[float, Judged]] = deque()
        self.alike, self.last_s = 0, 0.0
        self.episode: Episode | None = None

    def add(self, at_s: float, judged: Judged, most: int, share: float) -> bool:
        """Whether nearly all of the last `most` readings are against the state that lasts, this one too."""
        against = self.episode is None
        self.recent.append((at_s, judged))
        self.alike += judged.broken is against
        while self.recent and (len(self.recent) > most or self.recent[0][1].broken is not against):
            self.alike -= self.recent.popleft()[1].broken is against
        return judged.broken is against and len(self.recent) == most and self.alike >= share * most

    def begin_anew(self) -> None:
        self.recent, self.alike = deque(), 0


class WatchRules:
    """The rules of one node over its stream. One thread feeds it."""

    def __init__(self, promise: WatchPromise) -> None:
        self.promise = promise
        self._streaks: dict[tuple[str, str, str], _Streak] = {}
        self._before: dict[str, deque[float]] = {metric: deque(maxlen=_BEFORE) for metric in LINES}

    @property
    def open(self) -> tuple[Episode, ...]:
        """What lasts now."""
        return tuple(streak.episode for streak in self._streaks.values() if streak.episode is not None)

    def feed(self, subject: str, values: Values, at_s: float) -> tuple[Episode, ...]:
        """The readings of one subject at one time (UTC seconds); episodes that have just begun or ended."""
        made = []
        for rule in WATCH_RULES:
            judged = rule.judge(values, self.promise)
            if judged.broken or self._streaks:
                made.append(self._look(rule, subject, judged, at_s))
        return tuple([episode for episode in made if episode is not None])

    def feed_lines(self, values: Mapping[str, float], at_s: float) -> tuple[Episode, ...]:
        """What the node's busiest lines carried each way at one time (UTC seconds), by metric."""
        made = [
            self._look(FLOOR, NODE, self._way(metric, values[metric], values.get(other, 0.0)), at_s)
            for ways in _WAYS for metric, other in (ways, ways[::-1]) if metric in values and metric in self.promise.floors
        ]  # fmt: skip
        return tuple(episode for episode in made if episode is not None)

    def _way(self, metric: str, value: float, other: float) -> Judged:
        term, promised = self.promise.floors[metric]
        before = self._before[metric]
        under_load = metric in self.promise.under_load
        if not under_load:
            before.append(value)
        figure = self.promise.thresholds.value
        busy = any(one >= promised * figure(QUIET) for one in before)
        asked = under_load and not busy and value > other and value >= promised * figure(LOADED)
        broken = asked and value < promised * figure(SHORT)
        return Judged(broken, value, _UNITS[metric], term, promised, metric, asked or not under_load)

    def promise_anew(self, promise: WatchPromise, at_s: float) -> tuple[Episode, ...]:
        """What is promised changed; what lasts and is promised no more is cut off."""
        self.promise = promise
        gone = {
            key: one.episode for key, one in self._streaks.items()
            if one.episode and key[0] == FLOOR.id and (key[2] or "gpu.power_w") not in promise.floors
        }  # fmt: skip
        self._streaks = {key: one for key, one in self._streaks.items() if key not in gone}
        return tuple(_ended(one, at_s, cut=True) for one in gone.values())

    def lose(self, subject: str, why: str, at_s: float) -> tuple[Episode, ...]:
        """A card can't be read any more ("": none of the node's); `why` are words of the node."""
        found = self._look(LOST if subject else DRIVER, subject, Judged(True), at_s, why)
        return () if found is None else (found,)

    def answer(self, at_s: float) -> tuple[Episode, ...]:
        """The driver answers: readings of cards arrive."""
        found = self._look(DRIVER, NODE, KEPT, at_s)
        return () if found is None else (found,)

    def unseen(self, at_s: float) -> tuple[Episode, ...]:
        """Nobody looks any more: what lasts is cut off at its last reading, streaks begin anew."""
        cut = [_ended(one.episode, min(at_s, one.last_s), cut=True) for one in self._streaks.values() if one.episode]
        self._streaks = {}
        return tuple(cut)

    def _look(self, rule: WatchRule, subject: str, judged: Judged, at_s: float, words: str = "") -> Episode | None:
        if judged.broken is None:
            return None
        key = rule.id, subject, judged.metric
        if not judged.broken and key not in self._streaks:
            return None
        streak = self._streaks.setdefault(key, _Streak())
        streak.last_s = at_s
        if streak.episode is not None:
            return self._last(streak, streak.episode, judged, at_s)
        return self._wait(rule, subject, streak, judged, at_s, words)

    def _wait(
        self, rule: WatchRule, subject: str, streak: _Streak, judged: Judged, at_s: float, words: str
    ) -> Episode | None:
        if not judged.asked:
            return None
        if rule is IDLE and not judged.broken:  # a card that works now and then is not idle
            streak.begin_anew()
        if not streak.add(at_s, judged, self._samples(rule.begin), self.promise.thresholds.value(MOST_OF)):
            return None
        bad = [(seen_s, one) for seen_s, one in streak.recent if one.broken]
        kept = tuple((seen_s, one.value) for seen_s, one in bad[-_KEPT_READINGS:])
        streak.begin_anew()
        streak.episode = Episode(rule, subject, bad[0][0], None, _worst(rule, [one for _, one in bad]), kept, words)
        return streak.episode

    def _last(self, streak: _Streak, episode: Episode, judged: Judged, at_s: float) -> Episode | None:
        if not streak.add(at_s, judged, self._samples(GOOD_SAMPLES), self.promise.thresholds.value(MOST_OF)):
            return None
        ended = _ended(episode, streak.recent[0][0])
        streak.begin_anew()
        streak.episode = None
        return ended

    def _samples(self, figure: Threshold) -> int:
        return math.ceil(self.promise.thresholds.value(figure))


def _worst(rule: WatchRule, bad: list[Judged]) -> Judged:
    """Of a line the middle one: its first and last seconds are no rate."""
    found = sorted(bad, key=lambda one: _rank(rule, one))
    return found[len(found) // 2] if found[0].metric else found[0]


def _rank(rule: WatchRule, judged: Judged) -> float:
    """The worst first: the highest temperature, else the lowest figure."""
    value = 0.0 if judged.value is None else judged.value
    return -value if rule is HOT_RULE else value


def _ended(episode: Episode, at_s: float, *, cut: bool = False) -> Episode:
    return Episode(
        episode.rule, episode.subject, episode.began_s, max(episode.began_s, at_s), episode.worst, episode.readings,
        episode.words, cut,
    )  # fmt: skip


def degraded_s(episodes: Iterable[tuple[str, float, float]], cards: int) -> float:
    """Card-seconds of (subject, begin, end) of degraded time, each card's time once; "" = all `cards` of the node."""
    episodes = list(episodes)
    whole = _union([(begin, end) for subject, begin, end in episodes if subject == NODE])
    total = cards * sum(end - begin for begin, end in whole)
    for card in dict.fromkeys(subject for subject, _, _ in episodes if subject != NODE):
        spans = _union([(begin, end) for subject, begin, end in episodes if subject == card])
        total += sum(end - begin for begin, end in spans) - _shared(spans, whole)
    return total


def _union(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    made: list[tuple[float, float]] = []
    for begin, end in sorted(spans):
        if made and begin <= made[-1][1]:
            made[-1] = made[-1][0], max(made[-1][1], end)
        else:
            made.append((begin, end))
    return made


def _shared(spans: Iterable[tuple[float, float]], whole: Iterable[tuple[float, float]]) -> float:
    whole = list(whole)
    return sum(max(0.0, min(end, z) - max(begin, a)) for begin, end in spans for a, z in whole)
