"""Work that can wait lets the window go first, and never for long."""

from __future__ import annotations

import threading
import time

from gpulease_gui.domain.right_of_way import MOST_S, RightOfWay


def _waited(way: RightOfWay, begun: threading.Event) -> tuple[threading.Thread, list[float]]:
    """The moment at which it came back is in the list from then on."""
    ended_s: list[float] = []

    def work() -> None:
        begun.set()
        way.wait()
        ended_s.append(time.monotonic())

    thread = threading.Thread(target=work)
    thread.start()
    return thread, ended_s


def test_that_a_piece_of_work_begins_at_once_while_the_window_is_at_rest() -> None:
    way = RightOfWay()
    way.wait()
    with way.held(), way.held():
        pass
    thread, ended_s = _waited(way, threading.Event())
    thread.join(60)
    assert len(ended_s) == 1


def test_that_work_waits_until_the_window_is_at_rest_again() -> None:
    way, begun = RightOfWay(), threading.Event()
    with way.held():
        thread, ended_s = _waited(way, begun)
        assert begun.wait(60)
    thread.join(60)
    assert len(ended_s) == 1


def test_that_a_way_that_is_held_for_long_holds_nobody_up() -> None:
    way, begun = RightOfWay(), threading.Event()
    held_s = time.monotonic()
    with way.held():
        thread, ended_s = _waited(way, begun)
        thread.join(60)
        assert not thread.is_alive()
        # It came back by itself; once the time is over nobody waits at all.
        after, more = _waited(way, threading.Event())
        after.join(60)
    # A thread that began late waits the shorter, and comes back no sooner.
    assert ended_s[0] - held_s >= MOST_S and len(more) == 1


def test_that_the_thread_of_the_window_never_waits_for_itself() -> None:
    way = RightOfWay()
    with way.held():
        started = time.thread_time()
        way.wait()
        assert time.thread_time() - started < MOST_S
