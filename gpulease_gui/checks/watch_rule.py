"""By which rules is one reading of a watched node good, bad, or no word on it?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from gpulease_gui.checks import disk_seq, net_iperf_multi
from gpulease_gui.checks.thresholds import NOTHING_MOVED, Threshold, Thresholds
from gpulease_gui.checks.watch_line import Load
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.threshold import SHARE

Values = Mapping[str, float | None]
NODE = ""

SHORT = Threshold(
    "watch", "share", 0.95, SHARE, Text("a promised power is kept from this part of it on", "功耗达到承诺值的此比例即视为履约"), "<", high=1.0, terms=("gpu.power_w",)
)  # fmt: skip
# A rate that the check of it would not call too slow breaks nothing here: the figures are those of the checks.
SLOW: Mapping[str, Threshold] = {
    **dict.fromkeys(("net.rx_gbit_s", "net.tx_gbit_s"), replace(net_iperf_multi.BANDS.warns, terms=(net_iperf_multi.TERM,))),
    **dict.fromkeys(("disk.read_mb_s", "disk.write_mb_s"), replace(disk_seq.BANDS.warns, terms=("disk.read_mb_s", "disk.write_mb_s"))),
}
BROKEN_SAMPLES = Threshold("watch", "samples", 10, "samples", Text("a rule is judged by so many last readings", "按最近多少次读数判断是否违反"), ">=", low=1.0, high=100_000.0)
GOOD_SAMPLES = Threshold("watch", "good_samples", 10, "samples", Text("whether it is over, by so many last readings", "按最近多少次读数判断是否恢复"), ">=", low=1.0, high=100_000.0)
IDLE_SAMPLES = Threshold("watch", "idle_samples", 1800, "samples", Text("a card is idle after so many readings in a row", "连续多少次空闲读数视为闲置"), ">=", low=1.0, high=1_000_000.0)
HOT = Threshold("watch", "hot", 87.0, "°C", Text("a card is too hot from", "显卡过热的下限"), ">=", high=150.0)
MEMORY_HOT = Threshold("watch", "memory_hot", 100.0, "°C", Text("its memory is too hot from", "显存过热的下限"), ">=", high=150.0)
NPU_HOT = Threshold("watch", "npu_hot", 85.0, "°C", Text("an Ascend chip is too hot from", "昇腾芯片过热的下限"), ">=", high=150.0)
IDLE_PERCENT = Threshold("watch", "idle", 1.0, "%", Text("a card does nothing up to a use of", "利用率不超过此值即空闲"), "<=", high=100.0)
ONE = Threshold("watch", "lost_samples", 1, "samples", Text("a card is lost after so many readings without it", "连续多少次读不到视为丢卡"), ">=", low=1.0, high=1000.0)
MOST_OF = Threshold("watch", "most", 0.8, SHARE, Text("the last readings are alike when this part of them is", "最近读数中同类占比达到此值即作数"), ">=", low=0.51, high=1.0)
# A line is judged while a test of ours asks for all of it (see watch_line.py). What others move may be little because little is
# wanted: that is told, never judged.
RAMP = Threshold("watch", "ramp", 15.0, "s", Text("the growth at the beginning of a test is left out for at most", "测试开始时的增速阶段最多排除"), "<=", low=1.0, high=60.0)
TOLD = Threshold("watch", "told", 0.05, SHARE, Text("traffic of others is set beside the promise from this part of it on", "他人流量达到承诺值的此比例起与承诺对照"), ">=", high=1.0)
TOLD_TO = Threshold("watch", "told_to", 0.75, SHARE, Text("and below this part of it", "且低于承诺值的此比例"), "<", high=1.0)
WATCH_THRESHOLDS = (
    SHORT, BROKEN_SAMPLES, GOOD_SAMPLES, IDLE_SAMPLES, HOT, MEMORY_HOT, NPU_HOT, IDLE_PERCENT, ONE, MOST_OF, RAMP, TOLD, TOLD_TO,
)  # fmt: skip

LINES = frozenset(SLOW)

# Clock event reasons (nvml.h): software power cap; those by which a card protects itself or is braked from outside.
POWER_CAP, PROTECTED = 0x4, 0x8 | 0x20 | 0x40 | 0x80


@dataclass(frozen=True, slots=True)
class WatchPromise:
    """What the contract says of a watched node. `floors` are promised figures by metric, with their term.

    `loads`: the tests of ours that run, by metric. `billed`: whether the node is paid for now. `cards`: whether it has GPUs.
    `paid`: for how many cards, None = not stated.
    """

    floors: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    loads: Mapping[str, Load] = field(default_factory=dict)
    billed: bool = False
    thresholds: Thresholds = NOTHING_MOVED
    cards: bool = False
    paid: int | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """What one reading means for one rule: broken, kept, or (None) no word on it. `value` is what was compared.

    `metric`: which one of the node's lines. Not `asked`: the line rests, which breaks no rule, and excuses none either.
    `by`: the metrics that were bad; without them no reading is good.
    """

    broken: bool | None
    value: float | None = None
    unit: str = ""
    term: str | None = None
    promised: float | None = None
    metric: str = ""
    asked: bool = True
    by: tuple[str, ...] = ()


NO_WORD = Judged(None)
# Of a rule that is kept nobody asks by which figure: most readings are such.
KEPT = Judged(False)
GONE = Judged(True)


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
    """No term promises the power of an NPU, and npu-smi says of none what holds it back: only lines have a floor there.

    Power counts only while the card says that it is capped. Of lines: see `WatchRules.feed_lines`."""
    floor, value, mask = promise.floors.get("gpu.power_w"), values.get("gpu.power_w"), _mask(values)
    if floor is None or value is None:
        return NO_WORD
    if value >= floor[1] * promise.thresholds.value(SHORT):
        return KEPT
    if mask is None:
        return NO_WORD
    return Judged(True, value, "W", *floor) if mask & (POWER_CAP | PROTECTED) else KEPT


UNITS = {"net.rx_gbit_s": "Gbit/s", "net.tx_gbit_s": "Gbit/s", "disk.read_mb_s": "MB/s", "disk.write_mb_s": "MB/s"}


def _mask(values: Values) -> int | None:
    mask = values.get("gpu.event_reasons")
    return None if mask is None or not math.isfinite(mask) else int(mask)


_LIMITS = (("gpu.temperature_c", HOT), ("gpu.temperature_memory_c", MEMORY_HOT), ("npu.temperature_c", NPU_HOT))


def _throttled(values: Values, promise: WatchPromise) -> Judged:
    """Of NPUs there is no word: the table of npu-smi has neither clocks nor what slows a chip down."""
    mask = _mask(values)
    if mask is None:
        return NO_WORD
    return Judged(True, values.get("gpu.clock_sm_mhz"), "MHz") if mask & PROTECTED else KEPT


def _hot(values: Values, promise: WatchPromise) -> Judged:
    told = [(metric, value, most) for metric, most in _LIMITS if (value := values.get(metric)) is not None]
    if not told:
        return NO_WORD
    over = {metric: value for metric, value, most in told if value >= promise.thresholds.value(most)}
    return Judged(True, max(over.values()), "°C", by=tuple(over)) if over else KEPT


USES = ("gpu.util_percent", "npu.aicore_percent")


def _idle(values: Values, promise: WatchPromise) -> Judged:
    use = next((use for metric in USES if (use := values.get(metric)) is not None), None)
    if use is None:
        return NO_WORD
    return Judged(True, use, "%") if promise.billed and use <= promise.thresholds.value(IDLE_PERCENT) else KEPT


def _never(values: Values, promise: WatchPromise) -> Judged:
    return KEPT


FLOOR = WatchRule(
    "watch.floor", Text("Under the contract", "低于合同"),
    Text("a promised figure is not reached although the node is asked for it", "在需要时未达到承诺值"),
    BROKEN_SAMPLES, Verdict.FAIL, True, _floor, (SHORT, *dict.fromkeys(SLOW.values()), RAMP, BROKEN_SAMPLES, GOOD_SAMPLES, MOST_OF),
    Text("Ask the supplier why, and send the readings", "请连同读数询问供应商原因"),
)  # fmt: skip
LOST = WatchRule(
    "watch.lost", Text("GPU lost", "GPU 丢失"), Text("a card that was there is not read any more", "原有的卡已读不到"),
    ONE, Verdict.FAIL, True, _never, (ONE, GOOD_SAMPLES, MOST_OF),
    Text("Look into the kernel log (an Xid, for an NPU npu-smi info -t health), and ask the supplier to bring the card back or to replace it", "请查看内核日志（Xid；NPU 请运行 npu-smi info -t health），并要求供应商恢复或更换此卡"),
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
    BROKEN_SAMPLES, Verdict.WARN, False, _hot, (HOT, MEMORY_HOT, NPU_HOT, BROKEN_SAMPLES, GOOD_SAMPLES, MOST_OF),
    Text("Ask the supplier about the cooling", "请向供应商询问散热情况"),
)  # fmt: skip
IDLE = WatchRule(
    "watch.idle", Text("Idle while billed", "计费中闲置"), Text("the card does nothing while it is paid for", "显卡在计费但无任何负载"),
    IDLE_SAMPLES, Verdict.WARN, False, _idle, (IDLE_PERCENT, IDLE_SAMPLES, GOOD_SAMPLES, MOST_OF),
    Text("Give the node work, or give it back", "请安排任务，或退租此节点"),
)  # fmt: skip
WATCH_RULES = (FLOOR, LOST, DRIVER, THROTTLED, HOT_RULE, IDLE)
