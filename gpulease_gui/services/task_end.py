"""How did a task end, in words that say why and what to do?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.task import TaskEnd
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.remote.task import TaskReport
from gpulease_gui.remote.task_program import SILENT_S, SPARE_KIB
from gpulease_gui.remote.transport import LineLost
from gpulease_gui.services.log_words import WAITS

_NO_ROOM = ("No space left on device", "File too large", "Disk quota exceeded", "SIGXFSZ")
# The numbers of a node's Linux, not of this computer: macOS counts some otherwise, Windows has hardly any.
_SIGKILL, _SIGXFSZ = 9, 25
_SIGNALS = {
    1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL",
    10: "SIGUSR1", 11: "SIGSEGV", 12: "SIGUSR2", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
}  # fmt: skip
_READ = Text("read the last lines of its log", "请查看日志最后几行")
_AGAIN = Text("run it again; if it happens again, ask the supplier about the SSH service and the network", "请重新运行；若再次发生，请向供应商询问 SSH 服务与网络情况")
ROOM = Text("let it write less, or raise what it writes at most", "请让任务少写，或放宽“最多写入”")
_MAKE_ROOM = Text("make room on the node, or ask the supplier for a larger disk", "请在节点上腾出空间，或向供应商要更大的磁盘")
_SHELL = Text("log in by hand and run `sh`: the node must start a POSIX shell", "请手动登录并运行 `sh`：节点须能启动 POSIX shell")
LONGER = Text("give it a longer time limit if its end matters", "若需跑完，请放宽时间上限")
_PATH = Text("check the path on the node", "请检查节点上的路径")
_MEMORY = Text("give it less work at once, or ask which memory limit the node has", "请减小单次负载，或询问节点的内存上限")


@dataclass(frozen=True, slots=True)
class Ending:
    """The end with its reason and the next step."""

    end: TaskEnd
    reason: Text = NO_TEXT
    next_step: Text = NO_TEXT


def ending_of(report: TaskReport, last_words: str, *, builtin: bool = False, endless: bool = False) -> Ending:
    """`last_words` are the last lines of its log. Following a log ends by a cancel or its time; both are its good end."""
    if report.why == "exit" and not endless:
        return _by_itself(report, last_words, builtin=builtin)
    if report.cancelled or report.why == "cancelled":
        return Ending(TaskEnd.CANCELLED, Text("ended by you", "由您结束"))
    if report.why == "refused":
        return _refused(report)
    if report.why == "time" and report.waits:
        why = WAITS.get(report.waits, WAITS["missing"])
        return Ending(TaskEnd.TIME_LIMIT, Text(f"its time was over while the file was waited for: {why.en}", f"等待文件期间达到时间上限：{why.zh}"), _PATH)
    return _ENDED.get(report.why) or Ending(TaskEnd.CUT, _with(Text("the connection was lost", "连接中断"), report.said), _AGAIN)


def broken_off(trouble: UserFacing) -> Ending:
    """The end of a task that failed beside its own log: by a lost line, or by what the node or this computer refuses."""
    why = f"{trouble.what}: {trouble.why}" if trouble.why else trouble.what
    if isinstance(trouble, LineLost):
        return Ending(TaskEnd.CUT, _with(Text("the connection was lost", "连接中断"), why), _AGAIN)
    return Ending(TaskEnd.ERROR, foreign(why), trouble.next_text if trouble.next_text.en else _AGAIN)


def cut_off(ending: Ending, reason: Reason, at: Text) -> Ending:
    """The end of a task whose line is over, told of this computer or of the jump host `at` which it was lost, as far as
    they are to blame.
    """
    words, step = _NOT_THE_NODE.get(reason, (NO_TEXT, NO_TEXT))
    if words.en:
        return Ending(ending.end, words, step)
    if at.en:
        return Ending(ending.end, Text(f"the connection was lost: {at.en}", f"连接中断：{at.zh}"), _AT_HOP)
    return ending


_AT_HOP = Text("run it again; if it is lost each time, ask who runs the jump host", "请重新运行；若每次都断开，请联系跳板机的管理员")
_NOT_THE_NODE: Mapping[Reason, tuple[Text, Text]] = {
    Reason.COMPUTER_SLEPT: (
        Text("the connection did not outlast a sleep of this computer, or a time in which it stood still", "连接因本机休眠或停顿而中断"),
        Text("keep this computer awake and run it again", "请保持本机唤醒并重新运行"),
    ),
    Reason.OWN_NETWORK: (
        Text("the connection was lost as this computer had no network", "因本机无网络，连接中断"),
        Text("check the network of this computer and run it again", "请检查本机网络并重新运行"),
    ),
}  # fmt: skip
_ENDED: Mapping[str, Ending] = {
    "time": Ending(TaskEnd.TIME_LIMIT, Text("its time was over", "达到时间上限"), LONGER),
    "space": Ending(TaskEnd.OUT_OF_SPACE, Text("it wrote more than it may", "写入超过上限"), ROOM),
    "disk": Ending(
        TaskEnd.OUT_OF_SPACE, Text(f"the node's disk was full to the last {SPARE_KIB // 1024} MiB", f"节点磁盘只剩 {SPARE_KIB // 1024} MiB"), _MAKE_ROOM
    ),
    "silent": Ending(
        TaskEnd.CUT, Text(f"the node heard nothing of us for {SILENT_S} s and ended it", f"节点 {SILENT_S} 秒未收到信号，已结束任务"), _AGAIN
    ),
    "killed": Ending(TaskEnd.FAILED, Text("somebody on the node ended our shell", "节点上有人结束了我们的 shell"), Text("ask the supplier who ends processes there", "请询问供应商谁在结束进程")),
    "exit": Ending(TaskEnd.FAILED, Text("the log is followed no more", "日志不再可读"), _READ),
}  # fmt: skip


def _by_itself(report: TaskReport, last_words: str, *, builtin: bool) -> Ending:
    code = report.code
    if code == 0:
        return Ending(TaskEnd.FINISHED)
    if builtin and code == 3:
        step = Text("install PyTorch on the node: python3 -m pip install torch", "请在节点上安装 PyTorch：python3 -m pip install torch")
        return Ending(TaskEnd.NO_TOOL, Text("PyTorch does not load on the node", "节点上 PyTorch 不可用"), step)
    if code == 128 + _SIGXFSZ or any(words in last_words for words in _NO_ROOM):
        return Ending(TaskEnd.OUT_OF_SPACE, _last(Text("it had no room to write", "没有空间可写"), last_words), ROOM)
    if code == 127:
        return Ending(TaskEnd.NO_TOOL, _last(Text("a program that it calls is not there", "节点上缺少所调用的程序"), last_words), _READ)
    if code is not None and code > 128:
        return _by_signal(code - 128, report.oom_kills)
    words = Text(f"it ended with exit code {code}", f"退出码 {code}")
    return Ending(TaskEnd.FAILED, _last(words, last_words), _READ)


def _by_signal(number: int, oom_kills: int) -> Ending:
    if number == _SIGKILL and oom_kills:
        return Ending(TaskEnd.FAILED, Text("the kernel of the node killed it: out of memory", "节点内核因内存不足杀死了它"), _MEMORY)
    name = _SIGNALS.get(number, str(number))
    return Ending(TaskEnd.FAILED, Text(f"it was ended by the signal {name}", f"被信号 {name} 结束"), _READ)


def _refused(report: TaskReport) -> Ending:
    said = report.said
    known: Mapping[str, Ending] = {
        "space": Ending(TaskEnd.OUT_OF_SPACE, _free(said), _MAKE_ROOM),
        "temp": Ending(TaskEnd.OUT_OF_SPACE, Text("there is no folder on the node that can be written to", "节点上没有可写目录"), _MAKE_ROOM),
        "tool": Ending(TaskEnd.NO_TOOL, _no_box(said), Text("install it, or run the task without an image", "请安装它，或不用镜像运行")),
        "unpack": Ending(TaskEnd.REFUSED, _with(Text("the node could not unpack it", "节点无法解包"), said), _MAKE_ROOM),
        "log": Ending(TaskEnd.REFUSED, WAITS.get(said.strip(), Text("there is no such log", "没有此日志")), _PATH),
    }  # fmt: skip
    return known.get(report.refusal, Ending(TaskEnd.REFUSED, _with(Text("the node would not start it", "节点拒绝启动"), said), _SHELL))


def _no_box(tool: str) -> Text:
    if tool.strip() == "auto":
        return Text("the node has neither docker nor podman nor enroot", "节点上没有 docker、podman 或 enroot")
    return Text(f"{tool} is not on the node", f"节点上没有 {tool}")


def _free(kib: str) -> Text:
    mib = int(kib) // 1024 if kib.strip().isdigit() else 0
    return Text(f"the node has only {mib} MiB free where it could go", f"节点可用空间只有 {mib} MiB")


def _with(words: Text, said: str) -> Text:
    return Text(f"{words.en}: {said}", f"{words.zh}：{said}") if said else words


def _last(words: Text, last_words: str) -> Text:
    """With the last line that says something: one of `====` alone does not."""
    lines = [line.strip() for line in last_words.split("\n") if any(mark.isalnum() for mark in line)]
    return _with(words, foreign(lines[-1][:200]).en) if lines else words
