"""What does the log of a training say: loss, speed, drift, and what went wrong?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable, UsageError
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.task import TaskEnd
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import document
from gpulease_gui.facts.train_curve import Rates, Unit
from gpulease_gui.facts.train_faults import Fault, FaultKind
from gpulease_gui.facts.train_forms import FORMS
from gpulease_gui.facts.train_reader import LogReader, plain_line

FACT = Fact(id="train_log", title=Text("Training log", "训练日志"), ok_codes=None, any_end=True)
TASK_FAILED = "task_failed"  # reason code of a task that broke off by itself
_HEAD = "# gpulease log "
_HEAD_MOST = 8000
_MOST_STALLS = 20
_HEAD_NUMBER = 1e15
ENOUGH = 3  # a log with fewer steps after the warm-up is none to judge


@dataclass(frozen=True, slots=True)
class LogAbout:
    """What was seen beside a log when we ran its task; all empty for a log that was sent to us.

    `end` as domain.task.TaskEnd, `exit_code` of the command, `left_out_bytes` of the log between its head and its tail,
    `gpu_use` the median use per GPU (UUID) in per cent while it ran, `pattern` the user's own. `stalls` are the times in
    which neither the log went on nor a GPU worked: the line before, seconds, the last step (-1: it had no number).
    """

    end: str = ""
    exit_code: int | None = None
    left_out_bytes: int = 0
    gpu_use: tuple[tuple[str, float], ...] = ()
    pattern: str = ""
    stalls: tuple[tuple[int, int, int], ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the task broke off by itself."""
        return self.end in (TaskEnd.FAILED, TaskEnd.OUT_OF_SPACE, TaskEnd.NO_TOOL)


NOTHING_KNOWN = LogAbout()
READ_THE_LOG = "read the last lines of its log: they say why"


@dataclass(frozen=True, slots=True)
class TrainLog:
    """One log. `form` names the trainer whose lines were found (or "own pattern").

    `steps` counts lines with a step or a loss, `last_step` is the highest number told. `rates` holds one entry per unit of
    speed that the log tells, the first is the trainer's own; the warm-up is not part of it. `faults` are NaN, OOM, CUDA and
    NCCL errors and stalls with their line. `lines` were read, `cut_lines` of them only in part. `about` is what we know of
    the run that the log itself does not say.
    """

    form: str
    steps: int
    last_step: int | None
    first_loss: float | None
    last_loss: float | None
    rates: tuple[Rates, ...]
    faults: tuple[Fault, ...]
    lines: int
    cut_lines: int = 0
    about: LogAbout = NOTHING_KNOWN

    def speed(self, unit: Unit) -> Rates | None:
        """The rates of one unit; None if the log does not tell it."""
        return next((one for one in self.rates if one.unit is unit), None)


def parse(output: CommandOutput) -> TrainLog:
    """Read a whole log. Raises Unreadable where no trainer's lines stand in it."""
    about, text = _about(output)
    reader = LogReader(about.pattern)
    try:
        reader.feed(text)
    except UsageError as error:
        raise Unreadable(error.what, next_step=error.next_step) from error
    return log_of(reader, about)


def head_line(about: LogAbout) -> bytes:
    """The line that stands before a log of our own running, so that it can be read again as it was."""
    told = {"end": about.end, "left_out_bytes": about.left_out_bytes, "gpu_use": about.gpu_use, "pattern": about.pattern, "stalls": about.stalls}
    return f"{_HEAD}{json.dumps(told)}\n".encode()


def without_head(content: bytes) -> bytes:
    """The log alone, as the task printed it."""
    first, _, rest = content.partition(b"\n")
    return rest if first.startswith(_HEAD.encode()) and len(first) <= _HEAD_MOST else content


def _about(output: CommandOutput) -> tuple[LogAbout, str]:
    """What our own first line says, and the log behind it. A line that says it wrongly is a part of the log."""
    first, _, rest = output.text.partition("\n")
    about = _told(first[len(_HEAD) :], output.exit_code) if first.startswith(_HEAD) and len(first) <= _HEAD_MOST else None
    return (LogAbout(), output.text) if about is None else (about, rest)


def _told(words: str, exit_code: int | None) -> LogAbout | None:
    """What `head_line` wrote; None for everything that it does not write."""
    try:
        told = document(words)
        use = tuple((_text(uuid)[:80], float(_number(share))) for uuid, share in _rows(told, "gpu_use", 2))
        stalls = tuple((int(_number(line)), int(_number(took)), int(_number(step))) for line, took, step in _rows(told, "stalls", 3))
        end, pattern, left = _text(told.get("end", "")), _text(told.get("pattern", "")), int(_number(told.get("left_out_bytes", 0)))
        if pattern:
            LogReader(pattern)
    except (Unreadable, UsageError, _NotOurs):
        return None
    return LogAbout(end, exit_code, max(0, left), use, pattern, stalls[:_MOST_STALLS])


class _NotOurs(Exception):
    """A first line that we never wrote."""


def _text(found: object) -> str:
    if not isinstance(found, str):
        raise _NotOurs
    return found


def _number(found: object) -> float:
    if isinstance(found, bool) or not isinstance(found, int | float) or not abs(found) < _HEAD_NUMBER:
        raise _NotOurs
    return found


def _rows(told: Mapping[str, object], name: str, width: int) -> list[list[object]]:
    rows = told.get(name) or []
    if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == width for row in rows):
        raise _NotOurs
    return rows


def read_log(pieces: Iterable[str], pattern: str = "") -> TrainLog:
    """Read a log piece by piece, in bounded memory whatever its length; `pattern` is the user's own instead of the known ones.

    Raises Unreadable (no steps, too few after the warm-up), UsageError for a pattern that cannot be used.
    """
    reader = LogReader(pattern)
    for piece in pieces:
        reader.feed(piece)
    return log_of(reader)


def log_of(reader: LogReader, about: LogAbout = NOTHING_KNOWN) -> TrainLog:
    """What the reader has found so far. Raises Unreadable where that is neither a speed nor a fault."""
    reader.close()
    curve = reader.curve
    log = TrainLog(
        reader.form, curve.steps, curve.last_step, curve.first_loss, curve.last_loss, curve.rates(), _faults(reader, about), reader.lines,
        reader.cut_lines, about,
    )  # fmt: skip
    enough = any(one.n >= ENOUGH for one in log.rates)
    if enough or log.faults:
        # Without a speed to judge, the fault is what the log has to say.
        return replace(log, rates=tuple(one for one in log.rates if one.n >= ENOUGH))
    if about.failed:
        raise Unreadable(_failed(about), code=TASK_FAILED, next_step=READ_THE_LOG, reading=log)
    if about.end in (TaskEnd.CUT, TaskEnd.CANCELLED, TaskEnd.REFUSED) :
        code = Reason.CONNECTION_LOST if about.end == TaskEnd.CUT else Reason.NOT_COLLECTED
        raise Unreadable("the task was ended before its speed could be told", code=code, reading=log)
    if not curve.steps:
        raise Unreadable("no line of a known trainer in this log", next_step="try a pattern of your own: named groups loss, step, tokens_s")
    words = "no speed is told after the warm-up" if curve.steps >= ENOUGH else "the log ends before its warm-up does"
    raise Unreadable(words, code=Reason.NOT_COLLECTED, reading=log)


def _faults(reader: LogReader, about: LogAbout) -> tuple[Fault, ...]:
    """What the log reports, and what was seen beside it, in the order of the lines."""
    stood = [Fault(FaultKind.STALL, line, _stood(seconds, step)) for line, seconds, step in about.stalls]
    return tuple(sorted((*reader.faults.found(), *stood), key=lambda fault: fault.number)) if stood else reader.faults.found()


def _stood(seconds: int, step: int) -> str:
    after = f" after step {step}" if step >= 0 else ""
    return f"(no progress for {seconds} s{after}, and no GPU at work)"


def _failed(about: LogAbout) -> str:
    code = "" if about.exit_code is None else f" with exit code {about.exit_code}"
    return f"the task broke off{code} before its speed could be told"


def as_dict(reading: TrainLog) -> dict[str, object]:
    """form, steps, last_step, losses, lines; per unit n, median, p5, p95, drift (share); faults as [kind, line number, line]."""
    return {
        "form": reading.form, "steps": reading.steps, "last_step": reading.last_step, "first_loss": reading.first_loss,
        "last_loss": reading.last_loss, "rates": {str(one.unit): _rates(one) for one in reading.rates},
        "faults": [[str(f.kind), f.number, f.line] for f in reading.faults], "lines": reading.lines, "cut_lines": reading.cut_lines,
    }  # fmt: skip


def _rates(one: Rates) -> dict[str, object]:
    figures: Sequence[tuple[str, float | None]] = (("median", one.median), ("p5", one.p5), ("p95", one.p95), ("drift", one.drift))
    return {"n": one.n, **{name: None if value is None else float(f"{value:.5g}") for name, value in figures}}


def recognise(text: str) -> int:
    """How many of the first lines a trainer's form knows; three are enough."""
    lines = [plain_line(line[:2000])[1] for line in re.split(r"[\r\n]+", text[:60_000])[:600]]
    best = max((sum(form.knows(line) for line in lines) for form in FORMS), default=0)
    return min(80, 40 + 8 * best) if best >= ENOUGH else 0
