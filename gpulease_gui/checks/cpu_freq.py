"""May the processors run at full speed?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.cpu_state import CpuState

CHECK = Check(
    id="cpu.freq",
    title=Text("Processor clock policy", "CPU 频率策略"),
    why=Text(
        "Processors that are held at a low clock feed the GPUs too slowly.",
        "被压在低频的 CPU 喂不饱 GPU。",
    ),
    facts=("cpu_state",),
    needs_promise=False,
)
_FAST = frozenset(["performance", "schedutil"])
# With these drivers powersave is the ordinary, dynamic policy.
_DYNAMIC = frozenset(["intel_pstate", "amd-pstate", "amd-pstate-epp", "amd_pstate", "intel_pstate_active"])
_HIDDEN = Text("the clock policy can't be seen here (virtual machine or container)", "此处看不到频率策略（虚拟机或容器）")
_SET = Text("set it as root (`cpupower frequency-set -g performance`) or ask the supplier to", "以 root 设置（`cpupower frequency-set -g performance`），或请供应商设置")
_LOAD = Text("load all processors and watch their clocks", "对全部 CPU 加压并观察频率")


def judge(cpu: CpuState, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each policy in use; measured is the policy of most processors."""
    if not cpu.governors:
        return (CHECK.finding(Verdict.INCONCLUSIVE, _HIDDEN, reason_code="not_visible", next_step=_LOAD),)
    subjects = [SubjectFinding(name[:60], _verdict(name, cpu.driver), count) for name, count in cpu.governors]
    verdict = worst(s.verdict for s in subjects)
    names = ", ".join(f"{count}x {name[:30]}" for name, count in cpu.governors)
    told = Text(f"{names} ({cpu.driver or '?'})", f"{names}（{cpu.driver or '?'}）")
    code = "" if verdict is Verdict.PASS else "slow_policy" if verdict is Verdict.WARN else "unknown_policy"
    step = NO_TEXT if verdict is Verdict.PASS else _SET
    return (CHECK.finding(verdict, told, measured=cpu.governors[0][0][:60], subjects=subjects, reason_code=code, next_step=step),)


def _verdict(governor: str, driver: str | None) -> Verdict:
    if governor in _FAST or (governor == "powersave" and driver in _DYNAMIC):
        return Verdict.PASS
    return Verdict.WARN if governor in ("powersave", "conservative", "ondemand", "userspace") else Verdict.INCONCLUSIVE
