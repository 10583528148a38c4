"""What slowed a card in the very seconds in which its rate was measured?"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import SHARE, Origin, Threshold
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.task_lines import Look, TaskHead

# Bits of the clock event reasons, as the driver counts them.
POWER_CAP, APP_CLOCKS, SW_THERMAL = 0x4, 0x2, 0x20
HARDWARE = 0x8 | 0x40 | 0x80
_HARDWARE_WORDS = (
    (0x40, Text("thermal slowdown by hardware", "硬件过热降频")),
    (0x80, Text("power brake of the supply", "供电制动降频")),
    (0x8, Text("hardware slowdown", "硬件降频")),
)
_SW_THERMAL_WORDS = Text("thermal slowdown by the driver", "驱动过热降频")

LOOKS = Threshold(
    "clock.under_load", "times", 3, "looks", Text("a hardware slowdown counts if it is active in", "硬件降频出现达到此次数即为持续"), ">=", low=1.0
)
HEAT_SHARE = Threshold(
    "clock.under_load", "heat", 0.05, SHARE, Text("a slowdown by heat counts in more than this share of the looks", "过热降频次数占比超过此值才算数"),
    ">", high=1.0,
)  # fmt: skip
AT_LIMIT = Threshold(
    "clock.under_load", "at_limit", 0.95, SHARE, Text("a card stands at its power limit from (share of the limit)", "达到功耗上限此比例即为触顶"),
    ">=", Origin.PUBLISHED, "xid.json of the catalogue: clock event reasons", high=1.0,
)  # fmt: skip
BUSY_BEFORE = Threshold(
    "perf.bf16", "busy_before", 5.0, "%", Text("the node was not idle if a card was used more before the test", "测前利用率高于此值即非空闲"), ">",
    high=100.0,
)  # fmt: skip
LOAD_MARKS = (LOOKS, HEAT_SHARE, AT_LIMIT)


def was_busy_before(head: TaskHead, promise: Promise) -> bool:
    """Whether another job used a card right before the test began."""
    limit = promise.limit(BUSY_BEFORE)
    return any(look.util_percent is not None and look.util_percent > limit for look in head.before)


def slowdown(looks: Sequence[Look], promise: Promise) -> Text:
    """Words for a slowdown that lasted, such as "hardware slowdown from minute 12"; empty without one."""
    told = [look for look in looks if look.mask is not None]
    for bit, words in _HARDWARE_WORDS:
        hits = [look for look in told if (look.mask or 0) & bit]
        if len(hits) >= promise.limit(LOOKS):
            return _since(words, hits[0], looks)
    hits = [look for look in told if (look.mask or 0) & SW_THERMAL]
    return _since(_SW_THERMAL_WORDS, hits[0], looks) if hits and len(hits) > promise.limit(HEAT_SHARE) * len(told) else NO_TEXT


def _since(words: Text, hit: Look, looks: Sequence[Look]) -> Text:
    minute = int((hit.t_s - looks[0].t_s) // 60)
    if minute == 0:
        return Text(f"{words.en} from the start", f"一开始就有{words.zh}")
    return Text(f"{words.en} from minute {minute}", f"第 {minute} 分钟起{words.zh}")


def power_cap(looks: Sequence[Look]) -> Text:
    """Words for a limit that was set below the board's default, such as "capped at 500 W (default 700 W)"; else empty."""
    limits = [look.limit_w for look in looks if look.limit_w]
    defaults = [look.default_limit_w for look in looks if look.default_limit_w]
    if not limits or not defaults or min(limits) >= defaults[0] - 1:
        return NO_TEXT
    cap, own = number_text(min(limits)), number_text(defaults[0])
    return Text(f"capped at {cap} W (default {own} W)", f"功耗上限被设为 {cap} W（默认 {own} W）")


def at_power_limit(looks: Sequence[Look], promise: Promise) -> bool:
    """Whether the card drew what it may: the power cap was active and the draw near the limit."""
    shares = [look.power_w / look.limit_w for look in looks if look.power_w is not None and look.limit_w]
    capped = [look for look in looks if (look.mask or 0) & POWER_CAP]
    return bool(shares and capped) and median(shares) >= promise.limit(AT_LIMIT)


def explained(looks: Sequence[Look], promise: Promise) -> Text:
    """Why the rate is what it is, by the looks of the same seconds: slowdown, cap, clocks; empty where nothing shows."""
    if not looks:
        return NO_TEXT
    parts = [words for words in (slowdown(looks, promise), power_cap(looks)) if words.en]
    if not parts and at_power_limit(looks, promise):
        limit = number_text(max(look.limit_w or 0.0 for look in looks))
        parts.append(Text(f"at its power limit of {limit} W", f"已达功耗上限 {limit} W"))
    times_set = sum(bool((look.mask or 0) & APP_CLOCKS) for look in looks)
    if not parts and times_set >= promise.limit(LOOKS):
        mhz = number_text(median([look.sm_mhz for look in looks if look.sm_mhz is not None] or [0.0]), 0)
        parts.append(Text(f"clocks set to {mhz} MHz", f"频率被设为 {mhz} MHz"))
    return Text("; ".join(p.en for p in parts), "；".join(p.zh for p in parts))


def beside(looks: Sequence[Look]) -> Text:
    """Clock, power and temperature of the same seconds (medians), as far as they were told; empty without any."""
    told = (
        ([k.sm_mhz for k in looks if k.sm_mhz is not None], "MHz"), ([k.power_w for k in looks if k.power_w is not None], "W"),
        ([k.temp_c for k in looks if k.temp_c is not None], "°C"),
    )  # fmt: skip
    words = ", ".join(f"{number_text(median(values), 0)} {unit}" for values, unit in told if values)
    return Text(words, words.replace(", ", "、"))
