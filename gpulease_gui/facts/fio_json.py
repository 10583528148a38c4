"""How fast does a disk read and write (`fio --output-format=json`)?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from gpulease_gui.domain.command import Command, CommandOutput, Impact
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import count, document, document_start, figure, is_nothing, items, member, words
from gpulease_gui.facts.table_text import MISSING_TOOL_WORDS, clean, first_line


@dataclass(frozen=True, slots=True)
class Flow:
    """What one job did in one direction: bytes/s, I/O operations/s, p99 completion latency in ns, run time in ms.

    `bw_bytes_s` is told by fio 3; from fio 2 (`bw_told_in_kib`) it is its KiB/s figure. No I/O: p99 is None.
    `nothing_moved`: the job ran this way for a time, and its rate is told as nought or as no number.
    """

    bw_bytes_s: float | None
    iops: float | None
    p99_ns: float | None
    runtime_ms: int | None
    io_count: int | None
    io_bytes: int | None
    bw_told_in_kib: bool = False
    nothing_moved: bool = False


@dataclass(frozen=True, slots=True)
class FioJob:
    """One job; `error` is its errno (0 = none). `direct`: was the page cache passed by? None = not told."""

    name: str
    error: int | None
    read: Flow
    write: Flow
    direct: bool | None
    runtime_ms: int | None
    way: str | None = None  # as asked for: read, randwrite ...


@dataclass(frozen=True, slots=True)
class FioReport:
    """A whole report; `error_code` is the errno in an error line in front of the JSON."""

    version: str | None
    jobs: tuple[FioJob, ...]
    error_code: int | None = None
    error_text: str | None = None
    whole_document: bool = True

    @property
    def failed_jobs(self) -> tuple[str, ...]:
        """Names of the jobs with an error."""
        return tuple(job.name for job in self.jobs if job.error)


def command(direction: Literal["read", "write"], seconds: int, size_mib: int, direct: bool) -> Command:
    """One sequential job on a file of `size_mib` in the current folder, which goes away with it.

    libaio, because only an engine that queues makes iodepth count: psync would measure one request at a time, and
    io_uring is switched off on many rented nodes. Without `direct` (a file system that refuses it) the time for a
    flush at the end is part of the figure. The buffers hold fresh random bytes, which no disk can compress.
    """
    if direction not in ("read", "write"):
        raise ValueError(f"no such direction: {direction!r}")
    job = ("--name=gpulease", "--filename=gpulease-fio.bin", f"--size={size_mib}M", f"--rw={direction}", "--bs=1M")
    engine = ("--ioengine=libaio", "--iodepth=32", f"--direct={int(direct)}", "--refill_buffers", "--unlink=1")
    flush = () if direct else ("--end_fsync=1",)
    bounds = (f"--runtime={seconds}", "--time_based", "--group_reporting", "--output-format=json")
    return Command("fio", *job, *engine, *flush, *bounds)


FACT = Fact(
    id="fio_json",
    title=Text("Disk throughput", "磁盘吞吐"),
    command=command("read", 30, 4096, True),
    seconds=180,
    impact=Impact.ACTIVE,
    ok_codes=None,
)


def parse(output: CommandOutput) -> FioReport:
    """Read the JSON behind whatever banners and error lines stand before it; a job's error is part of the reading.

    Raises Unreadable when there is no JSON or it breaks off; its reading then holds version and error line.
    """
    text = clean(output.text)
    code, told = _error_line(text[: document_start(text)], output)
    try:
        found = document(text)
    except Unreadable as error:
        raise _no_document(error, text, output, FioReport(_head_version(text), (), code, told, False)) from error
    listed = items(found, "jobs") or items(found, "client_stats")
    if not listed:
        raise Unreadable("this JSON has no jobs of fio", reading=FioReport(words(found, "fio version"), (), code, told))
    everywhere = member(found, "global options")
    return FioReport(words(found, "fio version"), tuple(_job(one, everywhere) for one in listed), code, told)


def _no_document(error: Unreadable, text: str, output: CommandOutput, rest: FioReport) -> Unreadable:
    said = first_line(output.error_text) or first_line(text)
    if error.code == Reason.CUT_OFF:
        return Unreadable(error.reason, code=error.code, next_step=error.next_step, reading=rest)
    if MISSING_TOOL_WORDS.search(said) and "fio:" in said and document_start(text) is None and rest.error_code is None:
        return Unreadable(said, code=Reason.MISSING_TOOL, next_step="install it: apt-get install fio", reading=rest)
    step = "install libaio: apt-get install libaio1" if "libaio" in said else ""
    return Unreadable(rest.error_text or error.reason, next_step=step, reading=rest)


def _error_line(head: str, output: CommandOutput) -> tuple[int | None, str | None]:
    """errno and words of fio's first error line, on either stream."""
    found = re.search(r"\berr=\s*(\d{1,6})\b(?:.*?error=(.*))?", head + "\n" + clean(output.error_text))
    return (int(found[1]), (found[2] or "").strip() or None) if found else (None, None)


def _job(found: dict[str, Any], everywhere: dict[str, Any]) -> FioJob:
    options = member(found, "job options")
    direct = options.get("direct", everywhere.get("direct"))
    asked = next((w for o in (options, everywhere) for key in ("rw", "readwrite") if (w := words(o, key))), None)
    way, ran = asked or "", bool(count(found, "job_runtime"))
    return FioJob(
        name=words(found, "jobname") or "",
        error=count(found, "error"),
        read=_flow(member(found, "read"), asked=ran and ("read" in way or "rw" in way)),
        write=_flow(member(found, "write"), asked=ran and ("write" in way or "rw" in way)),
        direct={"1": True, "0": False}.get(str(direct)),
        runtime_ms=count(found, "job_runtime"),
        way=asked,
    )


def _flow(found: dict[str, Any], *, asked: bool) -> Flow:
    bytes_s, kib_s = figure(found, "bw_bytes"), figure(found, "bw")
    return Flow(
        bw_bytes_s=bytes_s if bytes_s is not None or kib_s is None else kib_s * 1024,
        iops=figure(found, "iops"),
        p99_ns=_p99_ns(found),
        runtime_ms=count(found, "runtime"),
        io_count=count(found, "total_ios"),
        io_bytes=count(found, "io_bytes"),
        bw_told_in_kib=bytes_s is None,
        nothing_moved=(asked or bool(count(found, "runtime"))) and _is_nothing(found),
    )


def _is_nothing(found: dict[str, Any]) -> bool:
    told = [name for name in ("bw_bytes", "bw") if name in found]
    return bool(told) and all(is_nothing(found, name) for name in told)


def _p99_ns(found: dict[str, Any]) -> float | None:
    """p99 of the completion latency, else of the whole latency (lat_percentiles=1); fio 2 counts microseconds."""
    if count(found, "total_ios") == 0:
        return None
    for name, scale in (("clat_ns", 1), ("lat_ns", 1), ("clat", 1000), ("lat", 1000)):
        told = figure(member(found, name, "percentile"), "99.000000")
        if told is not None:
            return told * scale
    return None


def _head_version(text: str) -> str | None:
    found = re.search(r'"fio version"\s*:\s*"([^"\n]{1,60})"', text)
    return found[1] if found else None


def as_dict(reading: FioReport) -> dict[str, object]:
    """The keys of `gpulease parse --kind fio_json`; the first twelve jobs, operations per second to three decimals."""
    return {
        "valid_json": reading.whole_document,
        "version": reading.version,
        "job_count": len(reading.jobs) if reading.whole_document else None,
        "errors": list(reading.failed_jobs) if reading.whole_document else None,
        "jobs": [_job_dict(job) for job in reading.jobs[:12]] or None,
        "error_code": reading.error_code,
    }


def _job_dict(job: FioJob) -> dict[str, object]:
    return {"name": job.name, "error": job.error, **_flow_dict("read", job.read), **_flow_dict("write", job.write)}


def _flow_dict(name: str, flow: Flow) -> dict[str, object]:
    """fio 2 prints neither bytes nor nanoseconds: those keys stay empty and its own units get keys of their own."""
    old = flow.bw_told_in_kib
    microseconds = flow.p99_ns / 1000 if old and flow.p99_ns is not None else None
    return {
        f"{name}_iops": None if flow.iops is None else round(flow.iops, 3),
        f"{name}_bw_bytes_per_second": None if old else flow.bw_bytes_s,
        f"{name}_bw_kib_per_second": flow.bw_bytes_s / 1024 if old and flow.bw_bytes_s is not None else None,
        f"{name}_p99_ns": None if old else flow.p99_ns,
        f"{name}_p99_us": microseconds,
    }


def recognise(text: str) -> int:
    """fio's own version name in JSON, or its error lines."""
    if '"fio version"' in text:
        return 95
    return 70 if re.search(r"^[ \t]*fio: (pid=\d+, err=|io_u error)", text, re.MULTILINE) else 0
