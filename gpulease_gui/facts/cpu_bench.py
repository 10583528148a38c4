"""How much work does one processor do, and how much do all together?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import count, document, figure
from gpulease_gui.facts.raw_runs import pack, unpack

# SHA-256 in Python's own library: no table in memory to wait for, nothing to install. Processes, so that no lock of
# the interpreter is measured; all of them start at one moment.
_PROGRAM = """\
import hashlib, json, os, sys, time
seconds = float(sys.argv[1])
block = bytes(range(256)) * 4096
def work(begin):
    while time.time() < begin:
        pass
    n, start = 0, time.time()
    while time.time() < begin + seconds:
        hashlib.sha256(block).digest()
        n += 1
    return n / (time.time() - start)
def cores(cpus):
    found = set()
    for cpu in cpus:
        with open("/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list" % cpu) as f:
            found.add(f.read())
    return len(found)
cpus = sorted(os.sched_getaffinity(0))
try:
    physical = cores(cpus)
except OSError:
    physical = None
single = work(time.time())
begin, ends = time.time() + 0.5 + 0.003 * len(cpus), []
for cpu in cpus:
    r, w = os.pipe()
    if os.fork() == 0:
        os.write(w, repr(work(begin)).encode())
        os._exit(0)
    os.close(w)
    ends.append(r)
rates = [float(os.read(r, 64)) for r in ends]
print(json.dumps({"cpus": len(cpus), "cores": physical, "single_mib_s": single, "multi_mib_s": sum(rates)}))
"""


def command(seconds: int) -> Command:
    """One processor for `seconds`, then all of them for as long."""
    return Command("python3", "-c", _PROGRAM, str(int(seconds)))


FACT = Fact(
    id="cpu_bench",
    title=Text("Processor speed, one and all", "CPU 单核与全核速度"),
    command=command(5),
    seconds=60,
    impact=Impact.ACTIVE,
    ok_codes=None,
)


@dataclass(frozen=True, slots=True)
class BenchTest:
    """One test; rates are MiB of SHA-256 a second. `cores` are physical ones; None = not told."""

    cpus: int | None = None
    cores: int | None = None
    single_mib_s: float | None = None
    multi_mib_s: float | None = None
    trouble: str = ""
    code: str = ""

    @property
    def gain(self) -> float | None:
        """How many times the work of one processor all of them did; None without both rates."""
        if not self.single_mib_s or not self.multi_mib_s:
            return None
        return self.multi_mib_s / self.single_mib_s


@dataclass(frozen=True, slots=True)
class CpuBench:
    """The tests in the order run."""

    tests: tuple[BenchTest, ...] = ()
    seconds: int | None = None


def combine(outputs: Sequence[CommandOutput], *, seconds: int) -> CommandOutput:
    """One output that holds the tests."""
    whole = {"bench": [pack(output) for output in outputs], "seconds": seconds}
    return CommandOutput(json.dumps(whole, ensure_ascii=False).encode())


def parse(output: CommandOutput) -> CpuBench:
    """Read a combined output; a test without rates is a reading that says why. Raises Unreadable without any test."""
    found = document(output.text)
    if "bench" not in found:
        raise Unreadable("the processors were not tested", code=Reason.NOT_COLLECTED)
    return CpuBench(tuple(_test(run) for run in unpack(found.get("bench"))), count(found, "seconds"))


def _test(run: CommandOutput) -> BenchTest:
    try:
        told = document(run.text)
    except Unreadable as error:
        said = run.error_text.strip().split("\n")[-1][:200]
        codes: dict[int | None, str] = {127: Reason.MISSING_TOOL, 124: Reason.TIMEOUT, 137: Reason.TIMEOUT,
                                        None: Reason.CONNECTION_LOST}  # fmt: skip
        return BenchTest(trouble=said or error.reason, code=str(codes.get(run.exit_code, error.code)))
    single, multi = figure(told, "single_mib_s"), figure(told, "multi_mib_s")
    if not single or not multi or single < 0 or multi < 0:
        return BenchTest(trouble="the test printed no rates", code=Reason.UNREADABLE)
    return BenchTest(_positive(count(told, "cpus")), _positive(count(told, "cores")), single, multi)


def _positive(number: int | None) -> int | None:
    return number if number is not None and number > 0 else None


def as_dict(reading: CpuBench) -> dict[str, object]:
    """Per test: cpus, cores, rates, gain (two decimals), trouble; seconds."""
    return {
        "cpus": [test.cpus for test in reading.tests],
        "cores": [test.cores for test in reading.tests],
        "single_mib_s": [test.single_mib_s for test in reading.tests],
        "multi_mib_s": [test.multi_mib_s for test in reading.tests],
        "gain": [None if test.gain is None else round(test.gain, 2) for test in reading.tests],
        "troubles": [test.trouble or None for test in reading.tests],
        "seconds": reading.seconds,
    }


def recognise(text: str) -> int:
    """Sure of our own key."""
    return 99 if text.lstrip().startswith('{"bench": ') else 0
