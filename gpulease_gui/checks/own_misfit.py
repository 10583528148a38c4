"""What is said where the figures of the program's own tests can't be true, or are too good for what was promised?"""

from __future__ import annotations

from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.domain.units import number_text
from gpulease_gui.facts.own_ends import Misfit

_HOW = {
    Misfit.MORE_ARRIVED: Text("the receiver counts more than the sender sent", "接收端计到的多于发送端发出的"),
    Misfit.MORE_SENT: Text(
        "the sender counts far more than arrived and buffers can hold", "发送端计到的远多于收到的，也超出缓冲区所能容纳"
    ),
    Misfit.TIME: Text("their length is not the one that was asked for", "其时长与要求的不符"),
    Misfit.CLOCK: Text("they tell more time than passed here", "其时长超过本机时钟所经过的时间"),
    Misfit.TOO_MUCH: Text("they tell more bytes than the test can send", "其字节数超过测试所能发送的"),
    Misfit.STREAMS: Text("they list another number of streams than was asked for", "列出的流数与要求的不符"),
    Misfit.COUNTERS: Text("the counters of an interface moved less than they tell", "网卡计数器的增量小于其所报的数据量"),
    Misfit.SILENT: Text("a part of the test carried nothing", "测试的一部分没有传输任何数据"),
}
OVER_STEP = Text(
    "Measure again with iperf3 or fio, against a node of your own where you have one; keep this output and ask the supplier about it.",
    "请用 iperf3 或 fio 重新测量，如有自己的节点则以其为对端；保留此输出并询问供应商。",
)


def misfit_of(code: str, silent: int = 0, streams: int = 0, *, ends: bool = True) -> Text:
    """The reason for a code of a reading. `ends`: two ends told it, not one node. Foreign codes have no words of their own."""
    how = _HOW[Misfit(code)] if code in list(Misfit) else NO_TEXT
    if code == Misfit.SILENT and streams:
        some, whole = number_text(silent), number_text(streams)
        how = Text(f"{some} of {whole} streams carried nothing", f"{whole} 条流中有 {some} 条没有传输任何数据")
    if ends:
        return Text(f"the figures of the two ends don't fit: {how.en}", f"两端的数据不相符：{how.zh}")
    return Text(f"the figures of the node don't fit: {how.en}", f"节点的数据不相符：{how.zh}")


def too_good(reason: Text, times: float) -> Text:
    """The reason where a rate of our own test is more than so many times what was promised."""
    most = number_text(times)
    return Text(
        f"{reason.en}; more than {most} times the promise, and nothing but the word of the nodes stands behind it",
        f"{reason.zh}；超过承诺值的 {most} 倍，且除节点自述外别无佐证",
    )
