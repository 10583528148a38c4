"""The same programs on this computer, under the shells and the missing tools that nodes may have."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import Command
from gpulease_gui.domain.frame import Frame
from gpulease_gui.domain.text import NO_TEXT
from gpulease_gui.facts.fact import Fact
from gpulease_gui.remote import wrap
from gpulease_gui.remote.collect import CollectEnd, collect
from gpulease_gui.remote.local import LocalLine, NoShell
from gpulease_gui.remote.run import start_server

KINDS = ["as it is", "bash", "no timeout", "no temp folder", "no temp folder and no timeout", "no list of children"]


@pytest.fixture(params=[*KINDS, *(["busybox"] if shutil.which("busybox") else [])])
def line(request, tmp_path: Path, monkeypatch, scratch):
    """This computer with a shell or tools of another kind, first in PATH."""
    stand_ins = tmp_path / "bin"
    stand_ins.mkdir()
    if request.param in ("bash", "busybox"):
        (stand_ins / "sh").symlink_to(shutil.which(request.param) or "")
    if request.param == "no list of children":
        monkeypatch.setattr(wrap, "RUN", wrap.RUN.replace("/children", "/no-such-file"))
    for tool, word in (("timeout", "no timeout"), ("mktemp", "no temp folder")):
        if word in request.param:
            (stand_ins / tool).write_text("#!/bin/sh\nexit 127\n")
            (stand_ins / tool).chmod(0o755)
    monkeypatch.setenv("PATH", f"{stand_ins}{os.pathsep}{os.environ['PATH']}")
    line = LocalLine()
    yield line
    line.close()
    assert list(scratch.iterdir()) == []


def gather(line, facts, cancel=None, **more) -> tuple[dict[str, Frame], CollectEnd]:
    frames: dict[str, Frame] = {}
    return frames, collect(line, facts, lambda f: frames.update({f.id: f}), cancel or CancelToken(), **more)


def test_that_facts_are_read_whatever_the_node_lacks(line, fact):
    facts = [fact("words", "echo out; exit 3"), fact("missing", "no-such-tool"), fact("empty", ":"), fact("many", "seq 40000")]
    frames, end = gather(line, facts)
    assert end.complete
    assert end.missing == ()
    assert (frames["words"].output.stdout, frames["words"].output.exit_code) == (b"out\n", 3)
    assert frames["missing"].output.exit_code == 127
    assert b"not found" in frames["missing"].output.stdout + frames["missing"].output.stderr
    assert (frames["empty"].output.stdout, frames["empty"].output.exit_code) == (b"", 0)
    assert frames["many"].output.stdout.endswith(b"\n40000\n")


def test_that_a_hanging_fact_times_out_whatever_the_node_lacks(line, fact, marker):
    frames, end = gather(line, [fact("hang", f"echo first; sleep {marker.seconds}; :", 1), fact("other", "echo yes")])
    assert end.complete
    assert frames["hang"].output.exit_code == 124
    assert frames["hang"].output.stdout == b"first\n"
    assert frames["other"].output.stdout == b"yes\n"
    assert marker.gone()


@pytest.mark.parametrize("script", ["sleep {}; :", "trap '' TERM; sleep {}; sleep {}"])
def test_that_cancelling_leaves_nothing_whatever_the_node_lacks(line, fact, marker, script):
    cancel = CancelToken()
    ends: list[CollectEnd] = []
    facts = [fact("a", script.replace("{}", marker.seconds), 60)]
    thread = threading.Thread(target=lambda: ends.append(gather(line, facts, cancel)[1]))
    thread.start()
    assert marker.seen()
    cancel.cancel()
    thread.join(60)
    assert ends[0].cancelled
    assert marker.gone()


def test_that_closing_the_line_ends_a_run_in_another_thread(fact, marker):
    line = LocalLine()
    ends: list[CollectEnd] = []
    thread = threading.Thread(target=lambda: ends.append(gather(line, [fact("a", f"sleep {marker.seconds}", 60)])[1]))
    thread.start()
    assert marker.seen()
    started = time.monotonic()
    line.close()
    thread.join(60)
    assert time.monotonic() - started < 6
    assert not ends[0].complete
    assert marker.gone()


def test_that_a_computer_without_a_posix_shell_says_so(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoShell) as caught:
        LocalLine()
    assert "POSIX shell" in str(caught.value)


def test_that_a_server_has_a_time_limit_whatever_the_node_lacks(line, marker):
    with start_server(line, "iperf3_json", Command(script=f"echo ready; sleep {marker.seconds}; :"), 1, CancelToken()) as server:
        assert server.wait_for(b"ready", 60, CancelToken())
        assert server.wait_end(60, CancelToken())
    assert marker.gone()


def test_that_a_word_of_the_shell_itself_changes_nothing_for_the_next_fact(line):
    words = [("cd", "/"), ("exit", "3"), ("exec", "true"), ("umask", "0"), ("sh", "-c", "pwd; umask")]
    facts = [Fact(f"f{n}", NO_TEXT, Command(*argv), 9, "one") for n, argv in enumerate(words)]
    frames, end = gather(line, facts)
    assert end.complete and frames["f1"].output.exit_code == 3
    assert frames["f4"].output.text.split() == [os.getcwd(), "0077"]


def test_that_a_fact_that_ends_its_lane_costs_no_other_fact(scratch, fact):
    line = LocalLine()
    facts = [fact("before", "echo yes", lane="one"), fact("end", "kill -KILL $PPID", 1, lane="one"), fact("after", "echo yes", lane="one")]
    frames, end = gather(line, [*facts, fact("other", "echo yes")])
    line.close()
    assert end.complete and not end.missing and not list(scratch.iterdir())
    assert [frames[id_].output.stdout for id_ in ("before", "after", "other")] == [b"yes\n"] * 3


def test_that_a_collection_of_quick_facts_starts_little_besides_them(tmp_path, monkeypatch, fact):
    tools = tmp_path / "counted"
    tools.mkdir()
    for name in ("mktemp", "stat", "mkfifo", "sleep", "wc", "cat", "head", "rm", "grep", "date", "timeout", "ps", "kill", "mkdir"):
        where = shutil.which(name)
        if where:
            (tools / name).write_text(f'#!/bin/sh\necho {name} >>{tmp_path}/log\nexec {where} "$@"\n')
            (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    line = LocalLine()
    frames, end = gather(line, [fact(f"f{n}", "echo yes") for n in range(10)])
    line.close()
    assert end.complete and len(frames) == 10
    started = Counter((tmp_path / "log").read_text().split())
    # A nap may be over before it has begun. Others may start processes meanwhile, which are looked at.
    turns = started.pop("sleep", 0)
    assert started.pop("grep", 0) <= 1
    assert started.pop("wc") == started.pop("cat") <= turns + 1
    assert started == {"mktemp": 1, "stat": 1, "rm": 1}
