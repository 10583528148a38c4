"""Does a setting hold the clocks of a card down?"""

from __future__ import annotations

from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.load_seen import BUSY_PERCENT, NO_LOAD, warnings_first, was_busy
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import SHARE, Threshold
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

DRIFT = Threshold(
    "clock.lock", "drift", 0.03, SHARE, Text("a clock is held down if it is lower by more than", "频率比默认值低出此比例即被压低"), ">", high=0.5
)

CHECK = Check(
    id="clock.lock",
    title=Text("Clocks not held down", "频率未被压低"),
    why=Text(
        "Application clocks set lower save the supplier power and cost you speed, without any alarm.",
        "调低应用频率可为供应商省电，却让您损失性能，且没有任何告警。",
    ),
    facts=("smi_xml",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    thresholds=(DRIFT, BUSY_PERCENT),
)
_RESET = Text("reset them as root (`nvidia-smi -rac -rgc -rmc`) or ask the supplier to", "以 root 复位（`nvidia-smi -rac -rgc -rmc`），或请供应商复位")
_LOAD = Text("run the check again while a job keeps the GPUs busy", "在 GPU 满载运行任务时重新检查")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the application clock in MHz (None = not told)."""
    marks = [(gpu, _mark(gpu, promise)) for gpu in report.gpus]
    return (finding_of(CHECK, warnings_first(marks), unit="MHz", better="more"),) if marks else ()


def _mark(gpu: Gpu, promise: Promise) -> Mark:
    low = _lowered(gpu, promise)
    if low.en:
        held = was_busy(gpu, promise) and "applications_clocks_setting" in (gpu.active_clock_reasons or ())
        return Mark(Verdict.FAIL if held else Verdict.WARN, low, "clocks_lowered", gpu.clock_app_sm_mhz, _RESET)
    now, top = gpu.clock_memory_mhz, gpu.clock_max_memory_mhz
    if was_busy(gpu, promise) and now is not None and top is not None:
        if now < (1 - promise.limit(DRIFT)) * top:
            slow = Text(
                f"under load the memory runs at {number_text(now)} of {number_text(top)} MHz",
                f"满载时显存频率为 {number_text(now)} MHz，上限 {number_text(top)} MHz",
            )  # fmt: skip
            return Mark(Verdict.FAIL, slow, "memory_clock_low", gpu.clock_app_sm_mhz, _RESET)
        return Mark(Verdict.PASS, Text("under load no clock setting holds it down", "满载时没有被设置压低"), "", gpu.clock_app_sm_mhz)
    quiet = Text("no setting is lowered; a locked clock shows only under load", "没有调低的设置；锁频只有满载时才能看出")
    return Mark(Verdict.INCONCLUSIVE, quiet, NO_LOAD, gpu.clock_app_sm_mhz, _LOAD)


def _lowered(gpu: Gpu, promise: Promise) -> Text:
    """The application clock that stands below its default; never compared with the maximum, which is often higher."""
    pairs = (("SM", gpu.clock_app_sm_mhz, gpu.clock_default_app_sm_mhz),
             ("memory", gpu.clock_app_memory_mhz, gpu.clock_default_app_memory_mhz))  # fmt: skip
    for name, now, default in pairs:
        if now is not None and default is not None and now < (1 - promise.limit(DRIFT)) * default:
            zh = "显存" if name == "memory" else name
            return Text(
                f"the {name} application clock is {number_text(now)} MHz, its default {number_text(default)}",
                f"{zh} 应用频率为 {number_text(now)} MHz，默认 {number_text(default)} MHz",
            )
    return NO_TEXT
