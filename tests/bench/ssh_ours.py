"""What do we make of it? A worker: `python -m tests.bench.ssh_ours VARIANT JOB`."""

from __future__ import annotations

import json
import shlex
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from gpulease_gui.domain.cancel import CancelToken
from gpulease_gui.domain.command import Command
from gpulease_gui.domain.node import Address
from gpulease_gui.domain.text import NO_TEXT
from gpulease_gui.facts.fact import Fact
from gpulease_gui.remote.collect import collect
from gpulease_gui.remote.credentials import Credentials
from gpulease_gui.remote.handshake import Deadlines
from gpulease_gui.remote.hostkeys import HostTrust
from gpulease_gui.remote.known_hosts import keys_for, known_name
from gpulease_gui.remote.session import Connector, SshSession

Job = dict[str, Any]
AT_ONCE = 32
PATIENT = Deadlines(banner_s=60, kex_s=60, auth_s=60, channel_s=60)


class Nodes:
    """Connects as the program does: host keys checked, one key, a gate a host."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._connector = Connector()

    def connect(self, port: int) -> SshSession:
        address = Address("127.0.0.1", port, self._job["user"])
        trust = HostTrust(listed=keys_for(known_name(address), [self._job["known_hosts"]]).listed)
        credentials = Credentials(identity_file=self._job["key"])
        return self._connector.connect(address, credentials, trust, PATIENT, CancelToken())


def run_script(session: SshSession, script: str) -> bytes:
    """All that a script prints, to its end."""
    channel = session.open(script)
    parts: list[bytes] = []
    while True:
        chunk = channel.read(60)
        parts.append(chunk.out)
        if chunk.ended:
            break
    channel.close()
    return b"".join(parts)


def fan_out_collect(job: Job) -> dict[str, float]:
    """The program's own collection: frames, limits, the lifeline."""
    nodes = Nodes(job)
    facts = [Fact(f"f{n}", NO_TEXT, Command(*shlex.split(line)), 20) for n, line in enumerate(job["commands"])]

    def one(port: int) -> int:
        frames = []
        with nodes.connect(port) as session:
            collect(session, facts, frames.append, CancelToken())
        return sum(frame.output.exit_code == 0 and bool(frame.output.stdout) for frame in frames)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return {"answers": sum(pool.map(one, job["ports"]))}


def fan_out_script(job: Job) -> dict[str, float]:
    """The peers' bare script over our connections."""
    nodes = Nodes(job)

    def one(port: int) -> int:
        with nodes.connect(port) as session:
            return run_script(session, job["script"]).count(job["mark"].encode())

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return {"answers": sum(pool.map(one, job["ports"]))}


def exec_once(job: Job) -> dict[str, float]:
    """One command on an open connection, again and again."""
    seconds, answers = [], 0
    with Nodes(job).connect(job["ports"][0]) as session:
        for _ in range(job["times"]):
            started = time.perf_counter()
            answers += run_script(session, "echo yes") == b"yes\n"
            seconds.append(time.perf_counter() - started)
    return {"answers": answers, "exec_ms": statistics.median(seconds) * 1000}


VARIANTS = {"collect": fan_out_collect, "script": fan_out_script, "exec": exec_once}

if __name__ == "__main__":
    work = json.loads(sys.argv[2])
    begun = time.perf_counter()
    result = VARIANTS[sys.argv[1]](work)
    print(json.dumps({**result, "seconds": time.perf_counter() - begun}))
