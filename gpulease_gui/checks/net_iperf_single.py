"""What does one single stream carry between two nodes, and is that less than the line should give it?"""

from __future__ import annotations

from gpulease_gui.checks import own_misfit, own_tcp
from gpulease_gui.checks.check import Check
from gpulease_gui.checks.iperf_tests import best_first, no_rate, seconds_text
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import without_rate
from gpulease_gui.checks.thresholds import SHARE, Origin, Threshold
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.iperf_pair import BACKWARD, FORWARD, IperfPair, IperfTry

LINE_TERM = "network.gbit_s"
# One stream needs not fill a fast line: asked for is a share of the promise, up to a rate.
PART = Threshold("net.iperf_single", "share", 0.6, SHARE, Text("one stream should carry this share of the promise", "单条流应达到承诺值的此比例"), ">=", high=1.0)
UP_TO_GBIT_S = Threshold(
    "net.iperf_single", "up_to", 25.0, "Gbit/s", Text("of a promise of at most", "承诺值最多按此计"), "", Origin.PUBLISHED,
    "esnet/iperf#55: one stream on 100 Gbit/s carried 30 to 41", low=0.1,
)  # fmt: skip

CHECK = Check(
    id="net.iperf_single",
    title=Text("Bandwidth of one stream", "单条流带宽"),
    why=Text(
        "A copy or a download is one stream; a line that is only fast with eight of them is slow for it.",
        "一次拷贝或下载就是一条流；八条流才跑满的线路，对它来说并不快。",
    ),
    facts=("iperf_single",),
    needs_promise=False,
    impact=Impact.ACTIVE,
    level=2,
    writes=Text("nothing; one stream to the peer and one back, 15 s each", "不写入；与对端往返各一条流，每条 15 秒"),
    takes_s=30,
    rule_version=4,
    thresholds=(PART, UP_TO_GBIT_S, *own_tcp.MARKS),
)


def judge(pair: IperfPair, promise: Promise) -> tuple[Finding, ...]:
    """One finding for each direction; a fail only where nothing arrived, since nobody promises a single stream."""
    stated = promise.get(LINE_TERM)
    wanted = promise.limit(PART) * min(stated.number, promise.limit(UP_TO_GBIT_S)) if stated else None
    return (_direction(FORWARD, pair.forward, wanted, promise), _direction(BACKWARD, pair.backward, wanted, promise))


def _direction(name: str, tries: tuple[IperfTry, ...], wanted: float | None, promise: Promise) -> Finding:
    good = best_first(tries)
    if not good:
        reason, code, step = no_rate(tries)
        verdict, none = without_rate(code)
        return _finding(name, verdict, reason, none, code, step)
    rate = good[0].gbit_s or 0.0
    told, length = number_text(rate, 2), seconds_text(good[0].run)
    if wanted is None:
        reason = Text(f"one stream carried {told} Gbit/s ({length} s)", f"单条流 {told} Gbit/s（{length} 秒）")
        return _finding(name, Verdict.INCONCLUSIVE, own_tcp.told(reason, good[:1], promise), rate, Reason.NOT_PROMISED, _ASK)
    want = number_text(wanted, 2)
    reason = Text(
        f"one stream carried {told} Gbit/s ({length} s); {want} can be asked of it on this line",
        f"单条流 {told} Gbit/s（{length} 秒）；这条线路上单流应有 {want}",
    )
    reason = own_tcp.told(reason, good[:1], promise)
    stated = promise.get(LINE_TERM)
    if own_tcp.too_good(good[0].run, rate, stated.number if stated else None, promise):
        reason = own_misfit.too_good(reason, promise.limit(own_tcp.OVER))
        return _finding(name, Verdict.INCONCLUSIVE, reason, rate, Reason.INCONSISTENT, own_misfit.OVER_STEP)
    if rate >= wanted:
        return _finding(name, Verdict.PASS, reason, rate, "", NO_TEXT)
    if not own_tcp.trusted(good, promise):
        return _finding(name, Verdict.INCONCLUSIVE, reason, rate, own_tcp.OWN_TEST, own_tcp.STEP)
    return _finding(name, Verdict.WARN, reason, rate, "single_stream_low", _LIMITS)


_ASK = Text("Ask for the bandwidth between two nodes.", "请询问两节点之间的带宽。")
_LIMITS = Text(
    "Compare with net.iperf_multi; ask the supplier about limits for each flow, bonded ports and TCP windows.",
    "请与 net.iperf_multi 对照；并询问供应商单流限速、网卡绑定和 TCP 窗口设置。",
)


def _finding(name: str, verdict: Verdict, reason: Text, gbit_s: float | None, code: str, step: Text) -> Finding:
    measured = round(gbit_s, 3) if gbit_s is not None else None
    return CHECK.finding(
        verdict, reason, measured=measured, unit="Gbit/s", subjects=(SubjectFinding(name, verdict, measured),),
        reason_code=code, next_step=step, basis=Basis.MEASURED, better="more", direction=name,
    )  # fmt: skip
