"""Is a card past the number of SRAM errors at which its maker replaces it?"""

from __future__ import annotations

from gpulease_gui.checks.card_age import driver_branch, is_before_hopper
from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.health_ecc_uncorrected import counts_errors, is_geforce
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

FIRST_BRANCH = 550  # 535 prints the flag only in some builds

CHECK = Check(
    id="health.sram_threshold",
    title=Text("SRAM error threshold", "SRAM 错误阈值"),
    why=Text(
        "The driver raises this flag when the chip's own memory failed too often: the maker then replaces the card.",
        "芯片内部存储出错过多时驱动会置位该标志，按厂商规定应更换该卡。",
    ),
    facts=("smi_xml",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
)
_REPLACE = Text("ask the supplier to replace the card", "请供应商更换该卡")
_READ = Text("run `nvidia-smi -q -d ECC` on the node", "在节点上运行 `nvidia-smi -q -d ECC`")
_SWITCH_ON = Text("ask the supplier to switch ECC on (`nvidia-smi -e 1` and a restart)", "请供应商开启 ECC（`nvidia-smi -e 1` 并重启）")


def judge(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the flag, Yes or No."""
    marks = [(gpu, _mark(gpu, driver_branch(report), promise)) for gpu in report.gpus]
    return (finding_of(CHECK, marks),) if marks else ()


def _mark(gpu: Gpu, branch: int | None, promise: Promise) -> Mark:
    flag = (gpu.sram_threshold_exceeded or "").lower()
    if flag == "no":
        return Mark(Verdict.PASS, Text("below the threshold", "未超过阈值"), "", "No")
    if flag == "yes":
        return Mark(Verdict.FAIL, Text("past the threshold at which the maker replaces it", "已超过厂商更换阈值"), "threshold_exceeded", "Yes", _REPLACE)
    if flag or any("sram" in name for name in gpu.error_fields):
        return Mark(Verdict.INCONCLUSIVE, Text("the flag can't be read", "该标志无法识别"), "unreadable", None, _READ)
    return _silent(gpu, branch, promise)


def _silent(gpu: Gpu, branch: int | None, promise: Promise) -> Mark:
    """No flag at all: does this card, or this driver, have one?"""
    if branch is not None and branch < FIRST_BRANCH:
        return Mark(Verdict.NOT_APPLICABLE, Text(f"driver {branch} does not print this flag", f"{branch} 版驱动不输出该标志"))
    if is_before_hopper(gpu, promise) or is_geforce(gpu):
        return Mark(Verdict.NOT_APPLICABLE, Text("this card keeps no such flag", "该卡没有这一标志"))
    if (gpu.ecc_mode_current or "").lower() == "disabled" and not counts_errors(gpu, promise):
        return Mark(Verdict.NOT_APPLICABLE, Text("as delivered, this card counts no ECC errors", "该卡出厂设置不统计 ECC 错误"))
    if (gpu.ecc_mode_current or "").lower() == "disabled":
        return Mark(Verdict.INCONCLUSIVE, Text("ECC is off, so nothing is counted", "ECC 已关闭，没有计数"), "ecc_off", None, _SWITCH_ON)
    return Mark(Verdict.INCONCLUSIVE, Text("the driver does not tell the flag", "驱动未给出该标志"), "unreadable", None, _READ)
