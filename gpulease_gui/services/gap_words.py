"""Why was a node, or one curve of it, not read for a while: the codes that are stored, and their words?"""

from __future__ import annotations

from collections.abc import Mapping

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.remote.failures import PHASE_WORDS, ConnectFailed
from gpulease_gui.remote.own_network import without_network
from gpulease_gui.remote.stream import StreamEnding
from gpulease_gui.remote.transport import LineLost
from gpulease_gui.services.watch_words import trouble_words
from gpulease_gui.store.imported import FROM_FILE
from gpulease_gui.store.records import Gap
from gpulease_gui.store.unread import NOT_WATCHED
from gpulease_gui.telemetry.figure_bounds import BEYOND
from gpulease_gui.telemetry.gpu_agent import UNHEARD
from gpulease_gui.telemetry.rates import FELL, IMPOSSIBLE, NOT_NAMED
from gpulease_gui.telemetry.source import metrics, sources

SLEPT, CLOCK_SET, OWN_NETWORK, FAULT = "computer_slept", "clock_set", "own_network", "fault"
NOT_AVAILABLE, SERIES_LOST = "not_available", "lost"
OF_ENDING: Mapping[StreamEnding, str] = {
    StreamEnding.LOST: "connection_lost", StreamEnding.SILENT: "no_answer", StreamEnding.SOURCES_ENDED: "nothing_to_read",
    StreamEnding.PROGRAM_ENDED: "agent_ended",
}  # fmt: skip
_NOT_REACHED = "not_reached_"
# At which step of connecting a node was not reached; the whole reason is told with the state of its connection.
NOT_REACHED: Mapping[str, Text] = {
    f"{_NOT_REACHED}{phase}": Text(f"not reached ({words.en})", f"未能连接（{words.zh}）") for phase, words in PHASE_WORDS.items()
}
# As a table or a report says it, which others read elsewhere.
GAP_WORDS: Mapping[str, Text] = {
    "connection_lost": Text("connection lost", "连接中断"),
    "no_answer": Text("no answer", "无应答"),
    OWN_NETWORK: Text("the watching computer had no network", "监控端无网络"),
    "nothing_to_read": Text("nothing to read", "无可读数据"),
    NOT_WATCHED: Text("not watched", "未监控"),
    SLEPT: Text("the watching computer slept, the program stood still, or the clock was set", "监控端休眠、程序停顿或时钟被调整"),
    CLOCK_SET: Text("the clock of the watching computer was set", "监控端时钟被调整"),
    "clock_wrong": Text("the clock of the watching computer was wrong", "监控端时钟有误"),
    "not_saved": Text("the store could not be written", "存储写入失败"),
    FAULT: Text("an internal error", "内部错误"),
    "agent_ended": Text("the agent on the node ended", "节点上的采集程序已退出"),
    "not_recorded": Text("not recorded", "未记录"),
    **NOT_REACHED,
}
# Of one curve, whose subject stands behind the code: a card, an interface, a disk.
SERIES_WORDS: Mapping[str, Text] = {
    NOT_AVAILABLE: Text("not available on the node", "节点不提供此读数"),
    IMPOSSIBLE: Text("a counter that jumped: no device is so fast", "计数器跳变，速率超出任何设备的能力"),
    BEYOND: Text("a figure that no device can have", "数值超出任何设备的可能范围"),
    FELL: Text("a counter that fell: it began anew", "计数器变小，已重新计数"),
    NOT_NAMED: Text("not named by the node any more", "节点不再列出"),
    UNHEARD: Text("not told here, so that none is shown does not mean that none occurred", "此处收不到，未显示不代表未发生"),
    SERIES_LOST: Text("lost", "丢失"),
}


def series_reason(code: str, subject: str) -> str:
    """What is stored of a gap of one curve; "" as subject is the node itself."""
    return f"{code} {subject}".rstrip()


def of_series(reason: str) -> tuple[str, str] | None:
    """(code, subject) of a gap of one curve; None for any other."""
    code, _, subject = reason.partition(" ")
    return (code, subject) if code in SERIES_WORDS else None


def reason_words(gap: Gap) -> Text:
    """Why, in both languages; of one curve with its name and its subject, of a source with its name; of one that came in a file it says so."""
    return origin_told(_reason_words(gap), imported=gap.imported)


def origin_told(words: Text, *, imported: bool) -> Text:
    """The words of a gap, which say of one that came in a file that this computer did not notice it."""
    return Text(f"{words.en} ({FROM_FILE.en})", f"{words.zh}（{FROM_FILE.zh}）") if imported else words


def _reason_words(gap: Gap) -> Text:
    metric = metrics().get(gap.metric or "")
    single = of_series(gap.reason)
    if single is not None and metric is not None:
        return _named(single, metric.title)
    source = next((one for one in sources().values() if gap.metric in {held.id for held in one.metrics}), None)
    if source is None:
        return GAP_WORDS.get(gap.reason, foreign(gap.reason))
    why = trouble_words(gap.reason)
    return Text(f"{source.title.en}: {why.en}", f"{source.title.zh}：{why.zh}")


def _named(single: tuple[str, str], title: Text) -> Text:
    (code, subject), why = single, SERIES_WORDS[single[0]]
    if code == SERIES_LOST:
        return Text(f"{subject}: {why.en}", f"{subject}：{why.zh}")
    of = f" {subject}" if subject else ""
    return Text(f"{title.en}{of}: {why.en}", f"{title.zh}{of}：{why.zh}")


def why_not_begun(error: UserFacing, phase: str = "") -> str:
    """The code of a stream that did not begin: at the `phase` of a node that was not reached, or by what its line says."""
    if phase or isinstance(error, ConnectFailed):
        return f"{_NOT_REACHED}{phase or error.phase}"  # type: ignore[attr-defined]
    return OF_ENDING[StreamEnding.LOST] if isinstance(error, LineLost) else str(error)


def why_ended(node: Node, ending: StreamEnding) -> str:
    """The code of a stream that ended; a line that is lost while this computer has no network is no fault of the node."""
    if ending in (StreamEnding.LOST, StreamEnding.SILENT) and without_network(node):
        return OWN_NETWORK
    return OF_ENDING.get(ending, str(ending))
