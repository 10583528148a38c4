"""What do our own programs say in both languages of what can't be read, and of what can't be judged?"""

from __future__ import annotations

from collections.abc import Mapping

from gpulease_gui.checks.watch_rules import Judged
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.services.recording import FLOODED
from gpulease_gui.services.source_silence import STALE
from gpulease_gui.services.watch_cards import NOT_BACK, UNREAD
from gpulease_gui.services.watch_driver import SILENT
from gpulease_gui.telemetry import npu
from gpulease_gui.telemetry.gpu import GONE
from gpulease_gui.telemetry.source import metrics

# Everything else is the node's own words.
TROUBLES: Mapping[str, Text] = {
    "nvidia-smi is not installed on the node": Text("nvidia-smi is not installed on the node", "节点未安装 nvidia-smi"),
    "npu-smi is not installed on the node": Text("npu-smi is not installed on the node", "节点未安装 npu-smi"),
    "nvidia-smi ended": Text("nvidia-smi ended", "nvidia-smi 已退出"),
    "the NVIDIA driver does not answer": Text("the NVIDIA driver does not answer", "NVIDIA 驱动无应答"),
    "no NVIDIA GPU on the node": Text("no NVIDIA GPU on the node", "节点上没有 NVIDIA GPU"),
    "npu-smi does not answer": Text("npu-smi does not answer", "npu-smi 无应答"),
    GONE: Text(GONE, "nvidia-smi 不再列出此卡"),
    npu.GONE: Text(npu.GONE, "npu-smi 不再列出此芯片"),
    NOT_BACK: Text(NOT_BACK, "节点重连后缺少此卡"),
    UNREAD: Text(UNREAD, "不再收到此卡的可读数据"),
    STALE: Text(STALE, "长时间未收到其数据"),
    SILENT: Text(SILENT, "长时间未收到显卡的任何数据"),
    FLOODED: Text(FLOODED, "收到的数据多于要求，已略去其中最早的部分"),
    "not found any more": Text("not found any more", "已找不到此卡"),
    "it answers nothing": Text("it answers nothing", "此卡无应答"),
    "the line is not the agent's": Text("the line is not the agent's", "此行不是采集程序的输出"),
    "a line of more than 64 KiB was left out": Text("a line of more than 64 KiB was left out", "已略去一行超过 64 KiB 的数据"),
}
# Before what the driver itself says, which stays as it is.
_BEFORE: Mapping[str, str] = {
    "no NVIDIA driver answers here": "没有 NVIDIA 驱动应答", "the NVIDIA driver stopped answering": "NVIDIA 驱动停止应答",
}


def trouble_words(said: str) -> Text:
    """Ours in both languages; what the node said stays as it is."""
    for ours, zh in _BEFORE.items():
        if said.startswith(f"{ours} (") and said.endswith(")"):
            return Text(said, f"{zh}（{said[len(ours) + 2 : -1]}）")
    return TROUBLES.get(said) or foreign(said)


_TEST = {
    "net": Text("Run the network test to know", "运行网络测试即可判断"), "disk": Text("Run the disk test to know", "运行磁盘测试即可判断"),
}  # fmt: skip


def unjudged_words(carried: Judged) -> tuple[Text, Text]:
    """(what is carried beside what is promised, what to do to know which of the two it is) of traffic that is no test's."""
    way, unit = metrics()[carried.metric].title, carried.unit
    value, promised = number_text(carried.value or 0.0), number_text(carried.promised or 0.0)
    return Text(
        f"{way.en}: {value} of {promised} {unit} asked for or allowed", f"{way.zh}：{value} / {promised} {unit}，需求少或受限，尚不可知",
    ), _TEST[carried.metric.split(".", 1)[0]]  # fmt: skip


def check_of(carried: Judged) -> str:
    """The check that asks for all of it."""
    return "net.iperf_multi" if carried.metric.startswith("net.") else "disk.seq"
