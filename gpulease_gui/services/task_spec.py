"""Can a task be run as it is written down, what is sent for it, and which line runs it again?"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.loader import resource
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.task import DOTS, ContainerTool, SourceKind, TaskSpec, secrets_of
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import torch_copy, torch_matmul, torch_train
from gpulease_gui.facts.train_reader import LogReader
from gpulease_gui.remote.task_pack import Pack, pack_folder, pack_script, pack_text
from gpulease_gui.remote.task_wrap import check_container, check_variable

LONGEST_S = 7 * 24 * 3600
_LONGEST_COMMAND = 16_000
_MOST_GIB = 4096.0
_INTERPRETERS: Mapping[str, str] = {".py": "python3", ".sh": "sh", ".bash": "bash"}


@dataclass(frozen=True, slots=True)
class Builtin:
    """A task that the program brings: its file, the fact that reads it, the checks that judge it, its length by itself."""

    id: str
    title: Text
    file: str
    fact: str
    checks: tuple[str, ...]
    seconds: int
    timed: bool = True

    def command(self, options: str) -> str:
        """The command with the user's own options, else of its usual length."""
        usual = f"--seconds {self.seconds}" if self.timed else ""
        return f"python3 {self.file} {options.strip() or usual}".strip()


BUILTINS: Mapping[str, Builtin] = {
    one.id: one
    for one in (
        Builtin("tiny_gpt", Text("A small GPT in training", "小型 GPT 训练"), "tiny_gpt.py", torch_train.ID, ("work.train",), torch_train.SECONDS),
        Builtin(
            "matmul", Text("Matrix products", "矩阵乘"), "matmul.py", torch_matmul.ID,
            ("perf.bf16", "perf.fp8", "perf.fp32_fp64", "perf.uniformity", "clock.under_load"), torch_matmul.SECONDS,
        ),
        Builtin(
            "gpu_copy", Text("Copies between GPU, host and GPU", "显卡与主机之间的拷贝"), "gpu_copy.py", torch_copy.ID,
            ("perf.hbm", "pcie.h2d_d2h", "nvlink.p2p_bw"), 60, timed=False,
        ),
    )
}  # fmt: skip


def builtin_of(spec: TaskSpec) -> Builtin | None:
    """The built-in task that is meant; None for one's own. Raises UsageError for an unknown one."""
    if spec.source.kind is not SourceKind.BUILTIN:
        return None
    found = BUILTINS.get(spec.source.place)
    if found is None:
        raise UsageError(Text(f"there is no built-in task {spec.source.place!r}", f"没有内置任务 {spec.source.place!r}"), next_step=Text(f"there are {', '.join(BUILTINS)}", f"内置任务有 {', '.join(BUILTINS)}"))
    return found


def check_spec(spec: TaskSpec, catalogue: Catalogue) -> None:
    """Raises UsageError for what can't be run, before anything is sent."""
    builtin_of(spec)
    LogReader(spec.pattern)
    for one in spec.environment:
        check_variable(one)
        if secrets_of([one]) == (DOTS,) or one.value == DOTS:
            raise UsageError(Text(f"{one.name}: the dots stand for a secret that is stored nowhere", f"{one.name}：圆点代表未保存的密钥"), next_step=Text(f"write its value: {one.name}=...", f"请填写其值：{one.name}=..."))
    if spec.container is not None:
        check_container(spec.container)
    if not 1 <= spec.time_limit_s <= LONGEST_S:
        raise UsageError(Text(f"the time limit of {spec.time_limit_s} s is out of range", f"时限 {spec.time_limit_s} 秒超出范围"), next_step=Text("1 second to 7 days", "1 秒至 7 天"))
    if not 0.001 <= spec.scratch_gib <= _MOST_GIB:
        raise UsageError(Text(f"{spec.scratch_gib:g} GiB can't be the most that it may write", f"写入上限不能是 {spec.scratch_gib:g} GiB"), next_step=Text(f"0.001 to {_MOST_GIB:g}", f"0.001 至 {_MOST_GIB:g}"))
    if len(spec.command) > _LONGEST_COMMAND or "\0" in spec.command:
        raise UsageError(Text("the command is too long, or holds a null byte", "命令过长，或含有空字节"), next_step=Text("put it into a script", "请写入脚本"))
    if spec.source.kind is SourceKind.FOLDER and not spec.command.strip():
        raise UsageError(Text("a folder needs a command", "文件夹需要命令"), next_step=Text("name one, such as python3 train.py", "请填写，如 python3 train.py"), at_terminal='--command "python3 train.py"')
    if spec.source.kind is SourceKind.LOG and not _is_log_path(spec.source.place):
        raise UsageError(Text(f"{spec.source.place!r} is no path of a log", f"{spec.source.place!r} 不是日志路径"), next_step=Text("write /path/to/log or ~/log", "请填写 /path/to/log 或 ~/log"))
    for term, _ in spec.serves:
        if term not in catalogue.terms or not term.startswith("work."):
            known = ", ".join(key for key in catalogue.terms if key.startswith("work."))
            raise UsageError(Text(f"a task can't prove {term!r}", f"任务不能验证 {term!r}"), next_step=Text(f"it proves {known}", f"可验证 {known}"))


def _is_log_path(place: str) -> bool:
    return bool(place.strip()) and not place.startswith("-") and all(ord(mark) >= 0x20 for mark in place)


def packed(spec: TaskSpec) -> Pack | None:
    """What is sent; None for a log that is only followed. Reads folders. Raises UsageError."""
    kind, place = spec.source.kind, Path(spec.source.place)
    if kind is SourceKind.LOG:
        return None
    builtin = builtin_of(spec)
    if builtin is not None:
        return pack_text(builtin.file, resource("tasks", builtin.file).read_bytes())
    return pack_script(place) if kind is SourceKind.SCRIPT else pack_folder(place)


def command_of(spec: TaskSpec) -> str:
    """What the node's shell runs in the folder."""
    builtin = builtin_of(spec)
    if builtin is not None:
        return builtin.command(spec.command)
    if spec.command.strip() or spec.source.kind is not SourceKind.SCRIPT:
        return spec.command
    name = Path(spec.source.place).name
    program = _INTERPRETERS.get(Path(name).suffix.lower())
    return f"{program} {shlex.quote(name)}" if program else shlex.quote(f"./{name}")


def serves_of(spec: TaskSpec, terms: Mapping[str, TermValue]) -> dict[str, TermValue]:
    """The promises that a run is judged by: a contract's own speeds count only where the task is said to prove them."""
    return {**{key: value for key, value in terms.items() if not key.startswith("work.")}, **dict(spec.serves)}


def repeat_command(node: Node, spec: TaskSpec, *, contract_id: str | None = None, watch: bool = True) -> str:
    """The `gpulease workload` line that runs it again as it ran; a secret is dots that the user puts the value for."""
    beside = [*_common(spec), *(["--contract", contract_id] if contract_id else []), *([] if watch else ["--no-watch"])]
    if spec.source.kind is SourceKind.LOG:
        return _line("workload", "log", node.target, spec.source.place, *beside)
    source = {SourceKind.SCRIPT: "--script", SourceKind.FOLDER: "--folder", SourceKind.BUILTIN: "--builtin"}[spec.source.kind]
    words = ["workload", "run", node.target, source, spec.source.place]
    words += [f"--name={spec.name}"] if spec.name != Path(spec.source.place).name else []
    words += [f"--command={spec.command}"] if spec.command else []
    for one in spec.environment:
        words += ["--env", f"{one.name}={one.shown}"]
    if spec.container is not None:
        words += ["--image", spec.container.image]
        words += ["--container-tool", str(spec.container.tool)] if spec.container.tool is not ContainerTool.AUTO else []
        words += ["--network", spec.container.network] if spec.container.network else []
    words += ["--keep"] if spec.keep_folder else []
    words += ["--scratch-gib", _figure(spec.scratch_gib)]
    return _line(*words, *beside)


def _common(spec: TaskSpec) -> list[str]:
    words = ["--time-limit", f"{spec.time_limit_s}s"]
    words += [f"--pattern={spec.pattern}"] if spec.pattern else []
    for term, value in spec.serves:
        words += ["--expect", f"{term}={_figure(value) if isinstance(value, int | float) else value}"]
    return words


def _figure(value: float) -> str:
    """Every digit of it: 8, 0.35, 1234567.5."""
    return str(int(value)) if float(value).is_integer() else repr(float(value))


def _line(*words: str) -> str:
    return "gpulease " + shlex.join(words)


def own_path(words: str) -> str:
    """A path on this computer as the user wrote it, made whole."""
    return os.path.abspath(os.path.expanduser(words))
