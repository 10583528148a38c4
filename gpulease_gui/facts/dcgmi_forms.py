"""What stands in the tables and JSON documents of dcgmi?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gpulease_gui.facts.json_text import items, member, words
from gpulease_gui.facts.table_text import whole

_RESULT = re.compile(r"(Pass|Fail|Warn|Skip)\w*\b.*", re.IGNORECASE)
_NOTE = re.compile(r"-|(Warning|Error|Info|Details)\b")


@dataclass(frozen=True, slots=True)
class DiagTest:
    """One test with its printed results: one in a table, one per GPU in JSON."""

    name: str
    results: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GpuLinkStates:
    """NVLinks of one GPU by state; links that the card does not have are not counted."""

    gpu: int
    up: int
    down: int
    disabled: int


def table_tests(text: str) -> tuple[DiagTest, ...]:
    """Rows `| name | result |`; section lines, metadata, notes and their wrapped words are no tests.

    A blank name goes on with the test above: a GPU that fails there counts against it.
    """
    found: list[DiagTest] = []
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 2 or not line.lstrip().startswith("|") or not line.rstrip().endswith("|"):
            continue
        name, result = cells
        if not name and found and (own := re.match(r"GPU\s?\d+:\s*(.+)", result)):
            found[-1] = DiagTest(found[-1].name, (*found[-1].results, own[1]))
        elif name and not _NOTE.match(name) and _RESULT.fullmatch(result):
            found.append(DiagTest(name, (result,)))
    return tuple(found)


def json_tests(found: Any) -> tuple[DiagTest, ...]:
    """Every object with a name and results, at whatever level the version puts it."""
    return tuple(_json_tests(found, 0))


def _json_tests(found: Any, depth: int) -> Iterator[DiagTest]:
    if depth > 12:
        return
    if isinstance(found, list):
        for one in found:
            yield from _json_tests(one, depth + 1)
    elif isinstance(found, dict):
        name, results = words(found, "name"), items(found, "results")
        told = tuple(status for one in results if (status := words(one, "status")))
        if name and told:
            yield DiagTest(name, told)
        else:
            yield from _json_tests(list(found.values()), depth + 1)


def runtime_error(found: dict[str, Any]) -> str | None:
    """The sentence with which a JSON run says that it did not take place."""
    return next((told for one in found.values() if (told := words(member({"one": one}, "one"), "runtime_error"))), None)


def link_states(text: str) -> tuple[GpuLinkStates, ...]:
    """The letters under each `gpuId n:`; U up, D down, X disabled, _ not there."""
    blocks = re.findall(r"gpuId (\d{1,4}):\s*((?:[UDX_][ \t]*)+)\n", text)
    return tuple(GpuLinkStates(int(gpu), row.count("U"), row.count("D"), row.count("X")) for gpu, row in blocks)


def table_counts(text: str) -> tuple[tuple[str, int], ...]:
    """The counters above nought of the table with a line `Link n` over or beside its counters."""
    link, found = "", []
    for line in text.split("\n"):
        cells = [cell.strip().removeprefix("->").strip() for cell in line.strip().strip("|").split("|")]
        if re.fullmatch(r"Link \d{1,4}", cells[0]):
            link = cells[0]
        count = whole(cells[-1]) if link and len(cells) > 1 else None
        if count:
            found.append((f"{link} {cells[-2]}", count))
    return tuple(found)


def error_counts(body: dict[str, Any]) -> tuple[tuple[str, int], ...] | None:
    """NVLink error counters above nought as ("Link 1 Replay Error", 3); None when there is no link in `body`."""
    links = {name: member(one, "children") for name, one in body.items() if re.fullmatch(r"Link \d+", name)}
    if not links:
        return None
    told = [
        (f"{link} {name}", whole(str(member(counts, name).get("value"))))
        for link, counts in links.items()
        for name in counts
    ]
    return tuple((name, count) for name, count in told if count)
