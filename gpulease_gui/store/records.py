"""Which values does the store keep that are no words of the trade?"""

from __future__ import annotations

import hashlib
import os
import zlib
from array import array
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from gpulease_gui.domain.finding import Finding, Value, Verdict
from gpulease_gui.domain.node import HostKey
from gpulease_gui.domain.term import TermValue


def new_id() -> str:
    """32 random hexadecimal digits: the id of a new record."""
    return os.urandom(16).hex()


def new_ids(count: int) -> list[str]:
    """So many ids in rising order: thousands of records in the order of their ids are stored twice as fast as at random."""
    digits = os.urandom(16 * count).hex()
    return sorted(digits[place : place + 32] for place in range(0, 32 * count, 32))


class RunState(StrEnum):
    """What became of a run. Interrupted: the program ended before the run did."""

    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


class RunKind(StrEnum):
    """Whether the node was asked, or the stored evidence of an earlier run was judged again."""

    VERIFIED = "verified"
    REJUDGED = "rejudged"


@dataclass(frozen=True, slots=True)
class Run:
    """One verification of one node. Times are UTC on our clock.

    `terms` are the promises as they stood when the run began, by term key. `clock_offset_s` is node minus ours, in
    seconds; None if the node's clock was not read. `overall` is None until the run is over. `original_id` is the run whose
    evidence a re-judged one read; that one has no evidence lines of its own. Of a verification it says that only some
    checks were asked: the newest whole run then, which the answer joins, or its own id where there was none.
    """

    id: str
    node_id: str
    started_at: datetime
    contract_id: str | None = None
    finished_at: datetime | None = None
    state: RunState = RunState.RUNNING
    overall: Verdict | None = None
    tool_version: str = ""
    host_key: HostKey | None = None
    demo: bool = False
    clock_offset_s: float | None = None
    terms: tuple[tuple[str, TermValue], ...] = ()
    kind: RunKind = RunKind.VERIFIED
    original_id: str | None = None

    @property
    def is_part(self) -> bool:
        """Whether only some checks were asked; such a run accepts no node."""
        return self.kind is RunKind.VERIFIED and self.original_id is not None

    @property
    def joins(self) -> str | None:
        """The whole run that this part belongs to."""
        return self.original_id if self.is_part and self.original_id != self.id else None

    @property
    def evidence_run(self) -> str:
        """The run that holds the outputs which this one judges."""
        return self.original_id if self.kind is RunKind.REJUDGED and self.original_id is not None else self.id


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """A finding as it was saved; findings are never changed, the newest of a (check, term, direction) counts."""

    id: str
    run_id: str
    saved_at: datetime
    finding: Finding


@dataclass(frozen=True, slots=True)
class EvidenceBlob:
    """Raw output under the SHA-256 of its full bytes. `packed` is zlib, `full_size` in bytes.

    `cut` says that the bytes are only the head of what the node wrote.
    """

    sha256: str
    packed: bytes
    full_size: int
    cut: bool = False

    @classmethod
    def of(cls, content: bytes, *, cut: bool = False) -> EvidenceBlob:
        """Hash and pack `content`; do it before the writer's turn, 8 MiB take a fifth of a second."""
        return cls(hashlib.sha256(content).hexdigest(), zlib.compress(content, 6), len(content), cut)


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """How one output came to be: command text, UTC time, exit code (None = its end was not seen), seconds."""

    id: str
    run_id: str
    fact_id: str
    command: str
    collected_at: datetime
    exit_code: int | None
    seconds: float
    stdout_sha256: str
    stderr_sha256: str | None = None
    stdout_cut: bool = False
    stderr_cut: bool = False


class SightingKind(StrEnum):
    """By what a machine or a card is known again."""

    UUID = "uuid"
    SERIAL = "serial"
    BOOT_ID = "boot_id"
    MACHINE_ID = "machine_id"


@dataclass(frozen=True, slots=True)
class Sighting:
    """A mark of a machine that a run read. `faulty`: that run failed this card in a health check."""

    run_id: str
    node_id: str
    seen_at: datetime
    kind: SightingKind
    value: str
    faulty: bool = False


@dataclass(frozen=True, slots=True)
class PastedOutput:
    """One output that a supplier sent: its kind (None = not recognised), the file it came from, the command in it."""

    fact_id: str | None
    source: str
    command: str
    sha256: str
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Paste:
    """What was pasted at one time and judged against `terms`. It belongs to no node: nobody saw where it came from."""

    id: str
    pasted_at: datetime
    outputs: tuple[PastedOutput, ...]
    findings: tuple[Finding, ...]
    overall: Verdict
    contract_id: str | None = None
    terms: tuple[tuple[str, TermValue], ...] = ()
    tool_version: str = ""


class KeyState(StrEnum):
    """What was decided about a host key."""

    TRUSTED = "trusted"
    REPLACED = "replaced"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class KeyDecision:
    """One line in the history of a node's host keys.

    `compared_with` says how the key was checked (such as "fingerprint from the supplier"), `by` who decided; `place`: where the record
    led then, "" = not known (an older program).
    """

    node_id: str
    key: HostKey
    state: KeyState
    decided_at: datetime
    compared_with: str = ""
    by: str = ""
    why: str = ""
    place: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart: a metric of one subject (GPU UUID, interface, device; empty = the node)."""

    node_id: str
    metric: str
    subject: str = ""
    unit: str = ""


@dataclass(frozen=True, slots=True)
class SampleBlock:
    """Readings at an even step, about 10 s of them. Times are nanoseconds since 1970 UTC; NaN = not read."""

    series: Series
    start_ns: int
    step_ns: int
    values: array[float]


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch without samples and its reason code; `metric` None = the whole node. `imported`: another computer noted it, and it came in a file."""

    node_id: str
    start_ns: int
    end_ns: int
    reason: str
    metric: str | None = None
    imported: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """What a chart draws of one series: per point its time (ns, UTC), the lowest, the highest and the mean reading, and of how many."""

    series: Series
    times_ns: array[int]
    low: array[float]
    high: array[float]
    mean: array[float] = field(default_factory=lambda: array("f"))
    count: array[int] = field(default_factory=lambda: array("q"))


@dataclass(frozen=True, slots=True)
class SampleRange:
    """The stretches of a metric, one per subject, and the gaps that fall into the time asked for.

    `coarser`: (start, end, length of a summary) in ns of what is not kept as finely any more as was asked for.
    """

    stretches: tuple[Stretch, ...]
    gaps: tuple[Gap, ...]
    coarser: tuple[tuple[int, int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened to a node at one moment, drawn as a line in its charts."""

    id: str
    node_id: str
    at: datetime
    kind: str
    words: str = ""
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A form that was not saved yet: field names with what stands in them."""

    kind: str
    record_id: str
    fields: tuple[tuple[str, Value], ...]
    saved_at: datetime


@dataclass(frozen=True, slots=True)
class Report:
    """A report that was written to a file, with the hash of its bytes."""

    id: str
    sha256: str
    path: str
    language: str
    made_at: datetime
    contract_id: str | None = None
