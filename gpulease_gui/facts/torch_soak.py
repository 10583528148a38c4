"""Does the rate of matrix products hold for twenty minutes?"""

from __future__ import annotations

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import torch_matmul
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.task_lines import TaskRuns, task_command
from gpulease_gui.facts.torch_matmul import TorchMatmul, matmul_run

ID, TASK = "torch_soak", "soak"
SECONDS = 1200


def command(seconds: int) -> Command:
    """`seconds` of BF16 products on all GPUs at once."""
    return task_command("matmul.py", "--soak", "--seconds", str(int(seconds)))


FACT = Fact(
    id=ID, title=Text("Matrix products for twenty minutes", "矩阵乘 20 分钟"), command=command(SECONDS), seconds=1500,
    impact=Impact.DISRUPTIVE, lane="torch", ok_codes=None,
)  # fmt: skip


def parse(output: CommandOutput) -> TorchMatmul:
    """Read a combined output, or the lines of one run. Raises Unreadable without any run."""
    return TorchMatmul(_RUNS.read(output))


def as_dict(reading: TorchMatmul) -> dict[str, object]:
    """The keys of torch_matmul."""
    return torch_matmul.as_dict(reading)


_RUNS = TaskRuns(ID, TASK, matmul_run)
combine, recognise = _RUNS.combine, _RUNS.recognise
