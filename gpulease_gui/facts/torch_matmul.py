"""How many TFLOP/s does each GPU reach in matrix products of PyTorch?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import count, figure, words
from gpulease_gui.facts.task_lines import TaskHead, TaskRuns, head_dict, of_event, rounded, task_command

ID, TASK = "torch_matmul", "matmul"
SECONDS = 30
KINDS = ("fp16", "bf16", "fp32", "fp64", "fp8")


def command(seconds: int) -> Command:
    """All kinds and sizes, then `seconds` of BF16 on all GPUs at once."""
    return task_command("matmul.py", "--seconds", str(int(seconds)))


FACT = Fact(
    id=ID, title=Text("Matrix products by PyTorch", "PyTorch 矩阵乘"), command=command(SECONDS), seconds=300, impact=Impact.DISRUPTIVE,
    lane="torch", ok_codes=None,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Best:
    """The best of some short stretches on one card; `tflops` None = no figure. `finite` False: the result held NaN or Inf."""

    card: str
    kind: str
    size: int | None
    tflops: float | None
    finite: bool | None


@dataclass(frozen=True, slots=True)
class Point:
    """The rate of one stretch of a long run that ended at `t_s`; None = NaN, Inf or no number."""

    t_s: float
    tflops: float | None


@dataclass(frozen=True, slots=True)
class MatmulRun:
    """One run: the best rates, and the course of the long run per card."""

    head: TaskHead
    best: tuple[Best, ...] = ()
    sustained: tuple[tuple[str, tuple[Point, ...]], ...] = ()

    def rate(self, card: str, kind: str) -> float | None:
        """The best TFLOP/s of a card over all sizes; None if there is none."""
        return max((b.tflops for b in self.best if b.card == card and b.kind == kind and b.tflops is not None), default=None)

    def broken(self, card: str, kind: str | None = None) -> bool:
        """Whether a product of this card held NaN or Inf."""
        return any(b.card == card and b.finite is False and kind in (None, b.kind) for b in self.best)

    def course(self, card: str) -> tuple[Point, ...]:
        """The long run of a card; empty without one."""
        return next((points for name, points in self.sustained if name == card), ())


@dataclass(frozen=True, slots=True)
class TorchMatmul:
    """The runs in the order made."""

    runs: tuple[MatmulRun, ...]


def parse(output: CommandOutput) -> TorchMatmul:
    """Read a combined output, or the lines of one run. Raises Unreadable without any run."""
    return TorchMatmul(_RUNS.read(output))


def matmul_run(head: TaskHead, rows: list[dict[str, Any]]) -> MatmulRun:
    """One run from its lines."""
    best = tuple(one for row in of_event(rows, "best") if (one := _best(head, row)))
    courses: dict[str, list[Point]] = {}
    for row in of_event(rows, "sustained"):
        card, at = head.key_of(row), figure(row, "t_s")
        if card is not None and at is not None:
            courses.setdefault(card, []).append(Point(at, figure(row, "tflops")))
    return MatmulRun(head, best, tuple((card, tuple(points)) for card, points in courses.items()))


def _best(head: TaskHead, row: dict[str, Any]) -> Best | None:
    card, kind, finite = head.key_of(row), words(row, "kind"), row.get("finite")
    if card is None or kind not in KINDS:
        return None
    return Best(card, kind, count(row, "size"), figure(row, "tflops"), finite if isinstance(finite, bool) else None)


def as_dict(reading: TorchMatmul) -> dict[str, object]:
    """Per run: head, and per card the best TFLOP/s of each kind, NaN seen, points of the long run and its mean."""
    return {"runs": [_run_dict(run) for run in reading.runs]}


def _run_dict(run: MatmulRun) -> dict[str, object]:
    keys = [card.key for card in run.head.cards]
    rates: dict[str, object] = {f"{kind}_tflops": [rounded(run.rate(key, kind)) for key in keys] for kind in KINDS}
    return {
        **head_dict(run.head), **rates, "broken": [run.broken(key) for key in keys], "points": [len(run.course(key)) for key in keys],
        "last_tflops": [rounded(run.course(key)[-1].tflops) if run.course(key) else None for key in keys],
    }  # fmt: skip


_RUNS = TaskRuns(ID, TASK, matmul_run)
combine, recognise = _RUNS.combine, _RUNS.recognise
