from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from gpulease_gui.remote import lookout
from gpulease_gui.remote.lookout import INTERVAL_S, _judge, _Silence


@dataclass
class Line:
    """A connection, as far as it is looked at. `did`: what was done to it, with the second."""

    came_bytes: int | None = 1000
    is_behind: bool = False
    sock: int = 0  # bytes that are on the way
    now_s: float = 0.0
    did: list[tuple[str, float]] = field(default_factory=list)
    silence: _Silence = field(default_factory=lambda: _Silence(1000, 0.0))

    def pass_time(self, until_s: float) -> None:
        """It is looked at twice a second."""
        while self.now_s < until_s:
            self.now_s += 0.5
            _judge(self, self.silence, self.now_s)  # type: ignore[arg-type]


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Line:
    made = Line()

    def aside(work: Any, _: Any) -> None:
        made.did.append((work.__name__.strip("_"), made.now_s))

    monkeypatch.setattr(lookout, "_aside", aside)
    monkeypatch.setattr(lookout, "_on_the_way", lambda sock: sock)
    return made


def test_that_a_silent_node_is_asked_twice_and_lost_within_three_intervals(line: Line):
    line.pass_time(3 * INTERVAL_S - 3)
    assert line.did == [("ask", 9.0), ("ask", 18.0), ("cut", 27.0)]


def test_that_any_word_of_a_node_begins_its_time_anew(line: Line):
    line.pass_time(20)
    line.came_bytes = 1036
    line.pass_time(46)
    assert line.did == [("ask", 9.0), ("ask", 18.0), ("ask", 29.5), ("ask", 38.5)]


def test_that_a_node_that_takes_what_we_send_is_not_lost(line: Line):
    line.sock = 200_000
    for second in range(1, 60):
        line.sock -= 3_000
        line.pass_time(second)
    assert line.did == []


def test_that_a_node_that_takes_nothing_of_what_we_send_is_lost(line: Line):
    line.sock = 200_000
    line.pass_time(27)
    assert line.did[-1] == ("cut", 27.0)


def test_that_our_own_question_being_taken_is_no_word_of_the_node(line: Line):
    for second in range(28):
        line.sock = 52 if line.did and line.did[-1][1] > second - 2 else 0
        line.pass_time(second)
    assert line.did[-1] == ("cut", 27.0)


def test_that_a_node_whose_words_we_have_not_read_is_not_lost(line: Line):
    line.is_behind = True
    line.pass_time(60)
    assert line.did == [("ask", 9.0), ("ask", 18.0)]


def test_that_where_it_is_not_known_what_came_nobody_is_lost(line: Line):
    line.came_bytes = None
    line.pass_time(100)
    assert line.did == []
