"""Are two nodes as near to each other as one site is?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.checks.repeats import MEASURED_ONCE
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.peer_ping import PeerPing, PingTest

TERM = "network.same_site"
# Assumptions: light in glass and two switches take far less than half a millisecond inside one building.
NEAR_MS, FAR_MS = 0.5, 2.0
LOSS_PERCENT, MANY_PACKETS = 1.0, 1000
_PAIR = "target->peer"

CHECK = Check(
    id="net.latency",
    title=Text("Latency between nodes", "节点间时延"),
    why=Text(
        "Nodes of one cluster that stand in different buildings slow every step of a training.",
        "同一集群的节点若分散在不同机房，训练的每一步都会变慢。",
    ),
    facts=("peer_ping",),
    terms=(TERM,),
    impact=Impact.ACTIVE,
    level=2,
    ask=Text("Do all nodes stand in one site, on one switch fabric?", "所有节点是否在同一机房、同一交换网络？"),
    writes=Text(
        "nothing; five small packets a second to the peer for 200 s", "不写入；每秒向对端发 5 个小包，持续 200 秒"
    ),
    takes_s=200,
)


def judge(ping: PeerPing, promise: Promise) -> tuple[Finding, ...]:
    """One finding: mean round trip in ms and lost packets; the better of two runs."""
    stated = promise.get(TERM)
    good = [test for test in ping.tests if test.sent]
    if not good:
        return (_none(ping, stated),)
    best = min(good, key=lambda test: (test.avg_ms is None, test.avg_ms or 0.0))
    if best.avg_ms is None:
        return (_finding(Verdict.INCONCLUSIVE, _silent(best), stated, None, "no_answer", _OTHER_WAY),)
    if stated is None:
        subject = SubjectFinding(_PAIR, Verdict.INCONCLUSIVE, best.avg_ms)
        return (CHECK.not_promised(TERM, best.avg_ms, unit="ms", subjects=(subject,), basis=Basis.MEASURED),)
    if stated.value is not True:
        return (_finding(Verdict.NOT_APPLICABLE, _reason(best), stated, best.avg_ms, "other_sites_agreed", NO_TEXT),)
    verdict, code = _verdict(good, best)
    return (_finding(verdict, _reason(best), stated, best.avg_ms, code, _STEPS.get(code, NO_TEXT)),)


def to_repeat(ping: PeerPing, promise: Promise) -> tuple[str, ...]:
    """`ping` when its only run would fail: it is run once more at once."""
    good = [test for test in ping.tests if test.avg_ms is not None]
    stated = promise.get(TERM)
    if len(good) != 1 or stated is None or stated.value is not True:
        return ()
    return ("ping",) if _far(good[0]) or _loses(good[0]) else ()


def _far(test: PingTest) -> bool:
    return (test.avg_ms or 0.0) > FAR_MS


def _loses(test: PingTest) -> bool:
    return (test.loss_percent or 0.0) > LOSS_PERCENT


def _verdict(good: list[PingTest], best: PingTest) -> tuple[Verdict, str]:
    if all(_far(test) for test in good):
        return (Verdict.FAIL, "far_apart") if len(good) > 1 else (Verdict.WARN, MEASURED_ONCE)
    if all(_loses(test) for test in good):
        many = len(good) > 1 and all((test.sent or 0) >= MANY_PACKETS for test in good)
        return (Verdict.FAIL, "packets_lost") if many else (Verdict.WARN, MEASURED_ONCE)
    if (best.avg_ms or 0.0) >= NEAR_MS:
        return Verdict.WARN, "far_apart"
    lost = any((test.loss_percent or 0.0) > 0 for test in good)
    return (Verdict.WARN, "packets_lost") if lost else (Verdict.PASS, "")


def _reason(best: PingTest) -> Text:
    mean, spread = number_text(best.avg_ms or 0.0, 3), best.mdev_ms
    sway_en, sway_zh = (
        (f" ± {number_text(spread, 3)}", f" ± {number_text(spread, 3)}") if spread is not None else ("", "")
    )
    sent, loss = number_text(best.sent or 0), number_text(best.loss_percent or 0.0, 2)
    return Text(
        f"{mean}{sway_en} ms to the peer and back, {loss} % of {sent} packets lost",
        f"往返 {mean}{sway_zh} 毫秒，{sent} 个包丢失 {loss}%",
    )


def _silent(best: PingTest) -> Text:
    sent = number_text(best.sent or 0)
    return Text(f"none of {sent} packets was answered; ping may be blocked", f"{sent} 个包均无应答，可能屏蔽了 ping")


def _none(ping: PeerPing, stated: Stated | None) -> Finding:
    last = ping.tests[-1] if ping.tests else None
    code = (last.code if last else "") or (Reason.UNREADABLE if last else Reason.NOT_COLLECTED)
    said = last.trouble if last else ""
    reason = Text(f"ping gave no figures: {said}", f"ping 没有给出数据：{said}") if said else _NOTHING
    step = _INSTALL if code == Reason.MISSING_TOOL else _OTHER_WAY
    return _finding(Verdict.INCONCLUSIVE, reason, stated, None, str(code), step)


_NOTHING = Text("ping was not run", "没有运行 ping")
_INSTALL = Text(
    "Install ping on the node: apt-get install -y iputils-ping", "请在节点上安装 ping：apt-get install -y iputils-ping"
)
_OTHER_WAY = Text(
    "Ask the supplier for an address of the peer that answers ping.", "请供应商提供对端可以 ping 通的地址。"
)
_STEPS = {
    "far_apart": Text(
        "Ask in which building and on which switch each node stands, and for nodes of one fabric.",
        "请问清每个节点在哪个机房、哪台交换机，并要求换到同一网络。",
    ),
    "packets_lost": Text(
        "Look at the drop and error counters of both ports; routers may also answer ping late on purpose.",
        "请查看两端网口的丢包与错误计数；路由器也可能有意限制 ping。",
    ),
    MEASURED_ONCE: Text(
        "Run it again for 200 s or longer (1,000 packets) on idle nodes.",
        "请在节点空闲时重测 200 秒以上（1,000 个包）。",
    ),
}


def _finding(verdict: Verdict, reason: Text, stated: Stated | None, ms: float | None, code: str, step: Text) -> Finding:
    return CHECK.finding(
        verdict, reason, term=TERM, promised=stated.value if stated else None, measured=ms, unit="ms",
        subjects=(SubjectFinding(_PAIR, verdict, ms),), reason_code=code, next_step=step, basis=Basis.MEASURED,
        better="less",
    )  # fmt: skip
