"""Are two nodes as near to each other as one site is?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.checks.repeats import MEASURED_ONCE
from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.peer_ping import PeerPing, PingTest

TERM = "network.same_site"
_PAIR = "target->peer"

# Light in glass and two switches take far less than half a millisecond inside one building.
NEAR_MS = Threshold("net.latency", "near", 0.5, "ms", Text("one site below", "同一机房应低于"), "<")
FAR_MS = Threshold("net.latency", "far", 2.0, "ms", Text("another site above", "超过此值即不在同一机房"), ">")
LOSS_PERCENT = Threshold("net.latency", "loss", 1.0, "%", Text("loses packets above", "丢包率超过此值"), ">", high=100.0)
MANY_PACKETS = Threshold("net.latency", "packets", 1000, "packets", Text("a loss fails only over at least", "至少发送此数量的包丢包才算不符"), ">=", low=1.0)

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
    thresholds=(NEAR_MS, FAR_MS, LOSS_PERCENT, MANY_PACKETS),
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
    verdict, code = _verdict(good, best, promise)
    return (_finding(verdict, _reason(best), stated, best.avg_ms, code, _STEPS.get(code, NO_TEXT)),)


def to_repeat(ping: PeerPing, promise: Promise) -> tuple[str, ...]:
    """`ping` when its only run would fail: it is run once more at once."""
    good = [test for test in ping.tests if test.avg_ms is not None]
    stated = promise.get(TERM)
    if len(good) != 1 or stated is None or stated.value is not True:
        return ()
    return ("ping",) if _far(good[0], promise) or _loses(good[0], promise) else ()


def _far(test: PingTest, promise: Promise) -> bool:
    return (test.avg_ms or 0.0) > promise.limit(FAR_MS)


def _loses(test: PingTest, promise: Promise) -> bool:
    return (test.loss_percent or 0.0) > promise.limit(LOSS_PERCENT)


def _verdict(good: list[PingTest], best: PingTest, promise: Promise) -> tuple[Verdict, str]:
    if all(_far(test, promise) for test in good):
        return (Verdict.FAIL, "far_apart") if len(good) > 1 else (Verdict.WARN, MEASURED_ONCE)
    if all(_loses(test, promise) for test in good):
        many = len(good) > 1 and all((test.sent or 0) >= promise.limit(MANY_PACKETS) for test in good)
        return (Verdict.FAIL, "packets_lost") if many else (Verdict.WARN, MEASURED_ONCE)
    if (best.avg_ms or 0.0) >= promise.limit(NEAR_MS):
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
