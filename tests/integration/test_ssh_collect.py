from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.frame import MAX_STDERR_BYTES, MAX_STDOUT_BYTES, Frame
from gpulease_gui.remote import impatient, lookout
from gpulease_gui.remote.collect import SAID_BYTES, CollectEnd, _foreign, _Gathering, collect
from gpulease_gui.remote.local import LocalLine
from gpulease_gui.remote.masking import Mask
from gpulease_gui.remote.transport import Line

pytestmark = pytest.mark.sshd


def gather(line: Line, facts, cancel=None, **more) -> tuple[dict[str, Frame], CollectEnd]:
    frames: dict[str, Frame] = {}
    end = collect(line, facts, lambda f: frames.update({f.id: f}), cancel or CancelToken(), **more)
    return frames, end


def collect_in_thread(line: Line, facts, cancel: CancelToken) -> tuple[threading.Thread, list[CollectEnd], list[Frame]]:
    ends: list[CollectEnd] = []
    frames: list[Frame] = []
    thread = threading.Thread(target=lambda: ends.append(collect(line, facts, frames.append, cancel)))
    thread.start()
    return thread, ends, frames


def test_that_ssh_and_this_computer_give_equal_frames(session, fact):
    facts = [
        fact("words", "echo out; echo err >&2; exit 3"),
        fact("bytes", r"printf '\000\377\n%s' \"$HOME\" | head -c 3"),
        fact("empty", ":"),
        fact("place", "echo $LC_ALL $GPULEASE_SUDO; cat"),
        fact("quote", """echo "it's" '$(id)' 'a"b'"""),
        fact("missing", "no-such-tool --version"),
    ]
    here = LocalLine()
    far, far_end = gather(session, facts)
    near, near_end = gather(here, facts)
    here.close()
    assert far_end.complete and near_end.complete
    assert far_end.missing == near_end.missing == ()
    assert far.keys() == {f.id for f in facts}
    for id_, frame in far.items():
        a, b = frame.output, near[id_].output
        assert (a.exit_code, a.stdout, a.stderr, a.stdout_cut, a.stderr_cut) == (
            b.exit_code, b.stdout, b.stderr, b.stdout_cut, b.stderr_cut,
        )  # fmt: skip
    assert (far["words"].output.exit_code, far["words"].output.stderr) == (3, b"err\n")
    assert far["bytes"].output.stdout == b"\0\xff\n"
    assert far["place"].output.stdout == b"C 1\n"
    assert far["quote"].output.text == "it's $(id) a\"b\n"


def test_that_sudo_can_be_switched_off(session, fact):
    frames, _ = gather(session, [fact("sudo", "echo $GPULEASE_SUDO")], sudo=False)
    assert frames["sudo"].output.stdout == b"0\n"


def test_that_ux_03_the_exit_code_comes_after_a_large_output(session, fact):
    frames, _ = gather(session, [fact("large", "head -c 5000000 /dev/zero; exit 3")])
    output = frames["large"].output
    assert (len(output.stdout), output.stdout_cut, output.exit_code) == (5_000_000, False, 3)


def test_that_ux_21_a_short_path_is_widened_at_its_end(make_sshd, fact):
    server = make_sshd(env={"PATH": "/usr/bin:/bin"})
    with server.connect() as session:
        frames, _ = gather(session, [fact("path", "echo $PATH")])
    folders = frames["path"].output.text.strip().split(":")
    assert folders[:2] == ["/usr/bin", "/bin"]
    assert {"/usr/local/nvidia/bin", "/usr/lib/wsl/lib", "/usr/local/sbin"} <= set(folders[2:])


def test_that_ux_22_the_users_language_does_not_change_outputs(make_sshd, fact):
    server = make_sshd(env={"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "zh_CN"})
    with server.connect() as session:
        frames, _ = gather(session, [fact("words", "printf '%.1f' 1.5; ls /nowhere; echo :$LANGUAGE:")])
    assert frames["words"].output.stdout == b"1.5::\n"
    assert b"No such file or directory" in frames["words"].output.stderr


def test_that_a_missing_tool_is_127_and_never_an_empty_reading(session, fact):
    frames, _ = gather(session, [fact("smi", "nvidia-smi-not-here -q -x")])
    assert frames["smi"].output.exit_code == 127
    assert "not found" in frames["smi"].output.error_text


def test_that_ux_24_a_hanging_fact_times_out_and_the_others_are_read(session, fact, marker):
    started = time.monotonic()
    facts = [fact("hang", f"trap '' TERM; sleep {marker.seconds}; sleep {marker.seconds}", 1), fact("other", "echo yes")]
    frames, end = gather(session, facts)
    assert end.complete
    assert frames["hang"].output.exit_code in (124, 137)
    assert frames["other"].output.stdout == b"yes\n"
    assert time.monotonic() - started < 6
    assert marker.gone()


def test_that_facts_of_one_lane_never_run_beside_each_other(session, fact, tmp_path):
    lock = tmp_path / "busy"
    script = f"mkdir {lock} || exit 9; sleep 0.1; rmdir {lock}"
    frames, _ = gather(session, [fact(f"npu{n}", script, lane="npu") for n in range(4)])
    assert [frame.output.exit_code for frame in frames.values()] == [0, 0, 0, 0]


def test_that_ux_33_a_flood_is_cut_at_the_cap_and_says_so(session, fact):
    frames, end = gather(session, [fact("flood", "head -c 100000000 /dev/zero"), fact("calm", "echo yes")])
    output = frames["flood"].output
    assert (len(output.stdout), output.stdout_cut, output.exit_code) == (MAX_STDOUT_BYTES, True, 0)
    assert frames["calm"].output.stdout == b"yes\n"
    assert end.complete


def test_that_ux_01_a_flood_on_stderr_stalls_nothing(session, fact):
    frames, end = gather(session, [fact("loud", "head -c 3000000 /dev/zero >&2; echo done")])
    output = frames["loud"].output
    assert (output.stdout, len(output.stderr), output.stderr_cut) == (b"done\n", MAX_STDERR_BYTES, True)
    assert end.complete


def test_that_ux_01_bytes_on_the_channels_own_stderr_stall_nothing(make_sshd, fact):
    server = make_sshd("ForceCommand head -c 5000000 /dev/zero >&2; exec $SSH_ORIGINAL_COMMAND\n")
    with server.connect() as session:
        frames, end = gather(session, [fact("a", "echo yes")])
    assert frames["a"].output.stdout == b"yes\n"
    assert end.complete


def test_that_ux_20_words_before_ours_are_noise(make_sshd, fact):
    server = make_sshd("ForceCommand printf 'Welcome to node-07\\nno newline'; exec $SSH_ORIGINAL_COMMAND\n")
    with server.connect() as session:
        frames, end = gather(session, [fact("a", "echo yes")])
    assert frames["a"].output.stdout == b"yes\n"
    assert end.noise_bytes >= len("Welcome to node-07\nno newline")


def test_that_endless_noise_ends_the_collection(make_sshd, fact):
    server = make_sshd("ForceCommand yes\n")
    with server.connect() as session:
        frames, end = gather(session, [fact("a", "echo yes")])
    assert frames == {}
    assert end.missing[0].reason is Reason.CUT_OFF
    assert not end.complete


def test_that_a_gateway_that_only_says_no_is_quoted(make_sshd, fact):
    server = make_sshd("ForceCommand echo your client has no PTY; exit 1\n")
    with server.connect() as session:
        frames, end = gather(session, [fact("a", "echo yes")])
    assert end.missing[0].reason is Reason.NOT_COLLECTED
    assert end.said == "your client has no PTY"


@pytest.mark.parametrize(("before", "said"), [("", ""), ("Welcome\\n", "Welcome"), ("no line end", "")])
def test_that_a_line_lost_within_the_first_output_quotes_the_node_and_not_our_own_header(make_sshd, fact, before, said):
    """The first frame was to be the node's words: `it said: 40a36dff... clock_now 0 0.01 119 0 0 0`."""
    header = "read -r x y mark rest; printf '%s a 0 0.01 119 0 0 0\\nhalf' $mark; exit 1"
    server = make_sshd(f"ForceCommand printf '{before}'; {header}\n")
    with server.connect() as session:
        frames, end = gather(session, [fact("a", "echo yes")])
    assert (frames, end.said) == ({}, said)


def test_that_a_header_that_was_cut_is_no_word_of_the_node():
    mark = b"40a36dff" * 4
    assert _foreign(b"Welcome\n" + mark[:9], mark) == b"Welcome\n" == _foreign(b"Welcome\n", mark)
    assert _foreign(b"40a36dff is what it printed", mark) == b"40a36dff is what it printed"
    gathering = _Gathering(mark.decode(), ["a"], lambda frame: None, Mask())
    gathering.take(b"x" * (SAID_BYTES - 5) + b"\n" + mark + b" a 0 0.01 119 0 0 0\n", b"")
    assert gathering.end(Reason.CONNECTION_LOST, cancelled=False, far_end_seen=True).said == "x" * (SAID_BYTES - 5)


def test_that_a_node_that_stays_silent_is_given_up_early(make_sshd, fact, monkeypatch):
    monkeypatch.setattr("gpulease_gui.remote.wrap._FIRST_BYTE_S", 1.0)
    server = make_sshd("ForceCommand exec sleep 60\n")
    started = time.monotonic()
    with server.connect() as session:
        frames, end = gather(session, [fact("a", "echo yes", 60)])
    assert time.monotonic() - started < 9
    assert (frames, [(m.id, m.reason) for m in end.missing]) == ({}, [("a", Reason.TIMEOUT)])


def test_that_what_hung_once_in_a_lane_gets_a_short_try_then(session, fact, marker):
    facts = [fact(f"smi{n}", f"sleep {marker.seconds}", seconds, "smi") for n, seconds in enumerate((2, 60, 60))]
    started = time.monotonic()
    frames, end = gather(session, [*facts, fact("other", "sleep 7; echo yes", 30), fact("quick", "echo yes", 30, "smi")])
    assert time.monotonic() - started < 20
    assert end.complete
    assert [frames[f.id].output.exit_code for f in facts] == [124, 124, 124]
    assert frames["smi1"].output.seconds < 8 and frames["smi2"].output.seconds < 4
    assert frames["other"].output.stdout == frames["quick"].output.stdout == b"yes\n"


@pytest.mark.parametrize("end", ["normal", "cancel"])
def test_that_a_process_with_a_session_of_its_own_is_ended_too(session, fact, marker, end):
    cancel = CancelToken()
    stay = f"sleep {marker.seconds}" if end == "cancel" else ":"
    thread, ends, _ = collect_in_thread(session, [fact("a", f"setsid -f sleep {marker.seconds} >/dev/null 2>&1; {stay}", 60)], cancel)
    if end == "cancel":
        assert marker.seen(2)
        cancel.cancel()
    thread.join(60)
    assert ends[0].complete is (end == "normal")
    assert marker.gone()


def test_that_ux_02_the_deadline_ends_the_commands_and_keeps_the_frames(session, fact, marker):
    facts = [fact("quick", "echo yes"), fact("slow", f"sleep {marker.seconds}", 60)]
    started = time.monotonic()
    frames, end = gather(session, facts, deadline_s=2.0)
    assert time.monotonic() - started < 6
    assert list(frames) == ["quick"]
    assert [(m.id, m.reason) for m in end.missing] == [("slow", Reason.TIMEOUT)]
    assert not end.cancelled
    assert marker.gone()


@pytest.mark.parametrize("script", ["sleep {}", "trap '' TERM; sleep {}; sleep {}", "timeout 300 sleep {}", "sleep {} & wait"])
def test_that_cancelling_leaves_no_process_and_no_file(make_sshd, fact, marker, tmp_path, until, script):
    server = make_sshd(env={"TMPDIR": str(tmp_path)})
    cancel = CancelToken()
    with server.connect() as session:
        thread, ends, _ = collect_in_thread(session, [fact("a", script.replace("{}", marker.seconds), 60)], cancel)
        assert marker.seen()
        assert list(tmp_path.glob("gpulease.*"))
        cancel.cancel()
        thread.join(60)
        assert ends[0].cancelled
    assert marker.gone()  # commands that ignore TERM end after the connection did
    assert until(lambda: not list(tmp_path.glob("gpulease.*")))


def test_that_the_end_of_a_node_that_is_well_is_seen(session, fact, marker, monkeypatch):
    monkeypatch.setattr(impatient, "CANCEL_S", 60.0)  # on a busy computer, too
    cancel = CancelToken()
    thread, ends, _ = collect_in_thread(session, [fact("a", f"sleep {marker.seconds}", 60)], cancel)
    assert marker.seen()
    cancel.cancel()
    thread.join(60)
    assert (ends[0].cancelled, ends[0].far_end_seen) == (True, True)
    assert marker.gone()


def test_that_cancelling_a_stalled_node_ends_within_half_a_second_and_its_commands_end_when_it_goes_on(make_sshd, fact, marker, tmp_path, until, monkeypatch):
    monkeypatch.setattr("gpulease_gui.remote.collect.END_SECONDS", 3600.0)  # waited for, it would never end
    monkeypatch.setattr(lookout, "INTERVAL_S", 3600.0)
    server, cancel = make_sshd(env={"TMPDIR": str(tmp_path)}), CancelToken()
    before = threading.active_count()
    with server.connect() as session:
        facts = [fact("quick", "echo yes"), fact("slow", f"trap '' TERM; sleep {marker.seconds}; sleep {marker.seconds}", 60)]
        thread, ends, frames = collect_in_thread(session, facts, cancel)
        assert until(lambda: frames) and marker.seen()
        with server.stalled():
            cancel.cancel()
            thread.join(60)
            assert not thread.is_alive()
            session.close()
    assert impatient.CANCEL_S < 0.5 and (ends[0].cancelled, ends[0].far_end_seen, [frame.id for frame in frames]) == (True, False, ["quick"])
    assert marker.gone() and until(lambda: not list(tmp_path.glob("gpulease.*")))
    assert until(lambda: threading.active_count() <= before)


KILLED = """
import sys
from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import Command
from gpulease_gui.domain.node import Address, HostKey
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.remote.collect import collect
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.hostkeys import HostTrust
from gpulease_gui.remote.session import Connector
port, user, key, kind, fingerprint, script = sys.argv[1:]
session = Connector().connect(
    Address("127.0.0.1", int(port), user), Credentials(identity_file=key), HostTrust((HostKey(kind, fingerprint),)),
    Deadlines(), CancelToken(),
)
facts = [Fact(f"f{n}", Text("", ""), Command(script=script), 60) for n in range(3)]
collect(session, facts, print, CancelToken())
"""


def test_that_a_killed_client_leaves_no_process_and_no_file(make_sshd, marker, tmp_path, until):
    server = make_sshd(env={"TMPDIR": str(tmp_path)})
    key = server.keys.host_keys()[0]
    words = [str(server.port), server.address.user, server.key_file, key.kind, key.fingerprint]
    client = subprocess.Popen([sys.executable, "-c", KILLED, *words, f"trap '' TERM; sleep {marker.seconds}; :"])
    assert marker.seen(6)
    client.send_signal(signal.SIGKILL)
    client.wait()
    assert marker.gone()
    assert until(lambda: not list(tmp_path.glob("gpulease.*")))


def test_that_a_cut_line_is_connection_lost_and_keeps_the_frames(make_sshd, fact, marker, tmp_path, until):
    server = make_sshd(env={"TMPDIR": str(tmp_path)})
    with server.connect() as session:
        facts = [fact("quick", "echo yes"), fact("slow", f"sleep {marker.seconds}", 60)]
        thread, ends, frames = collect_in_thread(session, facts, CancelToken())
        assert until(lambda: frames) and marker.seen()
        server.cut_sessions()
        thread.join(60)
    assert [frame.id for frame in frames] == ["quick"]
    assert [(m.id, m.reason) for m in ends[0].missing] == [("slow", Reason.CONNECTION_LOST)]
    assert marker.gone()
    assert until(lambda: not list(tmp_path.glob("gpulease.*")))


def test_that_a_closed_session_ends_the_commands(make_sshd, fact, marker):
    server = make_sshd()
    session = server.connect()
    thread, ends, _ = collect_in_thread(session, [fact("slow", f"sleep {marker.seconds}", 60)], CancelToken())
    assert marker.seen()
    session.close()
    thread.join(60)
    assert ends[0].missing[0].reason is Reason.CONNECTION_LOST
    assert marker.gone()


def test_that_nothing_is_left_in_home_and_temp_after_a_good_run(make_sshd, fact, tmp_path, until):
    server = make_sshd(env={"TMPDIR": str(tmp_path)})
    with server.connect() as session:
        _, end = gather(session, [fact("a", "pwd"), fact("b", "ls")])
    assert end.complete
    assert until(lambda: not list(tmp_path.glob("gpulease.*")))
    assert not list(Path(server.home).iterdir())


def test_that_a_node_that_greets_and_then_stays_silent_is_given_up(make_sshd, fact, monkeypatch):
    monkeypatch.setattr("gpulease_gui.remote.wrap._GRACE_S", 0.5)
    server = make_sshd("ForceCommand echo Welcome; exec sleep 60\n")
    started = time.monotonic()
    with server.connect() as session:
        frames, end = gather(session, [fact("a", "echo yes", 1)])
    assert time.monotonic() - started < 9
    assert (frames, end.missing[0].reason, end.said) == ({}, Reason.TIMEOUT, "Welcome")
