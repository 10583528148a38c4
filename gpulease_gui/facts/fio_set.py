"""How are several fio tests of one kind kept together, each with its rates, its latencies and its course over time?"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpulease_gui.domain.command import Command, CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.facts import fio_json
from gpulease_gui.facts.fio_json import FioReport, Flow
from gpulease_gui.facts.json_text import count, document, figure, items, member, words
from gpulease_gui.facts.raw_runs import NOTHING_MOVED, pack, reason_code, unpack

# Stands in front of the bandwidth log that a script prints after fio's own document.
LOG_MARK = "gpulease bandwidth log"
MAX_POINTS = 20_000


@dataclass(frozen=True, slots=True)
class Point:
    """The rate in one stretch that ended `end_s` seconds after the start; decimal MB/s."""

    end_s: float
    mb_s: float


@dataclass(frozen=True, slots=True)
class FioTest:
    """One test; None = not told, and `trouble` says why there is no rate.

    `p99_ms` is the completion latency, `sync_p99_ms` that of the flush (fsync). `direct`: the page cache was passed by.
    `error` is fio's errno. `series` is empty unless a bandwidth log was kept.
    """

    iops: float | None = None
    mb_s: float | None = None
    p99_ms: float | None = None
    sync_p99_ms: float | None = None
    direct: bool | None = None
    seconds: float | None = None
    io_bytes: int | None = None
    series: tuple[Point, ...] = ()
    error: int | None = None
    trouble: str = ""
    code: str = ""
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class FioSet:
    """The tests by name, in the order run, and on what they ran; None = not told."""

    tests: tuple[tuple[str, tuple[FioTest, ...]], ...] = ()
    seconds: int | None = None
    size_mib: int | None = None
    direct: bool | None = None
    filesystem: str | None = None

    def of(self, name: str) -> tuple[FioTest, ...]:
        """The tests called `name`; empty if there are none."""
        return next((tests for known, tests in self.tests if known == name), ())


def fio_command(*options: str, size_mib: int, seconds: int) -> Command:
    """One timed job on a file of `size_mib` in the current folder, which goes away with it; JSON on stdout."""
    return Command("fio", *_words(options, size_mib), "--time_based", f"--runtime={seconds}", "--output-format=json")


def logged_command(*options: str, size_mib: int, seconds: int) -> Command:
    """The same with a bandwidth log, one point a second, printed after the document."""
    words = (*_words(options, size_mib), "--time_based", f"--runtime={seconds}", "--output-format=json")
    return Command(script=f"{logged(words)}exit $c\n")


def logged(words: Sequence[str]) -> str:
    """The sh text of one fio run that prints its document and its bandwidth log; `c` is its exit code.

    Only the log is a file: on a disk that is full the document still comes.
    """
    run = shlex.join(("fio", *words, "--write_bw_log=gpulease", "--log_avg_msec=1000"))
    return f"{run}\nc=$?\nprintf '\\n%s\\n' {shlex.quote(LOG_MARK)}\ncat gpulease_bw.1.log\n"


def _words(options: Sequence[str], size_mib: int) -> tuple[str, ...]:
    return ("--name=gpulease", "--filename=gpulease-fio.bin", f"--size={size_mib}M", *options, "--group_reporting")


def combine_set(
    tests: Mapping[str, Sequence[CommandOutput]], *, seconds: int, size_mib: int, direct: bool, filesystem: str | None
) -> CommandOutput:
    """One output that holds all tests and their setting, for `parse_set` and for the evidence."""
    setting = {"seconds": seconds, "size_mib": size_mib, "direct": direct, "filesystem": filesystem}
    whole = {name: [pack(output) for output in outputs] for name, outputs in tests.items()} | setting
    return CommandOutput(json.dumps(whole, ensure_ascii=False).encode())


def parse_set(output: CommandOutput, names: Sequence[str]) -> FioSet:
    """Read a combined output; a test without a rate is a reading that says why.

    Raises Unreadable when no test of these names is there.
    """
    found = document(output.text)
    if not any(name in found for name in names):
        raise Unreadable("none of these tests was run", code=Reason.NOT_COLLECTED)
    direct = found.get("direct")
    return FioSet(
        tests=tuple((name, _tests(found.get(name), name)) for name in names if name in found),
        seconds=count(found, "seconds"),
        size_mib=count(found, "size_mib"),
        direct=direct if isinstance(direct, bool) else None,
        filesystem=words(found, "filesystem"),
    )


def _tests(told: Any, name: str) -> tuple[FioTest, ...]:
    return tuple(fio_test(output, reads="read" in name) for output in unpack(told))


def fio_test(output: CommandOutput, *, reads: bool) -> FioTest:
    """One run of fio, with the bandwidth log behind it if there is one; never raises."""
    try:
        report = fio_json.parse(output)
    except Unreadable as error:
        said = output.error_text.strip().split("\n")[0][:200]
        return FioTest(trouble=said or error.reason, code=reason_code(output, error), next_step=error.next_step)
    number, trouble = _trouble(report, output)
    return _rates(report, output.text, reads, number, trouble)


def _trouble(report: FioReport, output: CommandOutput) -> tuple[int | None, str]:
    """errno and words of what went wrong; (None, "") when nothing did."""
    if report.error_code:
        return report.error_code, f"fio error {report.error_code}: {report.error_text or ''}".rstrip(": ")
    errors = sorted({job.error for job in report.jobs if job.error})
    if errors:
        return errors[0], f"fio job error {', '.join(map(str, errors))}"
    return None, f"fio ended with exit code {output.exit_code}" if output.exit_code else ""


def _rates(report: FioReport, text: str, reads: bool, number: int | None, trouble: str) -> FioTest:
    flows = [job.read if reads else job.write for job in report.jobs]
    states = {job.direct for job in report.jobs}
    iops = _sum([flow.iops for flow in flows])
    idle = not trouble and not iops
    code = NOTHING_MOVED if idle and any(flow.nothing_moved for flow in flows) else Reason.UNREADABLE
    return FioTest(
        iops=iops or None,
        mb_s=_megabytes(_sum([flow.bw_bytes_s for flow in flows])),
        p99_ms=_worst_ms(flows),
        sync_p99_ms=_sync_ms(text),
        direct=states.pop() if len(states) == 1 else None,
        seconds=max((flow.runtime_ms / 1000 for flow in flows if flow.runtime_ms), default=None),
        io_bytes=int(_sum([flow.io_bytes for flow in flows]) or 0) or None,
        series=_series(text),
        error=number,
        trouble="fio did no I/O at all" if idle else trouble,
        code=code if trouble or idle else "",
    )


def _sum(values: Sequence[float | None]) -> float | None:
    told = [value for value in values if value is not None]
    return sum(told) if told else None


def _megabytes(bytes_s: float | None) -> float | None:
    return bytes_s / 1e6 if bytes_s else None


def _worst_ms(flows: Sequence[Flow]) -> float | None:
    return max((flow.p99_ns / 1e6 for flow in flows if flow.p99_ns is not None), default=None)


def _sync_ms(text: str) -> float | None:
    """p99 of the flushes; fio 3 tells it in ns, earlier ones not at all. No flush: None."""
    found = [member(job, "sync") for job in items(document(text), "jobs")]
    told = [figure(member(one, "lat_ns", "percentile"), "99.000000") for one in found if count(one, "total_ios")]
    return max((value / 1e6 for value in told if value is not None), default=None)


def _series(text: str) -> tuple[Point, ...]:
    """The points of a bandwidth log: `end in ms, KiB/s, direction, block, offset`; a torn line ends it."""
    _, mark, log = text.partition(f"\n{LOG_MARK}\n")
    points: list[Point] = []
    for line in log.split("\n")[:MAX_POINTS] if mark else []:
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) < 4 or not all(cell.isascii() and cell.isdigit() and len(cell) < 16 for cell in cells[:2]):
            break
        points.append(Point(int(cells[0]) / 1000, int(cells[1]) * 1024 / 1e6))
    return tuple(points)


def set_dict(reading: FioSet) -> dict[str, object]:
    """Per test name: iops, MB/s, p99 and fsync p99 (ms), direct, count of points, troubles in the order run; the setting."""
    found: dict[str, object] = {}
    for name, tests in reading.tests:
        found |= {
            f"{name}_iops": [test.iops for test in tests],
            f"{name}_mb_s": [test.mb_s for test in tests],
            f"{name}_p99_ms": [test.p99_ms for test in tests],
            f"{name}_sync_p99_ms": [test.sync_p99_ms for test in tests],
            f"{name}_direct": [test.direct for test in tests],
            f"{name}_points": [len(test.series) for test in tests],
            f"{name}_troubles": [test.trouble or None for test in tests],
        }
    setting = {"seconds": reading.seconds, "size_mib": reading.size_mib, "direct": reading.direct}
    return found | setting | {"filesystem": reading.filesystem}
