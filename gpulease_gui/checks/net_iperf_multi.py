"""Does the promised bandwidth arrive between two nodes, in both directions?"""

from __future__ import annotations

import re
from dataclasses import replace

from gpulease_gui.checks import own_misfit, own_tcp
from gpulease_gui.checks.check import Check
from gpulease_gui.checks.iperf_tests import NOTHING_STEP
from gpulease_gui.checks.promise import Promise, Stated
from gpulease_gui.checks.repeats import MOVED_NOTHING, PROMISE, band_marks, judged, repeat_due, without_rate
from gpulease_gui.checks.thresholds import Origin, Threshold
from gpulease_gui.domain.command import Impact
from gpulease_gui.domain.finding import Basis, Finding, Reason, SubjectFinding, Verdict
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.iperf3_json import IperfRun
from gpulease_gui.facts.iperf_pair import BACKWARD, FORWARD, IperfPair, IperfTry

TERM = "network.gbit_s"
# TCP/IP headers, slow start and the neighbour's packets take up to a tenth of a healthy line.
BANDS = band_marks(
    "net.iperf_multi", 0.9, 0.8, PROMISE, origin=Origin.PUBLISHED,
    source="the payload of TCP is 94.9 % of the line at MTU 1500 (1460/1538); esnet/iperf#286: 96 of 100 Gbit/s",
)  # fmt: skip
CPU_BUSY_PERCENT = Threshold(
    "net.iperf_multi", "cpu", 90.0, "%", Text("the tool is the limit above this use of a processor by the sender", "发送端单核占用超过此值时瓶颈在工具"),
    ">", Origin.PUBLISHED, "esnet/iperf#286, release notes of 3.16: one thread for all streams before", high=100.0,
)  # fmt: skip

CHECK = Check(
    id="net.iperf_multi",
    title=Text("Node-to-node bandwidth", "节点间带宽"),
    why=Text(
        "Training over several nodes waits for this line at every step, whatever the port says.",
        "多机训练每一步都要等这条链路，与网卡标称多少无关。",
    ),
    facts=("iperf_pair",),
    terms=(TERM,),
    impact=Impact.ACTIVE,
    level=2,
    ask=Text("What is the bandwidth between two nodes in each direction?", "两节点之间每个方向的带宽是多少？"),
    writes=Text("nothing; the line between the two nodes is full for 20 s each way", "不写入；两节点间链路每个方向占满 20 秒"),
    takes_s=40,
    rule_version=4,
    thresholds=(*BANDS.both, CPU_BUSY_PERCENT, *own_tcp.MARKS),
)


def judge(pair: IperfPair, promise: Promise) -> tuple[Finding, ...]:
    """One finding for each direction, subjects `target->peer` and `peer->target`; the better of two tests is shown."""
    return (_direction(FORWARD, pair.forward, promise), _direction(BACKWARD, pair.backward, promise))


def to_repeat(pair: IperfPair, promise: Promise) -> tuple[str, ...]:
    """The directions whose only test would fail: each is measured once more at once."""
    stated = promise.get(TERM)
    promised, bands = stated.number if stated else None, BANDS.at(promise)
    both = ((FORWARD, pair.forward), (BACKWARD, pair.backward))
    # A test of our own that was at its limit would be at its limit again.
    rates = {name: [t.gbit_s for t in own_tcp.trusted(tries, promise) if t.gbit_s] for name, tries in both}
    return tuple(name for name, found in rates.items() if repeat_due(found, promised, bands))


def _direction(name: str, tries: tuple[IperfTry, ...], promise: Promise) -> Finding:
    stated, bands = promise.get(TERM), BANDS.at(promise)
    good = sorted((t for t in tries if t.gbit_s), key=lambda t: -(t.gbit_s or 0))
    if not good:
        return _no_rate(name, tries, stated)
    best = good[0].gbit_s or 0.0
    if stated is None:
        subject = SubjectFinding(name, Verdict.INCONCLUSIVE, round(best, 3))
        found = CHECK.not_promised(TERM, round(best, 3), unit="Gbit/s", subjects=(subject,), basis=Basis.MEASURED)
        code = own_tcp.OWN_TEST if own_tcp.limited(good[0].run, promise) else found.reason_code
        return replace(found, direction=name, reason=own_tcp.told(found.reason, good[:1], promise), reason_code=code)
    reason, sound = own_tcp.told(_reason(good, stated), good[:1], promise), own_tcp.trusted(good, promise)
    if own_tcp.too_good(good[0].run, best, stated.number, promise):
        reason = own_misfit.too_good(reason, promise.limit(own_tcp.OVER))
        return _finding(name, Verdict.INCONCLUSIVE, reason, stated, best, Reason.INCONSISTENT, own_misfit.OVER_STEP)
    if not sound and bands.of(best, stated.number) is not Verdict.PASS:
        return _finding(name, Verdict.INCONCLUSIVE, reason, stated, best, own_tcp.OWN_TEST, own_tcp.STEP)
    verdict, code = judged([t.gbit_s or 0 for t in sound or good], stated.number, bands)
    if bands.of(best, stated.number) is Verdict.PASS:
        verdict, code = Verdict.PASS, ""
    slow = bands.of(best, stated.number) is Verdict.FAIL
    if slow and (busy := next((t.run for t in sound if t.run and tool_limited(t.run, promise)), None)):
        return _finding(name, Verdict.INCONCLUSIVE, _busy(reason, busy), stated, best, "tool_limited", _BUSY_STEP)
    step = NO_TEXT if verdict is Verdict.PASS else _AGAIN if code == "measured_once" else _SLOW_STEP
    return _finding(name, verdict, reason, stated, best, code or stated.reason_code, step)


def tool_limited(run: IperfRun, promise: Promise) -> bool:
    """Whether the sender's processor, not the line, may have set the rate; of a test of our own, a processor of either end.

    Before 3.16 iperf3 sends all streams from one thread; since then each stream has its own.
    """
    if run.own_test:
        return own_tcp.limited(run, promise)
    threads = (run.streams or 1) if _version(run) >= (3, 16) else 1
    return (run.sender_cpu_percent or 0.0) > promise.limit(CPU_BUSY_PERCENT) * threads


def _version(run: IperfRun) -> tuple[int, int]:
    found = re.search(r"(\d{1,3})\.(\d{1,3})", run.version or "")
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _reason(good: list[IperfTry], stated: Stated) -> Text:
    rate, run = number_text(good[0].gbit_s or 0, 2), good[0].run
    share = number_text((good[0].gbit_s or 0) / stated.number * 100, 0) if stated.number else "?"
    streams = number_text(run.streams) if run and run.streams else "?"
    seconds = number_text(round(run.seconds)) if run and run.seconds else "?"
    want = number_text(stated.number)
    other = ", ".join(number_text(t.gbit_s or 0, 2) for t in good[1:])
    also_en, also_zh = (f"; the other test gave {other}", f"；另一次为 {other}") if other else ("", "")
    return Text(
        f"{rate} Gbit/s arrived ({streams} streams, {seconds} s), {share} % of the promised {want}{also_en}",
        f"实收 {rate} Gbit/s（{streams} 条流，{seconds} 秒），为承诺 {want} 的 {share}%{also_zh}",
    )


def _busy(reason: Text, run: IperfRun) -> Text:
    cpu = number_text(run.sender_cpu_percent or 0, 0)
    return Text(
        f"{reason.en}; the sender's CPU was at {cpu} %, so iperf3 may be the limit",
        f"{reason.zh}；发送端 CPU 达 {cpu}%，瓶颈可能是 iperf3 本身",
    )


def _no_rate(name: str, tries: tuple[IperfTry, ...], stated: Stated | None) -> Finding:
    last = tries[-1] if tries else None
    code = (last.code if last else "") or (Reason.UNREADABLE if last else Reason.NOT_COLLECTED)
    verdict, gbit_s = without_rate(code)
    if verdict is Verdict.FAIL:
        return _finding(name, verdict, MOVED_NOTHING, stated, gbit_s, code, NOTHING_STEP)
    if last and last.run and last.run.misfit:
        reason = own_misfit.misfit_of(last.run.misfit, last.run.silent, last.run.streams or 0)
        return _finding(name, verdict, reason, stated, None, str(code), own_misfit.OVER_STEP)
    said = last.trouble if last and last.trouble else ""
    reason = Text(f"no rate was measured: {said}", f"没有测得带宽：{said}") if said else _NOTHING
    step = _INSTALL if code == Reason.MISSING_TOOL else foreign(last.next_step) if last and last.next_step else _REACH
    return _finding(name, Verdict.INCONCLUSIVE, reason, stated, None, str(code), step)


_NOTHING = Text("no rate was measured", "没有测得带宽")
_REACH = Text(
    "Ask the supplier for a private address or an open port range between the nodes, then measure again.",
    "请供应商提供节点间的内网地址或开放的端口范围，然后重新测量。",
)
_INSTALL = Text(
    "Install iperf3 on both nodes: apt-get install -y iperf3", "请在两个节点上安装 iperf3：apt-get install -y iperf3"
)
_AGAIN = Text(
    "Measure again on idle nodes: one slow test alone proves nothing.", "请在节点空闲时复测：单次偏慢不足为据。"
)
_SLOW_STEP = Text(
    "Show the supplier both directions; ask for the switch port's speed and for the limit set on this tenant.",
    "请向供应商出示双向结果，并询问交换机端口速率和租户限速。",
)
_BUSY_STEP = Text(
    "Measure with iperf3 3.16 or newer, or with several processes on several ports.",
    "请用 iperf3 3.16 或更新版本测量，或用多个进程、多个端口。",
)


def _finding(
    name: str, verdict: Verdict, reason: Text, stated: Stated | None, gbit_s: float | None, code: str, step: Text
) -> Finding:
    measured = round(gbit_s, 3) if gbit_s is not None else None
    return CHECK.finding(
        verdict, reason, term=TERM, promised=stated.value if stated else None, measured=measured, unit="Gbit/s",
        subjects=(SubjectFinding(name, verdict, measured, reason=reason),), reason_code=code, next_step=step,
        basis=Basis.MEASURED, better="more", direction=name,
    )  # fmt: skip
