"""How are rates and a small training measured by the built-in tasks, which need PyTorch on the node?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gpulease_gui.checks import (
    clock_under_load,
    nvlink_p2p_bw,
    pcie_h2d_d2h,
    perf_bf16,
    perf_fp8,
    perf_fp32_fp64,
    perf_hbm,
    perf_uniformity,
    work_loader,
    work_train,
)
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import MEASURED_ONCE
from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.finding import Finding
from gpulease_gui.facts import torch_copy, torch_loader, torch_matmul, torch_soak, torch_train
from gpulease_gui.remote.run import run_active
from gpulease_gui.services.measure_lines import Measurement, Task, tests_of

_START_S = 240  # loading PyTorch from a slow disk, building kernels, all sizes of all kinds

Judge = Callable[[Any, None, Promise], tuple[Finding, ...]]


def measure_matmul(task: Task) -> CommandOutput:
    """Matrix products of all kinds and sizes, then BF16 on all GPUs at once."""
    length = task.seconds or torch_matmul.SECONDS
    return torch_matmul.combine(_runs(task, torch_matmul.ID, torch_matmul.command(length), length))


def measure_soak(task: Task) -> CommandOutput:
    """BF16 on all GPUs at once for twenty minutes."""
    length = task.seconds or torch_soak.SECONDS
    return torch_soak.combine(_runs(task, torch_soak.ID, torch_soak.command(length), length))


def measure_copy(task: Task) -> CommandOutput:
    """Copies inside each GPU, to and from the host, and between all pairs."""
    return torch_copy.combine(_runs(task, torch_copy.ID, torch_copy.command(), 60))


def measure_train(task: Task) -> CommandOutput:
    """A small GPT on all GPUs through torchrun."""
    length = task.seconds or torch_train.SECONDS
    return torch_train.combine(_runs(task, torch_train.ID, torch_train.command(length), length, scratch=True))


def measure_loader(task: Task) -> CommandOutput:
    """The same with its tokens on disk."""
    length = task.seconds or torch_loader.SECONDS
    return torch_loader.combine(_runs(task, torch_loader.ID, torch_loader.command(length), length, scratch=True))


def _runs(task: Task, fact_id: str, command: Command, seconds: int, *, scratch: bool = False) -> Sequence[CommandOutput]:
    run = run_active(task.lines.line, fact_id, command, seconds + _START_S, task.cancel, scratch=scratch)
    return [*tests_of(task.before, fact_id), run]


def _again(fact_id: str, *judges: Judge) -> Callable[[Any, Promise], tuple[str, ...]]:
    """One more run where the only one was low for any check of it: two on an idle node are needed for a fail."""

    def due(reading: Any, promise: Promise) -> tuple[str, ...]:
        findings = [f for judge in judges for f in judge(reading, None, promise)] if len(reading.runs) == 1 else []
        return (fact_id,) if any(f.reason_code == MEASURED_ONCE for f in findings) else ()

    return due


_OF_MATMUL: tuple[Judge, ...] = (
    perf_bf16.judge, perf_fp8.judge, perf_fp32_fp64.judge, perf_uniformity.judge, clock_under_load.judge
)  # fmt: skip
_OF_COPY: tuple[Judge, ...] = (perf_hbm.judge, pcie_h2d_d2h.judge, nvlink_p2p_bw.judge)
TORCH_MEASURES = {
    torch_matmul.ID: Measurement((torch_matmul.ID,), measure_matmul, _again(torch_matmul.ID, *_OF_MATMUL)),
    torch_copy.ID: Measurement((torch_copy.ID,), measure_copy, _again(torch_copy.ID, *_OF_COPY)),
    torch_train.ID: Measurement((torch_train.ID,), measure_train, _again(torch_train.ID, work_train.judge)),
    torch_loader.ID: Measurement((torch_loader.ID,), measure_loader, _again(torch_loader.ID, work_loader.judge)),
    torch_soak.ID: Measurement((torch_soak.ID,), measure_soak),
}
