"""Which passwords were typed since the program began?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from gpulease_gui.domain.secret import Secret
from gpulease_gui.remote.login import TRIES_MAX

# How often who waits for another's answer looks whether he is still wanted.
_LOOK_S = 0.2

# Whose it is: the id of a node and what it is for, or a jump host and the way there, or a proxy and its user.
Owner = tuple[str, ...]


@dataclass(slots=True)
class _Place:
    """One password; whoever asks for it holds the lock, so that the user is asked once.

    `wrong`: how many were refused since somebody came who had none; `over`: then the user gave up, or had all tries.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    secret: Secret | None = None
    given_up: int = 0
    wrong: int = 0
    over: bool = False

    def give_up(self) -> None:
        self.secret, self.over = None, True
        self.given_up += 1


class TypedPasswords:
    """Each is asked for once, however many connections want it, and kept in memory until it is forgotten. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: dict[Owner, _Place] = {}

    def get(
        self, owner: Owner, ask: Callable[[], Secret | None], wrong: Secret | None = None, cancelled: Callable[[], bool] = lambda: False
    ) -> Secret | None:
        """The password that is known and not the `wrong` one, else what `ask` gives; None when the user gives up.

        Who waits while another asks gets that answer, and gives up with him; so does who comes with a `wrong` one after the
        third was wrong for another, too. Who comes with none begins anew. Who is `cancelled` gets none at once, and gives up for
        nobody else: the next of those who wait asks.
        """
        place = self._place(owner)
        given_up = place.given_up
        while not place.lock.acquire(timeout=_LOOK_S):
            if cancelled():
                return None
        try:
            if cancelled():
                return None
            if place.secret is not None and place.secret != wrong:
                return place.secret
            if place.given_up != given_up or (wrong is not None and place.over):
                return None
            place.wrong = 0 if wrong is None else place.wrong + 1
            place.secret, place.over = None if place.wrong >= TRIES_MAX else ask(), False
            if place.secret is None and not cancelled():
                place.give_up()
            return place.secret
        finally:
            place.lock.release()

    def know(self, owner: Owner, secret: Secret) -> None:
        """One that came by another way than a question."""
        with self._lock:
            self._places[owner] = _Place(secret=secret)

    def forget(self, mine: Callable[[Owner], bool]) -> None:
        """Ask again for those of the owners that are `mine`, one of which may have been wrong; not who comes with a wrong one of before."""
        with self._lock:
            for place in (place for owner, place in self._places.items() if mine(owner)):
                place.give_up()

    def _place(self, owner: Owner) -> _Place:
        with self._lock:
            return self._places.setdefault(owner, _Place())
