"""How does a command on a connection that was used before start without asking for a channel first?

It saves a round trip: while one command runs the channel of the next is asked for. Only a connection that is used a second
time does so, and never more than one; a node that refuses it (MaxSessions) is not asked ahead again.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass, field
from typing import Any, cast

import paramiko

from gpulease_gui.remote.driving import take_in
from gpulease_gui.remote.ear import Ear
from gpulease_gui.remote.feed import Feed
from gpulease_gui.remote.wire import Wire

_CHANNEL_OPEN = b"\x5a"
_AGAIN = 2  # who starts a second command will start a third one
# Older ones are given back: a node may close a channel that is not used, and just then we would ask it for a command.
_FRESH_S = 30.0
_LOOK_S = 0.1
# Within this time after one of its commands a node with room for one more has made that room.
_CLEARED_S, _FIRST_PAUSE_S = 2.0, 0.01


@dataclass(slots=True)
class _Asked:
    """A channel that was asked for; the library's thread sets `answered` when the node has answered or is gone."""

    channel: paramiko.Channel
    feed: Feed
    answered: threading.Event
    since: float = field(default_factory=time.monotonic)


class Openings:
    """The channels of one connection's commands. Any thread."""

    def __init__(self, transport: paramiko.Transport, ear: Ear | None = None) -> None:
        self._transport, self._ear = transport, ear
        self._lock = threading.Lock()
        self._asked: _Asked | None = None
        self._count = 0
        self._refused = False
        self._closed_at = -_CLEARED_S

    def take(self, seconds: float) -> tuple[paramiko.Channel, Feed]:
        """An open channel and its outputs, at the latest after `seconds`. Raises what the library's `open_session` raises."""
        with self._lock:
            asked, self._asked = self._asked, None
            self._count += 1
        if asked is not None and self._is_open(asked, seconds):
            return asked.channel, asked.feed
        return self._open(seconds)

    def _opened(self, seconds: float) -> tuple[paramiko.Channel, Feed]:
        """Ask for a channel and wait for it."""
        if not isinstance(self._transport, Wire):
            channel = self._transport.open_session(timeout=seconds)
            return channel, Feed(channel, self._ear)
        if not self._transport.is_active():
            raise paramiko.SSHException("the connection is over")
        asked = _ask(self._transport, self._ear)
        self._await(asked, seconds)
        if not asked.channel.active or asked.channel.closed:
            raise self._transport.get_exception() or paramiko.SSHException("the node opens no channel")
        return asked.channel, asked.feed

    def _await(self, asked: _Asked, seconds: float) -> None:
        """Wait for the node's answer. Raises SSHException when it does not come in time."""
        deadline = time.monotonic() + take_in(self._transport, asked.answered.is_set, seconds)
        while not asked.answered.wait(_LOOK_S) and self._transport.is_active():
            if time.monotonic() >= deadline:
                raise paramiko.SSHException("the node does not answer")

    def _open(self, seconds: float) -> tuple[paramiko.Channel, Feed]:
        """Ask for a channel. A node with room for few may not have cleared away yet what was closed a moment ago."""
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                return self._opened(seconds)
            except paramiko.ChannelException:
                if time.monotonic() - self._closed_at > _CLEARED_S:
                    raise
            time.sleep(pause_s)
            pause_s *= 2

    def closed(self) -> None:
        """One of the channels was closed."""
        self._closed_at = time.monotonic()

    def _is_open(self, asked: _Asked, seconds: float) -> bool:
        """Whether the channel that was asked for is to be had; waits for the node's answer. Raises SSHException."""
        self._await(asked, seconds)
        channel = asked.channel
        if not asked.answered.is_set() or channel.closed:
            return False
        if not channel.active:
            self._refused = True
            self._transport.get_exception()  # that the node refused it is nobody's failure
            return False
        if time.monotonic() - asked.since <= _FRESH_S:
            return True
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            channel.close()
        return False

    def ask_ahead(self) -> None:
        """Ask for the next one without waiting, if there is reason to. Never raises: a lost line is told by its commands."""
        if not isinstance(self._transport, Wire) or not self._transport.is_active():
            return
        with self._lock:
            if self._count < _AGAIN or self._refused or self._asked is not None:
                return
            # A line that is lost is told by the command that runs on it.
            with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
                self._asked = _ask(self._transport, self._ear)


def _ask(transport: Wire, ear: Ear | None) -> _Asked:
    """What the library's `open_session` does, up to where it waits."""
    known = cast("Any", transport)  # the stubs lack most of it
    with known.lock:
        number = known._next_channel()
        channel, answered = paramiko.Channel(number), threading.Event()
        known._channels.put(number, channel)
        known.channel_events[number] = answered
        known.channels_seen[number] = True
        cast("Any", channel)._set_transport(transport)
        cast("Any", channel)._set_window(known.default_window_size, known.default_max_packet_size)
        asked = _Asked(channel, Feed(channel, ear), answered)
    message = paramiko.Message()
    message.add_byte(_CHANNEL_OPEN)
    message.add_string("session")
    for figure in (number, known.default_window_size, known.default_max_packet_size):
        message.add_int(figure)
    transport.send_together(message)
    return asked


def close_at_once(channel: paramiko.Channel) -> None:
    """As `channel.close()`, the end of input and the close with one call of the system. Raises OSError, EOFError, SSHException."""
    transport, known = channel.get_transport(), cast("Any", channel)
    if not isinstance(transport, Wire):
        channel.close()
        return
    transport.take_held()  # where the node's own close lies here, ours has no hurry
    with known.lock:
        messages = [message for message in known._close_internal() if message is not None]
    if messages:
        transport.send_together(*messages)
