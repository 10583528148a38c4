"""How fast do files go to a node and come from it, beside OpenSSH's sftp?

Both connect, move one file and hang up, on the same node; our interpreter's start is not timed, as that of a program that
is open already. The CPU of both sides, to the end of the connection, is compared as well: on a busy machine it says more
than the clock. To the node: the way of a task's folder, until the node has it on its disk. From the node: the way of
every output, into a file here. Worker: `python -m tests.bench.ssh_files VARIANT JOB`.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.bench.bar import Bar, absolute, paired
from tests.bench.farm import Farm, farm
from tests.bench.peers import ROOT

MIB = 1 << 20
SERVERS = "/usr/lib/openssh/sftp-server", "/usr/libexec/openssh/sftp-server", "/usr/libexec/sftp-server"
_SECONDS = 120
RATE = 1 / 1.5  # one and a half times the rate = two thirds of the time
Job = dict[str, Any]
Used = tuple[float, float]  # seconds on the wall, and of CPU


def bars(size: str) -> Iterator[Bar]:
    """128 MiB each way; at the smallest size one MiB and no sftp."""
    smallest = size == "smallest"
    mib, rounds = (1, 1) if smallest else (128, 5)
    with farm(1) as nodes, tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        (folder / "send").mkdir()
        (folder / "send" / "data").write_bytes(os.urandom(mib * MIB))
        job: Job = {**nodes.job(), "folder": name, "bytes": mib * MIB}
        for variant in ("fetch", "put"):
            ours, theirs = [], []
            for number in range(rounds + (rounds > 1)):  # the first warms up
                mine = _both_sides(nodes, _ours, variant, job)
                peer = (0.0, 0.0) if smallest else _both_sides(nodes, _sftp, variant, job)
                if number or rounds == 1:
                    ours.append(mine)
                    theirs.append(peer)
            bar = f"ssh_files.{variant}_{mib}_mib"
            if smallest:
                yield absolute(bar, [seconds for seconds, _ in ours], 60.0, "s")
                continue
            yield paired(bar, [one[0] for one in ours], [one[0] for one in theirs], round(RATE, 3), "s, sftp")
            yield paired(f"{bar}_cpu", [one[1] for one in ours], [one[1] for one in theirs], round(RATE, 3), "s of CPU of both sides, sftp")


def _both_sides(nodes: Farm, move: Callable[[str, Job], Used], variant: str, job: Job) -> Used:
    """Seconds on the wall, and of CPU of the client and of all that ran on the node for it."""
    before = _settled(nodes)
    seconds, own_s = move(variant, job)
    return seconds, own_s + _settled(nodes) - before


def _settled(nodes: Farm) -> float:
    """CPU seconds of the node once a session has ended there."""
    last, now = -1.0, nodes.cpu_s()
    while now != last:
        time.sleep(0.1)
        last, now = now, nodes.cpu_s()
    return now


def _ours(variant: str, job: Job) -> Used:
    words = [sys.executable, "-m", "tests.bench.ssh_files", variant, json.dumps(job)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=_SECONDS)
    assert done.returncode == 0, done.stderr[-2000:]
    seconds, own_s = map(float, done.stdout.split())
    return seconds, own_s


def _sftp(variant: str, job: Job) -> Used:
    here, there = f"{job['folder']}/send/data", f"{job['folder']}/sftp-{variant}"
    words = ["sftp", "-q", "-F", "none", "-b", "-", "-P", str(job["ports"][0]), "-i", job["key"], "-o", "IdentitiesOnly=yes"]
    server = next(path for path in SERVERS if Path(path).exists())
    words += ["-s", server, "-o", f"UserKnownHostsFile={job['known_hosts']}", f"{job['user']}@127.0.0.1"]
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        words, input=f"{'get' if variant == 'fetch' else 'put'} {here} {there}\n", capture_output=True, text=True, check=False
    )
    seconds, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0 and _sha256(Path(there)) == _sha256(Path(here)), done.stderr
    Path(there).unlink()
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch(job: Job) -> Used:
    """All that `cat` prints of a file there, into a file here."""
    from gpulease_gui.domain.cancel import CancelToken
    from tests.bench.ssh_ours import Nodes

    CancelToken()  # the imports are not timed
    here, there = Path(job["folder"]) / "send" / "data", Path(job["folder"]) / "fetched"
    started, spent = time.perf_counter(), time.process_time()
    with Nodes(job).connect(job["ports"][0]) as session, there.open("wb", buffering=0) as out:
        channel = session.open(f"cat {here}")
        while not (chunk := channel.read(60)).ended:
            out.write(chunk.out)
        channel.close()
    used = time.perf_counter() - started, time.process_time() - spent
    assert _sha256(there) == _sha256(here)
    there.unlink()
    return used


class Ears:
    """Hears when the node has the whole folder, and what the task says of it."""

    def __init__(self) -> None:
        self.begun = 0.0
        self.said = b""

    def sent(self, size_bytes: int) -> None:
        pass

    def started(self) -> None:
        self.begun = time.perf_counter()

    def log(self, data: bytes) -> None:
        self.said += data

    def tick(self) -> None:
        pass

    def stopping(self) -> None:
        pass


def put(job: Job) -> Used:
    """A task's folder, until its command begins; the command says whether it is what was sent. The CPU is that of the whole task."""
    from gpulease_gui.domain.cancel import CancelToken
    from gpulease_gui.remote.task import run_task
    from gpulease_gui.remote.task_pack import pack_folder
    from gpulease_gui.remote.task_wrap import TaskOrder
    from tests.bench.ssh_ours import Nodes

    folder, ears = Path(job["folder"]) / "send", Ears()
    started, spent = time.perf_counter(), time.process_time()
    with Nodes(job).connect(job["ports"][0]) as session:
        pack = pack_folder(folder)
        order = TaskOrder("bench", f"cmp data {shlex.quote(str(folder / 'data'))} && echo same", pack.stream_bytes, large=pack.large)
        report = run_task(session, order, pack.blocks(), ears, CancelToken())
    assert report.code == 0 and ears.said == b"same\n", report
    return ears.begun - started, time.process_time() - spent


if __name__ == "__main__":
    print(*{"fetch": fetch, "put": put}[sys.argv[1]](json.loads(sys.argv[2])))
