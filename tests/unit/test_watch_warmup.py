"""Are the first steps of a task held against nothing, and is it said how many they were?"""

from __future__ import annotations

import math

import pytest

from gpulease_gui.domain.task import TaskPoint, TaskRate
from gpulease_gui.domain.text import Text
from gpulease_gui.services.watch_warmup import judged_from, with_warmup


def steps(count: int, every_s: float = 2.0) -> list[TaskPoint]:
    """A line of loss alone between two lines with a speed."""
    told = [TaskPoint(n * every_s, n, 1.0, (("tokens/s", 100.0),)) for n in range(count)]
    return [point for one in told for point in (one, TaskPoint(one.at_s, one.step, 0.9))]


@pytest.mark.parametrize(("count", "left_out", "from_s"), [(1, 1, math.inf), (2, 1, 2.0), (30, 3, 6.0), (1999, 199, 398.0)])
def test_that_the_first_tenth_of_the_speeds_is_left_out_at_least_one(count: int, left_out: int, from_s: float) -> None:
    assert judged_from(steps(count)) == (left_out, from_s)


def test_that_a_task_that_told_no_speed_is_not_judged() -> None:
    assert judged_from([TaskPoint(1.0, 1, 2.5), TaskPoint(None, 2, 2.4, (("tokens/s", 5.0),))]) == (0, math.inf)


def test_that_of_thinned_points_as_large_a_part_is_left_out_as_of_all() -> None:
    rate = TaskRate("tokens/s", 360, 100.0, 99.0, 101.0, None, 40)
    assert judged_from(steps(100, every_s=8.0), [rate]) == (40, 80.0)


def test_that_it_is_said_how_much_is_not_judged() -> None:
    task = Text("task: llama", "任务：llama")
    assert with_warmup(task, 0) == task
    assert with_warmup(task, 1) == Text("task: llama; warm-up, 1 step, not judged", "任务：llama；预热 1 步不计")
    assert with_warmup(task, 12).en == "task: llama; warm-up, 12 steps, not judged"
