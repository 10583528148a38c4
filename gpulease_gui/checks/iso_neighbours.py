"""Does somebody else work on this host?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.checks.thresholds import SHARE, Threshold
from gpulease_gui.domain.finding import Finding, Reason, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.load_now import LoadNow

TERM = "tenancy"
QUIET_SHARE = Threshold(
    "iso.neighbours", "quiet", 0.01, SHARE, Text("a host is quiet up to this load for each processor", "每处理器负载不超过此值即空闲"), "<=", high=1.0
)
BUSY_SHARE = Threshold(
    "iso.neighbours", "busy", 0.10, SHARE, Text("a host is busy above this load for each processor", "每处理器负载超过此值即繁忙"), ">", high=1.0
)

CHECK = Check(
    id="iso.neighbours",
    title=Text("Load by others", "邻居负载"),
    why=Text(
        "A host that works while you do nothing works for somebody else.",
        "您没有任务而主机仍在忙，说明在为别人工作。",
    ),
    facts=("load_now",),
    optional=("environment",),
    terms=(TERM,),
    ask=Text("Is the node ours alone?", "节点是否由我方独占？"),
    thresholds=(QUIET_SHARE, BUSY_SHARE),
)
_AGAIN = Text("end your own jobs, wait half an hour and run again; ask the supplier what runs there",
              "结束自己的任务，半小时后重新检查；并请供应商说明在运行什么")  # fmt: skip
_RUN = Text("run `cat /proc/loadavg` on the node", "在节点上运行 `cat /proc/loadavg`")


def judge(load: LoadNow, environment: Environment | None, promise: Promise) -> tuple[Finding, ...]:
    """One finding; measured is the mean load of 15 minutes. One reading can raise a doubt, never prove a neighbour."""
    stated = promise.get(TERM)
    if stated is None:
        return (CHECK.not_promised(TERM, None),)
    if stated.value == "shared":
        told = Text("the contract says that the node is shared", "合同写明节点为共享")
        return (CHECK.finding(Verdict.NOT_APPLICABLE, told, term=TERM, promised=stated.value),)
    if load.load_15 is None or load.nproc is None or load.nproc < 1:
        unknown = Text("the load was not told", "未给出负载")
        return (_finding(Verdict.INCONCLUSIVE, unknown, stated, None, Reason.UNREADABLE, _RUN),)
    return (_judged(load.load_15, load.nproc, environment, stated, promise),)


def _judged(mean: float, cores: int, environment: Environment | None, stated: Stated, promise: Promise) -> Finding:
    told = Text(
        f"mean load {number_text(mean)} over 15 minutes on {cores} processors", f"15 分钟平均负载 {number_text(mean)}（{cores} 个处理器）"
    )
    if mean <= max(1.0, promise.limit(QUIET_SHARE) * cores):
        return _finding(Verdict.PASS, told, stated, mean, stated.reason_code)
    if environment is not None and environment.is_container:
        host = Text(f"{told.en}: a container shows that of the whole host", f"{told.zh}：容器显示的是整机负载")
        return _finding(Verdict.WARN, host, stated, mean, "host_load", _AGAIN)
    code = "busy_host" if mean > promise.limit(BUSY_SHARE) * cores else "some_load"
    return _finding(Verdict.WARN, told, stated, mean, code, _AGAIN)


def _finding(verdict: Verdict, reason: Text, stated: Stated, load: float | None, code: str, step: Text = NO_TEXT) -> Finding:
    return CHECK.finding(
        verdict, reason, term=TERM, promised=stated.value, measured=load, reason_code=code, next_step=step, better="less"
    )
