"""How fast is the training whose log is read beside the node's own figures?

No line of the node's stream tells it: the log comes over a channel of its own and is read by the task that follows it.
"""

from __future__ import annotations

from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.task import TaskPoint
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.train_curve import Unit
from gpulease_gui.telemetry.source import Metric, Point, Source

LOSS = "task.loss"
OF_UNIT = {
    Unit.TOKENS_S: "task.tokens_s", Unit.SAMPLES_S: "task.samples_s", Unit.TOKENS_S_GPU: "task.tokens_s_gpu",
    Unit.STEP_S: "task.step_s", Unit.TFLOPS: "task.tflops_gpu",
}  # fmt: skip
_SPEED, _EACH = Text("Throughput", "吞吐"), Text("Throughput per GPU", "单卡吞吐")
METRICS = (
    Metric("task.tokens_s", _SPEED, "tokens/s", "task_tokens", "work.tokens_s", 0),
    Metric("task.samples_s", _SPEED, "samples/s", "task_samples", "work.samples_s", 1),
    Metric("task.tokens_s_gpu", _EACH, "tokens/s", "task_tokens_gpu", decimals=0),
    Metric("task.step_s", Text("Time of a step", "单步时间"), "s", "task_step", "work.step_s", 3),
    Metric("task.tflops_gpu", Text("Computed per GPU", "单卡算力"), "TFLOP/s", "task_tflops", decimals=1),
    Metric(LOSS, Text("Loss", "损失"), "", "task_loss", decimals=3),
)


def values_of(point: TaskPoint) -> dict[str, float]:
    """What one line of progress tells, by metric; NaN, Inf, and a speed below nought tell nothing here."""
    said = {OF_UNIT[unit]: rate for name, rate in point.speeds if rate >= 0 and (unit := _unit(name)) is not None}
    if point.loss is not None:
        said[LOSS] = point.loss
    return {metric: value for metric, value in said.items() if value - value == 0}


def _unit(name: str) -> Unit | None:
    return next((unit for unit in OF_UNIT if unit == name), None)


class _Reader:
    def read(self, line: str) -> tuple[Point, ...]:
        """Raises Unreadable: a node has no line of this source."""
        raise Unreadable("a log is read by the task that follows it")


SOURCE = Source("task_log", Text("Log of the task", "任务日志"), "", METRICS, _Reader, of_node=False)
