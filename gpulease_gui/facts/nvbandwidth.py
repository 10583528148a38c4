"""How fast are the copies between host and GPUs by an output of nvbandwidth?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import document, figure, items, member, words
from gpulease_gui.facts.smi_values import without_prefix
from gpulease_gui.facts.table_text import clean, first_line, number, whole_lines

FACT = Fact(id="nvbandwidth", title=Text("Copy bandwidth (nvbandwidth)", "拷贝带宽(nvbandwidth)"), ok_codes=None)

# "SUM <test> 715.5" may go on; behind a second decimal it does not.
_WHOLE = re.compile(r"^SUM \S+ \d+\.\d\d\s*$|\)\s*$")
_SUM = re.compile(r"\s*SUM\s+(\w+)\s+(\d{1,3}(?:,\d{3})+(?:\.\d+)?|[\d.]+)(?=\s|$)")
_JSON = re.compile(r"^[ \t]*\{\s*\"nvbandwidth\"", re.MULTILINE)
_JSON_DEVICE = re.compile(r"\d+: (.*?):? \([0-9A-Fa-f:.]+\)")
_FAILED = re.compile(r"\bASSERT|\bERROR\b|CUDA_ERROR|\[CUDA|Assertion|\bFAILED\b|Invalid (value|result)")


@dataclass(frozen=True, slots=True)
class CopyReport:
    """Sums by test in the unit that the tool prints (GB/s; ns for latency tests), in order.

    `waived` are tests that the tool names as left out. `failed`: an assertion or error stands in the output.
    """

    version: str | None
    driver_version: str | None
    device_names: tuple[str, ...]
    sums: tuple[tuple[str, float], ...]
    started: tuple[str, ...]
    waived: tuple[str, ...]
    failed: bool

    @property
    def unfinished(self) -> tuple[str, ...]:
        """Tests that were started and have neither a sum nor a waiver."""
        ended = {name for name, _ in self.sums} | set(self.waived)
        return tuple(name for name in self.started if name not in ended)


def parse(output: CommandOutput) -> CopyReport:
    """Read the SUM lines. Raises Unreadable (with the reading) when there is neither a test nor a version."""
    bare = without_prefix(clean(output.text))
    if bare.lstrip().startswith("{") or _JSON.search(bare):
        return _from_json(member(document(bare), "nvbandwidth"))
    lines = whole_lines(bare, _WHOLE)
    text = "\n".join(lines)
    version = re.search(r"^[ \t]*nvbandwidth Version:\s*(\S+)", text, re.MULTILINE)
    driver = re.search(r"^[ \t]*Driver Version:\s*(\S+)", text, re.MULTILINE)
    report = CopyReport(
        version=version[1] if version else None,
        driver_version=driver[1] if driver else None,
        device_names=_devices(lines),
        sums=_sums(lines),
        started=tuple(found[1] for line in lines if (found := re.match(r"\s*Running (\w+)\.", line))),
        waived=_waived(lines),
        failed=any(_FAILED.search(line) for line in lines),
    )
    if not report.sums and not report.started and version is None:
        raise Unreadable(f"no test of nvbandwidth in the output: {first_line(output.text)}", reading=report)
    return report


def _from_json(found: dict[str, Any]) -> CopyReport:
    """The form of `-j`. Raises Unreadable when it is another document."""
    tests = items(found, "testcases")
    version = words(found, "version") or words(found, "git_version")
    if not tests and version is None:
        raise Unreadable("this JSON is no output of nvbandwidth")
    named = [(name, one) for one in tests if (name := words(one, "name"))]
    sums = ((name, figure(one, "sum")) for name, one in named)
    states = [(name, (words(one, "status") or "").lower()) for name, one in named]
    devices = found.get("GPU Device list")
    return CopyReport(
        version=version,
        driver_version=words(found, "Driver Version"),
        device_names=tuple(_JSON_DEVICE.sub(r"\1", one) for one in devices if isinstance(one, str))
        if isinstance(devices, list)
        else (),
        sums=tuple((name, total) for name, total in sums if total is not None),
        started=tuple(name for name, _ in named),
        waived=tuple(name for name, state in states if state.startswith("waiv")),
        failed=any(state in ("error", "failed") for _, state in states) or bool(words(found, "error")),
    )


def _devices(lines: list[str]) -> tuple[str, ...]:
    """Names without the bus address that newer versions put in brackets behind them."""
    heads = [found[1].strip() for line in lines if (found := re.match(r"\s*Device \d+: (.+)", line))]
    parts = [(head, *head.rpartition(" (")[::2]) for head in heads]
    return tuple(name if re.fullmatch(r"[0-9A-Fa-f:.]+\)", tail) else head for head, name, tail in parts)


def _sums(lines: list[str]) -> tuple[tuple[str, float], ...]:
    found: dict[str, float] = {}
    for line in lines:
        hit = _SUM.match(line)
        rate = number(hit[2].replace(",", "")) if hit else None
        if hit and rate is not None:
            found[hit[1]] = rate
    return tuple(found.items())


def _waived(lines: list[str]) -> tuple[str, ...]:
    """Names beside the word, or the test that was just started; a bare word after a sum names nobody."""
    names: list[str] = []
    for before, line in zip(["", *lines], lines, strict=False):
        if not re.match(r"\s*(\w+ )?[Ww]aiv(ed|ing)\b", line):
            continue
        beside = re.search(r"\b([a-z]+_\w+)", line)
        running = re.match(r"\s*Running (\w+)\.", before)
        if beside or running:
            names.append((beside or running)[1])  # type: ignore[index]
    return tuple(dict.fromkeys(names))


def as_dict(reading: CopyReport) -> dict[str, object]:
    """The keys of `gpulease parse --kind nvbandwidth`."""
    return {
        "version": reading.version,
        "driver_version": reading.driver_version,
        "device_names": list(dict.fromkeys(reading.device_names)),
        "sums_gb_per_s": dict(reading.sums),
        "waived": list(reading.waived),
        "failed": reading.failed,
        "ran": bool(reading.sums or reading.started),
        "unfinished": list(reading.unfinished),
    }


def recognise(text: str) -> int:
    """The tool's own name, or its SUM lines."""
    if "nvbandwidth" in text[:3000]:
        return 95
    return 85 if re.search(r"^[ \t]*SUM \w+_\w+ [\d.]+", text, re.MULTILINE) else 0
