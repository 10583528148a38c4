"""Do heat or the power supply slow the clocks down?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.load_seen import BUSY_PERCENT
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.clock_samples import ClockSample, ClockSamples, span_s
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

TIMES = Threshold(
    "clock.event_reasons", "times", 3, "samples", Text("a slowdown lasts if it is active in", "降频原因出现达到此采样次数即为持续"), ">=", low=1.0
)
APART_S = Threshold(
    "clock.event_reasons", "apart", 8.0, "s", Text("or in a first and a last sample this far apart", "或首末两次采样相隔达到此时长"), ">=", low=1.0
)

CHECK = Check(
    id="clock.event_reasons",
    title=Text("Clock slowdowns", "降频原因"),
    why=Text(
        "A card that is too hot or short of power slows itself down; the invoice does not.",
        "过热或供电不足的卡会自行降频，账单不会随之减少。",
    ),
    facts=("smi_xml",),
    optional=("clock_samples",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    thresholds=(TIMES, APART_S, BUSY_PERCENT),
)
_SLOW = ("hw_slowdown", "hw_thermal_slowdown", "hw_power_brake_slowdown", "sw_thermal_slowdown")
_WORDS = {
    "hw_slowdown": Text("hardware slowdown", "硬件降频"),
    "hw_thermal_slowdown": Text("thermal slowdown by hardware", "硬件过热降频"),
    "hw_power_brake_slowdown": Text("power brake of the supply", "供电制动降频"),
    "sw_thermal_slowdown": Text("thermal slowdown by the driver", "驱动过热降频"),
    "applications_clocks_setting": Text("application clocks set lower", "应用频率被调低"),
    "sync_boost": Text("another GPU pulls the clock down", "被其他 GPU 拉低频率"),
}
_UNDER_LOAD = ("applications_clocks_setting", "sync_boost")

_COOL = Text("ask the supplier for cooling and power of this node, then run again", "请供应商检查该节点的散热与供电，然后重新验收")
_LOAD = Text("run the check again while a job keeps the GPUs busy", "在 GPU 满载运行任务时重新检查")


@dataclass(frozen=True, slots=True)
class _Watched:
    """What was seen of one card: the reasons of the report, then those of each sample."""

    report: frozenset[str]
    samples: tuple[frozenset[str], ...]
    times_needed: float
    apart: bool
    span_s: float
    loaded: bool

    def lasting(self, name: str) -> bool:
        """Whether `name` was active often enough, or again at the end."""
        first = name in self.report or (bool(self.samples) and name in self.samples[0])
        again = len(self.samples) > 0 and name in self.samples[-1] and self.apart
        return self.times(name) >= self.times_needed or (first and again)

    def times(self, name: str) -> int:
        """In how many samples `name` was active."""
        return sum(name in sample for sample in self.samples)

    def once(self, name: str) -> bool:
        """Whether `name` was seen at all."""
        return name in self.report or self.times(name) > 0


def judge(report: SmiReport, samples: ClockSamples | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the reason that slows the worst card."""
    marks = [(gpu, _mark(gpu, samples, promise)) for gpu in report.gpus]
    return (finding_of(CHECK, marks),) if marks else ()


def _mark(gpu: Gpu, samples: ClockSamples | None, promise: Promise) -> Mark:
    own = [s for s in samples.of(gpu.index, gpu.uuid) if s.mask is not None] if samples else []
    watched = _watched(gpu, own, promise)
    for name in _SLOW:
        if watched.lasting(name):
            return Mark(Verdict.FAIL, _lasting(name, watched), name, name, _COOL)
    seen = next((name for name in _SLOW if watched.once(name)), None)
    if seen:
        word = _WORDS[seen]
        return Mark(Verdict.WARN, Text(f"{word.en}, seen once", f"出现过一次{word.zh}"), seen, seen, _COOL)
    if samples is None or not own or not samples.complete:
        return Mark(Verdict.INCONCLUSIVE, Text("the clock reasons were not sampled", "未能采样降频原因"), "not_sampled")
    return _calm(watched)


def _watched(gpu: Gpu, own: Sequence[ClockSample], promise: Promise) -> _Watched:
    names = promise.catalogue.xids.reasons_in
    busy = sum((s.util_percent or 0.0) >= promise.limit(BUSY_PERCENT) for s in own)
    times, length_s = promise.limit(TIMES), span_s(own)
    return _Watched(
        frozenset(gpu.active_clock_reasons or ()), tuple(frozenset(names(s.mask or 0)) for s in own), times,
        length_s >= promise.limit(APART_S), length_s, busy >= times,
    )  # fmt: skip


def _lasting(name: str, watched: _Watched) -> Text:
    word, times, total = _WORDS[name], watched.times(name), len(watched.samples)
    when = Text("under load", "满载时") if watched.loaded else Text("at idle", "空闲时")
    return Text(
        f"{word.en} in {times} of {total} samples over {watched.span_s:.0f} s, {when.en}",
        f"{when.zh}出现{word.zh}：{watched.span_s:.0f} 秒内 {total} 次采样中有 {times} 次",
    )  # fmt: skip


def _calm(watched: _Watched) -> Mark:
    if not watched.loaded:
        return Mark(Verdict.INCONCLUSIVE, Text(
            "nothing slowed the clocks, but the GPU was idle", "没有降频，但 GPU 处于空闲"
        ), "no_load", "none", _LOAD)  # fmt: skip
    held = next((name for name in _UNDER_LOAD if watched.once(name)), None)
    if held:
        return Mark(Verdict.WARN, _WORDS[held], held, held)
    return Mark(Verdict.PASS, Text("nothing slowed the clocks under load", "满载时没有降频"), "", "none")
