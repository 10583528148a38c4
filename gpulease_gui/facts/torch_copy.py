"""How many GB/s does PyTorch copy inside each GPU, to and from the host, and from GPU to GPU?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import figure
from gpulease_gui.facts.task_lines import TaskHead, TaskRuns, head_dict, of_event, rounded, task_command

ID, TASK = "torch_copy", "copy"
INSIDE, TO_GPU, TO_HOST, BETWEEN = "device_copy", "h2d", "d2h", "d2d"
EVENTS = (INSIDE, TO_GPU, TO_HOST, BETWEEN)


def command() -> Command:
    """Twenty copies of each kind on each GPU in turn, five from each GPU to each other one."""
    return task_command("gpu_copy.py", "--repeats", "20")


FACT = Fact(
    id=ID, title=Text("Copies by PyTorch", "PyTorch 拷贝带宽"), command=command(), seconds=300, impact=Impact.ACTIVE, lane="torch", ok_codes=None
)


@dataclass(frozen=True, slots=True)
class Copy:
    """One kind of copy of one card (`to` = the other card). `gb_s` is the median in 1e9 bytes a second.

    INSIDE counts bytes read and written, the others what arrives one way. `correct` False: what arrived was not what was
    sent. `peer` False: the driver gives no direct way between the two.
    """

    event: str
    card: str
    to: str | None
    gb_s: float | None
    best_gb_s: float | None
    correct: bool | None
    own_socket: bool | None
    peer: bool | None


@dataclass(frozen=True, slots=True)
class CopyRun:
    """One run over all cards."""

    head: TaskHead
    copies: tuple[Copy, ...] = ()

    def of(self, event: str, card: str | None = None) -> tuple[Copy, ...]:
        """The copies of one kind (and card)."""
        return tuple(c for c in self.copies if c.event == event and card in (None, c.card))


@dataclass(frozen=True, slots=True)
class TorchCopy:
    """The runs in the order made."""

    runs: tuple[CopyRun, ...]


def parse(output: CommandOutput) -> TorchCopy:
    """Read a combined output, or the lines of one run. Raises Unreadable without any run."""
    return TorchCopy(_RUNS.read(output))


def _run(head: TaskHead, rows: list[dict[str, Any]]) -> CopyRun:
    return CopyRun(head, tuple(copy for event in EVENTS for row in of_event(rows, event) if (copy := _copy(head, event, row))))


def _copy(head: TaskHead, event: str, row: dict[str, Any]) -> Copy | None:
    card, to = head.key_of(row), head.key_of(row, "to_gpu", "to_uuid") if event == BETWEEN else None
    if card is None or (event == BETWEEN and (to is None or to == card)):
        return None
    return Copy(
        event, card, to, _rate(row, "gb_s"), _rate(row, "best_gb_s"), _truth(row, "correct"), _truth(row, "own_socket"), _truth(row, "peer")
    )


def _rate(row: dict[str, Any], name: str) -> float | None:
    found = figure(row, name)
    return found if found is not None and found >= 0 else None


def _truth(row: dict[str, Any], name: str) -> bool | None:
    found = row.get(name)
    return found if isinstance(found, bool) else None


def as_dict(reading: TorchCopy) -> dict[str, object]:
    """Per run: head; GB/s of device_copy, h2d and d2h in the order printed; `d2d` as [from, to, GB/s]; wrong: copies with wrong bytes."""
    return {"runs": [_run_dict(run) for run in reading.runs]}


def _run_dict(run: CopyRun) -> dict[str, object]:
    own = {event: [rounded(c.gb_s) for c in run.of(event)] for event in (INSIDE, TO_GPU, TO_HOST)}
    pairs = [[c.card, c.to, rounded(c.gb_s)] for c in run.of(BETWEEN)]
    return {**head_dict(run.head), **own, "d2d": pairs, "wrong": sum(c.correct is False for c in run.copies)}


_RUNS = TaskRuns(ID, TASK, _run)
combine, recognise = _RUNS.combine, _RUNS.recognise
