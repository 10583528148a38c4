"""Why does an output hold no reading, in both languages? What the node itself said stays as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import count

from gpulease_gui.domain.text import Text

# What the parsers say, with {} for a figure or for the node's own words; {} stands for them in the same order.
WORDS: Mapping[str, str] = {
    "the node sent more than is kept": "节点发送的内容超过保留上限",
    "the node did not send it": "节点未发送",
    "the output is empty": "输出为空",
    "the output was cut at {} bytes": "输出在 {} 字节处被截断",
    "the output ends in its first line": "输出在第一行就中断",
    "the output ends before its last line": "输出在最后一行之前中断",
    "the output has an unknown form ({})": "输出格式无法识别（{}）",
    "the output holds no {}: it is empty": "输出为空，没有 {}",
    "the text stops inside a line": "文本在一行中间中断",
    "the text breaks off in its header": "文本在表头处中断",
    "the text has more than {} GPU records": "文本中的 GPU 记录超过 {} 条",
    "the report has more than {} GPU records": "报告中的 GPU 记录超过 {} 条",
    "the report is larger than {} MiB": "报告大于 {} MiB",
    "the report breaks off after {} GPU records ({})": "报告在 {} 条 GPU 记录之后中断（{}）",
    "the XML is damaged ({})": "XML 已损坏（{}）",
    "the XML is nested deeper than any report": "XML 的嵌套深度超过任何正常报告",
    "the XML declares entities: no report of nvidia-smi does": "XML 声明了实体：nvidia-smi 的报告不会这样",
    "the XML brings its own declarations: no report of nvidia-smi does": "XML 自带声明：nvidia-smi 的报告不会这样",
    "this XML is no report of nvidia-smi: it begins with <{}>": "此 XML 不是 nvidia-smi 的报告：开头是 <{}>",
    "the JSON document breaks off": "JSON 中途中断",
    "the JSON document holds what no tool prints": "JSON 含有任何工具都不会输出的内容",
    "the JSON document is broken at character {}: {}": "JSON 在第 {} 个字符处损坏：{}",
    "this JSON has no jobs of fio": "此 JSON 不含 fio 的任务",
    "this JSON is no output of nvbandwidth": "此 JSON 不是 nvbandwidth 的输出",
    "this JSON is not of iperf3": "此 JSON 不是 iperf3 的输出",
    "this JSON is not of the program's own TCP test": "此 JSON 不是本程序 TCP 测试的输出",
    "this JSON is not of the program's own disk test": "此 JSON 不是本程序磁盘测试的输出",
    "this JSON is of no known form of dcgmi": "此 JSON 不是已知的 dcgmi 格式",
    "no JSON in the output: {}": "输出中没有 JSON：{}",
    "no {} in the output: {}": "输出中没有 {}：{}",
    "no output of dcgmi: {}": "没有 dcgmi 的输出：{}",
    "no line of the task {} in the output": "输出中没有任务 {} 的行",
    "no row of measurements: {}": "没有测量数据行：{}",
    "no word of systemd-detect-virt: {}": "没有 systemd-detect-virt 的结果：{}",
    "no data about {}": "没有关于 {} 的数据",
    "no direction was measured": "两个方向都未测量",
    "no download was tried": "未尝试下载",
    "no exit code came": "未收到退出码",
    "no line of a known trainer in this log": "日志中没有已知训练框架的输出行",
    "no NPU device file is here": "此处没有 NPU 设备文件",
    "no path was told": "未给出路径",
    "no port was tried": "未测试任何端口",
    "no result": "没有结果",
    "no speed is told after the warm-up": "预热之后没有给出速度",
    "the log ends before its warm-up does": "日志在预热结束之前就中断",
    "none of these tests was run": "这些测试均未运行",
    "nothing was measured": "没有测得任何数据",
    "npu-smi lists no card": "npu-smi 未列出任何卡",
    "npu-smi printed nothing": "npu-smi 没有输出",
    "npu-smi told neither topology nor cards": "npu-smi 既未给出拓扑也未给出卡",
    "nvidia-smi ended with exit code {} after its {}": "nvidia-smi 输出 {1} 之后以退出码 {0} 结束",
    "{} ended with exit code {}: {}": "{} 以退出码 {} 结束：{}",
    "{} ended with exit code {}": "{} 以退出码 {} 结束",
    "{} is not installed on the node": "节点未安装 {}",
    "a tool is missing": "缺少工具",
    "{} gave no answer within {} s": "{} 在 {} 秒内无应答",
    "{} devices are announced, {} listed": "声称有 {} 个设备，列出 {} 个",
    "settings of {} interfaces at once": "一次给出了 {} 个网口的设置",
    "one end of the TCP test told nothing": "TCP 测试的一端没有结果",
    "ping was not run": "未运行 ping",
    "RDMA was not measured": "未测量 RDMA",
    "a log is read by the task that follows it": "日志由跟踪它的任务读取",
    "ascend-dmi gave no figure": "ascend-dmi 没有给出数值",
    "ascend-dmi gave no result: {}": "ascend-dmi 没有结果：{}",
    "ascend-dmi measured nothing: {}": "ascend-dmi 未测得数据：{}",
    "df names no file system": "df 未列出文件系统",
    "df printed no table with file system types": "df 未输出带文件系统类型的表",
    "hccn_tool refused this user": "hccn_tool 拒绝了此用户",
    "the NPUs were not tested": "未测试 NPU",
    "the clock was not tested": "未测试时钟",
    "the counters were not read again": "计数器未再次读取",
    "the diagnosis was refused: {}": "诊断被拒绝：{}",
    "the disk was not written": "未写入磁盘",
    "the kernel log is closed to this user: {}": "此用户无权读取内核日志：{}",
    "the kernel log is empty": "内核日志为空",
    "this is no kernel log: {}": "这不是内核日志：{}",
    "the lines of the task break off": "任务的输出中途中断",
    "the memory was not tested": "未测试内存",
    "the node's date command printed no time": "节点的 date 命令未输出时间",
    "the node's shell printed none of the expected lines": "节点的 shell 未输出任何预期的行",
    "the processors were not loaded": "处理器未加负载",
    "the processors were not tested": "未测试处理器",
    "the stream of events has no end": "事件流没有结尾",
    "the task was ended before its speed could be told": "任务在能给出速度之前就被结束",
    "the task was not run": "任务未运行",
    "the test has no summary": "测试没有汇总",
    "this lists what a slice is parted into, not the slices": "这里列出的是切片的划分，而不是切片本身",
    "this user may not ask the disks": "此用户无权查询磁盘",
    "permission denied": "权限不足",
    "it is empty": "输出为空",
    "block device": "块设备", "PCI device": "PCI 设备", "RDMA device": "RDMA 设备", "channel adapter": "通道适配器",
    "count of processors": "处理器数量", "iperf3 result": "iperf3 结果", "line of id": "id 的输出行", "link settings": "链路设置",
    "test of nvbandwidth": "nvbandwidth 测试", "NVLink status": "NVLink 状态", "list of links": "链路列表", "topology matrix": "拓扑矩阵", "matrix": "矩阵",
    "NVLink error counters": "NVLink 错误计数", "list of counters": "计数列表",
}  # fmt: skip
_GAP = re.compile(r"( ?)\{(\d?)\}")


def _filled(zh: str, parts: Sequence[str]) -> str:
    """Between Chinese words stands no blank."""
    places = count()

    def fill(gap: re.Match[str]) -> str:
        part = parts[int(gap[2] or next(places))]
        return WORDS[part] if part in WORDS else gap[1] + part

    return _GAP.sub(fill, zh)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """The words with gaps, those with most words of their own first."""
    gapped = sorted((words for words in WORDS if "{}" in words), key=lambda words: -len(words))
    return tuple((re.compile("(.*?)".join(map(re.escape, words.split("{}"))), re.DOTALL), WORDS[words]) for words in gapped)


def unreadable_words(reason: str) -> Text:
    """A parser's reason (one English sentence) in both languages; of unknown words both are the same."""
    if reason in WORDS:
        return Text(reason, WORDS[reason])
    for pattern, zh in _patterns():
        if match := pattern.fullmatch(reason):
            # A node's words may have braces: they are filled in, never read as a pattern.
            return Text(reason, _filled(zh, match.groups()))
    return Text(reason, reason)
