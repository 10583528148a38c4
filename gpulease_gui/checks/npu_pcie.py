"""Are all NPUs joined by HCCS, without link errors?"""

from __future__ import annotations

import re

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.npu_links import ChipErrors, NpuLinks
from gpulease_gui.facts.npu_smi import NpuReport

CHECK = Check(
    id="npu.pcie",
    title=Text("NPU links", "NPU 互联与链路错误"),
    why=Text(
        "Training boxes join all NPUs by HCCS; a pair over PCIe makes every collective wait for it.",
        "训练整机的 NPU 由 HCCS 全互联；有一对走 PCIe，所有集合通信都要等它。",
    ),
    facts=("npu_links",),
    optional=("npu_smi",),
    needs_promise=False,
    vendor=Vendor.ASCEND,
)
_ASK = Text("ask the supplier which board it is, and for a repair if links are down", "请供应商说明机型；若链路断开则要求维修")
_AGAIN = Text("read the counters again after a job; ask for a repair if they grow", "任务后再读一次；若增长则要求维修")
_RUN = Text("run `npu-smi info -t topo` on the host", "在宿主机上运行 `npu-smi info -t topo`")
# Names under which the boxes with HCCS between all cards appear; the older 910 joins groups of four.
_FULL_MESH = re.compile(r"(?:ascend)?910(?:b\d?(?:-\d)?|c|_93\d+|_9362|_9372)", re.IGNORECASE)


def judge(links: NpuLinks, report: NpuReport | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the number of pairs without HCCS."""
    slow = [(a, b, word) for a, b, word in links.pairs if not word.startswith("HCCS") and word != "SIO"]
    mesh = _is_mesh(report)
    subjects = [SubjectFinding(f"{a}->{b}", Verdict.FAIL if mesh else Verdict.WARN, word, None, Text(word, word)) for a, b, word in slow[:64]]
    subjects += [_chip(chip) for chip in links.chips]
    verdict = worst(s.verdict for s in subjects) if subjects else Verdict.PASS
    if slow or verdict is Verdict.WARN:
        return (_bad(links, slow, subjects, verdict if verdict in (Verdict.FAIL, Verdict.WARN) else Verdict.WARN),)
    if len(links.names) > 1 and not links.complete or not links.names or any(c.errors is None for c in links.chips) or not links.chips:
        torn = Text("not every pair of NPUs or counter was told", "未给出所有 NPU 对的连接或计数")
        return (CHECK.finding(Verdict.INCONCLUSIVE, torn, subjects=subjects, reason_code=Reason.UNREADABLE, next_step=_RUN),)
    whole = Text(f"HCCS between all {len(links.names)} NPUs, no link error", f"{len(links.names)} 个 NPU 之间均为 HCCS，无链路错误")
    return (CHECK.finding(Verdict.PASS, whole, measured=0, unit="pairs", subjects=subjects, better="less"),)


def _is_mesh(report: NpuReport | None) -> bool:
    chips = report.chips if report else ()
    dual = bool(report and chips and report.npu_count * 2 == len(chips))
    return bool(chips) and all(_FULL_MESH.fullmatch(c.name.replace(" ", "")) or dual and c.name.lower() == "ascend910" for c in chips)


def _chip(chip: ChipErrors) -> SubjectFinding:
    key = f"{chip.npu_id}/{chip.chip_id}"
    if chip.errors is None:
        return SubjectFinding(key, Verdict.INCONCLUSIVE, None, chip.npu_id, Text("no counter was told", "未给出计数"))
    told = Text(f"{chip.errors} PCIe errors", f"{chip.errors} 次 PCIe 错误")
    return SubjectFinding(key, Verdict.WARN if chip.errors else Verdict.PASS, chip.errors, chip.npu_id, told)


def _bad(links: NpuLinks, slow: list[tuple[str, str, str]], subjects: list[SubjectFinding], verdict: Verdict) -> Finding:
    errors = sum(c.errors or 0 for c in links.chips)
    if slow:
        words = ", ".join(sorted({word for _, _, word in slow}))[:60]
        reason = Text(f"{len(slow)} of {len(links.pairs)} pairs are not joined by HCCS ({words})", f"{len(links.pairs)} 对中有 {len(slow)} 对不是 HCCS（{words}）")
        return CHECK.finding(verdict, reason, measured=len(slow), unit="pairs", subjects=subjects, reason_code="no_hccs", next_step=_ASK, better="less")
    counted = Text(f"{errors} PCIe errors were counted", f"计有 {errors} 次 PCIe 错误")
    return CHECK.finding(
        verdict, counted, measured=errors, unit="errors", subjects=subjects, reason_code="link_errors", next_step=_AGAIN if errors else NO_TEXT, better="less"
    )
