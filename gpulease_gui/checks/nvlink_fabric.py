"""Has the switch fabric taken every card in?"""

from __future__ import annotations

from gpulease_gui.checks.card_age import is_before_hopper
from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.clock_now import ClockNow
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

PATIENCE_S = Threshold(
    "nvlink.fabric", "patience", 300.0, "s", Text("a card must have joined once the node is up for", "节点启动超过此时长后卡应已纳管"), ">"
)

CHECK = Check(
    id="nvlink.fabric",
    title=Text("NVSwitch fabric", "NVSwitch 互联状态"),
    why=Text(
        "Until the fabric manager has taken a card in, CUDA on it starts with error 802.",
        "在 fabric manager 纳管之前，CUDA 启动会报错 802。",
    ),
    facts=("smi_xml",),
    optional=("clock_now",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    thresholds=(PATIENCE_S,),
)
_ASK = Text("ask the supplier to restart nvidia-fabricmanager (same version as the driver)", "请供应商重启 nvidia-fabricmanager（版本须与驱动一致）")
_WAIT = Text("wait five minutes after the start, then run again", "启动五分钟后再检查")


def judge(report: SmiReport, clock: ClockNow | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is state and status. Completed alone is not enough."""
    settled = clock is not None and clock.uptime_s is not None and clock.uptime_s > promise.limit(PATIENCE_S)
    needs = promise.get("gpu.interconnect")
    switched = needs is not None and needs.value == "nvswitch"
    marks = [(gpu, _mark(gpu, settled, switched, promise)) for gpu in report.gpus]
    return (finding_of(CHECK, marks),) if marks else ()


def _mark(gpu: Gpu, settled: bool, switched: bool, promise: Promise) -> Mark:
    state, status = (gpu.fabric_state or "").lower(), (gpu.fabric_status or "").lower()
    shown = f"{gpu.fabric_state or '?'} / {gpu.fabric_status or '?'}"[:80]
    told = Text(f"fabric {shown}", f"互联状态 {shown}")
    if (gpu.fabric_health or "").lower() == "unhealthy":
        return Mark(Verdict.FAIL, Text(f"{told.en}, unhealthy", f"{told.zh}，不健康"), "unhealthy", shown, _ASK)
    if state == "completed":
        return _completed(status, told, shown)
    if state == "in progress":
        verdict = Verdict.FAIL if settled else Verdict.INCONCLUSIVE
        return Mark(verdict, told, "in_progress", shown, _ASK if settled else _WAIT)
    if state and "not supported" not in state:
        return Mark(Verdict.FAIL if switched else Verdict.WARN, told, "not_started", shown, _ASK)
    return _silent(gpu, switched, promise)


def _completed(status: str, told: Text, shown: str) -> Mark:
    if status == "success":
        return Mark(Verdict.PASS, told, "", shown)
    if not status:
        return Mark(Verdict.INCONCLUSIVE, Text(f"{told.en}: how it ended is not told", f"{told.zh}：结果未说明"), Reason.UNREADABLE, shown, _ASK)
    return Mark(Verdict.FAIL, told, "fabric_failed", shown, _ASK)


def _silent(gpu: Gpu, switched: bool, promise: Promise) -> Mark:
    """Boards up to Ampere and cards without a switch print nothing here."""
    broken = any("fabric" in name for name in gpu.error_fields)
    if switched and is_before_hopper(gpu, promise) is not True or broken:
        return Mark(Verdict.INCONCLUSIVE, Text("the driver does not tell the fabric", "驱动未给出互联状态"), Reason.UNREADABLE, None, _ASK)
    return Mark(Verdict.NOT_APPLICABLE, Text("no NVSwitch fabric is told of here", "此处没有 NVSwitch 互联"))
