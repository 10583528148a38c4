"""Does a card have to send its PCIe packets again?"""

from __future__ import annotations

from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

CHECK = Check(
    id="pcie.replay",
    title=Text("PCIe packets sent again", "PCIe 重传"),
    why=Text(
        "A loose riser or a dirty contact shows as packets that are sent again, long before the link fails.",
        "转接卡松动或触点脏污，会先表现为数据包重传，随后才会断链。",
    ),
    facts=("smi_xml",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
_AGAIN = Text("read the counter again after an hour of load; if it grows by more than 8 a minute, ask for a repair",
              "满载一小时后再读一次；若每分钟增长超过 8 次则要求维修")  # fmt: skip
_READ = Text("run `nvidia-smi -q` on the node and read Replays Since Reset", "在节点上运行 `nvidia-smi -q`，查看 Replays Since Reset")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the count since the last reset: one reading tells no rate."""
    marks = [(gpu, _mark(gpu)) for gpu in report.gpus]
    return (finding_of(CHECK, marks, unit="packets", better="less"),) if marks else ()


def _mark(gpu: Gpu) -> Mark:
    count = gpu.pcie_replay_count
    if count is None or count < 0:
        return Mark(Verdict.INCONCLUSIVE, Text("the counter was not told", "未给出计数"), "unreadable", None, _READ)
    if count:
        told = Text(f"{count:,} packets were sent again since the last reset", f"上次复位以来重传 {count:,} 次")
        return Mark(Verdict.WARN, told, "replays", count, _AGAIN)
    return Mark(Verdict.PASS, Text("none since the last reset", "上次复位以来没有重传"), "", 0)
