"""What does one command of a client get from a simulated node?"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime

import paramiko

from gpulease_gui.demo.active import Call, Meeting, call_of, run_client, run_server
from gpulease_gui.demo.answers import FORGED_BOUNDARY, answer
from gpulease_gui.demo.look_report import look
from gpulease_gui.demo.nodes import DemoNode
from gpulease_gui.demo.own_task import PLACE, Order, has_log, order_of, told
from gpulease_gui.demo.stream import stream_lines
from gpulease_gui.demo.torch_report import TASKS, task_words
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.frame import (
    ACTIVE,
    COLLECT,
    STREAM,
    TASK,
    Frame,
    parse_active_line,
    parse_head_line,
    write_end,
    write_frame,
)

# What paramiko raises when the other end, or the whole line, has gone.
_GONE = (OSError, EOFError, paramiko.SSHException)
_HEAD_MAX = 64 * 1024
_PROGRAM_MAX = 1024 * 1024
# After a brace that may be the last: nothing more is to come before our answer.
_SILENCE_S = 0.2
_PYTHON = "python3 -c "

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Park:
    """What all nodes of one server share. `pace` scales waiting."""

    pace: float
    clock: Clock
    meeting: Meeting


def speaks(command: str) -> bool:
    """Whether a node answers this exec string at all."""
    return command in (COLLECT, STREAM, ACTIVE, TASK) or command.startswith(_PYTHON)


def serve(channel: paramiko.Channel, command: str, node: DemoNode, park: Park) -> None:
    """Answer one exec request and close its channel; ends at once when the client closes its end."""
    line = _Line(channel)
    try:
        channel.send_exit_status(_answer(line, command, node, park))
    except _GONE:
        return  # nobody is left to answer
    finally:
        with suppress(*_GONE):
            channel.close()


def _answer(line: _Line, command: str, node: DemoNode, park: Park) -> int:
    try:
        if command == TASK:
            return _own_task(line, node, park)
        head = line.read_head()
        if command.startswith(_PYTHON):
            line.complain(b"sh: 1: python3: not found\n")
            return 127
        if command == ACTIVE:
            boundary, fact_id, argv = parse_active_line(head)
            if fact_id in TASKS:
                return _task(line, boundary, fact_id, argv, node, park)
            return _active(line, boundary, fact_id, call_of(argv), node, park)
        boundary, words = parse_head_line(head)
    except ValueError:
        line.complain(b"gpulease: the first line is missing\n")
        return 2
    if command == STREAM:
        return _stream(line, boundary, tuple(words), node, park)
    return _collect(line, boundary, tuple(words), node, park)


def _collect(line: _Line, boundary: str, ids: tuple[str, ...], node: DemoNode, park: Park) -> int:
    """All facts at once, each frame leaving when its command would have ended."""
    now = park.clock()
    outputs = sorted(((id_, answer(node, id_, now)) for id_ in ids), key=lambda pair: pair[1].seconds)
    started = time.monotonic()
    for id_, output in outputs:
        if not line.wait_until(started + output.seconds * park.pace):
            return 1
        line.send(node.noise + write_frame(boundary, _forged(boundary, id_, output)))
    line.send(write_end(boundary))
    return 0


def _forged(boundary: str, id_: str, output: CommandOutput) -> Frame:
    """A frame whose bytes may claim to hold other frames: a node reads the boundary too."""
    stdout = output.stdout.replace(FORGED_BOUNDARY.encode(), boundary.encode())
    return Frame(id_, replace(output, stdout=stdout))


def _active(line: _Line, boundary: str, fact_id: str, call: Call, node: DemoNode, park: Park) -> int:
    if call.is_server:
        start = f"\n{boundary} START\n".encode()
        served = run_server(node, call, park.meeting, line.wait, lambda words: line.send(start + words))
        line.send(served.stdout + f"\n{boundary} END {served.exit_code}\n".encode())
        return 0
    looked = look(node.machine, fact_id, call.words, park.clock())
    if looked is not None:
        output = looked if line.wait(looked.seconds * park.pace) else None
    else:
        output = run_client(node, call, park.meeting, line.wait, lambda seconds: line.wait(seconds * park.pace))
    if output is None:
        return 1
    line.send(write_frame(boundary, Frame(fact_id, output)) + write_end(boundary))
    return 0


def _task(line: _Line, boundary: str, fact_id: str, argv: tuple[str, ...], node: DemoNode, park: Park) -> int:
    """A built-in task, in far less time than on a real node."""
    output = task_words(node.machine, fact_id, argv[-1], park.meeting.turn(node, Call(fact_id, ())))
    if output is None or not line.wait(output.seconds * park.pace):
        return 1
    line.send(write_frame(boundary, Frame(fact_id, output)) + write_end(boundary))
    return 0


def _own_task(line: _Line, node: DemoNode, park: Park) -> int:
    """Take a task, run nothing of it, and tell a training in its place; it ends when the client's side does."""
    program = line.read_program()
    boundary, _ = parse_head_line(program.split("\n", 1)[0])
    order = order_of(program)
    if order.follows and not has_log(node.machine, order):
        line.complain(f"{boundary} REFUSE log missing\n".encode())
        return 1
    line.complain(f"{boundary} READY {PLACE}\n".encode())
    if not line.skip(order.send_bytes):
        return 1
    box = f"{boundary} BOX docker\n" if order.tool else ""
    line.complain(f"{box}{boundary} START\n".encode())
    line.send(f"\n{boundary} LOG\n".encode())
    ending = _tell(line, node, park, order)
    kept = f"{boundary} KEPT 12 {PLACE}\n" if order.keeps else ""
    line.complain(f"{boundary} LOG 0\n{boundary} END {ending} 0 0\n{kept}{boundary} CLEAN 0\n".encode())
    return 0


def _tell(line: _Line, node: DemoNode, park: Park, order: Order) -> str:
    """The log at its pace; the answer are the words of its end: why, code, seconds."""
    story, second = told(node.machine, order, park.meeting.turn(node, Call("own task", ()))), 0.0
    for seconds, piece in story.pieces:
        second += seconds
        if order.limit_s and second > order.limit_s:
            return f"stop time {order.limit_s}"
        if not line.wait(seconds * park.pace):
            return f"stop line {second:.0f}"
        line.send(piece)
    return f"exit {story.exit_code} {second:.0f}"


def _stream(line: _Line, boundary: str, sources: tuple[str, ...], node: DemoNode, park: Park) -> int:
    """A node's life goes on while nobody looks."""
    started, begin_s = time.monotonic(), park.meeting.strain.clock()
    for second, payload in stream_lines(node, boundary, sources, begin_s, park.meeting.strain):
        if not line.wait_until(started + second - begin_s):
            return 0
        line.send(payload)
    return 0


class _Line:
    """The channel with a clock: waiting and reading the client's silence are one thing."""

    def __init__(self, channel: paramiko.Channel) -> None:
        self._channel = channel

    def read_head(self) -> str:
        """The first line. Raises ValueError when the client ends or writes too much before it."""
        self._channel.settimeout(None)
        held = b""
        while b"\n" not in held:
            chunk = self._channel.recv(4096)
            if not chunk or len(held) > _HEAD_MAX:
                raise ValueError("no first line")
            held += chunk
        return held.split(b"\n", 1)[0].decode("utf-8", "replace")

    def read_program(self) -> str:
        """All of a program: it ends with a brace after which nothing follows. Raises ValueError when the client ends before."""
        self._channel.settimeout(None)
        held = b""
        while True:
            try:
                chunk = self._channel.recv(65536)
            except TimeoutError:
                return held.decode("utf-8", "replace")
            if not chunk or len(held) > _PROGRAM_MAX:
                raise ValueError("no whole program")
            held += chunk
            self._channel.settimeout(_SILENCE_S if held.endswith(b"\n}\n") else None)

    def skip(self, size_bytes: int) -> bool:
        """Take so many bytes and forget them; False when the client closes before."""
        self._channel.settimeout(None)
        while size_bytes > 0:
            chunk = self._channel.recv(min(65536, size_bytes))
            if not chunk:
                return False
            size_bytes -= len(chunk)
        return True

    def wait(self, seconds: float) -> bool:
        """Drain what the client sends for so long; False as soon as it has closed."""
        return self.wait_until(time.monotonic() + seconds)

    def wait_until(self, moment: float) -> bool:
        """Drain what the client sends until `moment` (monotonic seconds); False as soon as it has closed."""
        while True:
            self._channel.settimeout(max(0.0, moment - time.monotonic()))
            try:
                if not self._channel.recv(65536):
                    return False
            except TimeoutError:
                if time.monotonic() >= moment:
                    return True

    def send(self, data: bytes) -> None:
        """Write all of `data`. Raises OSError when the client is gone."""
        self._channel.settimeout(None)
        self._channel.sendall(data)

    def complain(self, words: bytes) -> None:
        """Write to standard error. Raises OSError when the client is gone."""
        self._channel.settimeout(None)
        self._channel.sendall_stderr(words)
