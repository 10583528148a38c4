"""Does the driver ask for a reset of a card?"""

from __future__ import annotations

from gpulease_gui.checks.card_age import driver_branch
from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

FIRST_BRANCH = 570

CHECK = Check(
    id="health.recovery_action",
    title=Text("Reset asked for by the driver", "驱动要求的恢复操作"),
    why=Text(
        "A card that waits for a reset answers questions and loses jobs.",
        "等待复位的卡仍能应答查询，但会丢失任务。",
    ),
    facts=("smi_xml",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
_RESET = Text("ask the supplier to do what the driver asks for, then run again", "请供应商按驱动要求处理，然后重新检查")
_READ = Text("run `nvidia-smi --query-gpu=gpu_recovery_action --format=csv` on the node",
             "在节点上运行 `nvidia-smi --query-gpu=gpu_recovery_action --format=csv`")  # fmt: skip


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the word of the driver (None = nothing is needed)."""
    alone = len(report.gpus) == 1
    marks = [(gpu, _mark(gpu, driver_branch(report), alone)) for gpu in report.gpus]
    return (finding_of(CHECK, marks),) if marks else ()


def _mark(gpu: Gpu, branch: int | None, alone: bool) -> Mark:
    action = (gpu.recovery_action or "").strip()
    if action.lower() == "none":
        return Mark(Verdict.PASS, Text("no reset is asked for", "无需恢复操作"), "", "None")
    if action and "recovery" not in " ".join(gpu.error_fields):
        told = Text(f"the driver asks for: {action[:80]}", f"驱动要求：{action[:80]}")
        # Draining peer-to-peer traffic means nothing where there is no peer.
        verdict = Verdict.WARN if alone and action.lower() == "drain p2p" else Verdict.FAIL
        return Mark(verdict, told, "recovery_needed", action[:80], _RESET)
    if branch is not None and branch < FIRST_BRANCH and not gpu.error_fields:
        return Mark(Verdict.NOT_APPLICABLE, Text(f"driver {branch} does not print this yet", f"{branch} 版驱动尚不输出此项"))
    return Mark(Verdict.INCONCLUSIVE, Text("the driver does not tell it", "驱动未给出此项"), "unreadable", None, _READ)
