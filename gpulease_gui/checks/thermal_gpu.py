"""Are the cards cool enough?"""

from __future__ import annotations

from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.load_seen import NO_LOAD, warnings_first, was_busy
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

HOT_C, MEMORY_HOT_C, SLOWDOWN_C, SPREAD_C, MARGIN_C = 83.0, 95.0, 90.0, 20.0, 5.0

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
)
_COOL = Text("ask the supplier about the cooling of this node", "请供应商检查该节点的散热")
_LOAD = Text("run the check again while a job keeps the GPUs busy", "在 GPU 满载运行任务时重新检查")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the temperature in degrees C. An idle reading can only warn."""
    told = [gpu.temperature_c for gpu in report.gpus if gpu.temperature_c is not None]
    coolest = min(told, default=None)
    marks = [(gpu, _mark(gpu, coolest)) for gpu in report.gpus]
    return (finding_of(CHECK, warnings_first(marks), unit="°C", better="less"),) if marks else ()


def _mark(gpu: Gpu, coolest: float | None) -> Mark:
    now, memory, busy = gpu.temperature_c, gpu.memory_temperature_c, was_busy(gpu)
    if now is None or not 0 < now < 150:
        return Mark(Verdict.INCONCLUSIVE, Text("the temperature was not told", "未给出温度"), "unreadable", None, _LOAD)
    limit = gpu.temperature_slowdown_c or SLOWDOWN_C
    shown = number_text(now)
    if now >= limit:
        return Mark(Verdict.FAIL, Text(
            f"{shown} °C, at {number_text(limit)} °C the card slows down", f"{shown} °C，{number_text(limit)} °C 起降频"
        ), "too_hot", now, _COOL)  # fmt: skip
    state = Text("under load", "满载") if busy else Text("at idle", "空闲")
    if now > HOT_C or (memory is not None and memory > MEMORY_HOT_C) or _close(gpu):
        return Mark(Verdict.WARN, Text(f"{shown} °C {state.en}", f"{state.zh}时 {shown} °C"), "hot", now, _COOL)
    if coolest is not None and now - coolest > SPREAD_C:
        return Mark(Verdict.WARN, Text(
            f"{shown} °C, the coolest card has {number_text(coolest)} °C", f"{shown} °C，最凉的卡为 {number_text(coolest)} °C"
        ), "uneven", now, _COOL)  # fmt: skip
    if busy:
        return Mark(Verdict.PASS, Text(f"{shown} °C under load", f"满载时 {shown} °C"), "", now)
    return Mark(Verdict.INCONCLUSIVE, Text(f"{shown} °C at idle: this tells nothing of load", f"空闲时 {shown} °C，不能说明满载情况"), NO_LOAD, now, _LOAD)


def _close(gpu: Gpu) -> bool:
    """A margin of zero or less means on some cards that none is told."""
    return gpu.temperature_margin_c is not None and 0 < gpu.temperature_margin_c <= MARGIN_C
