"""Does the bandwidth between two nodes still hold after ten minutes?"""

from __future__ import annotations

from gpulease_gui.checks.check import Check
from gpulease_gui.checks.iperf_tests import no_rate
from gpulease_gui.checks.net_iperf_multi import BANDS as LINE_BANDS
from gpulease_gui.checks.net_iperf_multi import CPU_BUSY_PERCENT, tool_limited
from gpulease_gui.checks.over_time import LONG_S, SHORT_S, TOO_FEW, Course, course, held
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.checks.repeats import band_marks, without_rate
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.iperf_pair import FORWARD
from gpulease_gui.facts.iperf_sustained import IperfSustained

TERM = "network.gbit_s"

BANDS = band_marks("net.sustained", 0.9, 0.7, Text("the first minute", "首分钟速率"))

CHECK = Check(
    id="net.sustained",
    title=Text("Bandwidth that lasts", "持续带宽"),
    why=Text(
        "Some tenants get full speed for the minutes of a test, until a credit is used up.",
        "有的租户只在测试那几分钟跑满，突发额度用完就降速。",
    ),
    facts=("iperf_sustained",),
    terms=(TERM,),
    needs_promise=False,
    impact=Impact.DISRUPTIVE,
    level=3,
    writes=Text("nothing; the line to the peer is full for 10 min", "不写入；到对端的链路占满 10 分钟"),
    takes_s=600,
    rule_version=2,
    thresholds=(*BANDS.both, LONG_S, SHORT_S, *LINE_BANDS.both, CPU_BUSY_PERCENT),
)


def judge(rates: IperfSustained, promise: Promise) -> tuple[Finding, ...]:
    """One finding: the last minute against the first, and against the promise if there is one (Gbit/s)."""
    stated = promise.get(TERM)
    good = [one for one in rates.tests if one.run and not one.trouble and one.run.intervals]
    if not good:
        silent = any(one.gbit_s for one in rates.tests)
        reason, code, step = (_NO_SERIES, str(Reason.UNREADABLE), _LONGER) if silent else no_rate(rates.tests)
        return (_finding(without_rate(code)[0], reason, stated, None, code, step),)
    found = course([(point.end_s, point.gbit_s) for point in rates.series])
    if found is None:
        return (_finding(Verdict.INCONCLUSIVE, TOO_FEW, stated, None, "too_short", _LONGER),)
    verdict, code = held(found, BANDS.at(promise), promise)
    low = stated is not None and LINE_BANDS.at(promise).of(found.last, stated.number) is not Verdict.PASS
    if verdict is Verdict.PASS and low:
        # Even, but below the promise: net.iperf_multi judges that rate.
        verdict, code = Verdict.WARN, "rate_low"
    run = good[-1].run
    if verdict in (Verdict.WARN, Verdict.FAIL) and run is not None and tool_limited(run, promise):
        verdict, code = Verdict.INCONCLUSIVE, "tool_limited"
    return (_finding(verdict, _reason(found), stated, found, code, _STEPS.get(code, NO_TEXT)),)


def _reason(found: Course) -> Text:
    first, last = number_text(found.first, 2), number_text(found.last, 2)
    window, length = number_text(round(found.window_s)), number_text(round(found.length_s))
    share = number_text(found.ratio * 100, 0)
    return Text(
        f"{first} Gbit/s in the first {window} s, {last} Gbit/s ({share} %) in the last {window} s of {length} s",
        f"共 {length} 秒：前 {window} 秒 {first} Gbit/s，后 {window} 秒 {last} Gbit/s（{share}%）",
    )


_NO_SERIES = Text("iperf3 told no course of the rate over time", "iperf3 没有给出速率随时间的变化")
_LONGER = Text(
    "Measure for ten minutes (command line: --seconds 600): credits last that long.",
    "请测量十分钟（命令行：--seconds 600），突发额度能撑这么久。",
)
_STEPS = {
    "too_short": _LONGER,
    "rate_falls": Text(
        "Ask the supplier for the rate that lasts and for the burst credit of this tenant.",
        "请询问供应商可持续的速率和该租户的突发额度。",
    ),
    "rate_low": Text(
        "Run net.iperf_multi and show the supplier both directions.", "请运行 net.iperf_multi，并向供应商出示双向结果。"
    ),
    "tool_limited": Text("Measure with iperf3 3.16 or newer on both nodes.", "请在两个节点上用 iperf3 3.16 或更新版本测量。"),
}


def _finding(
    verdict: Verdict, reason: Text, stated: Stated | None, found: Course | None, code: str, step: Text
) -> Finding:
    measured = round(found.last, 3) if found else None
    return CHECK.finding(
        verdict, reason, term=TERM if stated else None, promised=stated.value if stated else None, measured=measured,
        unit="Gbit/s", subjects=(SubjectFinding(FORWARD, verdict, measured),), reason_code=code, next_step=step,
        basis=Basis.MEASURED, better="more", direction=FORWARD,
    )  # fmt: skip
