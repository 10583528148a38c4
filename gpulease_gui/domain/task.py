"""What is a task of one's own that runs on a node, how far is it, and how did it end?"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from gpulease_gui.domain.secret import Secret
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import NO_TEXT, Text

DOTS = "•••"
_SECRET_NAME = re.compile(r"TOKEN|KEY|SECRET|PASS|PWD|CREDENTIAL|AUTH|DSN|COOKIE|PRIVATE|BEARER|_PAT$|^PAT$|SAS", re.IGNORECASE)
# user:password@ in an address, a private key, a signed token: secrets under any name.
_SECRET_VALUE = re.compile(r"://[^/\s@]*:[^/\s@]+@|-----BEGIN |^eyJ[\w-]+\.[\w-]+\.|^(?:gh[pousr]_|hf_|sk-|AKIA)\w", re.IGNORECASE)


class SourceKind(StrEnum):
    """Where a task comes from."""

    SCRIPT = "script"
    FOLDER = "folder"
    BUILTIN = "builtin"
    LOG = "log"


@dataclass(frozen=True, slots=True)
class TaskSource:
    """`place`: a path on this computer (script, folder), the id of a built-in task, or a log's path on the node."""

    kind: SourceKind
    place: str


class ContainerTool(StrEnum):
    """What runs the container; AUTO takes the first that the node has."""

    AUTO = "auto"
    DOCKER = "docker"
    PODMAN = "podman"
    ENROOT = "enroot"


@dataclass(frozen=True, slots=True)
class TaskContainer:
    """An image that the node loads itself. `network`: as --network of the tool names it, "" = the tool's default."""

    image: str
    tool: ContainerTool = ContainerTool.AUTO
    network: str = ""


@dataclass(frozen=True, slots=True)
class TaskVariable:
    """One environment variable; the value of a secret one is never stored, logged or shown."""

    name: str
    value: str | Secret

    @property
    def secret(self) -> bool:
        """Whether only dots may be shown."""
        return isinstance(self.value, Secret)

    @property
    def shown(self) -> str:
        """The value, or dots."""
        return DOTS if isinstance(self.value, Secret) else self.value


def variable(name: str, value: str) -> TaskVariable:
    """A variable. It is a secret by its name (TOKEN, KEY, SECRET, PASSWORD, AUTH, DSN ...) or by its value (an address with a password)."""
    return TaskVariable(name, Secret(value) if _SECRET_NAME.search(name) or _SECRET_VALUE.search(value) else value)


@dataclass(frozen=True, slots=True)
class TaskSize:
    """How much is sent: bytes and entries (files and folders)."""

    size_bytes: int
    entries: int


@dataclass(frozen=True, slots=True)
class TaskSpec:
    """What is to run.

    `command` is a sh text, run in the folder that was sent ("" for a built-in task or a log). `time_limit_s` is for the
    command alone, `scratch_gib` the most that it may write. `pattern` reads its log in place of the known trainers'.
    `serves` are the promises (term key, value) that it is to prove, `size` is filled in by `measured`.
    """

    name: str
    source: TaskSource
    command: str = ""
    environment: tuple[TaskVariable, ...] = ()
    time_limit_s: int = 1200
    keep_folder: bool = False
    pattern: str = ""
    serves: tuple[tuple[str, TermValue], ...] = ()
    container: TaskContainer | None = None
    size: TaskSize | None = None
    scratch_gib: float = 8.0

    def hidden(self) -> TaskSpec:
        """The same with dots at the place of every secret: what is stored and shown."""
        return replace(self, environment=tuple(TaskVariable(v.name, v.shown) for v in self.environment))


class TaskPhase(StrEnum):
    """How far a task is."""

    QUEUED = "queued"
    SENDING = "sending"
    RUNNING = "running"
    STOPPING = "stopping"
    COLLECTING = "collecting"
    ENDED = "ended"


class TaskEnd(StrEnum):
    """How a task ended. `finished` = exit code 0; `failed` = another one, or a signal that was not ours.

    `time_limit`, `cancelled`, `cut` (the line was lost): ended by us. `refused`: the node or we would not run it; `no_tool`:
    a program that it needs is missing there; `out_of_space`: it wrote more than it may; `error`: our own fault.
    """

    FINISHED = "finished"
    FAILED = "failed"
    TIME_LIMIT = "time_limit"
    CANCELLED = "cancelled"
    CUT = "cut"
    REFUSED = "refused"
    NO_TOOL = "no_tool"
    OUT_OF_SPACE = "out_of_space"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class TaskRate:
    """The speeds in one unit after the warm-up (`warmup` values left out): n, median, p5, p95, drift (share) or None.

    `unit` as facts.train_curve.Unit writes it: tokens/s, samples/s, tokens/s per GPU, s/step, TFLOP/s per GPU.
    """

    unit: str
    n: int
    median: float
    p5: float
    p95: float
    drift: float | None
    warmup: int


@dataclass(frozen=True, slots=True)
class TaskFault:
    """A line of the log that reports trouble: kind as facts.train_faults.FaultKind, its number from 1, its words."""

    kind: str
    number: int
    line: str


@dataclass(frozen=True, slots=True)
class TaskPoint:
    """One line of progress, `at_s` seconds after the start of the command (None: not known, as of a pasted log)."""

    at_s: float | None
    step: int | None
    loss: float | None
    speeds: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class TaskReading:
    """What the log says. `form` names the trainer ("own pattern" for a pattern); `points` are its curve, thinned evenly."""

    form: str
    steps: int
    last_step: int | None
    first_loss: float | None
    last_loss: float | None
    rates: tuple[TaskRate, ...]
    faults: tuple[TaskFault, ...]
    lines: int
    points: tuple[TaskPoint, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """How a running task stands. `seconds` since its command began; `points`, `lines` and `faults` are new ones only.

    `last_words` are the last lines of the log (foreign text, at most 2,000 characters); `log_bytes` all that came so far.
    `waits`: why the file of a log that is followed can't be read now (missing, no_folder, no_file, denied); "" = it is.
    """

    run_id: str
    node_id: str
    phase: TaskPhase
    sent_bytes: int = 0
    total_bytes: int = 0
    seconds: float = 0.0
    log_bytes: int = 0
    log_lines: int = 0
    points: tuple[TaskPoint, ...] = ()
    last_words: str = ""
    faults: tuple[TaskFault, ...] = ()
    form: str = ""
    waits: str = ""


@dataclass(frozen=True, slots=True)
class TaskEnvironment:
    """What the task ran with; None = not told. `container` is tool and image."""

    driver: str | None = None
    cuda: str | None = None
    torch: str | None = None
    python: str | None = None
    container: str | None = None
    gpus: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TaskRun:
    """One run of a task; `id` is also the id of the stored run that holds its evidence and findings.

    `spec` has dots for secrets. `log_sha256` is the evidence with the log: all of it, or its head and tail where
    `log_left_out` > 0 bytes between them were not kept; `log_bytes` is what the task printed. `kept_folder` is on the
    node, `remove_command` removes it. `repeat_command` is the `gpulease` line that runs it again. `left_processes` of the
    task still ran at its end and were ended; `clean` = no process and no file was seen afterwards (None: not seen, as
    of a cut line).
    """

    id: str
    spec: TaskSpec
    node_id: str
    started_at: datetime
    ended_at: datetime | None = None
    end: TaskEnd | None = None
    exit_code: int | None = None
    reason: Text = NO_TEXT
    next_step: Text = NO_TEXT
    seconds: float | None = None
    log_sha256: str | None = None
    log_bytes: int = 0
    log_left_out: int = 0
    reading: TaskReading | None = None
    environment: TaskEnvironment = field(default_factory=TaskEnvironment)
    kept_folder: str = ""
    kept_bytes: int = 0
    remove_command: str = ""
    repeat_command: str = ""
    left_processes: int = 0
    clean: bool | None = None


def secrets_of(variables: Iterable[TaskVariable]) -> tuple[str, ...]:
    """The secret values themselves, for the one place that removes them from a log."""
    return tuple(v.value.reveal() for v in variables if isinstance(v.value, Secret) and v.value)
