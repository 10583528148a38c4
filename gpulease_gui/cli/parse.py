"""What do saved tool outputs say?"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from gpulease_gui.cli.codes import Exit
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable, UsageError
from gpulease_gui.domain.frame import MAX_STDOUT_BYTES
from gpulease_gui.facts.fact import Reader, read, readers, recognise

UNKNOWN_KIND = "no known tool prints this"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease parse`."""
    parser.add_argument("--kind", help="what the files are; found by itself when left out")
    parser.add_argument("--json", action="store_true", help="one JSON object per file")
    parser.add_argument("files", nargs="+", metavar="FILE", help="saved outputs; - is standard input")


def run(options: argparse.Namespace) -> int:
    """Print one answer per file; exit 1 if any could not be read. Raises UsageError if none could be opened."""
    kinds = readers()
    if options.kind is not None and options.kind not in kinds:
        raise UsageError(f"unknown kind {options.kind!r}", next_step=f"the kinds are {', '.join(kinds)}")
    exit_code, unopened = Exit.OK, []
    for name in options.files:
        try:
            answer = _answer(name, options.kind)
        except UsageError as error:
            unopened.append(error)
            answer = _without_reading(name, error.what if not error.why else f"{error.what}: {error.why}", error.next_step)
        if answer["problem"] is not None:
            exit_code = Exit.FAIL
        print(json.dumps(answer, ensure_ascii=False) if options.json else _for_people(answer))
    if len(unopened) == len(options.files):
        raise unopened[0]
    return exit_code


def _answer(name: str, kind: str | None) -> dict[str, object]:
    data, cut = _bytes_of(name)
    output = CommandOutput(data, stdout_cut=cut)
    kind = kind or recognise(output.text)
    if kind is None:
        return _without_reading(name, UNKNOWN_KIND, "name it with --kind, or paste the output as the tool printed it")
    reading, problem_found = _read(readers()[kind], output)
    return {"file": name, "kind": kind, "reading": reading, "problem": problem_found}


def _without_reading(name: str, reason: str, next_step: str) -> dict[str, object]:
    return {"file": name, "kind": None, "reading": None, "problem": {"reason": reason, "next_step": next_step}}


def _bytes_of(name: str) -> tuple[bytes, bool]:
    try:
        if name == "-":
            data = sys.stdin.buffer.read(MAX_STDOUT_BYTES + 1)
        else:
            with Path(name).open("rb") as file:
                data = file.read(MAX_STDOUT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"can't read {name}", error.strerror or str(error), "check the path") from error
    return data[:MAX_STDOUT_BYTES], len(data) > MAX_STDOUT_BYTES


def _read(reader: Reader, output: CommandOutput) -> tuple[dict[str, object] | None, dict[str, str] | None]:
    try:
        return reader.as_dict(read(reader, output)), None
    except Unreadable as trouble:
        partial = reader.as_dict(trouble.reading) if trouble.reading is not None else None
        return partial, {"reason": trouble.reason, "code": str(trouble.code), "next_step": trouble.next_step}


def _for_people(answer: dict[str, object]) -> str:
    lines = [f"{answer['file']}: {answer['kind'] or 'unknown'}"]
    if answer["problem"]:
        lines.append(f"  problem: {answer['problem']}")
    reading = answer["reading"]
    if isinstance(reading, dict):
        lines += [f"  {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in reading.items() if value is not None]
    return "\n".join(lines)
