"""What is said of the file of a log that is followed: that it is waited for, and what became of it?"""

from __future__ import annotations

from collections.abc import Mapping

from gpulease_gui.domain.text import Text, visible
from gpulease_gui.store.codec import json_text, mark_document

# The kind of mark of a node that keeps it.
LOG_MARK = "log"
AWAITED = "awaited"  # was not there when it began to be followed
_MOST_LETTERS = 80

WAITS: Mapping[str, Text] = {
    "missing": Text("there is no such file on the node", "节点上没有此文件"),
    "no_folder": Text("neither the file nor its folder is there on the node", "节点上没有此文件，也没有其所在目录"),
    "no_file": Text("it is no plain file", "这不是普通文件"),
    "denied": Text("the node denies reading it", "节点拒绝读取"),
}
WAITING = Text("waiting for the file", "正在等待文件")
_BECAME: Mapping[str, Text] = {
    AWAITED: Text("the log is waited for", "等待日志文件"),
    "missing": Text("the log is gone", "日志文件已消失"), "no_folder": Text("the log is gone", "日志文件已消失"),
    "no_file": Text("the log is no plain file any more", "日志不再是普通文件"), "denied": Text("the log may not be read any more", "日志不再可读"),
    "reading": Text("the log can be read", "日志可以读取"), "replaced": Text("the log goes on in a new file", "日志换了新文件"),
    "shorter": Text("the log was cut short and begins anew", "日志被截短，重新开始"),
}  # fmt: skip


def waiting_words(word: str) -> Text:
    """That the file is waited for, and why. `word`: as TaskProgress.waits has it."""
    why = WAITS.get(word, WAITS["missing"])
    return Text(f"{WAITING.en}: {why.en}", f"{WAITING.zh}：{why.zh}")


def log_mark(word: str, path: str) -> str:
    """The words of the mark that keeps what became of a log. `word`: of remote.follow_program, or AWAITED."""
    return json_text({"became": word, "log": path})


def log_mark_words(words: str) -> Text:
    """What such a mark says; a foreign one says at least that it is about a log."""
    told = mark_document(words)
    said = _BECAME.get(str(told.get("became")), Text("something became of the log", "日志有变化"))
    name = visible(str(told.get("log", "")))[-_MOST_LETTERS:]
    return Text(f"{said.en}: {name}", f"{said.zh}：{name}") if name else said
