"""Are samples stamped with the right time while clocks are set, corrected, or stand still in a sleep?"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import pytest

from gpulease_gui.services.timeline import BELIEVED_S, Clock, Timeline, own_clock

DAY = 86_400.0


@dataclass
class Clocks:
    """Seconds that went by, those of them asleep, and what the wall clock shows too much."""

    gone: float = 0.0
    asleep: float = 0.0
    wrong: float = 0.0

    def clock(self, *, lasting: bool = True) -> Clock:
        return Clock(
            lambda: 1_000_000.0 + self.gone + self.wrong, lambda: 50.0 + self.gone - self.asleep,
            (lambda: 70.0 + self.gone) if lasting else None,
        )  # fmt: skip

    def now(self, line: Timeline) -> float:
        return line.at(50.0 + self.gone - self.asleep) - 1_000_000.0


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def line(clocks: Clocks) -> Timeline:
    made = Timeline(clocks.clock())
    assert made.begin(0.0) is False
    return made


def test_that_a_sleep_is_made_up_for_at_once(clocks: Clocks, line: Timeline) -> None:
    clocks.gone, clocks.asleep = 3700.0, 3600.0
    assert line.slept() == 3600.0 and clocks.now(line) == 3700.0
    assert line.slept() == 0.0


@pytest.mark.parametrize("wrong", [DAY, -DAY, 3600.0, -3600.0])
def test_that_a_clock_that_is_wrong_for_a_minute_moves_no_sample(clocks: Clocks, line: Timeline, wrong: float) -> None:
    for clocks.gone in range(600):
        clocks.wrong = wrong if 100 <= clocks.gone < 160 else 0.0
        assert (line.slept(), line.set_back()) == (0.0, False) and clocks.now(line) == clocks.gone


def test_that_a_clock_that_was_set_forward_to_the_right_time_counts_when_it_stays_so(clocks: Clocks) -> None:
    clocks.wrong = -3600.0
    line = Timeline(clocks.clock())
    line.begin(0.0)
    moved = []
    for clocks.gone in range(400):
        clocks.wrong = -3600.0 if clocks.gone < 10 else 0.0
        moved.append(line.slept())
    assert [(n, s) for n, s in enumerate(moved) if s] == [(10 + BELIEVED_S, 3600.0)] and clocks.now(line) == 399.0


def test_that_a_clock_that_was_set_back_counts_when_it_stays_so(clocks: Clocks) -> None:
    clocks.wrong = 3600.0
    line = Timeline(clocks.clock())
    line.begin(0.0)
    backs = []
    for clocks.gone in range(400):
        clocks.wrong = 3600.0 if clocks.gone < 10 else 0.0
        backs.append(line.set_back())
    assert [n for n, back in enumerate(backs) if back] == [10 + BELIEVED_S] and clocks.now(line) == 399.0


def test_that_a_new_connection_goes_by_a_clock_that_was_set_back_and_bears_small_corrections(clocks: Clocks, line: Timeline) -> None:
    clocks.gone = 300.0
    assert line.begin(1_000_000.0 + DAY) is True and clocks.now(line) == 300.0
    assert line.begin(1_000_000.0 + 304.0) is False and clocks.now(line) == 304.0


def test_that_a_clock_that_was_set_right_during_a_sleep_is_believed_at_once(clocks: Clocks, line: Timeline) -> None:
    clocks.gone, clocks.asleep, clocks.wrong = 3700.0, 3600.0, 7.0
    assert line.slept() == 3607.0


def test_that_without_a_clock_that_counts_in_a_sleep_every_jump_is_one(clocks: Clocks) -> None:
    line = Timeline(clocks.clock(lasting=False))
    line.begin(0.0)
    clocks.gone, clocks.wrong = 10.0, DAY
    assert line.slept() == DAY


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other clocks")
def test_that_the_clock_of_this_computer_counts_in_a_sleep() -> None:
    clock = own_clock()
    assert clock.lasting is not None
    before = time.clock_gettime(time.CLOCK_BOOTTIME)
    assert before <= clock.lasting() <= time.clock_gettime(time.CLOCK_BOOTTIME)
