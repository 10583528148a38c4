"""Did the memory of an Ascend chip fail?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.npu_ecc import NpuEcc, NpuErrors

CHECK = Check(
    id="npu.ecc",
    title=Text("NPU memory errors", "NPU 内存错误"),
    why=Text(
        "A double-bit error kills the job; isolated pages show that the memory is wearing.",
        "双比特错误会中断任务；隔离页说明内存在老化。",
    ),
    facts=("npu_ecc",),
    needs_promise=False,
    vendor=Vendor.ASCEND,
)
_REPLACE = Text("ask the supplier to reset the card and run again; if it comes back, to replace it", "请供应商复位该卡后重测；若再次出现则更换")
_RUN = Text("run `npu-smi info -t ecc -i N` on the node", "在节点上运行 `npu-smi info -t ecc -i N`")
_CODES = {Verdict.FAIL: "double_bit_errors", Verdict.WARN: "single_bit_errors", Verdict.INCONCLUSIVE: str(Reason.UNREADABLE)}


def judge(ecc: NpuEcc, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each card; measured is the number of double-bit errors."""
    subjects = [_subject(npu) for npu in ecc.npus]
    verdict = worst(s.verdict for s in subjects)
    first = next(s for s in subjects if s.verdict is verdict)
    counts = [n.double_bit for n in ecc.npus if n.double_bit is not None]
    step = {Verdict.PASS: NO_TEXT, Verdict.INCONCLUSIVE: _RUN}.get(verdict, _REPLACE)
    return (CHECK.finding(
        verdict, Text(f"{first.id}: {first.reason.en}", f"{first.id}：{first.reason.zh}"), measured=sum(counts) if counts else None,
        unit="errors", subjects=subjects, reason_code=_CODES.get(verdict, ""), next_step=step, better="less",
    ),)  # fmt: skip


def _subject(npu: NpuErrors) -> SubjectFinding:
    single, double, isolated = npu.single_bit, npu.double_bit, npu.isolated
    told = Text(
        f"{'?' if double is None else double} double-bit and {'?' if single is None else single} single-bit errors, {isolated or 0} isolated pages",
        f"双比特错误 {'?' if double is None else double}，单比特错误 {'?' if single is None else single}，隔离页 {isolated or 0}",
    )
    if double:
        verdict = Verdict.FAIL
    elif single or isolated:
        verdict = Verdict.WARN
    else:
        verdict = Verdict.INCONCLUSIVE if single is None or double is None else Verdict.PASS
    return SubjectFinding(f"NPU {npu.npu_id}", verdict, double, npu.npu_id, told)
