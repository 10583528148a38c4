"""What do all iperf3 tests have in common: troubles, and the words about them?"""

from __future__ import annotations

from collections.abc import Sequence

from gpulease_gui.checks import own_misfit
from gpulease_gui.checks.repeats import MOVED_NOTHING
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.iperf3_json import IperfRun
from gpulease_gui.facts.iperf_pair import IperfTry
from gpulease_gui.facts.raw_runs import NOTHING_MOVED

NOTHING = Text("no rate was measured", "没有测得带宽")
REACH_STEP = Text(
    "Ask the supplier for a private address or an open port range between the nodes, then measure again.",
    "请供应商提供节点间的内网地址或开放的端口范围，然后重新测量。",
)
NOTHING_STEP = Text(
    "Send a large packet in each direction (ping -M do -s 8972): a path that drops large packets lets tests connect and no data pass.",
    "请双向发送大包（ping -M do -s 8972）：丢弃大包的路径能建立连接，却传不了数据。",
)
_INSTALL = Text(
    "Install iperf3 on both nodes: apt-get install -y iperf3", "请在两个节点上安装 iperf3：apt-get install -y iperf3"
)


def best_first(tries: Sequence[IperfTry]) -> list[IperfTry]:
    """The tests with a rate, the fastest first."""
    return sorted((one for one in tries if one.gbit_s), key=lambda one: -(one.gbit_s or 0.0))


def no_rate(tries: Sequence[IperfTry]) -> tuple[Text, str, Text]:
    """Reason, reason code and next step when no test gave a rate."""
    last = tries[-1] if tries else None
    if last is None:
        return NOTHING, Reason.NOT_COLLECTED, REACH_STEP
    code = last.code or Reason.UNREADABLE
    if code == NOTHING_MOVED:
        return MOVED_NOTHING, NOTHING_MOVED, NOTHING_STEP
    if last.run and last.run.misfit:
        return own_misfit.misfit_of(last.run.misfit, last.run.silent, last.run.streams or 0), str(code), own_misfit.OVER_STEP
    reason = Text(f"no rate was measured: {last.trouble}", f"没有测得带宽：{last.trouble}") if last.trouble else NOTHING
    step = _INSTALL if code == Reason.MISSING_TOOL else foreign(last.next_step) if last.next_step else REACH_STEP
    return reason, str(code), step


def seconds_text(run: IperfRun | None) -> str:
    """How long a test took, in whole seconds; `?` when it does not say."""
    return number_text(round(run.seconds)) if run and run.seconds else "?"
