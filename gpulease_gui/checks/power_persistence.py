"""Does the driver stay loaded between jobs?"""

from __future__ import annotations

from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

CHECK = Check(
    id="power.persistence",
    title=Text("Persistence mode", "持久模式"),
    why=Text(
        "Without it the driver unloads when idle: jobs start seconds later and limits that were set are forgotten.",
        "未开启时驱动会在空闲后卸载：任务启动变慢，已设置的限额也会丢失。",
    ),
    facts=("smi_xml",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
_SWITCH_ON = Text("switch it on as root (`nvidia-smi -pm 1`) or ask the supplier to", "以 root 开启（`nvidia-smi -pm 1`），或请供应商开启")
_READ = Text("run `nvidia-smi -q` on the node", "在节点上运行 `nvidia-smi -q`")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is Enabled or Disabled."""
    marks = [(gpu, _mark(gpu)) for gpu in report.gpus]
    return (finding_of(CHECK, marks),) if marks else ()


def _mark(gpu: Gpu) -> Mark:
    mode = (gpu.persistence_mode or "").strip()
    if mode.lower() == "enabled":
        return Mark(Verdict.PASS, Text("persistence mode is on", "持久模式已开启"), "", mode)
    if mode.lower() == "disabled":
        return Mark(Verdict.WARN, Text("persistence mode is off", "持久模式未开启"), "persistence_off", mode, _SWITCH_ON)
    return Mark(Verdict.INCONCLUSIVE, Text("the driver does not tell it", "驱动未给出"), "unreadable", None, _READ)
