"""How is a tool's output damaged, and what may a reader or a rule make of a damaged one?"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import time
import tomllib
import tracemalloc
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

from hypothesis import settings
from hypothesis import strategies as st

from gpulease_gui.catalog.terms import validate_term
from gpulease_gui.checks.check import rules
from gpulease_gui.checks.judgement import Evidence, judge
from gpulease_gui.checks.promise import Promise
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason, Verdict, worst
from gpulease_gui.facts.fact import read, readers

TESTS = Path(__file__).parents[1]
# The same inputs in every run, so that a change is what fails a test; the thorough profile looks further.
THOROUGH = settings.default is not None and settings.default.max_examples > 300
EVERY_READER = settings(max_examples=1000 if THOROUGH else 300, deadline=None, derandomize=not THOROUGH, database=None)
SLACK = 2.0 if "PYTEST_XDIST_WORKER" in os.environ else 1.0
MOST_SECONDS = 1.0 * SLACK
MOST_GROWTH = 64 * 1024 * 1024
MOST_BYTES = 1024 * 1024
SMALL_BYTES = 64 * 1024
MOST_CASES = 40  # of one kind, spread over its checks: a whole node's report is dear to read again and again

Mutation = Callable[[bytes, float, bytes], bytes]


@cache
def seeds(kind: str) -> tuple[bytes, ...]:
    """Our own outputs of `kind`, one of every sort of case."""
    return tuple(path.read_bytes() for path in sorted((TESTS / "facts" / kind).glob("*.out")))


@cache
def whole_seeds(kind: str) -> tuple[bytes, ...]:
    """Those outputs of `kind` that are read without complaint; what was written to mislead is no valid output."""
    paths = sorted((TESTS / "facts" / kind).glob("*.out"))
    honest = (path.read_bytes() for path in paths if not path.name.startswith("hostile"))
    return tuple(raw for raw in honest if outcome(kind, raw)[1] is None)


@cache
def every_seed() -> tuple[bytes, ...]:
    """The outputs of all kinds: what may stand beside or inside another one."""
    return tuple(path.read_bytes() for path in sorted((TESTS / "facts").glob("*/*.out")))


def _at(raw: bytes, where: float) -> int:
    return int(len(raw) * where)


def _line(raw: bytes, where: float) -> tuple[int, int]:
    start = raw.rfind(b"\n", 0, _at(raw, where)) + 1
    end = raw.find(b"\n", start)
    return start, len(raw) if end < 0 else end + 1


def cut(raw: bytes, where: float, other: bytes) -> bytes:
    """The head, up to any byte."""
    return raw[: _at(raw, where)]


def behead(raw: bytes, where: float, other: bytes) -> bytes:
    """The tail, from any byte."""
    return raw[_at(raw, where) :]


def splice(raw: bytes, where: float, other: bytes) -> bytes:
    """`other` pushed in at any byte."""
    return raw[: _at(raw, where)] + other + raw[_at(raw, where) :]


def half_and_half(raw: bytes, where: float, other: bytes) -> bytes:
    """The head of one and the tail of the other."""
    return raw[: _at(raw, where)] + other[_at(other, where) :]


def overwrite(raw: bytes, where: float, other: bytes) -> bytes:
    """Some bytes replaced by others."""
    return raw[: _at(raw, where)] + other[:40] + raw[_at(raw, where) + len(other[:40]) :]


def double_line(raw: bytes, where: float, other: bytes) -> bytes:
    """One line printed twice."""
    start, end = _line(raw, where)
    return raw[:end] + raw[start:end] + raw[end:]


def drop_line(raw: bytes, where: float, other: bytes) -> bytes:
    """One line missing."""
    start, end = _line(raw, where)
    return raw[:start] + raw[end:]


def colour(raw: bytes) -> bytes:
    """Every number in red, as a pager or a highlighter leaves it."""
    return re.sub(rb"\d+", lambda digits: b"\x1b[1;31m" + digits[0] + b"\x1b[0m", raw)


def _always(change: Callable[[bytes], bytes]) -> Mutation:
    return lambda raw, where, other: change(raw)


WHERE: tuple[Mutation, ...] = (cut, behead, splice, half_and_half, overwrite, double_line, drop_line)
WHOLE: tuple[Mutation, ...] = tuple(
    map(
        _always,
        (
            colour,
            lambda raw: raw.replace(b"\n", b"\r\n"),
            lambda raw: raw.replace(b"\n", b"\r"),
            lambda raw: raw.replace(b"\t", b" "),
            lambda raw: raw.replace(b"    ", b"\t"),
            lambda raw: raw.replace(b" ", b"      "),
            lambda raw: raw.replace(b"\n", b""),
            lambda raw: raw.replace(b"\n", b"\n\n"),
            lambda raw: b"> " + raw.replace(b"\n", b"\n> "),
            lambda raw: b"\xef\xbb\xbf" + raw,
            lambda raw: raw.decode("utf-8", "replace").encode("utf-16"),
            lambda raw: raw + raw,
            lambda raw: re.sub(rb"\d", b"9999999999", raw),
            lambda raw: re.sub(rb"\d+", b"-1", raw),
            lambda raw: re.sub(rb"\d+", b"N/A", raw),
        ),
    )
)


@cache
def damaged(kind: str) -> st.SearchStrategy[bytes]:
    """An output of `kind` after up to three mutations, at most 64 KiB of it."""
    other = st.one_of(st.binary(max_size=40), st.sampled_from(every_seed()))
    changes = st.lists(st.tuples(st.sampled_from(WHERE + WHOLE), st.floats(0, 1), other), min_size=1, max_size=3)
    return st.builds(_changed, st.sampled_from(seeds(kind)), changes)


def _changed(raw: bytes, changes: Iterable[tuple[Mutation, float, bytes]]) -> bytes:
    for change, where, other in changes:
        raw = change(raw, where, other)[:SMALL_BYTES]
    return raw


def outcome(kind: str, raw: bytes, *, capped: bool = False) -> tuple[dict[str, object] | None, str | None]:
    """(keys, reason code): what is read, also from what an Unreadable still says. Any other error is the parser's."""
    reader = readers()[kind]
    try:
        reading, code = reader.parse(CommandOutput(raw, stdout_cut=capped)), None
    except Unreadable as error:
        assert error.reason and error.code
        reading, code = error.reading, str(error.code)
    return None if reading is None else reader.as_dict(reading), code


def check_ends_well(kind: str, raw: bytes) -> None:
    """A reading that can be written down, or Unreadable, within a second; and an opinion from 0 to 100 on the kind."""
    begun = time.thread_time()
    keys, _ = outcome(kind, raw)
    sure = readers()[kind].recognise(raw.decode("utf-8", "replace"))
    taken = time.thread_time() - begun
    json.dumps(keys, allow_nan=False)
    assert 0 <= sure <= 100
    assert taken < MOST_SECONDS, f"{taken:.2f} s of CPU for {len(raw):,} bytes"


def big(kind: str) -> Iterator[bytes]:
    """Four inputs of 1 MiB: records without end, one line without end, blanks without end, a wall of numbers."""
    seed = max(whole_seeds(kind), key=len)
    yield (seed * (MOST_BYTES // len(seed) + 1))[:MOST_BYTES]
    yield (seed.replace(b"\n", b" ").replace(b"\r", b"") * (MOST_BYTES // len(seed) + 1))[:MOST_BYTES]
    wide = seed.replace(b" ", b" " * (MOST_BYTES // (seed.count(b" ") + 1)))
    yield (wide + b" " * MOST_BYTES)[:MOST_BYTES]
    yield (seed + b"1234567890 " * (MOST_BYTES // 11))[:MOST_BYTES]


def check_costs_little(kind: str, raw: bytes) -> None:
    """`raw` ends well within a second of CPU and 64 MiB of growth; the two are measured apart, since one slows the other."""
    check_ends_well(kind, raw)
    tracemalloc.start()
    try:
        outcome(kind, raw)
        grown = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert grown < MOST_GROWTH, f"{grown / 2**20:.0f} MiB for {len(raw):,} bytes"


def cut_points(raw: bytes, most: int, first: int = 0) -> Iterable[int]:
    """Every byte, or about `most` of them in odd steps from `first` on: lines of even length are met at every column."""
    step = max(1, len(raw) // most)
    return range(first % step, len(raw), step if step == 1 else step | 1)


def inventions(part: object, whole: object, path: str = "", counts: Collection[str] = ()) -> list[str]:
    """What `part` says that `whole` does not, by position. A value may be missing; a count in `counts` may be lower."""
    if part is None or part == whole:
        return []
    if path.split("[")[0] in counts:
        return []
    if isinstance(part, dict) and isinstance(whole, dict):
        return [f for k, v in part.items() for f in inventions(v, whole.get(k), f"{path}.{k}" if path else k, counts)]
    if isinstance(part, list | tuple) and isinstance(whole, list | tuple):
        beside = [*whole, *[None] * (len(part) - len(whole))]
        return [
            found
            for n, (one, true) in enumerate(zip(part, beside, strict=False))
            for found in inventions(one, true, f"{path}[{n}]", counts)
        ]
    return [f"{path}: {part!r} instead of {whole!r}"]


def inventions_of_cuts(kind: str, raw: bytes, most: int, counts: Collection[str] = ()) -> list[str]:
    """What is read from any head of `raw` and not from all of it, with the cut's place."""
    whole, code = outcome(kind, raw)
    assert whole is not None and code is None, "an output that is read without complaint"
    found = []
    for at in cut_points(raw, most):
        keys, _ = outcome(kind, raw[:at])
        found += [f"byte {at}: {what}" for what in inventions(keys or {}, whole, counts=counts)]
    return found


@cache
def case_runner() -> ModuleType:
    """The runner of tests/checks: its readings of a case's outputs are cut here."""
    spec = importlib.util.spec_from_file_location("case_runner", TESTS / "checks" / "test_cases.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def failing_cases(kind: str) -> tuple[Path, ...]:
    """The cases of tests/checks whose check reads `kind` and fails by more than a contradiction.

    A contradiction needs both of its sources: with one of them cut there is none left to see.
    """
    users = [id_ for id_, rule in rules().items() if kind in (*rule.check.facts, *rule.check.optional)]
    paths = [path for id_ in sorted(users) for path in sorted((TESTS / "checks" / id_).glob("*.toml"))]
    told = [p for p in paths if kind in _outputs(p) and any(e.get("verdict") == "fail" for e in _case(p)["expect"])]
    some = told if THOROUGH else told[:: len(told) // MOST_CASES + 1]
    return tuple(path for path in some if _fails(path))


def _fails(path: Path) -> bool:
    findings = judge(rules()[path.parent.name], _evidence(path), _promise(path))
    return any(f.verdict is Verdict.FAIL and f.reason_code != Reason.INCONSISTENT for f in findings)


@cache
def _case(path: Path) -> dict:
    return tomllib.loads(path.read_text("utf-8"))


def _outputs(path: Path) -> dict:
    return _case(path).get("outputs", {})


@cache
def _promise(path: Path) -> Promise:
    runner, case = case_runner(), _case(path)
    terms = {key: validate_term(key, value, runner.catalogue()) for key, value in case.get("terms", {}).items()}
    return Promise(runner.catalogue(), terms, case.get("seconds"), runner.history_of(case))


@cache
def _evidence(path: Path) -> dict[str, Evidence]:
    return {fact_id: case_runner().evidence_of(fact_id, spec) for fact_id, spec in _outputs(path).items()}


def _verdict(path: Path, changed: dict[str, Evidence]) -> Verdict:
    findings = judge(rules()[path.parent.name], {**_evidence(path), **changed}, _promise(path))
    return worst(finding.verdict for finding in findings)


def _cut_evidence(kind: str, raw: bytes, exit_code: int | None) -> Evidence:
    try:
        return Evidence(read(readers()[kind], CommandOutput(raw, exit_code=exit_code)), None, "0" * 64)
    except Unreadable as error:
        return Evidence(None, error, "0" * 64)


def passes_by_a_cut(kind: str, most: int) -> list[str]:
    """Cases that fail with the whole output of `kind` and pass with a head of it; about `most` heads in all cases together."""
    found = []
    cases = failing_cases(kind)
    for number, path in enumerate(cases):
        output = case_runner().output_of(_outputs(path)[kind])
        for at in cut_points(output.stdout, max(2, most // len(cases)), first=number * 7919):
            verdict = _verdict(path, {kind: _cut_evidence(kind, output.stdout[:at], output.exit_code)})
            if verdict is Verdict.PASS:
                found.append(f"{path.parent.name}/{path.stem} at byte {at}")
    return found


__all__ = [
    "EVERY_READER", "MOST_BYTES", "big", "check_costs_little", "check_ends_well", "cut_points", "damaged",
    "every_seed", "failing_cases", "inventions", "inventions_of_cuts", "outcome", "passes_by_a_cut", "seeds", "whole_seeds",
]  # fmt: skip
