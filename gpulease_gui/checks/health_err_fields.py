"""Does every sensor of every card answer?"""

from __future__ import annotations

from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

# One failed reading can be a hiccup, two are none.
TWICE = Threshold("health.err_fields", "vital", 2, "fields", Text("fails from this many vital fields with an error", "关键字段报错达到此数即不符"), ">=", low=1.0)

CHECK = Check(
    id="health.err_fields",
    title=Text("Fields that print an error", "报错的字段"),
    why=Text(
        "nvidia-smi ends with success even where a card no longer answers: the error stands in the field.",
        "即使显卡已不应答，nvidia-smi 也会返回成功：错误只写在字段里。",
    ),
    facts=("smi_xml",),
    optional=("environment",),
    needs_promise=False,
    vendor=Vendor.NVIDIA,
    rule_version=2,
    thresholds=(TWICE,),
)
_VITAL = ("temperature", "power", "memory", "clock", "ecc", "fb_memory")
LOST_CODE = 15  # "the GPU has fallen off the bus": nvidia-smi does not say which one

_RESET = Text("ask the supplier to reset the GPU or restart the node; if it comes back, replace the card",
              "请供应商复位 GPU 或重启节点；若再次出现则更换")  # fmt: skip
_AGAIN = Text("run the check again; one error can be a hiccup", "请再检查一次；单个错误可能是偶发")
_ASK = Text("ask the supplier for the rights to read these fields", "请供应商开放这些字段的读取权限")


def judge(report: SmiReport, environment: Environment | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the number of fields with an error."""
    guest = environment is not None and environment.is_wsl
    marks = [(gpu, _mark(gpu, guest or (gpu.virtualization_mode or "").lower() == "vgpu", promise)) for gpu in report.gpus]
    if not marks:
        return ()
    return (finding_of(CHECK, [(gpu, _with_warnings(mark, report)) for gpu, mark in marks], unit="fields", better="less"),)


def _mark(gpu: Gpu, guest: bool, promise: Promise) -> Mark:
    broken = gpu.error_fields
    shown = ", ".join(broken[:4])
    if gpu.lost_fields:
        lost = Text(f"the GPU is lost or needs a reset ({gpu.lost_fields[0]})", f"GPU 已丢失或需要复位（{gpu.lost_fields[0]}）")
        return Mark(Verdict.FAIL, lost, "gpu_lost", len(broken), _RESET)
    told = Text(f"{len(broken)} fields print an error: {shown}", f"{len(broken)} 个字段报错：{shown}")
    if sum(_is_vital(name) for name in broken) >= promise.limit(TWICE) and not guest:
        return Mark(Verdict.FAIL, told, "error_fields", len(broken), _RESET)
    if broken:
        return Mark(Verdict.WARN, told, "error_fields", len(broken), _AGAIN)
    if gpu.denied_fields:
        denied = Text(
            f"{len(gpu.denied_fields)} fields may not be read by this user", f"{len(gpu.denied_fields)} 个字段当前用户无权读取"
        )
        return Mark(Verdict.WARN, denied, "denied", 0, _ASK)
    if gpu.temperature_c is None and gpu.memory_total_mib is None and gpu.power_draw_w is None:
        return Mark(Verdict.INCONCLUSIVE, Text("no sensor of this card is told", "未给出该卡任何传感器读数"), "unreadable", None, _AGAIN)
    return Mark(Verdict.PASS, Text("no field prints an error", "没有字段报错"), "", 0)


def _is_vital(name: str) -> bool:
    return name.split("/")[0].startswith(_VITAL) or any(f"/{word}" in name for word in _VITAL)


def _with_warnings(mark: Mark, report: SmiReport) -> Mark:
    """A warning beside the report spoils a clean card; an exit code that means a lost GPU is a failure."""
    if mark.verdict is not Verdict.FAIL and report.exit_code == LOST_CODE:
        return Mark(Verdict.FAIL, _ended(report), "gpu_lost", mark.measured, _RESET)
    if mark.verdict is not Verdict.PASS or not report.warnings:
        return mark
    said = report.warnings[0][:200]
    told = _ended(report) if report.exit_code and len(report.warnings) == 1 else Text(f"nvidia-smi adds: {said}", f"nvidia-smi 另外提示：{said}")
    return Mark(Verdict.WARN, told, "smi_warning", 0, _AGAIN)


def _ended(report: SmiReport) -> Text:
    return Text(report.warnings[-1], f"nvidia-smi 以退出码 {report.exit_code} 结束{'：有 GPU 掉卡' if report.exit_code == LOST_CODE else ''}")
