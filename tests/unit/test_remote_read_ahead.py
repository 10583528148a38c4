from __future__ import annotations

import socket

import pytest

from gpulease_gui.remote.read_ahead import ReadAhead


@pytest.fixture
def ends():
    near, far = socket.socketpair()
    ahead = ReadAhead.of(near)
    yield ahead, far
    ahead.close()
    far.close()


def test_that_bytes_come_in_the_pieces_asked_for_and_then_the_end(ends):
    ahead, far = ends
    far.sendall(b"abcdefghij")
    assert [ahead.recv(4), ahead.recv(4), ahead.recv(4)] == [b"abcd", b"efgh", b"ij"]
    far.sendall(b"k")
    far.close()
    assert [ahead.recv(4), ahead.recv(4)] == [b"k", b""]


def test_that_a_wait_ends_in_time_and_what_is_held_needs_none(ends):
    ahead, far = ends
    ahead.settimeout(0.01)
    with pytest.raises(TimeoutError):  # what the library waits for; BlockingIOError ends its reading of a banner
        ahead.recv(4)
    far.sendall(b"abcd")
    assert ahead.recv(1) == b"a"
    ahead.settimeout(0)
    assert ahead.recv(4) == b"bcd"
    with pytest.raises(BlockingIOError):
        ahead.recv(4)


def test_that_a_shutdown_ends_a_wait_and_the_first_socket_is_gone(ends):
    ahead, _ = ends
    ahead.settimeout(60)
    ahead.shutdown(socket.SHUT_RDWR)
    assert ahead.recv(1) == b""
    assert ahead.behind(), "nobody waits for what comes"
    near, far = socket.socketpair()
    with ReadAhead.of(near), far:
        assert near.fileno() == -1
