"""How fast are many nodes asked beside ansible: ten raw tasks of a playbook, and one combined script ad hoc?

Ansible runs as its own users would for speed: as many forks as nodes, pipelining, no facts, the free strategy, connections
shared while it runs and closed in the end (their closing is not timed). Ours is the same as in the other figures of SSH.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.bar import Bar, paired, skipped
from tests.bench.farm import Farm, farm
from tests.bench.peers import Peers
from tests.bench.ssh import COMMANDS, MARK, SCRIPT, Bench

FORKS = 50
PLAYBOOK, ADHOC = 0.15, 0.40
WHY_NOT = "peers are left out at this size"
CONFIG = """[defaults]
forks = {forks}
gathering = explicit
host_key_checking = True
interpreter_python = auto_silent
[ssh_connection]
pipelining = True
control_path_dir = {folder}/cp
"""


def bars(size: str) -> Iterator[Bar]:
    """Both comparisons on one farm; at the smallest size ours alone, to see that it runs."""
    nodes, rounds = (2, 1) if size == "smallest" else (50, 5)
    names = (f"ssh_ansible.fan_out_{nodes}.playbook", PLAYBOOK), (f"ssh_ansible.fan_out_{nodes}.adhoc", ADHOC)
    with farm(nodes) as grown:
        bench, peers = Bench(grown, None), Peers()
        missing = WHY_NOT if size == "smallest" else peers.missing("ansible-core", "ansible")
        if missing:
            bench.run("ours:collect", grown.ports)
            yield from (skipped(name, bar, "s", missing) for name, bar in names)
            return
        ours: dict[str, list[float]] = {"collect": [], "script": []}
        theirs: dict[str, list[float]] = {"playbook": [], "adhoc": []}
        for _ in range(rounds):
            for variant, walls in ours.items():
                walls.append(bench.run(f"ours:{variant}", grown.ports).wall_s)
            for variant, walls in theirs.items():
                walls.append(_ansible(grown, peers, variant))
        (playbook, playbook_bar), (adhoc, adhoc_bar) = names
        yield paired(playbook, ours["collect"], theirs["playbook"], playbook_bar, "s")
        yield paired(adhoc, ours["script"], theirs["adhoc"], adhoc_bar, "s")


def _ansible(nodes: Farm, peers: Peers, variant: str) -> float:
    """Seconds of one run, start and imports included as in ours. Raises AssertionError when an answer is missing."""
    folder = Path(tempfile.mkdtemp(prefix="ans"))  # short: it holds sockets
    try:
        words = _words(nodes, peers.python.parent, folder, variant)
        environment = {
            **os.environ, "ANSIBLE_CONFIG": str(folder / "ansible.cfg"), "ANSIBLE_HOME": str(folder / "h"),
            "ANSIBLE_LOCAL_TEMP": str(folder / "t"), "ANSIBLE_NOCOLOR": "1", "LC_ALL": "C.UTF-8",
        }  # fmt: skip
        started = time.perf_counter()
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - started
        answers = done.stdout.count(MARK if variant == "adhoc" else "changed: [")
        wanted = len(nodes.ports) * len(COMMANDS)
        assert answers == wanted, f"{variant}: {answers} answers of {wanted}\n{done.stdout[-1000:]}{done.stderr[-1000:]}"
        _hang_up(folder / "cp")
        return seconds
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _words(nodes: Farm, programs: Path, folder: Path, variant: str) -> list[str]:
    job = nodes.job()
    (folder / "ansible.cfg").write_text(CONFIG.format(forks=FORKS, folder=folder))
    hosts = "".join(f"n{port} ansible_host=127.0.0.1 ansible_port={port}\n" for port in nodes.ports)
    options = f"-F none -o UserKnownHostsFile={job['known_hosts']} -o IdentitiesOnly=yes"
    (folder / "nodes").write_text(
        f"[n]\n{hosts}[n:vars]\nansible_user={job['user']}\nansible_ssh_private_key_file={job['key']}\n"
        f"ansible_ssh_common_args={options}\n"
    )
    if variant == "adhoc":
        return [str(programs / "ansible"), "-i", str(folder / "nodes"), "n", "-m", "raw", "-a", SCRIPT]
    tasks = "".join(f"    - ansible.builtin.raw: {json.dumps(command)}\n" for command in COMMANDS)
    (folder / "play.yml").write_text(f"- hosts: n\n  gather_facts: false\n  strategy: free\n  tasks:\n{tasks}")
    return [str(programs / "ansible-playbook"), "-i", str(folder / "nodes"), str(folder / "play.yml")]


def _hang_up(sockets: Path) -> None:
    """Ansible leaves its connections open for the next run; the next round is to begin with none."""
    for path in sockets.glob("*"):
        subprocess.run(["ssh", "-o", f"ControlPath={path}", "-O", "exit", "127.0.0.1"], capture_output=True, check=False)
