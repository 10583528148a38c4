"""Why was a node, or one curve of it, not read for a while: the codes that are stored, and their words?"""

from __future__ import annotations

from collections.abc import Mapping

from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.own_network import first_stop, has_way
from gpulease_gui.remote.stream import StreamEnding

NOT_WATCHED, SLEPT, OWN_NETWORK, FAULT = "not_watched", "computer_slept", "own_network", "fault"
OF_ENDING: Mapping[StreamEnding, str] = {
    StreamEnding.LOST: "connection_lost", StreamEnding.SILENT: "no_answer", StreamEnding.SOURCES_ENDED: "nothing_to_read",
    StreamEnding.PROGRAM_ENDED: "agent_ended",
}  # fmt: skip
# As a table or a report says it, which others read elsewhere.
GAP_WORDS: Mapping[str, Text] = {
    "connection_lost": Text("connection lost", "连接中断"),
    "no_answer": Text("no answer", "无应答"),
    OWN_NETWORK: Text("the watching computer had no network", "监控端无网络"),
    "nothing_to_read": Text("nothing to read", "无可读数据"),
    NOT_WATCHED: Text("not watched", "未监控"),
    SLEPT: Text("the watching computer slept or its clock was set", "监控端休眠或时钟被调整"),
    "clock_wrong": Text("the clock of the watching computer was wrong", "监控端时钟有误"),
    "not_saved": Text("the store could not be written", "存储写入失败"),
    FAULT: Text("an internal error", "内部错误"),
    "agent_ended": Text("the agent on the node ended", "节点上的采集程序已退出"),
}


def why_ended(node: Node, ending: StreamEnding) -> str:
    """The code of a stream that ended; a line that is lost while this computer has no network is no fault of the node."""
    if ending in (StreamEnding.LOST, StreamEnding.SILENT) and node.address is not None:
        if not has_way(*first_stop(node.address, node.jump, node.proxy)):
            return OWN_NETWORK
    return OF_ENDING.get(ending, str(ending))
