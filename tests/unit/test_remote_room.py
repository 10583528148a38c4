from __future__ import annotations

import threading
from collections.abc import Callable

from gpulease_gui.remote.room import Room


class Queue:
    """Those who wait at a room, each in a thread of its own; `let_in`: their names, in the order in which they got a place."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.let_in: list[str] = []
        self.turned_away: list[str] = []
        self.threads: list[threading.Thread] = []

    def stand(self, name: str, enter: Callable[[], bool] | None = None) -> None:
        """One more at the end, or by `enter`; comes back when it stands there."""
        before = len(self.room._waiting)

        def wait() -> None:
            (self.let_in if (enter or (lambda: self.room.enter(10)))() else self.turned_away).append(name)

        self.threads.append(threading.Thread(target=wait))
        self.threads[-1].start()
        while len(self.room._waiting) == before:
            pass

    def leave(self) -> None:
        """A place is given back, and the one who gets it is waited for."""
        before = len(self.let_in)
        self.room.leave(self.room._inside[0])
        while len(self.let_in) == before:
            pass


def test_that_places_are_given_in_the_order_in_which_they_were_asked_for():
    room = Room(1)
    assert room.enter(0)
    queue = Queue(room)
    for name in ("first", "second", "third"):
        queue.stand(name)
    for _ in range(3):
        queue.leave()
    assert queue.let_in == ["first", "second", "third"]


def test_that_who_gives_a_place_back_does_not_get_it_before_those_who_wait():
    room = Room(1)
    assert room.enter(0)
    queue = Queue(room)
    queue.stand("waits")
    room.leave()
    assert not room.enter(0)
    queue.threads[0].join()
    assert queue.let_in == ["waits"]


def test_that_who_got_no_session_is_the_first_of_those_who_wait():
    room = Room(4)
    assert room.enter(0)
    queue = Queue(room)
    queue.stand("refused", lambda: room.enter(0) and room.again(1, 10))
    queue.stand("later")
    queue.leave()
    queue.leave()
    assert (queue.let_in, room.most) == (["refused", "later"], 1)


def test_that_a_place_that_was_waited_for_in_vain_is_no_place_lost():
    room = Room(2)
    assert room.enter(0) and room.enter(0)
    assert not room.enter(0) and not room.again(1, 0)
    room.leave()  # of the one that waited again
    assert not room.enter(0)
    room.leave()
    assert room.enter(0) and not room.enter(0)


def test_that_nobody_waits_at_a_room_that_is_closed():
    room = Room(1)
    assert room.enter(0)
    queue = Queue(room)
    queue.stand("waits")
    room.close()
    queue.threads[0].join(60)
    assert (queue.turned_away, room.enter(10)) == (["waits"], False)
