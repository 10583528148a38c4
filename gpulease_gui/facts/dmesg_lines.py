"""What does one line of a kernel log say: when, of which card, and is it a fault?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpulease_gui.facts.table_text import short_bus_id, whole

# dmesg --decode, /dev/kmsg and the level digits of klogd stand in front of the stamp.
_PREFIX = (
    r"(?:(?:kern|user|daemon|syslog|auth|\w{2,9})\s*:\s*\w+\s*:\s*|<\d{1,3}>|\d{1,4},\d+,(?P<kmsg>\d+),[^;\n]{0,40};)?"
)
_STAMP = (
    r"(?P<stamp>\[[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}\]|\[\s*\d{1,10}\.\d{1,9}\]"
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d)"
)
_LOG_LINE = re.compile(rf"\s*{_PREFIX}{_STAMP}?[ \t]*(?P<rest>.*)")

# "Xid (device): code"; what merely mentions an Xid ("caused by previous Xid 149") has no brackets.
_XID = re.compile(
    r"(?:NVRM:\s*|(?<![A-Za-z]))(?P<kind>S?Xid)\s*\((?P<device>[^()\n]{0,90})(?:\)\s*:\s*(?P<code>\d*))?", re.ASCII
)
_LONGEST_CODE = 6
_SEVERITY = re.compile(r"\b(non-?fatal|fatal)\b", re.IGNORECASE)
_BUS_GONE = re.compile(r"fallen off the bus", re.IGNORECASE)
# Faults that the driver tells without an Xid; the first that fits names the event. Beside each, words (in small letters) that
# every such line has: found in a moment, where a pattern takes milliseconds for a log, in which no other thread runs.
_OTHER: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    ("fallen_off_bus", "fallen off the bus", _BUS_GONE),
    ("init_failed", "adapter failed", re.compile(r"RmInitAdapter failed|rm_init_adapter failed")),
    ("reset_required", "reset", re.compile(r"NV_ERR_RESET_REQUIRED|GPU reset (?:is )?required", re.IGNORECASE)),
    ("gpu_lost", "lost", re.compile(r"NV_ERR_GPU_IS_LOST|GPU(?: is| has been) lost", re.IGNORECASE)),
    ("version_mismatch", "nvrm: api mismatch", re.compile(r"NVRM: API mismatch")),
    ("probe_failed", "probe", re.compile(r"NVRM: The NVIDIA probe routine failed|nvidia: probe of \S+ failed")),
)
_BLOCK_HEAD = re.compile(r"NVRM: The NVIDIA GPU \S+")


@dataclass(frozen=True, slots=True)
class KernelEvent:
    """One fault line.

    `kind`: xid, sxid, fallen_off_bus, init_failed, reset_required, gpu_lost, version_mismatch, probe_failed.
    `bus_id` is `dddd:bb:dd` (None = the line names no address), `device` the words that name the card.
    `code` is the Xid or SXid number (None = other kinds, or the number is torn: then it could be any).
    `severity`: "fatal", "non-fatal" or None. `pid` and `process` as told, None when unknown.
    """

    time: str | None
    kind: str
    message: str
    bus_id: str | None = None
    code: int | None = None
    severity: str | None = None
    pid: str | None = None
    process: str | None = None
    device: str = ""


def split_stamp(line: str) -> tuple[str | None, str]:
    """Time stamp (as text, without brackets) and the rest of a line."""
    found = _LOG_LINE.match(line)
    if found is None:
        return None, line
    stamp = found["stamp"] or found["kmsg"]
    return (stamp.strip("[] ") if stamp else None), found["rest"]


def stamp_of(lines: Iterable[str]) -> str | None:
    """The first time stamp of these lines; None when they have none."""
    return next((stamp for line in lines if (stamp := split_stamp(line)[0])), None)


def is_log_line(line: str) -> bool:
    """Does `line` begin as a kernel log line does, or come from a kernel module of NVIDIA?"""
    return split_stamp(line)[0] is not None or re.match(r"\s*(kernel: |NVRM: |nvidia-nv)", line) is not None


def events(lines: Sequence[str]) -> tuple[KernelEvent, ...]:
    """All fault events of the log, in its order."""
    found: list[KernelEvent] = []
    # A log has thousands of lines and hardly a fault: what is nowhere in it is not looked for in each.
    text = "\n".join(lines)
    small = text.lower()
    there = [(kind, pattern) for kind, words, pattern in _OTHER if words in small and pattern.search(text)]
    for number, line in enumerate(lines):
        if "Xid" in line and (xids := _xids(line, last=number == len(lines) - 1)):
            found.extend(xids)
        elif there and (other := _other(lines, number, there)):
            found.append(other)
    return tuple(found)


def _xids(line: str, *, last: bool) -> list[KernelEvent]:
    stamp, rest = split_stamp(line)
    hits = [hit for hit in _XID.finditer(rest) if _is_event(hit)]
    ends = [*(hit.start() for hit in hits[1:]), len(rest)]
    return [_xid(stamp, hit, rest[hit.end() : end], last) for hit, end in zip(hits, ends, strict=False)]


def _is_event(hit: re.Match[str]) -> bool:
    """A bracket alone is no event: the driver's prefix, an address or a switch stands beside it."""
    return hit[0].startswith("NVRM") or hit["kind"] == "SXid" or "PCI:" in hit["device"]


def _xid(stamp: str | None, hit: re.Match[str], rest: str, last: bool) -> KernelEvent:
    message = rest.lstrip(", ").strip()
    # "7" at the very end of the text may be the head of "79".
    digits = hit["code"] or ""
    code = None if last and not rest or len(digits) > _LONGEST_CODE else whole(digits)
    pid = re.search(r"\bpid='?([^,'\s]+)", rest)
    process = re.search(r"\bname=([^,]+)", rest)
    severity = _SEVERITY.search(message)
    return KernelEvent(
        time=stamp,
        kind=hit["kind"].lower(),
        message=message or hit[0],
        bus_id=short_bus_id(hit["device"].replace("PCI:", " ")),
        code=code,
        severity=severity[1].lower().replace("nonfatal", "non-fatal") if severity else None,
        pid=_known(pid),
        process=_known(process),
        device=hit["device"],
    )


def _known(found: re.Match[str] | None) -> str | None:
    return found[1].strip() if found and "<unknown>" not in found[1] else None


def _other(lines: Sequence[str], number: int, there: Sequence[tuple[str, re.Pattern[str]]]) -> KernelEvent | None:
    line = lines[number]
    kind = next((kind for kind, words in there if words.search(line)), None)
    return _plain(kind, lines, number) if kind else None


def _plain(kind: str, lines: Sequence[str], number: int) -> KernelEvent:
    stamp, rest = split_stamp(lines[number])
    named = short_bus_id(rest)
    if named is None and kind == "fallen_off_bus":
        named = _block_address(lines, number)
    return KernelEvent(time=stamp, kind=kind, message=rest.strip(), bus_id=named)


def _block_address(lines: Sequence[str], number: int) -> str | None:
    """The driver breaks "The NVIDIA GPU <address> ... has fallen off the bus" over three lines."""
    for line in reversed(lines[max(0, number - 3) : number]):
        if head := _BLOCK_HEAD.search(line):
            return short_bus_id(head[0])
    return None
