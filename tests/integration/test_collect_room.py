"""Is an output read whole where the node has no room for it?"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gpulease_gui.domain.command import Command
from gpulease_gui.domain.frame import Frame, FrameReader, new_boundary
from gpulease_gui.remote.wrap import Step, active_script, collect_script

MARK = new_boundary()
ROOMY = "1000000 4096 1000000 2000000"
SHELLS = [shell for shell in ("sh", "bash", "busybox sh") if shutil.which(shell.split()[0])]


def run(shell: str, program: bytes, folder: Path, room: str) -> dict[str, Frame]:
    """The frames of a program on a node whose `stat` says `room`: free blocks, their bytes, free inodes, inodes."""
    tool = folder / "bin" / "stat"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\necho {room}\n")
    tool.chmod(0o755)
    (folder / "tmp").mkdir()
    env = {"PATH": f"{tool.parent}:{os.environ['PATH']}", "TMPDIR": str(folder / "tmp"), "LOG": str(folder / "log"), "A": "9"}
    node = subprocess.Popen(shell.split(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
    assert node.stdin is not None and node.stdout is not None
    with node, node.stdin, node.stdout:
        node.stdin.write(program)
        node.stdin.flush()
        reader, frames = FrameReader(MARK), dict[str, Frame]()
        while not reader.ended and (data := os.read(node.stdout.fileno(), 65536)):
            frames |= {frame.id: frame for frame in reader.feed(data)}
    assert reader.ended and node.wait(9) == 0 and not list((folder / "tmp").iterdir())
    return frames


def step(id_: str, script: str) -> Step:
    return Step(id_, Command(script=f"echo {id_} >>$LOG; {script}"), 9, "one")


FULL = 'touch "$(echo $TMPDIR/gpulease.*)/full"; echo whole; exit 3'  # as the program does that finds no room


@pytest.mark.parametrize("shell", SHELLS)
def test_that_what_ran_while_there_was_no_room_is_asked_again_and_nothing_else(shell, tmp_path):
    program = collect_script(MARK, [step("before", "echo kept"), step("during", FULL), step("after", "echo kept")])
    frames = run(shell, program, tmp_path, ROOMY)
    said = {id_: (frame.output.stdout, frame.output.exit_code, frame.output.stdout_cut) for id_, frame in frames.items()}
    assert said == {"before": (b"kept\n", 0, False), "during": (b"whole\n", 3, False), "after": (b"kept\n", 0, False)}
    assert (tmp_path / "log").read_text().split() == ["before", "during", "after", "during"]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("room", ["16383 4096 1000000 2000000", "1000000 4096 100 2000000", "1000000 0 0 0", "no such option"])
def test_that_no_file_is_written_where_room_is_small_or_unknown(shell, room, tmp_path):
    frames = run(shell, collect_script(MARK, [step("a", 'ls "$TMPDIR"; seq 20000')]), tmp_path, room)
    assert frames["a"].output.stdout == "".join(f"{n}\n" for n in range(1, 20001)).encode()


@pytest.mark.parametrize("shell", SHELLS)
def test_that_a_measurement_without_room_is_cut_and_never_run_twice(shell, tmp_path):
    script = 'echo run >>$LOG; d=$(echo $TMPDIR/gpulease.*); rm -f "$d"/done.0; mkdir "$d/done.0"; echo half'
    program = active_script(MARK, "disk", Command(script=script), 9, sudo=False, scratch=False)
    output = run(shell, program, tmp_path, ROOMY)["disk"].output
    assert (output.stdout, output.stdout_cut, output.stderr_cut) == (b"", True, True)
    assert (tmp_path / "log").read_text() == "run\n"
