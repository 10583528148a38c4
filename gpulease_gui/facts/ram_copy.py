"""How fast does each NUMA node copy memory?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import count, document, figure
from gpulease_gui.facts.raw_runs import pack, reason_code, unpack

# Buffers far beyond any cache, first touched by the process that uses them, so that they lie on its own NUMA node.
# Every node gets as many processes as the smallest one can run, eight at most; the nodes are tested in turn.
_PROGRAM = """\
import json, os, sys, time
seconds = float(sys.argv[1])
size = 96 << 20
def work(begin):
    a = bytearray(os.urandom(4096)) * (size // 4096)
    b = bytearray(size)
    b[:] = a
    while time.time() < begin:
        pass
    n, start = 0, time.time()
    while time.time() < begin + seconds:
        b[:] = a
        n += 1
    return n * size / (time.time() - start) / 1e9
def listed(words):
    found = []
    for part in words.strip().split(","):
        low, _, high = part.partition("-")
        if low:
            found += range(int(low), int(high or low) + 1)
    return found
allowed = os.sched_getaffinity(0)
base, nodes = "/sys/devices/system/node", {}
try:
    names = sorted((x for x in os.listdir(base) if x[:4] == "node" and x[4:].isdigit()), key=lambda x: int(x[4:]))
except OSError:
    names = []
for name in names:
    with open("%s/%s/cpulist" % (base, name)) as f:
        cpus = sorted(allowed.intersection(listed(f.read())))
    if cpus:
        nodes[int(name[4:])] = cpus
nodes = nodes or {0: sorted(allowed)}
workers = min(8, min(len(cpus) for cpus in nodes.values()))
result = []
for node, cpus in nodes.items():
    begin, ends = time.time() + 1.5, []
    for cpu in cpus[:workers]:
        r, w = os.pipe()
        if os.fork() == 0:
            os.sched_setaffinity(0, {cpu})
            os.write(w, repr(work(begin)).encode())
            os._exit(0)
        os.close(w)
        ends.append(r)
    rates = [float(os.read(r, 64)) for r in ends]
    result.append({"node": node, "workers": workers, "gb_s": sum(rates)})
print(json.dumps({"nodes": result}))
"""


def command(seconds: int) -> Command:
    """Each NUMA node in turn for `seconds`."""
    return Command("python3", "-c", _PROGRAM, str(int(seconds)))


FACT = Fact(
    id="ram_copy", title=Text("Memory copy of each NUMA node", "各 NUMA 节点内存拷贝"), command=command(3), seconds=120,
    impact=Impact.ACTIVE, ok_codes=None,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NodeRate:
    """Bytes copied by `workers` processes of one NUMA node, GB/s; the memory itself moves at least twice as much."""

    node: int
    workers: int
    gb_s: float


@dataclass(frozen=True, slots=True)
class CopyTest:
    """One test over all nodes, or why there is none."""

    nodes: tuple[NodeRate, ...] = ()
    trouble: str = ""
    code: str = ""


@dataclass(frozen=True, slots=True)
class RamCopy:
    """The tests in the order run."""

    tests: tuple[CopyTest, ...]


def combine(outputs: Sequence[CommandOutput]) -> CommandOutput:
    """One output that holds the tests."""
    return CommandOutput(json.dumps({"copy": [pack(output) for output in outputs]}, ensure_ascii=False).encode())


def parse(output: CommandOutput) -> RamCopy:
    """Read a combined output; a test without rates says why. Raises Unreadable without any test."""
    found = document(output.text)
    if "copy" not in found:
        raise Unreadable("the memory was not tested", code=Reason.NOT_COLLECTED)
    return RamCopy(tuple(_test(run) for run in unpack(found.get("copy"))))


def _test(run: CommandOutput) -> CopyTest:
    try:
        told: Any = document(run.text).get("nodes")
    except Unreadable as error:
        return CopyTest(trouble=run.error_text.strip().split("\n")[-1][:200] or error.reason, code=reason_code(run, error))
    rates = [_rate(one) for one in told[:64] if isinstance(one, dict)] if isinstance(told, list) else []
    if not rates or not all(rates):
        return CopyTest(trouble="the test printed no rates", code=Reason.UNREADABLE)
    return CopyTest(tuple(rate for rate in rates if rate))


def _rate(one: dict[str, Any]) -> NodeRate | None:
    node, workers, gb_s = count(one, "node"), count(one, "workers"), figure(one, "gb_s")
    if node is None or workers is None or workers < 1 or gb_s is None or gb_s <= 0:
        return None
    return NodeRate(node, workers, gb_s)


def as_dict(reading: RamCopy) -> dict[str, object]:
    """Per test: nodes, workers, gb_s (two decimals), troubles."""
    return {
        "nodes": [[n.node for n in t.nodes] for t in reading.tests],
        "workers": [[n.workers for n in t.nodes] for t in reading.tests],
        "gb_s": [[round(n.gb_s, 2) for n in t.nodes] for t in reading.tests],
        "troubles": [t.trouble or None for t in reading.tests],
    }


def recognise(text: str) -> int:
    """Sure of our own key."""
    return 99 if text.lstrip().startswith('{"copy": ') else 0
