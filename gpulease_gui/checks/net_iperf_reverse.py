"""Are both directions between two nodes equally fast?"""

from __future__ import annotations

from gpulease_gui.checks import own_misfit, own_tcp
from gpulease_gui.checks.check import Check
from gpulease_gui.checks.iperf_tests import best_first, no_rate, seconds_text
from gpulease_gui.checks.net_iperf_multi import CPU_BUSY_PERCENT, TERM, tool_limited
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import MEASURED_ONCE, band_marks, without_rate
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.iperf_pair import BACKWARD, FORWARD, IperfPair, IperfTry

BANDS = band_marks("net.iperf_reverse", 0.9, 0.7, Text("the faster direction", "较快方向"))

CHECK = Check(
    id="net.iperf_reverse",
    title=Text("Same bandwidth both ways", "双向带宽一致"),
    why=Text(
        "A limit is often set on one direction only, and a training sends as much as it receives.",
        "限速常常只设在一个方向，而训练的收与发一样多。",
    ),
    facts=("iperf_pair",),
    needs_promise=False,
    impact=Impact.ACTIVE,
    level=2,
    writes=Text("nothing; shares the two-way test of the node-to-node bandwidth", "不写入；与节点间带宽共用一次双向测试"),
    takes_s=40,
    rule_version=5,
    thresholds=(*BANDS.both, CPU_BUSY_PERCENT, *own_tcp.MARKS),
)


def judge(pair: IperfPair, promise: Promise) -> tuple[Finding, ...]:
    """One finding: the slower direction against the faster, as a ratio; the better test of each direction counts."""
    ways = {FORWARD: best_first(pair.forward), BACKWARD: best_first(pair.backward)}
    for name, tries in ((FORWARD, pair.forward), (BACKWARD, pair.backward)):
        if not ways[name]:
            reason, code, step = no_rate(tries)
            verdict, none = without_rate(code)
            return (_finding(verdict, reason, none, name, code, step),)
    slow, fast = sorted(ways, key=lambda name: ways[name][0].gbit_s or 0.0)
    ratio = (ways[slow][0].gbit_s or 0.0) / (ways[fast][0].gbit_s or 1.0)
    verdict = BANDS.at(promise).of(ratio, 1.0)
    reason = own_tcp.told(_reason(ways[slow][0], ways[fast][0], slow, fast), [ways[slow][0], ways[fast][0]], promise)
    stated = promise.get(TERM)
    if any(own_tcp.too_good(one[0].run, one[0].gbit_s or 0.0, stated.number if stated else None, promise) for one in ways.values()):
        reason = own_misfit.too_good(reason, promise.limit(own_tcp.OVER))
        return (_finding(Verdict.INCONCLUSIVE, reason, ratio, slow, Reason.INCONSISTENT, own_misfit.OVER_STEP),)
    if any(own_tcp.limited(ways[way][0].run, promise) for way in ways):
        # At its own limit a test is equally fast both ways, whatever the line is.
        return (_finding(Verdict.INCONCLUSIVE, reason, ratio, slow, own_tcp.OWN_TEST, own_tcp.STEP),)
    if verdict is Verdict.PASS:
        return (_finding(verdict, reason, ratio, slow, "", NO_TEXT),)
    if any(one.run and tool_limited(one.run, promise) for one in ways[slow]):
        return (_finding(Verdict.INCONCLUSIVE, reason, ratio, slow, "tool_limited", _BUSY),)
    if verdict is Verdict.FAIL and len(ways[slow]) < 2:
        return (_finding(Verdict.WARN, reason, ratio, slow, MEASURED_ONCE, _AGAIN),)
    if stated is not None and (ways[slow][0].gbit_s or 0.0) >= stated.number:
        # On a line with room to spare the two ways differ by what the hosts do: nothing that was promised is missing.
        return (_finding(Verdict.WARN, reason, ratio, slow, "both_above_promise", NO_TEXT),)
    return (_finding(verdict, reason, ratio, slow, "one_way_slow", _ASK),)


def to_repeat(pair: IperfPair, promise: Promise) -> tuple[str, ...]:
    """The direction that was measured once and is far slower than the other: it is measured once more at once."""
    rates = {FORWARD: best_first(pair.forward), BACKWARD: best_first(pair.backward)}
    if not all(rates.values()):
        return ()
    slow, fast = sorted(rates, key=lambda name: rates[name][0].gbit_s or 0.0)
    ratio = (rates[slow][0].gbit_s or 0.0) / (rates[fast][0].gbit_s or 1.0)
    return (slow,) if BANDS.at(promise).of(ratio, 1.0) is Verdict.FAIL and len(rates[slow]) == 1 else ()


def _reason(low: IperfTry, high: IperfTry, slow: str, fast: str) -> Text:
    less, more = number_text(low.gbit_s or 0.0, 2), number_text(high.gbit_s or 0.0, 2)
    length = seconds_text(low.run)
    return Text(
        f"{less} Gbit/s {slow} against {more} Gbit/s {fast} ({length} s each)",
        f"{slow} 为 {less} Gbit/s，{fast} 为 {more} Gbit/s（各 {length} 秒）",
    )


_AGAIN = Text(
    "Measure again on idle nodes: one slow test alone proves nothing.", "请在节点空闲时复测：单次偏慢不足为据。"
)
_BUSY = Text("Measure with iperf3 3.16 or newer on both nodes.", "请在两个节点上用 iperf3 3.16 或更新版本测量。")
_ASK = Text(
    "Show the supplier both directions and ask which limit applies to each.",
    "请向供应商出示双向结果，并询问每个方向的限速。",
)


def _finding(verdict: Verdict, reason: Text, ratio: float | None, slow: str, code: str, step: Text) -> Finding:
    measured = round(ratio, 3) if ratio is not None else None
    return CHECK.finding(
        verdict, reason, measured=measured, subjects=(SubjectFinding(slow, verdict, measured),), reason_code=code,
        next_step=step, basis=Basis.MEASURED, better="more",
    )  # fmt: skip
