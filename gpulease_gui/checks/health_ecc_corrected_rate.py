"""Do the error counters of the cards grow while they are at work?"""

from __future__ import annotations

from dataclasses import dataclass

from gpulease_gui.checks.cards import Mark, finding_of
from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.load_seen import was_busy
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Origin, Threshold
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.counters_after import CountersAfter
from gpulease_gui.facts.nvlink_errors import GpuCounts, NvlinkErrors
from gpulease_gui.facts.smi_xml import Gpu, SmiReport

# Of the other counters every new error is a warning.
MANY = Threshold("health.ecc_corrected_rate", "corrected", 10, "errors", Text("fails from this many new corrected errors", "新增可纠正错误达到此数即不符"),
                 ">=", Origin.PUBLISHED, "DCGM diagnostics, most corrected errors", low=1)  # fmt: skip

CHECK = Check(
    id="health.ecc_corrected_rate",
    title=Text("No new errors during the run", "测试期间无新增错误"),
    why=Text(
        "A memory or a link that fails shows as corrected errors first, and only while it works.",
        "显存或链路失效前，先在工作时出现可纠正错误。",
    ),
    facts=("smi_xml", "counters_after"),
    optional=("nvlink_errors",),
    needs_promise=False,
    impact=Impact.ACTIVE,
    level=2,
    vendor=Vendor.NVIDIA,
    takes_s=5,
    thresholds=(MANY,),
)
_REPAIR = Text("run the check again under load; if it grows again, ask for another card", "满载后重新检查；若再次增长，请要求换卡")
_LOAD = Text("run it while a job keeps the cards busy: idle memory shows no errors", "请在任务满载时运行：空闲时不会暴露错误")
_READ = Text("run `nvidia-smi -q` before and after a job", "在任务前后各运行一次 `nvidia-smi -q`")


@dataclass(frozen=True, slots=True)
class _Delta:
    """How much one counter grew; None = not told on one side, or set back between."""

    name: Text
    grown: int | None
    verdict: Verdict  # if it grew


def judge(before: SmiReport, after: CountersAfter, links: NvlinkErrors | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding over all cards; measured is the number of new errors of the worst card."""
    marks = [
        (gpu, _mark(gpu, _twin(gpu, after.report), _links_of(gpu, links), _links_of(gpu, after.links), promise)) for gpu in before.gpus
    ]
    return (finding_of(CHECK, marks, unit="errors", better="less"),) if marks else ()


def _twin(gpu: Gpu, report: SmiReport) -> Gpu | None:
    return next((g for g in report.gpus if (g.uuid == gpu.uuid if g.uuid and gpu.uuid else g.index == gpu.index)), None)


def _links_of(gpu: Gpu, links: NvlinkErrors | None) -> GpuCounts | None:
    return next((g for g in links.gpus if (g.uuid == gpu.uuid if g.uuid and gpu.uuid else g.index == gpu.index)), None) if links else None


def _mark(gpu: Gpu, now: Gpu | None, links: GpuCounts | None, links_now: GpuCounts | None, promise: Promise) -> Mark:
    if now is None:
        gone = Text("the card is missing from the later report", "后一次报告中没有该卡")
        return Mark(Verdict.FAIL, gone, "card_lost", None, _REPAIR, Basis.MEASURED)
    deltas = _deltas(gpu, now, links, links_now, promise.limit(MANY))
    grown = [d for d in deltas if d.grown]
    if grown:
        worst = next((d for d in grown if d.verdict is Verdict.FAIL), grown[0])
        words = Text("; ".join(f"{d.grown} new {d.name.en}" for d in grown), "；".join(f"新增 {d.grown} 次{d.name.zh}" for d in grown))
        return Mark(worst.verdict, words, "errors_grow", sum(d.grown or 0 for d in grown), _REPAIR, Basis.MEASURED)
    told = [d for d in deltas if d.grown is not None]
    if deltas[0].grown is None:
        unread = Text("the memory's counter was not told twice, or was set back", "未能两次读到显存计数，或计数被清零")
        return Mark(Verdict.INCONCLUSIVE, unread, Reason.UNREADABLE, None, _READ, Basis.MEASURED)
    calm = Text(f"none of {len(told)} counters grew", f"{len(told)} 项计数均未增长")
    if not was_busy(gpu, promise) and not was_busy(now, promise):
        idle = Text(f"{calm.en}, but the card was idle", f"{calm.zh}，但该卡处于空闲")
        return Mark(Verdict.INCONCLUSIVE, idle, "no_load", 0, _LOAD, Basis.MEASURED)
    return Mark(Verdict.PASS, calm, "", 0, NO_TEXT, Basis.MEASURED)


def _deltas(gpu: Gpu, now: Gpu, links: GpuCounts | None, links_now: GpuCounts | None, many: float) -> tuple[_Delta, ...]:
    """The memory's counter first: it decides whether anything was seen."""
    corrected = _grown(gpu.ecc_corrected_volatile, now.ecc_corrected_volatile)
    hard = ("recovery", "crc", "replay")
    return (
        _Delta(_ECC, corrected, Verdict.FAIL if (corrected or 0) >= many else Verdict.WARN),
        _Delta(_FATAL, _grown(gpu.ecc_uncorrected_volatile, now.ecc_uncorrected_volatile), Verdict.FAIL),
        _Delta(_REMAP, _grown(gpu.remapped_rows_correctable, now.remapped_rows_correctable), Verdict.WARN),
        _Delta(_REMAP_FATAL, _grown(gpu.remapped_rows_uncorrectable, now.remapped_rows_uncorrectable), Verdict.FAIL),
        _Delta(_BUS, _grown(gpu.pcie_replay_count, now.pcie_replay_count), Verdict.WARN),
        _Delta(_LINK, _grown(links.total(*hard) if links and links.counts else None, links_now.total(*hard) if links_now and links_now.counts else None),
               Verdict.WARN),
    )  # fmt: skip


def _grown(before: int | None, now: int | None) -> int | None:
    if before is None or now is None or before < 0 or now < before:
        return None
    return now - before


_ECC, _FATAL = Text("corrected memory errors", "可纠正显存错误"), Text("uncorrected memory errors", "不可纠正显存错误")
_REMAP, _REMAP_FATAL = Text("rows remapped", "行重映射"), Text("rows remapped after uncorrected errors", "因不可纠正错误的行重映射")
_BUS, _LINK = Text("PCIe packets sent again", "PCIe 重传"), Text("NVLink errors", "NVLink 错误")
