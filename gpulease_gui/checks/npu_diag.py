"""Does the vendor's own diagnosis find the NPUs sound?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.npu_bandwidth import VERDICTS
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.npu_diag import NpuDiag

CHECK = Check(
    id="npu.diag",
    title=Text("Vendor's diagnosis of the NPUs", "NPU 厂商诊断"),
    why=Text(
        "The vendor's stress test finds what counters don't tell, and its words count in a warranty case.",
        "厂商压测能发现计数器看不到的问题，保修时也以它为准。",
    ),
    facts=("npu_diag",),
    needs_promise=False,
    impact=Impact.DISRUPTIVE,
    level=3,
    vendor=Vendor.ASCEND,
    takes_s=900,
    writes=Text("logs of the tool; all NPUs are stressed, jobs on them break", "仅工具日志；所有 NPU 满载压测，其上任务会中断"),
)
_ASK = Text("send the whole output and the logs of msnpureport to the supplier", "将完整输出与 msnpureport 日志发给供应商")
_ROOT = Text("run `ascend-dmi --dg -s -q` as root on the host: some items need it", "以 root 在宿主机上运行 `ascend-dmi --dg -s -q`：部分项目需要")


def judge(diag: NpuDiag, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the number of items that passed. A skipped item is never a pass."""
    words = [word for _, word in diag.results]
    passed = words.count("PASS")
    told = Text(f"{passed} of {len(words)} items passed", f"{len(words)} 项中 {passed} 项通过")
    subjects = [SubjectFinding(item, VERDICTS[word], word, None, Text(word, word)) for item, word in diag.results]
    for word, verdict, code, step in _WORST:
        if word in words:
            named = ", ".join(item for item, found in diag.results if found == word)[:120]
            return (_finding(verdict, Text(f"{told.en}; {word}: {named}", f"{told.zh}；{word}：{named}"), passed, subjects, code, step),)
    if not diag.ended:
        broken = Text(f"{told.en}, but the tool ended with an error", f"{told.zh}，但工具异常结束")
        return (_finding(Verdict.INCONCLUSIVE, broken, passed, subjects, Reason.CUT_OFF, _ROOT),)
    return (_finding(Verdict.PASS, told, passed, subjects, "", NO_TEXT),)


_WORST = (("FAIL", Verdict.FAIL, "vendor_fail", _ASK), ("WARN", Verdict.WARN, "vendor_warn", _ASK), ("SKIP", Verdict.WARN, "vendor_skip", _ROOT))


def _finding(verdict: Verdict, reason: Text, passed: int, subjects: list[SubjectFinding], code: str, step: Text) -> Finding:
    return CHECK.finding(
        verdict, reason, measured=passed, unit="items", subjects=subjects, reason_code=str(code), next_step=step, basis=Basis.MEASURED, better="more"
    )
