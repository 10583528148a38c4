"""How fast does the disk read and write in a row, past the page cache?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpulease_gui.domain.command import CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import disk_own, fio_json
from gpulease_gui.facts.disk_own import OwnRate
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.fio_json import FioReport
from gpulease_gui.facts.json_text import count, document, words
from gpulease_gui.facts.raw_runs import NOTHING_MOVED, pack, reason_code, unpack

# Both directions in one run, one after the other: what comes before the first name holds for both.
_BOTH = (
    "fio --filename=gpulease-fio.bin --size=4096M --bs=1M --ioengine=libaio --iodepth=32 --direct=1 --time_based --runtime=30 "
    "--output-format=json --name=read --rw=read --name=write --stonewall --rw=write --unlink=1"
)
# What is printed; the write test differs in one word, and the run puts its own length and size in their places.
FACT = Fact(
    id="disk_rates",
    title=Text("Disk throughput, read and write", "磁盘吞吐（读与写）"),
    command=fio_json.FACT.command,
    seconds=300,
    impact=Impact.ACTIVE,
    ok_codes=None,
    ask=Text(_BOTH, _BOTH),
)


@dataclass(frozen=True, slots=True)
class FioTry:
    """One test of one direction. `mb_s` is decimal (1e6 bytes a second); None with the `trouble` that explains it.

    `direct`: the page cache was passed by (None = the output does not say it). `own_test`: by the program's own test, not fio.
    `misfit`: why its figures can't all be true.
    """

    mb_s: float | None
    direct: bool | None = None
    seconds: float | None = None
    trouble: str = ""
    code: str = ""
    next_step: str = ""
    own_test: bool = False
    misfit: str = ""


@dataclass(frozen=True, slots=True)
class DiskRates:
    """The tests of each direction in the order run, and on what they ran; None = not told."""

    read: tuple[FioTry, ...] = ()
    write: tuple[FioTry, ...] = ()
    seconds: int | None = None
    size_mib: int | None = None
    direct: bool | None = None
    filesystem: str | None = None
    path: str | None = None


def combine(
    read: Sequence[CommandOutput], write: Sequence[CommandOutput], *, seconds: int, size_mib: int, direct: bool,
    filesystem: str | None = None, path: str | None = None,
) -> CommandOutput:  # fmt: skip
    """One output that holds all tests and their setting, for `parse` and for the evidence."""
    whole = {
        "read": [pack(output) for output in read],
        "write": [pack(output) for output in write],
        "seconds": seconds,
        "size_mib": size_mib,
        "direct": direct,
        "filesystem": filesystem,
        "path": path,
    }
    return CommandOutput(json.dumps(whole, ensure_ascii=False).encode())


def parse(output: CommandOutput) -> DiskRates:
    """Read a combined output; a test without a rate is a reading that says why.

    Raises Unreadable when neither direction is there.
    """
    found = document(output.text)
    if "read" not in found and "write" not in found:
        raise Unreadable("no direction was measured", code=Reason.NOT_COLLECTED)
    direct, seconds = found.get("direct"), count(found, "seconds")
    return DiskRates(
        read=_tries(found.get("read"), "read", seconds),
        write=_tries(found.get("write"), "write", seconds),
        seconds=seconds,
        size_mib=count(found, "size_mib"),
        direct=direct if isinstance(direct, bool) else None,
        filesystem=words(found, "filesystem"),
        path=words(found, "path"),
    )


def _tries(told: Any, direction: str, seconds: int | None) -> tuple[FioTry, ...]:
    return tuple(_try(output, direction, seconds) for output in unpack(told))


def _try(output: CommandOutput, direction: str, seconds: int | None) -> FioTry:
    try:
        if disk_own.recognise(output.text):
            return _own(disk_own.parse(output, float(seconds) if seconds else None), direction)
        report = fio_json.parse(output)
    except Unreadable as error:
        said = output.error_text.strip().split("\n")[0][:200]
        return FioTry(None, trouble=said or error.reason, code=reason_code(output, error), next_step=error.next_step)
    if trouble := _trouble(report, output):
        return FioTry(None, trouble=trouble, code=Reason.UNREADABLE)
    return _rate(report, direction)


def _own(told: OwnRate, direction: str) -> FioTry:
    if told.reads is not (direction == "read"):
        return FioTry(None, trouble="a test of the other direction", code=Reason.UNREADABLE, own_test=True)
    code = Reason.INCONSISTENT if told.misfit else Reason.UNREADABLE if told.trouble else ""
    return FioTry(told.mb_s, told.direct, told.seconds, told.trouble, code, own_test=True, misfit=str(told.misfit or ""))


def _trouble(report: FioReport, output: CommandOutput) -> str:
    if report.error_code:
        return f"fio error {report.error_code}: {report.error_text or ''}".rstrip(": ")
    if report.failed_jobs:
        errors = {job.error for job in report.jobs if job.error}
        return f"fio job error {', '.join(str(e) for e in sorted(errors))}"
    return f"fio ended with exit code {output.exit_code}" if output.exit_code else ""


def _rate(report: FioReport, direction: str) -> FioTry:
    flows = [job.read if direction == "read" else job.write for job in report.jobs]
    rates = [f.bw_bytes_s for f in flows if f.bw_bytes_s]
    states = {job.direct for job in report.jobs}
    times = [f.runtime_ms for f in flows if f.runtime_ms]
    if not rates:
        code = NOTHING_MOVED if any(f.nothing_moved for f in flows) else Reason.UNREADABLE
        return FioTry(None, trouble=f"fio did no {direction} at all", code=code)
    return FioTry(sum(rates) / 1e6, states.pop() if len(states) == 1 else None, max(times) / 1000 if times else None)


def as_dict(reading: DiskRates) -> dict[str, object]:
    """Per direction the rates in MB/s and troubles in the order run; seconds, size_mib, direct, filesystem, path."""
    return {
        "read_mb_s": [t.mb_s for t in reading.read],
        "read_troubles": [t.trouble or None for t in reading.read],
        "write_mb_s": [t.mb_s for t in reading.write],
        "write_troubles": [t.trouble or None for t in reading.write],
        "own_tests": sum(t.own_test for t in (*reading.read, *reading.write)),
        "direct_told": [t.direct for t in (*reading.read, *reading.write)],
        "seconds": reading.seconds,
        "size_mib": reading.size_mib,
        "direct": reading.direct,
        "filesystem": reading.filesystem,
        "path": reading.path,
    }


def recognise(text: str) -> int:
    """Sure of our own keys."""
    return 99 if text.lstrip().startswith('{"read": ') and '"size_mib"' in text else 0
