"""Do disk and processors feed the GPUs of a small training?"""

from __future__ import annotations

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import torch_train
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.task_lines import TaskRuns, task_command
from gpulease_gui.facts.torch_train import TorchTrain, train_run

ID, TASK = "torch_loader", "tiny_gpt_from_disk"
SECONDS = 60


def command(seconds: int) -> Command:
    """`seconds` of training whose tokens come from a file of 1 GiB in the current folder."""
    return task_command("tiny_gpt.py", "--from-disk", "--seconds", str(int(seconds)), as_file=True)


FACT = Fact(
    id=ID, title=Text("A small GPT fed from disk", "从磁盘取数的小型 GPT 训练"), command=command(SECONDS), seconds=400,
    impact=Impact.DISRUPTIVE, lane="torch", ok_codes=None,
)  # fmt: skip


def parse(output: CommandOutput) -> TorchTrain:
    """Read a combined output, or the lines of one run. Raises Unreadable without any run."""
    return TorchTrain(_RUNS.read(output))


def as_dict(reading: TorchTrain) -> dict[str, object]:
    """The keys of torch_train."""
    return torch_train.as_dict(reading)


_RUNS = TaskRuns(ID, TASK, train_run)
combine, recognise = _RUNS.combine, _RUNS.recognise
