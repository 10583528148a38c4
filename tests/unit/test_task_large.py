"""Does a large file of a task come whole to its place on the node, whatever its tools can do?"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

import pytest

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.remote import task_pack
from gpulease_gui.remote.local import LocalLine
from gpulease_gui.remote.task import TaskReport, run_task
from gpulease_gui.remote.task_pack import LargeFile, Pack, pack_folder
from gpulease_gui.remote.task_wrap import TaskOrder, task_script

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs GNU tools")

ODD = "-n 'q\" $(x) 数据.bin"
COMMAND = """for f in *.* */*; do set -- $(sha256sum <"$f"); echo "$1 $(stat -c '%a %Y %s' -- "$f")"; done"""
TIME = 1577836800


class Ears:
    """Hears the log."""

    said = b""

    def sent(self, size_bytes: int) -> None:
        pass

    def started(self) -> None:
        pass

    def log(self, data: bytes) -> None:
        self.said += data

    def tick(self) -> None:
        pass

    def stopping(self) -> None:
        pass


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pack:
    """Two large files, one of a length that a tar has to fill up, among small ones."""
    monkeypatch.setattr(task_pack, "LARGE_BYTES", 70_000)
    for name, size in {ODD: 150_003, "b.sh": 3, "sub/l.bin": 131_072, "z.py": 69_999}.items():
        path = tmp_path / "send" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(size))
    (tmp_path / "send" / "sub" / "l.bin").chmod(0o700)
    return pack_folder(tmp_path / "send")


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first folder of the node's PATH; its home and its temporary folder are below `node`."""
    for name, folder in (("HOME", "home"), ("TMPDIR", "tmp")):
        (tmp_path / "node" / folder).mkdir(parents=True)
        monkeypatch.setenv(name, str(tmp_path / "node" / folder))
    (tmp_path / "tools").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}:{os.environ['PATH']}")
    return tmp_path / "tools"


def run(pack: Pack) -> tuple[TaskReport, str]:
    line, ears = LocalLine(), Ears()
    try:
        order = TaskOrder("r1", COMMAND, pack.stream_bytes, large=pack.large)
        report = run_task(line, order, pack.blocks(), ears, CancelToken())
    finally:
        line.close()
    return report, ears.said.decode()


def tool(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{text}")
    (folder / name).chmod(0o700)


def test_that_large_files_are_the_end_of_the_stream_and_lie_where_it_is_said(pack: Pack) -> None:
    assert pack.large == (LargeFile(ODD, 150_003, False, 512, 13), LargeFile("sub/l.bin", 131_072, True, 512, 1024))
    stream, at = b"".join(pack.blocks()), 3 * 512 + 512 + 70_144
    for one in pack.large:
        at += one.before_bytes
        assert stream[at : at + one.size_bytes] == next(Path(e.path) for e in pack.entries if e.name == one.name).read_bytes()
        at += one.size_bytes + one.after_bytes
    assert at == len(stream) == pack.stream_bytes
    text = task_script("0" * 32, TaskOrder("r1", "true", pack.stream_bytes, large=pack.large)).decode()
    assert f"\nSMALL={3 * 512 + 512 + 70_144}\n" in text and "    large 512 131072 1024 sub/l.bin yes\n" in text


@pytest.mark.parametrize("dd", [None, "exit 1", "exec head -c 8", "exec busybox dd \"$@\""], ids=["own", "none", "greedy", "busybox"])
def test_that_every_file_comes_as_it_is_whatever_dd_the_node_has(pack: Pack, tools: Path, tmp_path: Path, dd: str | None) -> None:
    if dd is not None:
        if "busybox" in dd and not shutil.which("busybox"):
            pytest.skip("no busybox here")
        tool(tools, "dd", dd)
    report, said = run(pack)
    wanted = []
    for name in (ODD, "b.sh", "z.py", "sub/l.bin"):
        content = (tmp_path / "send" / name).read_bytes()
        wanted.append(f"{hashlib.sha256(content).hexdigest()} {700 if name == 'sub/l.bin' else 600} {TIME} {len(content)}")
    assert (report.why, report.code, said.splitlines()) == ("exit", 0, wanted)
    assert report.clean and not list((tmp_path / "node").glob("*/*"))


@pytest.mark.parametrize(
    ("fails", "said"), [("exec head -c 1000", f"{ODD} did not come whole"), ("echo 'dd: the disk is full' >&2; exit 1", "dd: the disk is full")]
)
def test_that_a_large_file_that_is_not_whole_is_told_and_nothing_is_run_or_left(
    pack: Pack, tools: Path, tmp_path: Path, fails: str, said: str
) -> None:
    tool(tools, "dd", f'case "$*" in *count=150003*) {fails} ;; esac\nexec {shutil.which("dd")} "$@"\n')
    report, log = run(pack)
    assert (report.why, report.refusal, report.said, log) == ("refused", "unpack", said, "")
    assert not list((tmp_path / "node").glob("*/*"))
