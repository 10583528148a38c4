"""What is said of a node that let us in and then ran nothing: an account without a shell, a forced command, a login that floods?"""

from __future__ import annotations

from collections.abc import Mapping

from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.remote.failures import ConnectFailed, Phase, one_line

_LOG_IN = Text(
    "log in by hand with ssh; the account may have no shell (nologin) or a forced command: ask the supplier for one that runs commands",
    "用 ssh 手动登录查看；该账号可能没有登录 shell（nologin）或被设定了强制命令，请供应商提供可执行命令的账号",
)
_SAID: Mapping[str, tuple[str, Text, Text]] = {
    Reason.NOT_COLLECTED: ("runs_nothing", Text("the node ended our commands without an output of theirs", "节点结束了命令，未给出任何输出"), _LOG_IN),
    Reason.TIMEOUT: (
        "no_output", Text("no command gave an output in time", "所有命令均未在时限内给出输出"),
        Text("log in by hand with ssh and see what hangs there, or try again", "用 ssh 手动登录查看何处卡住，或重试"),
    ),
    Reason.CUT_OFF: (
        "flood", Text("the node sends without end what belongs to no command", "节点不停发送与命令无关的数据"),
        Text("something at its login prints without end (a file of the shell, a forced command): ask the supplier", "登录时有程序不停输出（shell 启动文件或强制命令），请询问供应商"),
    ),
    Reason.CONNECTION_LOST: (
        "lost", Text("the connection was lost before any command gave an output", "连接在任何命令给出输出之前中断"),
        Text("try again; if it stays so, ask the supplier", "请重试；仍然如此时询问供应商"),
    ),
    Reason.OWN_NETWORK: (
        "own_network", Text("this computer had no network before any command gave an output", "在任何命令给出输出之前本机无网络"),
        Text("check the network of this computer and try again", "请检查本机网络并重试"),
    ),
    Reason.COMPUTER_SLEPT: (
        "slept", Text("this computer slept or stood still before any command gave an output", "在任何命令给出输出之前本机休眠或停顿"),
        Text("keep this computer awake and try again", "请保持本机唤醒并重试"),
    ),
}  # fmt: skip


def no_output(host_port: str, reason: Reason, said: str, lost_at: Text = NO_TEXT) -> ConnectFailed:
    """No command of a whole collection gave an output. `said`: what came in place of it, foreign text; `lost_at`: the
    jump host with which the line was lost.
    """
    cause, why, step = _SAID.get(reason, _SAID[Reason.NOT_COLLECTED])
    heard = one_line(said)
    if heard:
        why = Text(f"{why.en}; it said: {heard}", f"{why.zh}；节点的原话：{heard}")
    error = ConnectFailed(Phase.CHANNEL, host_port, cause, why, step)
    if lost_at.en:
        error.also(lost_at)
    return error
