"""Do commands that follow one another on a connection run as they should, whatever the node makes of a channel asked for ahead?"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Sequence
from dataclasses import replace

import paramiko
import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import Command
from gpulease_gui.domain.errors import Cancelled, UserFacing
from gpulease_gui.domain.node import Address, AuthMethod
from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.text import NO_TEXT
from gpulease_gui.facts.fact import Fact
from gpulease_gui.remote import openings
from gpulease_gui.remote.collect import collect
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.driving import go_alone, take_in
from gpulease_gui.remote.failures import ConnectFailed, Phase
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.hostkeys import HostTrust, host_key_of
from gpulease_gui.remote.run import start_server
from gpulease_gui.remote.session import CHANNELS_AT_ONCE, Connector, SshSession
from gpulease_gui.remote.stream import Stream, StreamEnding
from gpulease_gui.remote.task import run_task
from gpulease_gui.remote.task_wrap import TaskOrder
from gpulease_gui.remote.transport import Channel, LineLost
from tests.integration.conftest import wait_until


class Scripted(paramiko.ServerInterface):
    """A node that answers a command with its words, and keeps book of its channels. `most`: how many it gives at once, 0, 1 or any number."""

    def __init__(self, most: int = 10) -> None:
        self.most = most
        self.asked: list[str] = []
        self.refused = 0
        self.channels: list[paramiko.Channel] = []  # all that it ever gave; the library's own list
        self.ran: list[paramiko.Channel] = []

    @property
    def idle(self) -> bool:
        """Whether every command has ended."""
        return all(channel.closed for channel in self.ran)

    def get_allowed_auths(self, username: str) -> str:
        return "password"

    def check_auth_password(self, username: str, password: str) -> int:
        return paramiko.AUTH_SUCCESSFUL

    def check_channel_request(self, kind: str, chanid: int) -> int:
        if not self.most or (self.most == 1 and not all(channel.closed for channel in self.channels)):
            self.refused += 1
            return paramiko.OPEN_FAILED_RESOURCE_SHORTAGE
        self.asked.append(kind)
        return paramiko.OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        if command == b"refuse":
            return False
        self.ran.append(channel)
        threading.Thread(target=self._run, args=(channel, command), daemon=True).start()
        return True

    def _run(self, channel: paramiko.Channel, command: bytes) -> None:
        if command == b"wait":
            channel.recv(1)  # to the end of its input
        # Who asked may be gone by now.
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            channel.sendall(b"did " + command)
            channel.send_exit_status(0)
            channel.close()


class Node:
    """One connection with a scripted node."""

    def __init__(self, rules: Scripted) -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        key = paramiko.ECDSAKey.generate()
        accepting = threading.Thread(target=self._accept, args=(listener, rules, key))
        accepting.start()
        credentials = Credentials(AuthMethod.PASSWORD, password=Secret("x"))
        address = Address("127.0.0.1", listener.getsockname()[1], "user")
        self.session: SshSession = Connector().connect(address, credentials, HostTrust((host_key_of(key),)), Deadlines(), CancelToken())
        accepting.join()
        listener.close()

    def _accept(self, listener: socket.socket, rules: Scripted, key: paramiko.PKey) -> None:
        caller, _ = listener.accept()
        self.transport = paramiko.Transport(caller)
        self.transport.add_server_key(key)
        rules.channels = self.transport.server_accepts  # type: ignore[attr-defined]  # the stubs lack it
        self.transport.start_server(event=threading.Event(), server=rules)

    def close(self) -> None:
        self.session.close()
        self.transport.close()
        self.transport.join(60)
        self.transport.packetizer.complete_handshake()


@pytest.fixture
def node():
    made = []

    def make(rules: Scripted) -> Node:
        made.append(Node(rules))
        return made[-1]

    yield make
    for one in made:
        one.close()


def said(session: SshSession, command: str) -> bytes:
    """All that a command prints."""
    channel, found = session.open(command), b""
    while not (chunk := channel.read(10)).ended:
        found += chunk.out
    channel.close()
    return found + chunk.out


def answered(session: SshSession) -> bool:
    """Whether the node has answered for the channel that was asked for ahead."""
    asked = session._openings._asked
    return asked is not None and asked.answered.is_set()


def test_that_one_command_asks_for_one_channel_and_each_after_the_second_finds_its_own_open(node):
    rules = Scripted()
    session = node(rules).session
    assert said(session, "a") == b"did a" and rules.asked == ["session"]
    for number, command in enumerate(("b", "c", "d"), 2):
        assert said(session, command) == b"did " + command.encode()
        assert wait_until(lambda: answered(session))
        assert len(rules.asked) == number + 1


def test_that_a_node_that_gives_one_channel_at_a_time_runs_one_command_after_the_other(node):
    rules = Scripted(1)
    session = node(rules).session
    for command in ("a", "b", "c", "d"):
        channel = session.open("wait")
        assert wait_until(lambda: session._openings._asked is None or answered(session))
        channel.end_input()
        assert channel.exit_status(10) == 0
        channel.close()
        assert wait_until(lambda: rules.idle)
        assert said(session, command) == b"did " + command.encode()
        assert wait_until(lambda: rules.idle)
    assert rules.refused == 1 and session.alive


def test_that_a_refusal_of_the_channel_asked_for_ahead_is_not_told_as_a_reason_for_a_later_loss(node):
    rules = Scripted(1)
    one = node(rules)
    said(one.session, "a")
    channel = one.session.open("wait")
    assert wait_until(lambda: answered(one.session)) and rules.refused == 1
    channel.end_input()
    assert channel.exit_status(10) == 0
    channel.close()
    assert wait_until(lambda: rules.idle)
    assert said(one.session, "b") == b"did b"
    one.transport.close()
    assert wait_until(lambda: not one.session.alive)
    with pytest.raises(LineLost):
        one.session.open("c")


def test_that_a_channel_that_the_node_closed_before_its_use_is_replaced(node):
    rules = Scripted()
    one = node(rules)
    for command in ("a", "b"):
        said(one.session, command)
    assert wait_until(lambda: answered(one.session) and len(rules.channels) == 3)
    rules.channels[-1].close()
    asked = one.session._openings._asked
    assert asked is not None and wait_until(lambda: asked.channel.closed)
    assert said(one.session, "c") == b"did c"


def test_that_a_channel_that_waited_long_is_given_back(node, monkeypatch):
    rules = Scripted()
    session = node(rules).session
    for command in ("a", "b"):
        said(session, command)
    assert wait_until(lambda: answered(session) and len(rules.channels) == 3)
    monkeypatch.setattr(openings, "_FRESH_S", -1.0)
    assert said(session, "c") == b"did c"
    assert wait_until(lambda: rules.channels[2].closed and len(rules.asked) >= 5)  # the one of now, and the next one ahead
    assert len(rules.asked) == 5


def test_that_a_refused_command_on_a_channel_asked_for_ahead_is_told_by_name(node):
    session = node(Scripted()).session
    for command in ("a", "b"):
        said(session, command)
    channel = session.open("refuse")
    with pytest.raises(ConnectFailed) as caught:
        channel.write(b"x")
    assert caught.value.phase is Phase.CHANNEL
    assert said(session, "c") == b"did c"


def test_that_a_line_lost_while_a_channel_is_asked_for_is_told_as_such(node):
    one = node(Scripted())
    for command in ("a", "b"):
        said(one.session, command)
    one.transport.close()
    assert wait_until(lambda: not one.session.alive)
    with pytest.raises(LineLost):
        one.session.open("c")


def test_that_ux_09_commands_in_turn_need_no_second_session(make_sshd):
    with make_sshd("MaxSessions 1\n").connect() as session:
        for number in range(6):
            assert said(session, f"echo {number}") == f"{number}\n".encode()
            assert wait_until(lambda: session._openings._asked is None or answered(session))
        assert session.alive


def test_that_commands_from_several_threads_get_their_own_answers(session):
    found: dict[int, list[bytes]] = {}

    def ask(number: int) -> None:
        found[number] = [said(session, f"echo {number}.{turn}") for turn in range(6)]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [f"{number}.{turn}\n".encode() for turn in range(6)] for number in range(4)}


class Stalling(Scripted):
    """A node that never answers one of the two: the wish for a channel, or that for a command."""

    def __init__(self, at: str) -> None:
        super().__init__()
        self.at = at
        self.reached, self.go_on = threading.Event(), threading.Event()

    def _stall(self, at: str) -> None:
        if at == self.at:
            self.reached.set()
            self.go_on.wait(60)

    def check_channel_request(self, kind: str, chanid: int) -> int:
        self._stall("channel")
        return super().check_channel_request(kind, chanid)

    def check_channel_exec_request(self, channel: paramiko.Channel, command: bytes) -> bool:
        self._stall("command")
        return super().check_channel_exec_request(channel, command)


class Deaf:
    """Ears of a task that nobody listens with."""

    def sent(self, size_bytes: int) -> None: ...

    def started(self) -> None: ...

    def log(self, data: bytes) -> None: ...

    def tick(self) -> None: ...

    def stopping(self) -> None: ...


def a_collection(session: SshSession, cancel: CancelToken) -> object:
    end = collect(session, [Fact("uptime", NO_TEXT, Command("uptime"), 20)], lambda frame: None, cancel)
    return end.cancelled, end.complete, [missing.id for missing in end.missing]


def a_task(session: SshSession, cancel: CancelToken) -> object:
    report = run_task(session, TaskOrder("r1", "true", 0), (), Deaf(), cancel)
    return report.cancelled, report.why in ("cancelled", "lost")


def a_stream(session: SshSession, cancel: CancelToken) -> object:
    stream = Stream(session, [("gpu", "cat")], 1.0, lambda *line: None)
    forget = cancel.on_cancel(stream.close)
    ending = stream.run().ending
    forget()
    return ending


def a_server(session: SshSession, cancel: CancelToken) -> object:
    with pytest.raises(Cancelled):
        start_server(session, "iperf3_json", Command("true"), 5, cancel)
    return "cancelled"


@pytest.mark.parametrize(
    ("at", "work", "answer"),
    [
        *((at, a_collection, (True, False, ["uptime"])) for at in ("channel", "command")),
        *((at, a_task, (True, True)) for at in ("channel", "command")),
        *((at, a_stream, StreamEnding.CLOSED) for at in ("channel", "command")),
        *((at, a_server, "cancelled") for at in ("channel", "command")),
    ],
)
def test_that_a_cancel_ends_the_wait_for_a_node_that_does_not_begin(node, at, work, answer):
    rules, cancel = Stalling(at), CancelToken()
    session = node(rules).session
    ends: list[object] = []
    asking = threading.Thread(target=lambda: ends.append(work(session, cancel)))
    asking.start()
    assert rules.reached.wait(30)
    cancelled_at = time.monotonic()
    cancel.cancel()
    asking.join(60)
    # The node itself would have had 15 s.
    assert time.monotonic() - cancelled_at < 10
    rules.go_on.set()
    assert ends == [answer]


def test_that_a_cancel_of_before_does_not_cost_a_line_that_answers(node):
    held, cancel = node(Scripted()), CancelToken()
    cancel.cancel()
    assert collect(held.session, [Fact("uptime", NO_TEXT, Command("uptime"), 20)], lambda frame: None, cancel).cancelled
    channel = held.session.open("again")
    assert b"did again" in channel.read(30).out
    channel.close()


def ended_there(session: SshSession, command: str) -> Channel:
    """A command whose channel was closed by the node, which the session has seen."""
    channel = session.open(command)
    known = channel._channel  # type: ignore[attr-defined]
    take_in(session._transport, lambda: session._openings._asked is None or answered(session), 10)
    channel.end_input()
    while not channel.read(10).ended:
        pass
    assert take_in(session._transport, lambda: known.closed, 10) > 0
    return channel


def sent_by(session: SshSession, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes each call of the system sends from now on."""
    packets, sizes = session._transport.packetizer, []
    write_all = packets.write_all
    monkeypatch.setattr(packets, "write_all", lambda data: (sizes.append(len(data)), write_all(data)))
    return sizes


def test_that_a_command_in_a_row_costs_two_calls_of_the_system(session, monkeypatch):
    for command in ("true", "true"):
        said(session, command)
    last = ended_there(session, "cat")
    sizes = sent_by(session, monkeypatch)
    last.close()
    assert sizes == []
    session.open("true").close()
    # The wish for the command; with that for the next channel goes that the last one is closed.
    assert sizes[:2] == [52, 36 + 52]


def test_that_a_node_is_told_of_a_closed_channel_before_it_is_waited_for(session, monkeypatch):
    last = ended_there(session, "cat")
    sizes = sent_by(session, monkeypatch)
    last.close()
    take_in(session._transport, lambda: False, 0.01)
    assert sizes == [36]


def test_that_a_node_is_told_of_a_closed_channel_where_nobody_waits_for_it(session, monkeypatch):
    ended_there(session, "cat").close()
    sizes = sent_by(session, monkeypatch)
    go_alone(session._transport)
    assert wait_until(lambda: sizes == [36])


def all_at_once(session: SshSession, commands: Sequence[str]) -> dict[str, bytes | str]:
    """What each prints, or why it does not, with all of them wanted at once."""
    found: dict[str, bytes | str] = {}

    def ask(command: str) -> None:
        try:
            found[command] = said(session, command)
        except UserFacing as error:
            found[command] = str(error)

    threads = [threading.Thread(target=ask, args=(command,)) for command in commands]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


@pytest.mark.parametrize("most", [1, 2])
def test_that_ux_09_callers_at_once_wait_for_one_another_where_a_node_gives_few_sessions(make_sshd, most):
    with make_sshd(f"MaxSessions {most}\n").connect() as session:
        commands = [f"sleep 0.2; echo {number}" for number in range(5)]
        assert all_at_once(session, commands) == {command: f"{command[-1]}\n".encode() for command in commands}
        assert session._room.most == most


@pytest.mark.parametrize("most", [1, 2, CHANNELS_AT_ONCE])
def test_that_who_has_all_sessions_himself_is_told_at_once_and_not_left_to_wait(make_sshd, monkeypatch, most):
    with make_sshd(f"MaxSessions {most}\n").connect() as session:
        waits: list[float] = []
        monkeypatch.setattr(session._room, "_wait", lambda one, seconds: waits.append(seconds))
        kept = [session.open("cat") for _ in range(most)]
        for _ in range(2):
            with pytest.raises(ConnectFailed, match="session.* at once|are open already") as caught:
                session.open("true")
            assert (caught.value.phase, waits) == (Phase.CHANNEL, [])
        closing = threading.Thread(target=kept[0].close)  # by another than who opened it
        closing.start()
        closing.join()
        assert said(session, "echo on") == b"on\n"
        assert waits == []
        for channel in kept:
            channel.close()


def test_that_a_refused_session_is_not_told_as_a_silent_node(node):
    held = node(Scripted(1))
    held.session._deadlines = replace(held.session._deadlines, channel_s=4.0)
    kept = held.session.open("wait")  # by another than those who wait
    why = (
        f"{held.session.address.host_port}: opening a channel failed. the node gives this connection 1 session at once"
        " (MaxSessions), and nobody gave one back. wait until one of them has ended, or try again"
    )
    assert all_at_once(held.session, ["a", "b"]) == {"a": why, "b": why}
    kept.close()


def test_that_a_node_that_gives_no_session_at_all_says_so_to_everyone(node):
    one = node(Scripted(0))
    found = all_at_once(one.session, ["a", "b", "c"])
    assert [("the node opens no further session" in str(why), "no answer" in str(why)) for why in found.values()] == [(True, False)] * 3


def test_that_closing_a_connection_ends_the_wait_for_a_session(node):
    one = node(Scripted(1))
    kept = one.session.open("wait")
    found: list[dict[str, bytes | str]] = []
    waiting = threading.Thread(target=lambda: found.append(all_at_once(one.session, ["a"])))
    waiting.start()
    assert wait_until(lambda: one.session._room._waiting)
    one.session.close()
    waiting.join(60)
    assert [str(why).startswith("the connection to") for why in found[0].values()] == [True]
    kept.close()
