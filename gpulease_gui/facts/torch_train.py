"""How many tokens a second does a small GPT learn on all GPUs of a node, and does its loss fall?"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import count, figure
from gpulease_gui.facts.task_lines import TaskHead, TaskRuns, head_dict, of_event, rounded, task_command

ID, TASK = "torch_train", "tiny_gpt"
SECONDS = 90


def command(seconds: int) -> Command:
    """`seconds` of training on all GPUs through torchrun."""
    return task_command("tiny_gpt.py", "--seconds", str(int(seconds)), as_file=True)


FACT = Fact(
    id=ID, title=Text("A small GPT in training", "小型 GPT 训练"), command=command(SECONDS), seconds=400, impact=Impact.DISRUPTIVE, lane="torch",
    ok_codes=None,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TrainStep:
    """One step over all GPUs; `loss` None = NaN, Inf or no number. `wait_s` is what it waited for its data."""

    step: int
    loss: float | None
    step_s: float | None
    tokens_s: float | None
    wait_s: float | None
    tflops_gpu: float | None


@dataclass(frozen=True, slots=True)
class TrainRun:
    """One run. `warmup` steps at its start are no measure of speed."""

    head: TaskHead
    steps: tuple[TrainStep, ...] = ()
    gpus: int | None = None
    from_disk: bool | None = None
    warmup: int = 5
    read_mb_s: float | None = None

    @property
    def warm(self) -> tuple[TrainStep, ...]:
        """The steps after the warm-up."""
        return self.steps[self.warmup :]

    @property
    def tokens_s(self) -> float | None:
        """The median over all GPUs after the warm-up; None without such steps."""
        told = [s.tokens_s for s in self.warm if s.tokens_s is not None]
        return median(told) if told else None

    @property
    def tflops_gpu(self) -> float | None:
        """The median of what one GPU achieves, by the arithmetic of the model."""
        told = [s.tflops_gpu for s in self.warm if s.tflops_gpu is not None]
        return median(told) if told else None

    @property
    def waited_share(self) -> float | None:
        """The part of the time after the warm-up that was waited for data."""
        told = [(s.wait_s, s.step_s) for s in self.warm if s.wait_s is not None and s.step_s]
        whole = sum(step for _, step in told)
        return sum(wait for wait, _ in told) / whole if whole > 0 else None

    @property
    def bad_step(self) -> int | None:
        """The first step whose loss was no finite number; None if there is none."""
        return next((s.step for s in self.steps if s.loss is None), None)


@dataclass(frozen=True, slots=True)
class TorchTrain:
    """The runs in the order made."""

    runs: tuple[TrainRun, ...]


def parse(output: CommandOutput) -> TorchTrain:
    """Read a combined output, or the lines of one run. Raises Unreadable without any run."""
    return TorchTrain(_RUNS.read(output))


def train_run(head: TaskHead, rows: list[dict[str, Any]]) -> TrainRun:
    """One run from its lines."""
    about = next(iter(of_event(rows, "model")), {})
    disk = next(iter(of_event(rows, "disk")), {})
    warmup, from_disk = count(about, "warmup"), about.get("from_disk")
    return TrainRun(
        head, tuple(step for row in of_event(rows, "step") if (step := _step(row))), count(about, "gpus"),
        from_disk if isinstance(from_disk, bool) else None, max(0, warmup) if warmup is not None else 5, figure(disk, "read_mb_s"),
    )  # fmt: skip


def _step(row: dict[str, Any]) -> TrainStep | None:
    number = count(row, "step")
    if number is None:
        return None
    step_s, tokens_s, wait_s, tflops = (_positive(row, name) for name in ("step_s", "tokens_s", "wait_s", "tflops_gpu"))
    return TrainStep(number, figure(row, "loss"), step_s, tokens_s, wait_s, tflops)


def _positive(row: dict[str, Any], name: str) -> float | None:
    found = figure(row, name)
    return found if found is not None and found >= 0 else None


def as_dict(reading: TorchTrain) -> dict[str, object]:
    """Per run: head; steps, gpus, first and last loss, step of the first loss that is no number, medians after the warm-up."""
    return {"runs": [_run_dict(run) for run in reading.runs]}


def _run_dict(run: TrainRun) -> dict[str, object]:
    return {
        **head_dict(run.head), "steps": len(run.steps), "gpus": run.gpus, "from_disk": run.from_disk,
        "first_loss": rounded(run.steps[0].loss, 4) if run.steps else None, "last_loss": rounded(run.steps[-1].loss, 4) if run.steps else None,
        "bad_step": run.bad_step, "tokens_s": rounded(run.tokens_s, 1), "tflops_gpu": rounded(run.tflops_gpu, 4),
        "waited_share": rounded(run.waited_share, 4), "read_mb_s": rounded(run.read_mb_s, 2),
    }  # fmt: skip


_RUNS = TaskRuns(ID, TASK, train_run)
combine, recognise = _RUNS.combine, _RUNS.recognise
