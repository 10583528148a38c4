"""What may be said of a rate that the program's own TCP test found where there is no iperf3?

What arrived, arrived: a rate that is high enough is one. A low one counts only where no process of either end was near a
limit of its own; else the line may carry more than this test could send.
"""

from __future__ import annotations

from collections.abc import Sequence

from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.iperf3_json import IperfRun
from gpulease_gui.facts.iperf_pair import IperfTry

OWN_TEST = "own_test"
_CHECK = "net.iperf_multi"
BUSY_PERCENT = Threshold(
    _CHECK, "own_cpu", 50.0, "%",
    Text("the own TCP test may be the limit above this use of a processor by one of its processes", "自带 TCP 测试的单个进程占用处理器超过此值时，瓶颈可能在测试本身"),
    ">", low=1.0, high=100.0,
)  # fmt: skip
WAITING_PERCENT = Threshold(
    _CHECK, "own_wait", 5.0, "%",
    Text("and above this part of the time that one of them waited for a processor", "或其中一个进程等待处理器的时间超过此比例"), ">", low=0.1, high=100.0,
)  # fmt: skip
OVER = Threshold(
    _CHECK, "own_over", 10.0, "×",
    Text("a rate of the own TCP test above this multiple of the promise is not believed", "自带 TCP 测试的速率超过承诺值的此倍数时不予采信"), ">", low=1.2,
)  # fmt: skip
OVER_FROM_GBIT_S = Threshold(
    _CHECK, "own_over_from", 100.0, "Gbit/s", Text("nor above this rate, whichever is more", "且超过此速率，取两者中较大者"), ">", low=1.0,
)  # fmt: skip
MARKS = (BUSY_PERCENT, WAITING_PERCENT, OVER, OVER_FROM_GBIT_S)
STEP = Text(
    "Install iperf3 on both nodes (apt-get install -y iperf3) and measure again: a low rate of the program's own test proves nothing.",
    "请在两个节点上安装 iperf3（apt-get install -y iperf3）后重新测量：自带测试偏低不足为据。",
)


def limited(run: IperfRun | None, promise: Promise) -> bool:
    """Whether a test of our own may have been the limit itself; False for iperf3."""
    if run is None or not run.own_test:
        return False
    if run.busiest_percent is None or run.waiting_percent is None:
        return True
    return run.busiest_percent > promise.limit(BUSY_PERCENT) or run.waiting_percent > promise.limit(WAITING_PERCENT)


def too_good(run: IperfRun | None, gbit_s: float, promised: float | None, promise: Promise) -> bool:
    """Whether a rate of our own test is beyond belief: both ends may be the supplier's, and no third one bears it out."""
    if run is None or not run.own_test or promised is None:
        return False
    return gbit_s > max(promise.limit(OVER) * promised, promise.limit(OVER_FROM_GBIT_S))


def trusted(tries: Sequence[IperfTry], promise: Promise) -> list[IperfTry]:
    """The tests that may speak against a promise."""
    return [one for one in tries if not limited(one.run, promise)]


def told(reason: Text, tries: Sequence[IperfTry], promise: Promise) -> Text:
    """The reason, with what a test of our own was and how busy it was, where one is among the tests."""
    run = next((one.run for one in tries if one.run is not None and one.run.own_test), None)
    if run is None:
        return reason
    load = _load(run)
    en, zh = f"{reason.en}; measured with the program's own TCP test, not iperf3 ({load.en})", f"{reason.zh}；由本程序自带的 TCP 测试测得，并非 iperf3（{load.zh}）"
    if limited(run, promise):
        en, zh = f"{en}, so the test itself may be the limit", f"{zh}，瓶颈可能在测试本身"
    return Text(en, zh)


def _load(run: IperfRun) -> Text:
    if run.busiest_percent is None or run.waiting_percent is None:
        return Text("how busy its processes were is not told", "未说明测试进程有多忙")
    busy, waiting = number_text(run.busiest_percent, 0), number_text(run.waiting_percent, 0)
    return Text(
        f"no process of it used more than {busy} % of a core or waited for one more than {waiting} % of the time",
        f"单个进程占用单核不超过 {busy}%，等待处理器不超过 {waiting}% 的时间",
    )
