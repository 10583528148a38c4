"""How do lines of many nodes come in? A worker: `live_ingest.py VARIANT JOB`; "ours" with the program's packages, peers with the bench's.

Each node prints a line of 8 cards x 12 figures with its time, ten times a second; each line is parsed into numbers.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import resource
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

Job = dict[str, Any]
HOST, SETTLE_S = "127.0.0.1", 2.0
FIGURES = ",".join(f"{card},97,88,71234,81559,612.3,66,71,1980,2619,0,1" for card in range(8))


def emitter(hz: float, seconds: float, mark: str = "m") -> str:
    """A command that prints for a while; `$m` is read from its first line of input where `mark` is empty."""
    first = "$m=<STDIN>;chomp $m;$m=~s/^# gpulease (\\S+).*/$1/;" if not mark else f'$m="{mark}";'
    return (
        f"exec perl -MTime::HiRes=sleep,time -e '$|=1;{first}$p=1/{hz};$e=time+{seconds};$t=time+rand($p);$s=q({FIGURES});"
        "while(($n=time)<$e){printf qq(%s gpu %.6f,$$,%d,%s\\n),$m,$n,$i++,$s;$t+=$p;$d=$t-time;sleep($d) if $d>0}'"
    )


class Sink:
    """Parses lines and keeps how late those of the measured time were."""

    def __init__(self) -> None:
        self.late_s: list[float] = []
        self.seen: dict[float, list[float]] = {}
        self.begin_s, self.end_s = float("inf"), 0.0

    def take(self, payload: bytes) -> None:
        numbers = [float(word) for word in payload.split(b",")]
        if self.begin_s <= numbers[0] < self.end_s:
            self.late_s.append(time.time() - numbers[0])
            self.seen.setdefault(numbers[1], []).append(numbers[2])

    @property
    def lost(self) -> float:
        """The part of the lines between a node's first and last one that never came."""
        printed = sum(max(some) - min(some) + 1 for some in self.seen.values())
        return 1 - sum(map(len, self.seen.values())) / printed if printed else 1.0

    def line(self, line: bytes) -> None:
        self.take(line.split(b" ", 2)[2])


def measure(sink: Sink, job: Job) -> None:
    """Look at the CPU over the measured time, print what came in, end the process."""
    sink.begin_s = time.time() + SETTLE_S
    sink.end_s = sink.begin_s + job["seconds"]
    time.sleep(SETTLE_S)
    before = resource.getrusage(resource.RUSAGE_SELF)
    time.sleep(job["seconds"])
    after = resource.getrusage(resource.RUSAGE_SELF)
    time.sleep(0.7)
    late = sorted(sink.late_s) or [9.99]
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({
        "lost": sink.lost, "nodes": len(sink.seen), "lines_s": len(sink.late_s) / job["seconds"], "p99_ms": 1000 * late[int(0.99 * (len(late) - 1))],
        "cpu_percent": 100 * cpu_s / job["seconds"], "us_line": 1e6 * cpu_s / max(1, len(sink.late_s)),
    }), flush=True)  # fmt: skip
    os._exit(0)


def ours(job: Job, sink: Sink) -> None:
    from gpulease_gui.remote.stream import Start, Stream
    from tests.bench.ssh_ours import Nodes

    command = emitter(job["hz"], job["life_s"], "")
    start = Start(command, lambda boundary: f"# gpulease {boundary}\n".encode(), 60.0)
    nodes = Nodes(job)
    with ThreadPoolExecutor(16) as pool:
        sessions = list(pool.map(nodes.connect, job["ports"]))
    heard: set[int] = set()

    def stream_of(number: int) -> Stream:
        def take(_id: str, payload: bytes, _at: float) -> None:
            heard.add(number)
            sink.take(payload)

        return Stream(sessions[number], [("gpu", "")], 1 / job["hz"], take, start=start)

    for number in range(len(sessions)):
        threading.Thread(target=stream_of(number).run, daemon=True).start()
    end_s = time.monotonic() + job["life_s"] / 2
    while len(heard) < len(sessions) and time.monotonic() < end_s:
        time.sleep(0.1)


def asyncssh_peer(job: Job, sink: Sink) -> None:
    import asyncssh

    async def live() -> None:
        gate = asyncio.Semaphore(16)

        async def one(port: int) -> None:
            async with gate:
                connection = await asyncssh.connect(
                    HOST, port, username=job["user"], client_keys=[job["key"]], known_hosts=job["known_hosts"], config=None,
                    agent_path=None,
                )  # fmt: skip
                process = await connection.create_process(emitter(job["hz"], job["life_s"]), encoding=None)
            ready.append(port)
            while line := await process.stdout.readline():
                sink.line(line)

        await asyncio.gather(*(one(port) for port in job["ports"]))

    ready: list[int] = []
    threading.Thread(target=lambda: asyncio.run(live()), daemon=True).start()
    while len(ready) < len(job["ports"]):
        time.sleep(0.05)


def ssh2_peer(job: Job, sink: Sink) -> None:
    import selectors
    import socket

    from ssh2.session import Session

    selector, kept = selectors.DefaultSelector(), []

    def one(port: int) -> tuple[Any, Any, Any]:
        sock = socket.create_connection((HOST, port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        session = Session()
        session.handshake(sock)
        session.userauth_publickey_fromfile(job["user"], job["key"], "", job["key"] + ".pub")
        channel = session.open_session()
        channel.execute(emitter(job["hz"], job["life_s"]))
        session.set_blocking(False)
        return sock, session, channel

    with ThreadPoolExecutor(16) as pool:
        for sock, session, channel in pool.map(one, job["ports"]):
            kept.append((sock, session, channel))
            selector.register(sock, selectors.EVENT_READ, (channel, bytearray()))

    def live() -> None:
        while True:
            for key, _ in selector.select(1):
                channel, rest = key.data
                while True:
                    size, data = channel.read()
                    if size <= 0:
                        break
                    rest += data
                    *lines, after = bytes(rest).split(b"\n")
                    rest[:] = after
                    for line in lines:
                        sink.line(line)

    threading.Thread(target=live, daemon=True).start()


VARIANTS = {"ours": ours, "asyncssh": asyncssh_peer, "ssh2-python": ssh2_peer}

if __name__ == "__main__":
    work: Job = json.loads(sys.argv[2])
    if work["cpu"] is not None:
        os.sched_setaffinity(0, {work["cpu"]})
    random.seed(1)
    held = Sink()
    VARIANTS[sys.argv[1]](work, held)
    measure(held, work)
