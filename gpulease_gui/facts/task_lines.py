"""What does a task of ours print: which cards and versions, what was looked at beside it, what it could not do?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from gpulease_gui.catalog.loader import resource
from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.facts.json_text import count, document, figure, items, words
from gpulease_gui.facts.raw_runs import pack, reason_code, unpack

T = TypeVar("T")

ABSENT, BROKEN = "torch_absent", "torch_broken"  # reason codes of a node without PyTorch, or with one that does not load
_MOST_ROWS, _LONGEST_LINE = 60_000, 40_000
_MOST_CARDS = 128
_END = "GPULEASE_TASK"
_LAST = ("end", "absent", "error")
_MASK = re.compile(r"0[xX][0-9a-fA-F]{1,16}")


@dataclass(frozen=True, slots=True)
class TaskCard:
    """One GPU as torch counts it; `key` is the UUID, else its number. A task on processors has one card, `cpu`."""

    key: str
    gpu: int
    uuid: str | None
    name: str | None
    memory_mib: int | None


@dataclass(frozen=True, slots=True)
class Look:
    """One look of nvidia-smi at one GPU beside the task; None = not told. `mask` holds the clock event reasons."""

    t_s: float
    phase: str
    uuid: str | None
    index: int
    sm_mhz: float | None
    sm_max_mhz: float | None
    power_w: float | None
    limit_w: float | None
    default_limit_w: float | None
    temp_c: float | None
    util_percent: float | None
    mask: int | None


@dataclass(frozen=True, slots=True)
class TaskHead:
    """What every task tells. `complete` False: it ended before its end. `skipped`: (part, why) of what was not possible.

    `trouble` and `code` say why there is no result at all.
    """

    torch: str | None = None
    cuda: str | None = None
    driver: str | None = None
    on_gpu: bool = False
    cards: tuple[TaskCard, ...] = ()
    looks: tuple[Look, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    error: str = ""
    complete: bool = False
    trouble: str = ""
    code: str = ""

    def key_of(self, row: dict[str, Any], name: str = "gpu", uuid: str = "uuid") -> str | None:
        """Which card a line speaks of; None if it is none that the task began with."""
        number, told = count(row, name), words(row, uuid)
        return next((c.key for c in self.cards if (c.uuid == told if told and c.uuid else c.gpu == number)), None)

    def looks_at(self, card: TaskCard) -> tuple[Look, ...]:
        """The looks at one card under load."""
        return tuple(k for k in self.looks if k.phase == "load" and (k.uuid == card.uuid if k.uuid and card.uuid else k.index == card.gpu))

    @property
    def before(self) -> tuple[Look, ...]:
        """The looks before the load began."""
        return tuple(k for k in self.looks if k.phase == "before")


def task_command(file: str, *options: str, as_file: bool = False) -> Command:
    """A task of resources/tasks as one text for sh: python3 reads it from its standard input.

    `as_file`: it is written to the current folder first, since it starts itself again through torchrun.
    """
    source = resource("tasks", file).read_text("utf-8")
    line = " ".join(options)
    if as_file:
        return Command(script=f"cat >gpulease_{file} <<'{_END}'\n{source}{_END}\npython3 gpulease_{file} {line}\n")
    return Command(script=f"python3 - {line} <<'{_END}'\n{source}{_END}\n")


def combine_runs(fact_id: str, outputs: Sequence[CommandOutput]) -> CommandOutput:
    """One output that holds the runs of a task."""
    return CommandOutput(json.dumps({fact_id: [pack(output) for output in outputs]}, ensure_ascii=False).encode())


@dataclass(frozen=True, slots=True)
class TaskRuns(Generic[T]):
    """How the runs of one task are kept as one output and read again; `run_of` makes a run of its head and its lines."""

    fact_id: str
    task: str
    run_of: Callable[[TaskHead, list[dict[str, Any]]], T]

    def combine(self, outputs: Sequence[CommandOutput]) -> CommandOutput:
        """One output that holds the runs."""
        return combine_runs(self.fact_id, outputs)

    def read(self, output: CommandOutput) -> tuple[T, ...]:
        """The runs of a combined output, or the one of lines as the task prints them; a run without a result says why.

        Raises Unreadable when there is no run at all.
        """
        if not output.text.lstrip().startswith(f'{{"{self.fact_id}"'):
            return (self._bare(output),)
        runs = unpack(document(output.text).get(self.fact_id))
        if not runs:
            raise Unreadable("the task was not run", code=Reason.NOT_COLLECTED)
        return tuple(self._run(run, task_rows(run.text, self.task)) for run in runs)

    def recognise(self, text: str) -> int:
        """Sure of our own marker."""
        if text.lstrip().startswith(f'{{"{self.fact_id}"'):
            return 99
        return 98 if f'{{"gpulease_task": "{self.task}"' in text[:20_000] else 0

    def _bare(self, output: CommandOutput) -> T:
        rows = task_rows(output.text, self.task)
        if not rows:
            raise Unreadable(f"no line of the task {self.task} in the output")
        if rows[-1].get("event") not in _LAST or not output.text.endswith("\n"):
            raise Unreadable("the lines of the task break off", code=Reason.CUT_OFF, next_step="run it again and keep the whole output")
        return self._run(output, rows)

    def _run(self, output: CommandOutput, rows: list[dict[str, Any]]) -> T:
        return self.run_of(_head(rows, output), rows)


def task_rows(text: str, task: str) -> list[dict[str, Any]]:
    """The lines of `task`, in order; other lines, torn ones and far too long ones are passed over."""
    rows: list[dict[str, Any]] = []
    for line in text.split("\n"):
        if len(rows) >= _MOST_ROWS:
            break
        if '"gpulease_task"' not in line[:40] or len(line) > _LONGEST_LINE:
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and row.get("gpulease_task") == task:
            rows.append(row)
    return rows


def of_event(rows: Sequence[dict[str, Any]], event: str) -> list[dict[str, Any]]:
    """The lines of one event."""
    return [row for row in rows if row.get("event") == event]


def _head(rows: list[dict[str, Any]], output: CommandOutput) -> TaskHead:
    absent, start = of_event(rows, "absent"), of_event(rows, "start")
    if absent:
        why = words(absent[0], "why") or "PyTorch does not load"
        return TaskHead(trouble=why[:300], code=BROKEN if absent[0].get("missing") is False else ABSENT)
    if not start:
        return TaskHead(trouble=_said(output), code=reason_code(output, Unreadable("no result")))
    first = start[0]
    return TaskHead(
        words(first, "torch"), words(first, "cuda"), words(first, "driver"), first.get("device") == "cuda", _cards(first),
        tuple(look for row in of_event(rows, "look") if (look := _look(row))),
        tuple((words(row, "kind") or "?", (words(row, "why") or "")[:200]) for row in of_event(rows, "skip")[:200]),
        next(((words(row, "why") or "it does not say which")[:300] for row in of_event(rows, "error")), ""),
        bool(of_event(rows, "end")),
    )  # fmt: skip


def _said(output: CommandOutput) -> str:
    last = [line.strip() for line in output.error_text.split("\n") if line.strip()]
    return last[-1][:200] if last else "the task printed no result"


def _cards(first: dict[str, Any]) -> tuple[TaskCard, ...]:
    found: dict[str, TaskCard] = {}
    for row in items(first, "cards")[:_MOST_CARDS]:
        number, uuid, name = count(row, "gpu"), words(row, "uuid"), words(row, "name")
        if number is None or number < 0:
            continue
        key = uuid or ("cpu" if name == "cpu" else f"gpu{number}")
        found.setdefault(key, TaskCard(key, number, uuid, name, count(row, "memory_mib")))
    return tuple(found.values())


def _look(row: dict[str, Any]) -> Look | None:
    at, index, reasons = figure(row, "t_s"), count(row, "index"), words(row, "reasons")
    if at is None or index is None or at < 0:
        return None
    mask = int(reasons, 16) if reasons and _MASK.fullmatch(reasons) else None
    return Look(
        at, words(row, "phase") or "", words(row, "uuid"), index, figure(row, "sm_mhz"), figure(row, "sm_max_mhz"),
        figure(row, "power_w"), figure(row, "limit_w"), figure(row, "default_limit_w"), figure(row, "temp_c"),
        figure(row, "util_percent"), mask,
    )  # fmt: skip


def head_dict(head: TaskHead) -> dict[str, object]:
    """The keys of one run that every task tells."""
    return {
        "torch": head.torch, "cuda": head.cuda, "driver": head.driver, "on_gpu": head.on_gpu, "cards": [c.key for c in head.cards],
        "looks": len(head.looks), "skipped": [list(one) for one in head.skipped], "error": head.error or None,
        "complete": head.complete, "trouble": head.trouble or None, "code": head.code or None,
    }  # fmt: skip


def rounded(value: float | None, digits: int = 3) -> float | None:
    """A figure for `gpulease parse`; None stays None."""
    return None if value is None else round(value, digits)
