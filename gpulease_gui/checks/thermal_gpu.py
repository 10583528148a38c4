"""Are the cards cool enough?"""

from __future__ import annotations

from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.load_seen import BUSY_PERCENT, NO_LOAD, warnings_first, was_busy
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

HOT_C = Threshold("thermal.gpu", "hot", 83.0, "°C", Text("a card is hot above", "显卡偏热的下限"), ">", high=150.0)
MEMORY_HOT_C = Threshold("thermal.gpu", "memory_hot", 95.0, "°C", Text("its memory is hot above", "显存偏热的下限"), ">", high=150.0)
SLOWDOWN_C = Threshold(
    "thermal.gpu", "slowdown", 90.0, "°C", Text("too hot, where the card tells no limit of its own, from", "卡未给出降频温度时过热的下限"), ">=", high=150.0
)
SPREAD_C = Threshold("thermal.gpu", "spread", 20.0, "°C", Text("uneven if above the coolest card of the node by more than", "比同节点最凉的卡高出此值即不均"), ">", high=150.0)
MARGIN_C = Threshold("thermal.gpu", "margin", 5.0, "°C", Text("too near its limit with a margin of at most", "距降频温度不足此值即过近"), "<=", high=50.0)

CHECK = Check(
    id="thermal.gpu",
    title=Text("GPU temperatures", "GPU 温度"),
    why=Text(
        "A card that is already warm at idle will slow itself down under load.",
        "空闲时就偏热的卡，满载必然降频。",
    ),
    facts=("smi_xml",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    thresholds=(HOT_C, MEMORY_HOT_C, SLOWDOWN_C, SPREAD_C, MARGIN_C, BUSY_PERCENT),
)
_COOL = Text("ask the supplier about the cooling of this node", "请供应商检查该节点的散热")
_LOAD = Text("run the check again while a job keeps the GPUs busy", "在 GPU 满载运行任务时重新检查")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the temperature in degrees C. An idle reading can only warn."""
    told = [gpu.temperature_c for gpu in report.gpus if gpu.temperature_c is not None]
    coolest = min(told, default=None)
    marks = [(gpu, _mark(gpu, coolest, promise)) for gpu in report.gpus]
    return (finding_of(CHECK, warnings_first(marks), unit="°C", better="less"),) if marks else ()


def _mark(gpu: Gpu, coolest: float | None, promise: Promise) -> Mark:
    now, memory, busy = gpu.temperature_c, gpu.memory_temperature_c, was_busy(gpu, promise)
    if now is None or not 0 < now < 150:
        return Mark(Verdict.INCONCLUSIVE, Text("the temperature was not told", "未给出温度"), "unreadable", None, _LOAD)
    limit = gpu.temperature_slowdown_c or promise.limit(SLOWDOWN_C)
    shown = number_text(now)
    if now >= limit:
        return Mark(Verdict.FAIL, Text(
            f"{shown} °C, at {number_text(limit)} °C the card slows down", f"{shown} °C，{number_text(limit)} °C 起降频"
        ), "too_hot", now, _COOL)  # fmt: skip
    state = Text("under load", "满载") if busy else Text("at idle", "空闲")
    if now > promise.limit(HOT_C) or (memory is not None and memory > promise.limit(MEMORY_HOT_C)) or _close(gpu, promise):
        return Mark(Verdict.WARN, Text(f"{shown} °C {state.en}", f"{state.zh}时 {shown} °C"), "hot", now, _COOL)
    if coolest is not None and now - coolest > promise.limit(SPREAD_C):
        return Mark(Verdict.WARN, Text(
            f"{shown} °C, the coolest card has {number_text(coolest)} °C", f"{shown} °C，最凉的卡为 {number_text(coolest)} °C"
        ), "uneven", now, _COOL)  # fmt: skip
    if busy:
        return Mark(Verdict.PASS, Text(f"{shown} °C under load", f"满载时 {shown} °C"), "", now)
    return Mark(Verdict.INCONCLUSIVE, Text(f"{shown} °C at idle: this tells nothing of load", f"空闲时 {shown} °C，不能说明满载情况"), NO_LOAD, now, _LOAD)


def _close(gpu: Gpu, promise: Promise) -> bool:
    """A margin of zero or less means on some cards that none is told."""
    return gpu.temperature_margin_c is not None and 0 < gpu.temperature_margin_c <= promise.limit(MARGIN_C)
