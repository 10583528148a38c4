"""Is the speed that a log tells a sample of its moment, and nothing once the task stalls or is over?"""

from __future__ import annotations

import math

from gpulease_gui.domain.task import TaskPoint
from gpulease_gui.facts.train_curve import Unit
from gpulease_gui.services.log_gauge import LogGauge


def step(tokens_s: float, loss: float | None = None) -> TaskPoint:
    return TaskPoint(0.0, 1, loss, ((str(Unit.TOKENS_S), tokens_s),))


def taken(gauge: LogGauge, at_s: float) -> dict[str, float | None]:
    return {point.metric: point.value for point in gauge.take(at_s)}


def test_that_steps_between_two_samples_are_their_mean_and_the_last_one_stands() -> None:
    gauge = LogGauge()
    assert taken(gauge, 99.0) == {}
    gauge.tell([step(1000.0)], 100.0)
    gauge.tell([step(1100.0), step(1300.0)], 100.8)
    assert taken(gauge, 101.0) == {"task.tokens_s": (1000 + 1100 + 1300) / 3}
    assert taken(gauge, 102.0) == {"task.tokens_s": (1000 + 1100 + 1300) / 3}


def test_that_of_a_log_that_was_there_before_only_its_last_line_counts() -> None:
    gauge = LogGauge()
    gauge.tell([step(10.0), step(20.0, loss=2.5), step(40.0, loss=2.25)], 100.0)
    assert taken(gauge, 100.5) == {"task.tokens_s": 40.0, "task.loss": 2.25}


def test_that_a_long_log_that_comes_in_pieces_tells_nothing_of_long_ago() -> None:
    gauge = LogGauge()
    for piece in range(5):
        gauge.tell([step(10.0 + piece)] * 200, 100.0 + piece / 5)
    assert taken(gauge, 101.0) == {"task.tokens_s": 14.0}
    gauge.tell([step(900.0)], 103.0)
    assert taken(gauge, 103.5) == {"task.tokens_s": 900.0}


def test_that_a_training_that_stalls_ends_its_curve_once_and_goes_on_after_it() -> None:
    gauge = LogGauge()
    gauge.tell([step(1000.0)], 100.0)
    gauge.tell([step(1000.0)], 104.0)
    assert taken(gauge, 114.0) == {"task.tokens_s": 1000.0}, "two and a half steps of four seconds are not over"
    assert taken(gauge, 114.1) == {"task.tokens_s": None}
    assert taken(gauge, 115.0) == {}
    gauge.tell([step(900.0)], 200.0)
    assert taken(gauge, 200.5) == {"task.tokens_s": 900.0}


def test_that_nothing_stands_for_more_than_two_minutes() -> None:
    gauge = LogGauge()
    gauge.tell([step(5.0)], 0.0)
    gauge.tell([step(5.0)], 600.0)
    assert taken(gauge, 720.0) == {"task.tokens_s": 5.0} and taken(gauge, 720.1) == {"task.tokens_s": None}


def test_that_what_is_no_number_and_what_is_over_is_no_sample() -> None:
    gauge = LogGauge()
    gauge.tell([step(math.nan, loss=math.inf)], 100.0)
    assert taken(gauge, 100.5) == {}
    gauge.tell([step(7.0)], 101.0)
    assert taken(gauge, 101.5) == {"task.tokens_s": 7.0}
    gauge.end()
    assert taken(gauge, 102.0) == {"task.tokens_s": None}
