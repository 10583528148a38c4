"""Which text does a node's shell get, so that it runs one task of the user, or follows one log?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.frame import head_line
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.task import ContainerTool, TaskContainer, TaskVariable
from gpulease_gui.domain.text import Text
from gpulease_gui.remote.follow_program import FOLLOW
from gpulease_gui.remote.programs import TEMP
from gpulease_gui.remote.task_pack import LargeFile
from gpulease_gui.remote.task_program import BOX, CLEAN, HUNT, KEEP, MAIN, MARKS, PLACE, PYTHON, RECEIVE, SPARE_KIB
from gpulease_gui.remote.wrap import TOOL_FOLDERS

HEAD_BYTES = 16 * 1024 * 1024
TAIL_BYTES = 4 * 1024 * 1024
_ENDLESS_BYTES = 1 << 60
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}\Z")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@+-]{0,254}\Z")
_NETWORK = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}\Z")
_RUN = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
# Names that the program itself lives by.
_OURS = frozenset(["IFS", "ENV", "BASH_ENV", "PS4", "PPID", "OPTIND", "LC_ALL", "TMPDIR"])


@dataclass(frozen=True, slots=True)
class TaskOrder:
    """What a node is to run: `send_bytes` of a tar stream first, then `command` in the folder that came out of it.

    The `large` files are the end of that stream. `scratch_bytes` is the most that it may write. Of its log `head_bytes` come
    live, the last `tail_bytes` at the end.
    """

    run_id: str
    command: str
    send_bytes: int = 0
    environment: tuple[TaskVariable, ...] = ()
    time_limit_s: int = 1200
    scratch_bytes: int = 8 * 1024**3
    keep: bool = False
    container: TaskContainer | None = None
    head_bytes: int = HEAD_BYTES
    tail_bytes: int = TAIL_BYTES
    large: Sequence[LargeFile] = ()


def check_variable(variable: TaskVariable) -> None:
    """Raises UsageError for a name or a value that can't be one."""
    if not _NAME.match(variable.name):
        raise UsageError(Text(f"{variable.name!r} is no name of an environment variable", f"{variable.name!r} 不是环境变量名"), next_step=Text("use letters, digits and _", "请使用字母、数字和 _"))
    if variable.name in _OURS or variable.name.startswith("GPULEASE_"):
        raise UsageError(Text(f"{variable.name} is set by the program itself", f"{variable.name} 由本程序设置"), next_step=Text("set it in the command: NAME=value command", "请在命令中设置：NAME=value command"))
    if "\0" in _value(variable):
        raise UsageError(Text(f"the value of {variable.name} holds a null byte", f"{variable.name} 的值含有空字节"))


def check_container(container: TaskContainer) -> None:
    """Raises UsageError for an image or a network that no tool would take."""
    if not _IMAGE.match(container.image):
        raise UsageError(Text(f"{container.image!r} is no name of an image", f"{container.image!r} 不是镜像名"), next_step=Text("write it as docker does: registry/name:tag", "请按 docker 的格式填写：registry/name:tag"))
    if container.network and not _NETWORK.match(container.network):
        raise UsageError(Text(f"{container.network!r} is no network", f"{container.network!r} 不是网络"), next_step=Text("write host, none, bridge or a name", "请填写 host、none、bridge 或网络名"))


def task_script(boundary: str, order: TaskOrder) -> bytes:
    """The program that receives a task and runs it. Raises UsageError for names that can't be."""
    for one in order.environment:
        check_variable(one)
    if not _RUN.match(order.run_id):
        raise UsageError(Text(f"{order.run_id!r} is no id of a run", f"{order.run_id!r} 不是验收编号"))
    settings: dict[str, str | int] = {
        "NEED": -(-order.send_bytes * 5 // 4096) + SPARE_KIB, "BYTES": order.send_bytes, "SMALL": _small(order), "KEEP": "yes" if order.keep else "",
        "HEAD": order.head_bytes, "TAIL": order.tail_bytes, "LIMIT": order.time_limit_s,
        "MOST": max(1, (order.scratch_bytes + order.send_bytes) // 1024), "BLOCKS": max(1, order.scratch_bytes // 512),
        "CMD": order.command, **_box_settings(order),
    }  # fmt: skip
    keeper = (resources.files("gpulease_gui") / "agent" / "task_keeper.py").read_text("utf-8")
    unpacked = f"[ -z \"$PY\" ] || cat >\"$d/keeper.py\" <<'GPULEASE_KEEPER'\n{keeper}GPULEASE_KEEPER\n"
    box = BOX.replace("@NAMES@", " ".join(f"-e {one.name}" for one in order.environment)) if order.container else ""
    receive = RECEIVE.replace("@LARGE@", _large(order.large))
    start = "box" if order.container else 'keep sh -c "$CMD"'
    body = MAIN.replace("@START@", start).replace("@EXPORTS@", _exports(order.environment))
    return _program(boundary, _settings(settings), TEMP, MARKS, PLACE, PYTHON, unpacked, "W=$S/work\n", receive, HUNT, CLEAN, box, KEEP, body)


def follow_script(boundary: str, path: str, time_limit_s: int) -> bytes:
    """The program that waits for a log on the node, reads its end and follows it over rotation and truncation."""
    settings: dict[str, str | int] = {
        "KEEP": "", "HEAD": _ENDLESS_BYTES, "TAIL": 0, "LIMIT": time_limit_s, "MOST": 0, "BLOCKS": 0, "TOOL": "", "LOG": path, "FOLLOW": FOLLOW,
    }  # fmt: skip
    body = MAIN.replace("@START@", 'keep sh -c "$FOLLOW" gpulease-follow "$LOG"').replace("@EXPORTS@", "")
    return _program(boundary, _settings(settings), TEMP, MARKS, "S=$d W=/ PY=\n", _FIND_LOG, HUNT, CLEAN, KEEP, body)


_FIND_LOG = r"""
case $LOG in
  '~/'*) LOG=$HOME/${LOG#??} ;;
  /*) ;;
  *) LOG=${HOME%/}/$LOG ;;
esac
why=
if [ ! -e "$LOG" ]; then :; elif [ ! -f "$LOG" ]; then why=no_file; elif [ ! -r "$LOG" ]; then why=denied; fi
if [ -n "$why" ]; then
  rm -rf "$d"
  say REFUSE log $why
  exit 1
fi
say READY
"""


def _box_settings(order: TaskOrder) -> dict[str, str]:
    box = order.container
    if box is None:
        return {"TOOL": ""}
    check_container(box)
    return {"TOOL": str(ContainerTool(box.tool)), "IMAGE": box.image, "NET": box.network, "NAME": f"gpulease-{order.run_id}"}


def _small(order: TaskOrder) -> int:
    """Bytes of the stream before its large files: what only tar can read."""
    return order.send_bytes - sum(one.before_bytes + one.size_bytes + one.after_bytes for one in order.large)


def _large(files: Sequence[LargeFile]) -> str:
    lines = (
        f"large {one.before_bytes} {one.size_bytes} {one.after_bytes} {shlex.quote(one.name)} {'yes' if one.executable else ''}"
        for one in files
    )
    return "\n    ".join(lines)


def _settings(values: dict[str, str | int]) -> str:
    return "".join(f"{name}={shlex.quote(str(value))}\n" for name, value in values.items())


def _exports(environment: Sequence[TaskVariable]) -> str:
    lines = (f"  {one.name}={shlex.quote(_value(one))}\n  export {one.name}\n" for one in environment)
    return "".join(lines)


def _value(variable: TaskVariable) -> str:
    return variable.value.reveal() if isinstance(variable.value, Secret) else variable.value


def _program(boundary: str, *parts: str) -> bytes:
    prelude = (
        f"exec 3<&0 </dev/null\nexec 7>/dev/null\numask 077\nB={boundary}\nL0=${{LANG-}} A0=${{LC_ALL-}}\n"
        f"PATH=${{PATH:-/usr/bin:/bin}}:{':'.join(TOOL_FOLDERS)}\nLC_ALL=C LANG=C\nexport PATH LC_ALL LANG\nunset LANGUAGE\nT=\n"
    )
    return (head_line(boundary, ["task"]) + "{\n" + prelude + "".join(parts) + "}\n").encode("utf-8", "surrogateescape")
