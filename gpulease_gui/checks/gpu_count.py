"""Are all rented GPUs there?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.smi_list import SmiList
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

TERM = "gpu.count"

CHECK = Check(
    id="gpu.count",
    title=Text("GPU count", "GPU 数量"),
    why=Text(
        "A card that fell off the bus stays on the invoice; it is seen only by counting the cards that answer.",
        "掉卡的 GPU 仍会计费，只有数清能应答的卡才会发现。",
    ),
    facts=("smi_xml",),
    optional=("smi_list",),
    terms=(TERM,),
    vendor=Vendor.NVIDIA,
    partial=True,
    rule_version=2,
    ask=Text("How many GPUs does each node have?", "每个节点有几张 GPU？"),
)
_HANDLE = "unable to determine the device handle"
_BOTH = Text("run `nvidia-smi -L` and `nvidia-smi -q` by hand and ask the supplier to explain the difference",
             "请手动运行 `nvidia-smi -L` 与 `nvidia-smi -q`，并要求供应商解释差异")  # fmt: skip
_RESET = Text("ask the supplier to bring the missing GPU back and for the kernel log", "请供应商恢复缺失的 GPU 并提供内核日志")


def judge(report: SmiReport, listed: SmiList | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding: the cards that answer, each counted once, against gpu.count."""
    if report.cut_off:
        return _of_a_part(report, promise)
    answering = {gpu.key: gpu for gpu in report.gpus if not gone(gpu)}
    count, stated = len(answering), promise.get(TERM)
    bad = _lost(report) or _other_count(report, listed, count)
    if stated is None and bad is None:
        return (CHECK.not_promised(TERM, count, unit="GPUs"),)
    verdict, reason, code = _compare(report, count, stated, bad)
    return (CHECK.finding(
        verdict, reason, term=TERM, promised=int(stated.number) if stated else None, measured=count, unit="GPUs",
        subjects=_subjects(report), reason_code=str(code), next_step=_step(verdict, code), better="more",
    ),)  # fmt: skip


def _of_a_part(report: SmiReport, promise: Promise) -> tuple[Finding, ...]:
    """Cards that are missing in a broken-off report may only be cut off; a card that is called lost is lost."""
    stated = promise.get(TERM)
    if not report.warnings:
        return ()
    return (CHECK.finding(
        Verdict.FAIL, Text(f"a GPU does not answer: {report.warnings[0]}", f"有 GPU 没有应答：{report.warnings[0]}"), term=TERM,
        promised=int(stated.number) if stated else None, unit="GPUs", reason_code="gpu_lost", next_step=_RESET, better="more",
    ),)  # fmt: skip


def gone(gpu: Gpu) -> bool:
    """Whether a record only says that its GPU no longer answers."""
    return bool(gpu.error_fields) and gpu.memory_total_mib is None and gpu.temperature_c is None


def _step(verdict: Verdict, code: str) -> Text:
    if code == Reason.INCONSISTENT:
        return _BOTH
    return _RESET if verdict is Verdict.FAIL else NO_TEXT


_Answer = tuple[Verdict, Text, str]


def _lost(report: SmiReport) -> _Answer | None:
    line = next((line for line in report.warnings if _HANDLE in line.lower()), None)
    return (Verdict.FAIL, Text(f"a GPU does not answer: {line}", f"有 GPU 没有应答：{line}"), "gpu_lost") if line else None


def _other_count(report: SmiReport, listed: SmiList | None, count: int) -> _Answer | None:
    """Two answers of one node that contradict; a list that breaks off leaves the count open."""
    if listed is None or len(listed.gpus) in (len(report.gpus), count):
        return None
    words = Text(
        f"nvidia-smi -q reports {len(report.gpus)} GPUs, nvidia-smi -L lists {len(listed.gpus)}",
        f"nvidia-smi -q 报告 {len(report.gpus)} 张 GPU，nvidia-smi -L 列出 {len(listed.gpus)} 张",
    )
    return Verdict.INCONCLUSIVE if listed.cut_off else Verdict.FAIL, words, Reason.INCONSISTENT


def _gpus(count: int) -> str:
    return "1 GPU answers" if count == 1 else f"{count} GPUs answer"


def _compare(report: SmiReport, count: int, stated: Stated | None, bad: _Answer | None) -> _Answer:
    want = int(stated.number) if stated else None
    if want is not None and count < want:
        return Verdict.FAIL, Text(f"{_gpus(count)}, {want} were promised", f"有 {count} 张 GPU 应答，承诺 {want} 张"), "too_few"
    if bad:
        return bad
    listed = report.attached_gpus_stated
    if listed is not None and listed != len(report.gpus) or len(report.gpus) != len({g.key for g in report.gpus}):
        return Verdict.INCONCLUSIVE, Text(
            f"the report contradicts itself: {listed} GPUs stated, {len(report.gpus)} listed, {count} of them apart",
            f"输出自相矛盾：声明 {listed} 张，列出 {len(report.gpus)} 张，其中不重复的 {count} 张",
        ), Reason.INCONSISTENT  # fmt: skip
    if want is not None and count > want:
        return Verdict.WARN, Text(f"{_gpus(count)}, only {want} were promised", f"有 {count} 张 GPU 应答，只承诺 {want} 张"), "too_many"
    return Verdict.PASS, Text(f"all {count} promised GPUs answer", f"承诺的 {count} 张 GPU 全部应答"), ""


def _subjects(report: SmiReport) -> list[SubjectFinding]:
    silent = Text("this GPU no longer answers", "该 GPU 已无应答")
    return [SubjectFinding(g.key, Verdict.FAIL, g.bus_id, g.index, silent) for g in report.gpus if gone(g)]
