"""Do the RDMA ports count errors?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.port_counters import PortCounters, PortCounts

CHECK = Check(
    id="rdma.counters",
    title=Text("RDMA error counters", "RDMA 错误计数"),
    why=Text(
        "A flapping optic stalls every node of a training job for seconds at a time.",
        "光模块闪断会让整个训练任务的所有节点一次停顿数秒。",
    ),
    facts=("port_counters",),
    needs_promise=False,
)
_HARD = ("link_downed", "link_error_recovery", "port_rcv_errors", "local_link_integrity_errors", "excessive_buffer_overrun_errors")
_SOFT = ("symbol_error", "port_xmit_discards")
_AGAIN = Text("read the counters again after ten minutes of load; link_downed must not grow", "满载十分钟后再读一次；link_downed 不得增长")
_RUN = Text("run `perfquery` or read /sys/class/infiniband on the host", "在宿主机上运行 `perfquery` 或读取 /sys/class/infiniband")


def judge(counters: PortCounters, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each port; measured is the sum of errors: one reading tells no growth."""
    promised = any(promise.get(term) for term in ("rdma.ports", "rdma.gbit_s"))
    if not counters.rdma:
        verdict = Verdict.INCONCLUSIVE if promised else Verdict.NOT_APPLICABLE
        none = Text("no RDMA port is visible here", "此处看不到 RDMA 端口")
        return (CHECK.finding(verdict, none, reason_code="not_visible" if promised else "", next_step=_RUN if promised else NO_TEXT),)
    subjects = [_subject(port) for port in counters.rdma]
    verdict = worst(s.verdict for s in subjects)
    bad = next(s for s in subjects if s.verdict is verdict)
    counts = [s.measured for s in subjects if isinstance(s.measured, int)]
    code = {Verdict.WARN: "errors_counted", Verdict.INCONCLUSIVE: str(Reason.UNREADABLE)}.get(verdict, "")
    step = {Verdict.WARN: _AGAIN, Verdict.INCONCLUSIVE: _RUN}.get(verdict, NO_TEXT)
    return (CHECK.finding(
        verdict, Text(f"{bad.id}: {bad.reason.en}", f"{bad.id}：{bad.reason.zh}"), measured=sum(counts) if counts else None, unit="errors",
        subjects=subjects, reason_code=code, next_step=step, better="less",
    ),)  # fmt: skip


def _subject(port: PortCounts) -> SubjectFinding:
    hard, soft, down = port.total(*_HARD), port.total(*_SOFT), port.get("link_downed")
    if hard is None or down is None:
        return SubjectFinding(port.name, Verdict.INCONCLUSIVE, None, None, Text("no counters", "没有计数"))
    count = hard + (soft or 0)
    told = Text(f"{count} errors, the link went down {down} times", f"错误 {count} 次，链路中断 {down} 次")
    return SubjectFinding(port.name, Verdict.WARN if count else Verdict.PASS, count, None, told)
