"""Are a command's outputs kept as they came, and never more of them than the node was given room for?"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import paramiko
import pytest
from paramiko.buffered_pipe import PipeTimeout

from gpulease_gui.remote.feed import Feed

WINDOW = 80_000


@pytest.fixture
def channel():
    made = paramiko.Channel(5)
    made._set_window(WINDOW, 32 * 1024)
    Feed(made)
    return made


def test_that_an_output_comes_out_in_the_lengths_asked_for_and_then_its_end(channel):
    pipe = channel.in_buffer
    for piece in (b"abc", b"", b"d" * 5000, b"ef"):
        pipe.feed(piece)
    assert len(pipe) == 5005 and pipe.read_ready()
    assert [pipe.read(2), pipe.read(4000), pipe.read(9000)] == [b"ab", b"c" + b"d" * 3999, b"d" * 1001 + b"ef"]
    with pytest.raises(PipeTimeout):
        pipe.read(1, 0.0)
    pipe.feed(b"last")
    channel.in_buffer.close()  # as at the end of the output
    pipe.feed(b"what comes after the end is dropped")
    assert [pipe.read(9), pipe.read(9), len(pipe)] == [b"last", b"", 0]


def test_that_a_node_that_ignores_its_room_is_hung_up_on_and_one_that_keeps_to_it_is_not(channel):
    pipe = channel.in_buffer
    for _ in range(3):
        pipe.feed(b"x" * WINDOW)
        assert len(pipe.read(WINDOW)) == WINDOW
    pipe.feed(b"x" * WINDOW)
    with pytest.raises(paramiko.SSHException, match="more than it was given room for"):
        pipe.feed(b"x" * WINDOW)


def test_that_many_tiny_pieces_cost_no_more_than_their_bytes(channel):
    for _ in range(20_000):
        channel.in_buffer.feed(b"ab")
    assert len(channel.in_buffer._pieces) == 10 and channel.in_buffer.read(WINDOW) == b"ab" * 20_000


def test_that_what_is_said_among_the_errors_ends_the_wait_for_output(channel):
    began = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(channel.in_buffer.read, 9, 60.0)
        channel.in_stderr_buffer.feed(b"READY")
        with pytest.raises(PipeTimeout):
            reading.result()
    assert time.monotonic() - began < 50 and channel.in_stderr_buffer.read(9) == b"READY"


def test_that_who_waits_without_a_limit_waits_for_output(channel):
    channel.in_stderr_buffer.feed(b"words")
    with ThreadPoolExecutor(1) as pool:
        reading = pool.submit(channel.in_buffer.read, 9)
        channel.in_buffer.feed(b"out")
        assert reading.result() == b"out"
