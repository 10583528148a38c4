"""What do our own programs say in both languages of what can't be read, and of what can't be judged?"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpulease_gui.checks.watch_rules import Judged
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.domain.units import number_text
from gpulease_gui.services.intake import LEFT_OUT
from gpulease_gui.services.nvml_words import nvml_words
from gpulease_gui.services.recording import FLOODED
from gpulease_gui.services.source_silence import STALE
from gpulease_gui.services.watch_cards import NOT_BACK, UNREAD
from gpulease_gui.services.watch_driver import ENDED, SILENT
from gpulease_gui.telemetry import npu
from gpulease_gui.telemetry.gpu import GONE
from gpulease_gui.telemetry.source import metrics

# Everything else is the node's own words.
TROUBLES: Mapping[str, Text] = {
    "nvidia-smi is not installed on the node": Text("nvidia-smi is not installed on the node", "节点未安装 nvidia-smi"),
    "npu-smi is not installed on the node": Text("npu-smi is not installed on the node", "节点未安装 npu-smi"),
    ENDED: Text(ENDED, "nvidia-smi 已退出"),
    "the NVIDIA driver does not answer": Text("the NVIDIA driver does not answer", "NVIDIA 驱动无应答"),
    "no NVIDIA GPU on the node": Text("no NVIDIA GPU on the node", "节点上没有 NVIDIA GPU"),
    "the NVIDIA driver shows no GPU": Text("the NVIDIA driver shows no GPU", "NVIDIA 驱动未显示任何 GPU"),
    "npu-smi does not answer": Text("npu-smi does not answer", "npu-smi 无应答"),
    GONE: Text(GONE, "nvidia-smi 不再列出此卡"),
    npu.GONE: Text(npu.GONE, "npu-smi 不再列出此芯片"),
    NOT_BACK: Text(NOT_BACK, "节点重连后缺少此卡"),
    UNREAD: Text(UNREAD, "不再收到此卡的可读数据"),
    STALE: Text(STALE, "长时间未收到其数据"),
    SILENT: Text(SILENT, "长时间未收到显卡的任何数据"),
    FLOODED: Text(FLOODED, "收到的数据多于要求，已略去其中最早的部分"),
    "not found any more": Text("not found any more", "已找不到此卡"),
    "the GPU line names no GPU": Text("the GPU line names no GPU", "GPU 行未标明是哪张 GPU"),
    "the sample has no time": Text("the sample has no time", "此采样没有时间"),
    "the sample has no CPU line": Text("the sample has no CPU line", "此采样没有 CPU 行"),
    "the CPU or memory line has an unknown form": Text("the CPU or memory line has an unknown form", "CPU 或内存行格式未知"),
    "npu-smi printed nothing": Text("npu-smi printed nothing", "npu-smi 没有输出"),
    "lost": Text("lost", "丢失"),
    "it answers nothing": Text("it answers nothing", "此卡无应答"),
    "the line is not the agent's": Text("the line is not the agent's", "此行不是采集程序的输出"),
    "a line of more than 64 KiB was left out": Text("a line of more than 64 KiB was left out", "已略去一行超过 64 KiB 的数据"),
}
# Whole words of ours with something in them that stays as it is.
_PATTERNS = tuple((re.compile(pattern), zh) for pattern, zh in (
    (r"not a GPU sample: (.*)", "不是 GPU 采样行：{}"), (r"the row names no GPU: (.*)", "此行未标明是哪张 GPU：{}"),
    (r"not an interface row: (.*)", "不是网络接口行：{}"), (r"not an RDMA port row: (.*)", "不是 RDMA 端口行：{}"),
    (r"not a disk row: (.*)", "不是磁盘行：{}"), (r"not a sector count: (.*)", "不是扇区数：{}"),
    (r"no chip table in the output: (.*)", "输出中没有芯片表：{}"), (r"more than (\d+) GPUs", "超过 {} 张 GPU"),
    (r"more than (\d+) series: the rest is left out", "超过 {} 条曲线，其余已略去"),
    (r"the line has an unknown form \((\w+)\)", "此行格式未知（{}）"), (r"internal error: (\w+)", "内部错误：{}"),
    (r"(host|network|disk|rdma) can't be read: (.*)", "无法读取 {}：{}"), (r"(cat|head|ports)( [^!]*)? failed", "{}{} 执行失败"),
    (r"the NVIDIA driver shows none of (\d+) NVIDIA GPUs on the PCI bus", "PCI 总线上有 {} 个 NVIDIA GPU，但驱动一个也未显示"),
    (r"its reading broke off \((\w+)\)", "读取中断（{}）"),
    (r"(pynvml|ctypes) broke off \((\w+)\)", "{} 读取中断（{}）"),
))  # fmt: skip
_NVML = re.compile(r"NVML error ([0-9]{1,9})")
# Before what the driver itself says, which stays as it is.
_BEFORE: Mapping[str, str] = {
    "no NVIDIA driver answers here": "没有 NVIDIA 驱动应答", "the NVIDIA driver stopped answering": "NVIDIA 驱动停止应答",
    ENDED: "nvidia-smi 已退出",
}


def trouble_words(said: str) -> Text:
    """Ours in both languages, with what the numbers of NVML mean; what the node said stays as it is."""
    for ours, zh in _BEFORE.items():
        if said.startswith(f"{ours} (") and said.endswith(")"):
            why = trouble_words(said[len(ours) + 2 : -1])
            return Text(f"{ours} ({why.en})", f"{zh}（{why.zh}）")
    if (found := _NVML.fullmatch(said)) is not None:
        return nvml_words(int(found[1]))
    for pattern, zh in _PATTERNS:
        if (found := pattern.fullmatch(said)) is not None:
            return Text(said, zh.format(*(part or "" for part in found.groups())))
    return TROUBLES.get(said) or foreign(said)


def left_out(troubles: Mapping[str, str]) -> Text | None:
    """What of the troubles of a watch says that curves of it are left out."""
    return next((trouble_words(said) for said in troubles.values() if said.endswith(LEFT_OUT)), None)


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
