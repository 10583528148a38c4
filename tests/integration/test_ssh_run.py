from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import Command
from gpulease_gui.domain.errors import Cancelled
from gpulease_gui.remote.run import run_active, start_server
from gpulease_gui.remote.stream import SILENT_LEAST_S, Start, Stream, StreamEnd, StreamEnding

pytestmark = pytest.mark.sshd


class Heard:
    """What a stream told, and its thread."""

    def __init__(self, line, sources, interval_s: float = 0.2) -> None:
        self.lines: list[tuple[str, bytes]] = []
        self.ended: list[tuple[str, int]] = []
        self.lost: list[StreamEnd] = []
        self.ends: list[StreamEnd] = []
        self.stream = Stream(
            line, sources, interval_s, lambda source, data, at: self.lines.append((source, data)),
            on_ended=lambda source, code: self.ended.append((source, code)), on_lost=self.lost.append,
        )  # fmt: skip
        self.thread = threading.Thread(target=lambda: self.ends.append(self.stream.run()))
        self.thread.start()


def test_that_an_active_run_works_in_a_folder_of_its_own_that_goes(session, sshd, until):
    command = Command(script='pwd; touch mark; ls; [ "$PWD" = "$GPULEASE_SCRATCH" ] && echo same')
    output = run_active(session, "disk", command, 5, CancelToken())
    place, *rest = output.text.split()
    assert output.exit_code == 0
    assert Path(place).parent == sshd.home
    assert rest == ["mark", "same"]
    assert until(lambda: not list(sshd.home.iterdir()))


def test_that_an_active_run_that_hangs_is_a_time_out(session, marker):
    output = run_active(session, "disk", Command("sleep", marker.seconds), 1, CancelToken())
    assert output.exit_code == 124
    assert marker.gone()


def test_that_a_cancelled_active_run_is_cancelled_and_gone(session, marker, sshd, until):
    cancel = CancelToken()
    errors: list[BaseException] = []

    def work() -> None:
        try:
            run_active(session, "disk", Command("sleep", marker.seconds), 60, cancel)
        except Cancelled as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert marker.seen()
    cancel.cancel()
    thread.join(60)
    assert len(errors) == 1
    assert marker.gone()
    assert until(lambda: not list(sshd.home.iterdir()))


def test_that_a_lost_line_is_no_exit_code(make_sshd, marker):
    server = make_sshd()
    with server.connect() as session:
        outputs: list[object] = []
        command = Command("sleep", marker.seconds)
        thread = threading.Thread(
            target=lambda: outputs.append(run_active(session, "disk", command, 60, CancelToken()).exit_code)
        )
        thread.start()
        assert marker.seen()
        server.cut_sessions()
        thread.join(60)
    assert outputs == [None]
    assert marker.gone()


def test_that_a_server_is_ready_when_it_says_so_and_ends_with_us(session, marker):
    command = Command(script=f"echo Server listening on 5201; sleep {marker.seconds}")
    with start_server(session, "iperf", command, 60, CancelToken()) as server:
        assert server.wait_for(b"listening on 5201", 60, CancelToken())
        assert not server.wait_for(b"never said", 0.1, CancelToken())
    assert server.ended
    assert marker.gone()


def test_that_a_server_that_ends_by_itself_is_seen(session):
    with start_server(session, "iperf", Command(script="echo one; echo two >&2; exit 3"), 60, CancelToken()) as server:
        assert server.wait_end(60, CancelToken())
    assert b"one\n" in server.output
    assert b"two\n" in server.output
    assert server.output.endswith(b"END 3\n")


def test_that_a_stream_brings_lines_as_they_come_and_stops(session, marker, until):
    ticks = 'n=0; while :; do echo "tick $n"; n=$((n+1)); sleep "$GPULEASE_INTERVAL"; done'
    heard = Heard(session, [("ticks", ticks), ("still", f"sleep {marker.seconds}")])
    assert until(lambda: len(heard.lines) >= 4)
    assert marker.seen()
    heard.stream.close()
    heard.thread.join(60)
    assert heard.lines[:3] == [("ticks", b"tick 0"), ("ticks", b"tick 1"), ("ticks", b"tick 2")]
    assert heard.ends[0].ending is StreamEnding.CLOSED
    assert heard.lost == []
    assert marker.gone()


def test_that_long_lines_of_two_sources_are_never_mixed(session, until):
    script = "while :; do head -c 20000 /dev/zero | tr '\\0' {}; echo; done"
    heard = Heard(session, [("a", script.format("a")), ("b", script.format("b"))])
    assert until(lambda: len(heard.lines) >= 30, 30)
    heard.stream.close()
    heard.thread.join(60)
    assert {(source, data) for source, data in heard.lines} == {("a", b"a" * 20000), ("b", b"b" * 20000)}


def test_that_a_source_that_ends_is_told_with_its_code_and_the_others_go_on(session, until):
    heard = Heard(session, [("gone", "echo last words; exit 7"), ("ticks", "while :; do echo t; sleep 0.1; done")])
    assert until(lambda: heard.ended and len(heard.lines) > 3)
    heard.stream.close()
    heard.thread.join(60)
    assert heard.ended == [("gone", 7)]
    assert ("gone", b"last words") in heard.lines


def test_that_ux_10_a_killed_channel_is_lost_within_three_seconds(make_sshd, marker, until):
    server = make_sshd()
    with server.connect() as session:
        heard = Heard(session, [("ticks", f"while :; do echo t; sleep 0.1; done; sleep {marker.seconds}")], 1.0)
        assert until(lambda: heard.lines)
        cut = time.monotonic()
        server.cut_sessions()
        assert until(lambda: heard.lost, 3)
        heard.thread.join(60)
    assert heard.lost[0].ending is StreamEnding.LOST
    assert abs(heard.lost[0].last_s - cut) < 1
    assert marker.gone()


def test_that_ux_10_a_silent_line_is_lost_while_a_silent_source_is_not(make_sshd, until):
    server = make_sshd("ForceCommand if [ -e $HOME/dead ]; then exec sleep 20; else exec $SSH_ORIGINAL_COMMAND; fi\n")
    with server.connect() as session:
        living = Heard(session, [("still", "sleep 30")], 0.2)
        assert not until(lambda: living.lost, 3.2)
        living.stream.close()
        living.thread.join(60)
        (server.home / "dead").touch()
        dead = Heard(session, [("still", "sleep 30")], 0.2)
        started = time.monotonic()
        assert until(lambda: dead.lost, 4)
        assert time.monotonic() - started < 3
        dead.thread.join(60)
    assert dead.lost[0].ending is StreamEnding.SILENT


def test_that_bytes_that_wait_for_us_are_no_silence_of_the_node(session, until):
    ticks = 'while :; do echo t; sleep "$GPULEASE_INTERVAL"; done'
    lines: list[float] = []
    busy = threading.Event()

    def slowly(_id: str, _line: bytes, at_s: float) -> None:
        lines.append(at_s)
        if len(lines) == 3:
            busy.wait(SILENT_LEAST_S + 0.7)

    ends: list[StreamEnd] = []
    stream = Stream(session, [("ticks", ticks)], 0.2, slowly)
    thread = threading.Thread(target=lambda: ends.append(stream.run()))
    thread.start()
    assert until(lambda: len(lines) > 6), ends
    stream.close()
    thread.join(60)
    assert [end.ending for end in ends] == [StreamEnding.CLOSED]
    assert lines[3] - lines[2] > SILENT_LEAST_S


def test_that_a_fault_of_ours_is_raised_where_the_stream_runs_and_the_line_lives_on(session):
    def broken(_id: str, _line: bytes, _at_s: float) -> None:
        raise KeyError("ours")

    with pytest.raises(KeyError, match="ours"):
        Stream(session, [("ticks", "echo t; sleep 60")], 0.2, broken).run()
    assert run_active(session, "disk", Command(script="echo lives"), 5, CancelToken()).stdout == b"lives\n"


def test_that_a_node_may_send_on_and_on_and_is_given_room(session, until):
    """More than four times the 2 MiB that the channel has room for at once."""
    lines, ends = list[bytes](), list[StreamEnd]()
    command = "read -r _ _ mark; exec yes \"$mark much $(head -c 3000 /dev/zero | tr '\\0' x)\""
    start = Start(command, lambda mark: f"# gpulease {mark}\n".encode())
    stream = Stream(session, [("much", "")], 1.0, lambda _id, line, _at: lines.append(line), start=start)
    thread = threading.Thread(target=lambda: ends.append(stream.run()))
    thread.start()
    assert until(lambda: len(lines) > 3000), ends
    stream.close()
    thread.join(60)
    assert ends[0].ending is StreamEnding.CLOSED and set(lines) == {b"x" * 3000}
