"""Does the vendor's own test find the links of the NPUs fast enough?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check, Vendor
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.npu_bandwidth import NpuBandwidth

CHECK = Check(
    id="npu.bandwidth",
    title=Text("NPU bandwidth", "NPU 带宽"),
    why=Text(
        "A slow link between host and NPU, or between NPUs, holds up every step of a job.",
        "主机与 NPU、NPU 之间任一链路偏慢，都会拖住每一步训练。",
    ),
    facts=("npu_bandwidth",),
    needs_promise=False,
    impact=Impact.DISRUPTIVE,
    level=3,
    vendor=Vendor.ASCEND,
    takes_s=120,
    writes=Text("nothing; the NPUs are used alone by the test", "不写入；测试独占 NPU"),
)
_ASK = Text("stop everything on the NPUs, run it again, then ask the supplier for a repair", "停掉 NPU 上的一切任务后重测；若仍如此请要求维修")
_DIAG = Text("run `ascend-dmi --dg -i bandwidth -q` on the host as root", "以 root 在宿主机上运行 `ascend-dmi --dg -i bandwidth -q`")
VERDICTS = {"PASS": Verdict.PASS, "FAIL": Verdict.FAIL, "WARN": Verdict.WARN, "SKIP": Verdict.INCONCLUSIVE}


def judge(found: NpuBandwidth, promise: Promise) -> tuple[Finding, ...]:
    """One finding by the tool's own diagnosis; measured is the host-to-device rate in GB/s. Rates alone prove nothing."""
    rates = dict(found.rates)
    shown = ", ".join(f"{way} {number_text(rate)}" for way, rate in found.rates) or "-"
    subjects = [SubjectFinding(item, VERDICTS[word], word, None, Text(word, word)) for item, word in found.results]
    told = Text(f"rates in GB/s: {shown}", f"速率（GB/s）：{shown}")
    if not subjects:
        words = Text(f"{told.en}; the tool gave no verdict, and no figure to compare with is known", f"{told.zh}；工具未给出结论，也没有可比的参考值")
        return (_finding(Verdict.INCONCLUSIVE, words, rates, subjects, "no_reference", _DIAG),)
    verdict = worst(s.verdict for s in subjects)
    first = next(s for s in subjects if s.verdict is verdict)
    reason = Text(f"ascend-dmi says {first.measured} ({first.id}); {told.en}", f"ascend-dmi 结论为 {first.measured}（{first.id}）；{told.zh}")
    code = {Verdict.FAIL: "vendor_fail", Verdict.WARN: "vendor_warn", Verdict.INCONCLUSIVE: "vendor_skip"}.get(verdict, "")
    return (_finding(verdict, reason, rates, subjects, code, NO_TEXT if verdict is Verdict.PASS else _ASK if code != "vendor_skip" else _DIAG),)


def _finding(verdict: Verdict, reason: Text, rates: dict[str, float], subjects: list[SubjectFinding], code: str, step: Text) -> Finding:
    return CHECK.finding(
        verdict, reason, measured=rates.get("h2d"), unit="GB/s", subjects=subjects, reason_code=code, next_step=step, basis=Basis.MEASURED, better="more"
    )
