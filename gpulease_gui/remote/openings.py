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

from gpulease_gui.remote.awake import awake_s, lasting_s
from gpulease_gui.remote.driving import take_in
from gpulease_gui.remote.ear import Ear
from gpulease_gui.remote.feed import Feed
from gpulease_gui.remote.wire import Session, Wire

_CHANNEL_OPEN = b"\x5a"
_AGAIN = 2  # who starts a second command will start a third one
# Older ones are given back: a node may close a channel that is not used, and just then we would ask it for a command.
_FRESH_S = 30.0
_LOOK_S = 0.1
# Within this time after one of its commands a node with room for one more has made that room.
_CLEARED_S, _FIRST_PAUSE_S, _LAST_PAUSE_S, _MOMENT_S = 2.0, 0.01, 0.1, 0.1


@dataclass(slots=True)
class _Asked:
    """A channel that was asked for; the library's thread sets `answered` when the node has answered or is gone."""

    channel: Session
    feed: Feed
    answered: threading.Event
    since: float = field(default_factory=lasting_s)


class Openings:
    """The channels of one connection's commands. Any thread."""

    def __init__(self, transport: paramiko.Transport, ear: Ear | None = None) -> None:
        self._transport, self._ear = transport, ear
        self._lock = threading.Lock()
        self._asked: _Asked | None = None
        self._count = 0
        self._refused = False
        self._closed_at = -_CLEARED_S

    @property
    def held(self) -> int:
        """How many channels the node has given that were not closed."""
        known = cast("Any", self._transport)
        return sum(channel.active and not channel.closed for channel in known._channels.values())

    def take(self, seconds: float) -> tuple[paramiko.Channel, Feed]:
        """An open channel and its outputs, at the latest after `seconds`.

        A node with room for few may not have cleared away yet what was closed a moment ago: then it is asked again, for a
        moment while others of ours are open. Raises ChannelException when it refuses, SSHException otherwise.
        """
        deadline, pause_s, paused_s = awake_s() + seconds, _FIRST_PAUSE_S, 0.0
        with self._lock:
            self._count += 1
        while True:
            left = max(0.0, deadline - awake_s())
            with self._lock:
                asked, self._asked = self._asked, None
            if asked is not None and self._is_open(asked, left):
                return asked.channel, asked.feed
            try:
                return self._opened(left)
            except paramiko.ChannelException:
                if self._asked is not None:
                    continue  # it was given to one that was asked for ahead, meanwhile
                if awake_s() - self._closed_at > _CLEARED_S or left <= pause_s or (self.held and paused_s > _MOMENT_S):
                    raise
            time.sleep(pause_s)
            paused_s += pause_s
            pause_s = min(2 * pause_s, _LAST_PAUSE_S)

    def _opened(self, seconds: float) -> tuple[paramiko.Channel, Feed]:
        """Ask for a channel and wait for it."""
        if not isinstance(self._transport, Wire):
            channel = self._transport.open_session(timeout=seconds)
            return channel, Feed(channel, self._ear)
        if not self._transport.is_active():
            raise paramiko.SSHException("the connection is over")
        asked = _ask(self._transport, self._ear)
        self._await(asked, seconds)
        if asked.channel.refusal is not None:
            raise asked.channel.refusal
        if not asked.channel.active or asked.channel.closed:
            raise paramiko.SSHException("the node opens no channel")
        return asked.channel, asked.feed

    def _await(self, asked: _Asked, seconds: float) -> None:
        """Wait for the node's answer. Raises SSHException when it does not come in time."""
        deadline = awake_s() + take_in(self._transport, asked.answered.is_set, seconds)
        while not asked.answered.wait(_LOOK_S) and self._transport.is_active():
            if awake_s() >= deadline:
                raise paramiko.SSHException("the node does not answer")

    def closed(self) -> None:
        """One of the channels was closed."""
        self._closed_at = awake_s()

    def _is_open(self, asked: _Asked, seconds: float) -> bool:
        """Whether the channel that was asked for is to be had; waits for the node's answer. Raises SSHException."""
        self._await(asked, seconds)
        channel = asked.channel
        self._refused = self._refused or channel.refusal is not None
        if not channel.active or channel.closed:
            return False
        if lasting_s() - asked.since <= _FRESH_S:
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
        channel, answered = Session(number), threading.Event()
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
