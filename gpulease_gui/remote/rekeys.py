"""Does a server ask for new keys again and again, without a pause?

OpenSSH asks for none before the login, and afterwards for its own limits: of bytes, or of seconds, one a second at most. A
server that does nothing else keeps us busy, and looks like one that does not answer.
"""

from __future__ import annotations

from collections import deque

# None has a reason to before the login; some room is left for odd ones.
_BEFORE_LOGIN = 3
# So many in a row, between which nearly nothing was said, within so many seconds: five a second is no server's clock.
_IDLE_ONES, _IDLE_BYTES, _WITHIN_S = 6, 200, 4.0


class Rekeys:
    """The exchanges of keys that one server began after the first."""

    def __init__(self) -> None:
        self._idle: deque[float] = deque(maxlen=_IDLE_ONES)
        self._count = 0

    def one_too_many(self, *, logged_in: bool, moved_bytes: int, now_s: float) -> bool:
        """Note one. `moved_bytes`: what was said both ways since the keys before."""
        self._count += 1
        if not logged_in:
            return self._count > _BEFORE_LOGIN
        if moved_bytes >= _IDLE_BYTES:
            self._idle.clear()
            return False
        self._idle.append(now_s)
        return len(self._idle) == _IDLE_ONES and now_s - self._idle[0] < _WITHIN_S
