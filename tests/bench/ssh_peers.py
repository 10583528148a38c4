"""What do other SSH libraries make of the same work? A worker: `ssh_peers.py VARIANT JOB`, in the bench's environment."""

from __future__ import annotations

import asyncio
import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

Job = dict[str, Any]
HOST = "127.0.0.1"


def asyncssh_fan_out(job: Job) -> dict[str, float]:
    import asyncssh

    async def one(port: int) -> int:
        async with asyncssh.connect(
            HOST, port, username=job["user"], client_keys=[job["key"]], known_hosts=job["known_hosts"], config=None,
            agent_path=None,
        ) as connection:  # fmt: skip
            return (await connection.run(job["script"])).stdout.count(job["mark"])

    async def all_of_them() -> int:
        return sum(await asyncio.gather(*(one(port) for port in job["ports"])))

    return {"answers": asyncio.run(all_of_them())}


def pssh_fan_out(job: Job) -> dict[str, float]:
    from pssh.clients import ParallelSSHClient
    from pssh.config import HostConfig

    hosts = [HostConfig(port=port, user=job["user"], private_key=job["key"]) for port in job["ports"]]
    client = ParallelSSHClient([HOST] * len(hosts), host_config=hosts, pool_size=len(hosts), allow_agent=False)
    outputs = client.run_command(job["script"])
    client.join(outputs)
    return {"answers": sum("\n".join(output.stdout).count(job["mark"]) for output in outputs)}


def paramiko_exec(job: Job) -> dict[str, float]:
    import paramiko

    client = paramiko.SSHClient()
    client.load_host_keys(job["known_hosts"])
    client.connect(HOST, job["ports"][0], username=job["user"], key_filename=job["key"], allow_agent=False, look_for_keys=False)

    def once() -> bytes:
        _, out, _ = client.exec_command("echo yes")
        return out.read()

    found = _median_of(once, job["times"])
    client.close()
    return found


def asyncssh_exec(job: Job) -> dict[str, float]:
    import asyncssh

    async def timed() -> dict[str, float]:
        async with asyncssh.connect(
            HOST, job["ports"][0], username=job["user"], client_keys=[job["key"]], known_hosts=job["known_hosts"],
            config=None, agent_path=None,
        ) as connection:  # fmt: skip
            seconds, answers = [], 0
            for _ in range(job["times"]):
                started = time.perf_counter()
                answers += (await connection.run("echo yes")).stdout == "yes\n"
                seconds.append(time.perf_counter() - started)
            return {"answers": answers, "exec_ms": statistics.median(seconds) * 1000}

    return asyncio.run(timed())


def _median_of(once: Callable[[], bytes], times: int) -> dict[str, float]:
    seconds, answers = [], 0
    for _ in range(times):
        started = time.perf_counter()
        answers += once() == b"yes\n"
        seconds.append(time.perf_counter() - started)
    return {"answers": answers, "exec_ms": statistics.median(seconds) * 1000}


VARIANTS = {
    "asyncssh": asyncssh_fan_out, "parallel-ssh": pssh_fan_out, "paramiko-exec": paramiko_exec,
    "asyncssh-exec": asyncssh_exec,
}  # fmt: skip

LIBRARIES = {"asyncssh": "asyncssh", "parallel-ssh": "pssh.clients", "paramiko": "paramiko"}

if __name__ == "__main__":
    work = json.loads(sys.argv[2])
    importlib.import_module(LIBRARIES[sys.argv[1].removesuffix("-exec")])
    begun = time.perf_counter()
    result = VARIANTS[sys.argv[1]](work)
    print(json.dumps({**result, "seconds": time.perf_counter() - begun}))
