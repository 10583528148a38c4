from __future__ import annotations

import threading
import time
from collections.abc import Callable

import paramiko
import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import Command
from gpulease_gui.domain.frame import Frame
from gpulease_gui.domain.text import NO_TEXT
from gpulease_gui.facts.fact import Fact
from gpulease_gui.remote import driving, lookout
from gpulease_gui.remote.collect import collect
from gpulease_gui.remote.session import SshSession
from gpulease_gui.remote.transport import Channel, LineLost
from tests.integration.conftest import SshServer

pytestmark = pytest.mark.sshd


def own_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if isinstance(thread, paramiko.Transport)]


def words_of(channel: Channel) -> bytes:
    heard = b""
    while not (chunk := channel.read(5)).ended:
        heard += chunk.out
    channel.close()
    return heard + chunk.out


def test_that_a_node_is_asked_by_the_thread_that_asks_and_no_other(sshd: SshServer) -> None:
    frames: list[Frame] = []
    with sshd.connect() as session:
        end = collect(session, [Fact("f", NO_TEXT, Command("echo", "yes"), 5)], frames.append, CancelToken())
        assert (own_threads(), end.complete) == ([], True)
    assert [frame.output.stdout for frame in frames] == [b"yes\n"]


def test_that_two_who_wait_at_once_are_both_told(session: SshSession, until: Callable[..., bool]) -> None:
    heard: dict[str, bytes] = {}
    channels = {word: session.open(f"cat; echo {word}") for word in ("one", "other")}
    waiting = [threading.Thread(target=lambda word=word: heard.update({word: words_of(channels[word])})) for word in channels]
    for thread in waiting:
        thread.start()
    assert until(lambda: len(own_threads()) == 1)
    for channel, thread in zip(channels.values(), waiting, strict=True):
        channel.end_input()
        thread.join(60)
    assert heard == {"one": b"one\n", "other": b"other\n"} and len(own_threads()) == 1


def test_that_the_end_of_a_connection_that_nobody_waits_at_is_seen(session: SshSession, until: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookout, "UNHEARD_S", 0.05)
    channel = session.open("kill -9 $PPID")  # of the server's own process for this connection
    assert until(lambda: not session.alive)
    assert channel.read(0).ended


def test_that_what_is_handed_on_as_it_comes_needs_nobody_who_waits(session: SshSession, until: Callable[..., bool]) -> None:
    heard: list[bytes] = []
    channel = session.open("echo yes")
    channel.listen(lambda out, _: heard.append(out), lambda: None)
    assert until(lambda: heard == [b"yes\n"])
    channel.close()


def test_that_more_than_a_node_takes_at_once_is_sent(session: SshSession) -> None:
    channel = session.open("wc -c")
    channel.write(bytes(5_000_000))
    channel.end_input()
    assert words_of(channel) == b"5000000\n"


def test_that_a_cipher_without_a_short_way_is_read_by_a_thread(make_sshd: Callable[..., SshServer]) -> None:
    with make_sshd("Ciphers aes128-ctr\n").connect() as session:
        assert words_of(session.open("echo yes")) == b"yes\n"
        assert len(own_threads()) == 1


def test_that_who_does_not_wait_gets_what_is_there(session: SshSession, until: Callable[..., bool]) -> None:
    channel = session.open("echo yes; cat")
    assert until(lambda: channel.read(0).out == b"yes\n")
    assert own_threads() == []
    channel.close()


def test_that_a_thread_of_its_own_waits_long_whoever_read_before(session: SshSession, until: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> None:
    channel = session.open("echo yes; cat")
    assert until(lambda: channel.read(0).out == b"yes\n")
    transport = session._transport
    waits: list[float] = []
    more = transport.sock.more
    monkeypatch.setattr(type(transport.sock), "more", lambda sock: (waits.append(sock._patience_s), more())[1])
    driving.go_alone(transport)
    assert until(lambda: waits) and waits[0] == 1.0
    channel.close()


def test_that_the_end_of_a_connection_that_nobody_reads_is_seen_by_who_asks_for_it(sshd: SshServer, until: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookout, "UNHEARD_S", 60.0)
    with sshd.connect() as session:
        session.open("kill -9 $PPID")  # of the server's own process for this connection
        assert until(lambda: not session.alive)
        assert own_threads() == []


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> float:
    """An interval of liveness that tests can wait for."""
    monkeypatch.setattr(lookout, "INTERVAL_S", 0.5)
    monkeypatch.setattr(lookout, "_LOOK_S", 0.02)
    return 0.5


def test_that_ux_10_an_idle_connection_whose_node_hangs_is_lost_within_three_intervals(make_sshd: Callable[..., SshServer], until: Callable[..., bool], hurried: float) -> None:
    server = make_sshd()
    with server.connect() as session:
        assert words_of(session.open("echo yes")) == b"yes\n"
        with server.stalled():
            since = time.monotonic()
            assert until(lambda: not session.alive)
            assert time.monotonic() - since < 3 * hurried + 2
        with pytest.raises(LineLost):
            session.open("true")


def test_that_ux_10_who_waits_for_a_node_that_hangs_is_told_within_three_intervals(make_sshd: Callable[..., SshServer], hurried: float) -> None:
    server = make_sshd()
    with server.connect() as session:
        channel = session.open("echo yes; cat")
        assert channel.read(30).out == b"yes\n"
        with server.stalled():
            since = time.monotonic()
            assert channel.read(30).ended
            assert time.monotonic() - since < 3 * hurried + 2
        assert not session.alive


def test_that_ux_10_what_is_sent_to_a_node_that_hangs_ends_within_three_intervals(make_sshd: Callable[..., SshServer], hurried: float) -> None:
    server = make_sshd()
    with server.connect() as session:
        channel = session.open("echo yes; cat >/dev/null")
        assert channel.read(30).out == b"yes\n"
        with server.stalled():
            since = time.monotonic()
            with pytest.raises(LineLost):
                channel.write(bytes(30_000_000))
            assert time.monotonic() - since < 3 * hurried + 2
        assert not session.alive


def test_that_a_node_that_answers_is_kept_however_long_it_says_nothing_else(session: SshSession, until: Callable[..., bool], hurried: float) -> None:
    asked: list[bool] = []
    transport = session._transport
    ask = transport.ask_for_a_word
    transport.ask_for_a_word = lambda: (asked.append(True), ask())
    assert until(lambda: len(asked) >= 8)
    assert session.alive and words_of(session.open("echo yes")) == b"yes\n"
