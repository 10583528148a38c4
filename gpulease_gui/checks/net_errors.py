"""Do the network ports count damaged packets?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import SHARE, Threshold
from gpulease_gui.domain.finding import Finding, Reason, SubjectFinding, Verdict, worst
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.facts.port_counters import PortCounters, PortCounts

DROP_SHARE = Threshold("net.errors", "drops", 1e-5, SHARE, Text("dropped packets warn above", "丢包比例超过此值即警告"), ">", high=1.0)
# A port changes state a few times while the system starts.
FLAPS = Threshold("net.errors", "flaps", 10, "changes", Text("link changes warn above", "链路变化超过此次数即警告"), ">")

CHECK = Check(
    id="net.errors",
    title=Text("Network errors", "网络错误计数"),
    why=Text(
        "A bad cable or transceiver shows as damaged packets long before the link goes down.",
        "线缆或光模块不良会先表现为坏包，之后才会断链。",
    ),
    facts=("port_counters",),
    needs_promise=False,
    thresholds=(DROP_SHARE, FLAPS),
)
_AGAIN = Text("read the counters again after an hour of traffic; if they grow, ask for another cable", "跑一小时流量后再读一次；若增长则要求更换线缆")
_RUN = Text("run `ip -s -s link` on the node", "在节点上运行 `ip -s -s link`")


def judge(counters: PortCounters, promise: Promise) -> tuple[Finding, ...]:
    """One finding with a subject for each port; measured is the number of damaged packets since the port came up."""
    subjects = [_subject(port, promise) for port in counters.links]
    if not subjects:
        none = Text("no port with a card behind it is visible here", "此处看不到带网卡的端口")
        return (CHECK.finding(Verdict.INCONCLUSIVE, none, reason_code="not_visible", next_step=_RUN),)
    verdict = worst(s.verdict for s in subjects)
    bad = [s for s in subjects if s.verdict is verdict]
    counts = [s.measured for s in subjects if isinstance(s.measured, int)]
    code = {Verdict.WARN: "errors_counted", Verdict.INCONCLUSIVE: str(Reason.UNREADABLE)}.get(verdict, "")
    step = {Verdict.WARN: _AGAIN, Verdict.INCONCLUSIVE: _RUN}.get(verdict, NO_TEXT)
    return (CHECK.finding(
        verdict, Text(f"{bad[0].id}: {bad[0].reason.en}", f"{bad[0].id}：{bad[0].reason.zh}"), measured=sum(counts) if counts else None,
        unit="packets", subjects=subjects, reason_code=code, next_step=step, better="less",
    ),)  # fmt: skip


def _subject(port: PortCounts, promise: Promise) -> SubjectFinding:
    damaged = port.total("rx_crc_errors", "rx_frame_errors")
    errors, dropped = port.total("rx_errors", "tx_errors"), port.total("rx_dropped", "tx_dropped")
    packets, flaps = port.total("rx_packets", "tx_packets"), port.get("carrier_changes")
    if errors is None or packets is None:
        return SubjectFinding(port.name, Verdict.INCONCLUSIVE, None, None, Text("no counters", "没有计数"))
    told = Text(
        f"{damaged or 0} CRC errors, {errors} errors, {dropped or 0} dropped of {packets:,} packets, {flaps or 0} link changes",
        f"CRC 错误 {damaged or 0}，错误 {errors}，丢弃 {dropped or 0}，共 {packets:,} 包，链路变化 {flaps or 0} 次",
    )
    share = (dropped or 0) / packets if packets else 0.0
    if damaged or errors or (flaps or 0) > promise.limit(FLAPS) or share > promise.limit(DROP_SHARE):
        return SubjectFinding(port.name, Verdict.WARN, damaged or errors, None, told)
    return SubjectFinding(port.name, Verdict.PASS, 0, None, told)
