"""Does somebody listen to each connection, and does its node still answer?

A node that hangs keeps its connection: its system goes on to confirm what arrives. So a quiet one is asked for a word.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass

import paramiko

from gpulease_gui.remote.awake import Awake
from gpulease_gui.remote.handshake import cut
from gpulease_gui.remote.wire import Wire

if sys.platform == "linux":
    import fcntl
    import termios

# A node that says nothing for so long is asked, and once more; it is lost within three of these. Real ones answer at once, even
# those that are busy; a line that is cut for a moment is given time.
INTERVAL_S = 10.0
_STEPS = 0.9, 1.8, 2.7  # intervals: what is looked at now and then is seen a little late
# A connection that nobody waits at for so long gets a thread, which sees its end.
UNHEARD_S = 1.0
_LOOK_S = 0.5
# So much is under way only where much is sent: on a slow line a question waits behind it, and that it becomes less is a word, too.
_MUCH_BYTES, _WINDOW_BYTES = 16 * 1024, 2**32


@dataclass(slots=True)
class _Silence:
    """Since when a node has said nothing, by what came until then, and how often it was asked since."""

    came: int | None
    since_s: float
    on_the_way: int = 0
    asked: int = 0
    asking: threading.Thread | None = None


class Lookout:
    """Looks after all connections of a program, in one thread, while there are any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._minded: weakref.WeakKeyDictionary[Wire, _Silence] = weakref.WeakKeyDictionary()
        self._works = False
        self._awake = Awake(2 * _LOOK_S)  # we slept, or were not let run: no node is to blame for that

    def mind(self, transport: paramiko.Transport) -> None:
        """From now on, until it ends."""
        if not isinstance(transport, Wire):
            return
        with self._lock:
            self._minded[transport] = _Silence(transport.came_bytes, self._awake.now_s())
            if self._works:
                return
            self._works = True
        threading.Thread(target=self._look, name="gpulease-lookout", daemon=True).start()

    def _look(self) -> None:
        pause = threading.Event()
        while self._any_left():
            pause.wait(_LOOK_S)
            with self._lock:
                now_s = self._awake.now_s()
            for transport, silence in self._all():
                if not transport.is_alone and transport.unheard_s > UNHEARD_S:
                    transport.go_alone()
                _judge(transport, silence, now_s)

    def _all(self) -> list[tuple[Wire, _Silence]]:
        with self._lock:
            return list(self._minded.items())

    def _any_left(self) -> bool:
        with self._lock:
            for transport in [one for one in self._minded if not one.is_active()]:
                del self._minded[transport]
            self._works = bool(self._minded)
            return self._works


def _judge(transport: Wire, silence: _Silence, now_s: float) -> None:
    """Ask a node that is quiet; end the connection with one that stays so."""
    came, on_the_way = transport.came_bytes, _on_the_way(transport.sock)
    goes_on = silence.on_the_way >= _MUCH_BYTES and on_the_way < silence.on_the_way
    silence.on_the_way = on_the_way
    if came is None or came != silence.came or goes_on:
        silence.came, silence.since_s, silence.asked = came, now_s, 0
        return
    if (now_s - silence.since_s) / INTERVAL_S < _STEPS[silence.asked]:
        return
    if silence.asked == len(_STEPS) - 1:
        if not transport.is_behind:  # else it is we who do not read
            _aside(cut, transport)
        return
    silence.asked += 1
    if silence.asking is None or not silence.asking.is_alive():
        silence.asking = _aside(_ask, transport)


def _aside(work: Callable[[Wire], None], transport: Wire) -> threading.Thread:
    """In a thread of its own: what is sent to a node that hangs may wait."""
    thread = threading.Thread(target=work, args=(transport,), name="gpulease-asking", daemon=True)
    thread.start()
    return thread


def _ask(transport: Wire) -> None:
    with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
        transport.ask_for_a_word()


def _on_the_way(sock: object) -> int:
    """How much the far side has still to take of what we sent, as far as its system, or a jump host, says; 0 where that is unknown."""
    if isinstance(sock, paramiko.Channel):
        return max(0, _WINDOW_BYTES - sock.out_window_size)
    if sys.platform == "linux":
        with contextlib.suppress(OSError, ValueError):  # closed meanwhile
            if isinstance(sock, socket.socket):
                return int(struct.unpack("i", fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4)))[0])
    return 0
