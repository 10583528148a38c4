"""May programs use the cards, and without a server in between?"""

from __future__ import annotations

from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.device_nodes import DeviceNodes
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

CHECK = Check(
    id="iso.compute_mode",
    title=Text("Compute mode and MPS", "计算模式与 MPS"),
    why=Text(
        "A prohibited card computes nothing; an MPS server can give you a fixed share of it.",
        "被禁止计算的卡无法使用；MPS 服务可以只分给您固定份额。",
    ),
    facts=("smi_xml",),
    optional=("device_nodes",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
_RESET = Text("set it back as root (`nvidia-smi -c 0`) or ask the supplier to", "以 root 恢复（`nvidia-smi -c 0`），或请供应商恢复")
_ASK = Text("ask the supplier whose MPS server this is", "请供应商说明这是谁的 MPS 服务")


def judge(report: SmiReport, devices: DeviceNodes | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the compute mode."""
    served = _served(devices)
    marks = [(gpu, _mark(gpu, served)) for gpu in report.gpus]
    return (finding_of(CHECK, marks),) if marks else ()


def _served(devices: DeviceNodes | None) -> Text:
    """What speaks of a server that shares the cards out; empty if nothing does."""
    if devices is None:
        return NO_TEXT
    share = devices.variable("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE")
    if share and share.strip() != "100":
        return Text(f"programs here get {share[:12]} % of a card (CUDA_MPS_ACTIVE_THREAD_PERCENTAGE)",
                    f"程序只能使用每卡 {share[:12]}%（CUDA_MPS_ACTIVE_THREAD_PERCENTAGE）")  # fmt: skip
    if devices.mps:
        return Text(f"an MPS server is set up at {devices.mps[:120]}", f"{devices.mps[:120]} 处有 MPS 服务")
    return NO_TEXT


def _mark(gpu: Gpu, served: Text) -> Mark:
    mode = (gpu.compute_mode or "").strip()
    plain = mode.lower().replace(" ", "_")
    if plain == "prohibited":
        return Mark(Verdict.FAIL, Text("programs may not compute on this card", "该卡禁止计算"), "prohibited", mode, _RESET)
    if plain not in ("default", "exclusive_process", "exclusive_thread"):
        return Mark(Verdict.INCONCLUSIVE, Text("the compute mode was not told", "未给出计算模式"), Reason.UNREADABLE, None, _RESET)
    if served.en:
        return Mark(Verdict.WARN, served, "mps", mode, _ASK)
    return Mark(Verdict.PASS, Text(f"compute mode {mode}", f"计算模式 {mode}"), "", mode)
