"""What does the log of a training say: loss, speed, drift, and what went wrong?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.task import TaskEnd
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.json_text import count, document
from gpulease_gui.facts.train_curve import Rates, Unit
from gpulease_gui.facts.train_faults import Fault, FaultKind
from gpulease_gui.facts.train_forms import FORMS
from gpulease_gui.facts.train_reader import LogReader, plain_line

FACT = Fact(id="train_log", title=Text("Training log", "训练日志"), ok_codes=None, any_end=True)
TASK_FAILED = "task_failed"  # reason code of a task that broke off by itself
_HEAD = "# gpulease log "
_HEAD_MOST = 8000
_MOST_STALLS = 20
_ENOUGH = 3  # a log with fewer steps after the warm-up is none to judge


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
    reader.feed(text)
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
    if not first.startswith(_HEAD) or len(first) > _HEAD_MOST:
        return LogAbout(), output.text
    told = document(first[len(_HEAD) :])
    use = tuple((str(uuid)[:80], float(share)) for uuid, share in told.get("gpu_use") or ())
    end, pattern, left = str(told.get("end") or ""), str(told.get("pattern") or ""), count(told, "left_out_bytes")
    stalls = tuple((int(line), int(seconds), int(step)) for line, seconds, step in (told.get("stalls") or ())[:_MOST_STALLS])
    return LogAbout(end, output.exit_code, left or 0, use, pattern, stalls), rest


def read_log(pieces: Iterable[str], pattern: str = "") -> TrainLog:
    """Read a log piece by piece, in bounded memory whatever its length; `pattern` is the user's own instead of the known ones.

    Raises Unreadable (no steps, too few after the warm-up), UsageError for a pattern that cannot be used.
    """
    reader = LogReader(pattern)
    for piece in pieces:
        reader.feed(piece)
    return log_of(reader)


def log_of(reader: LogReader, about: LogAbout = NOTHING_KNOWN) -> TrainLog:
    """What the reader has found so far. Raises Unreadable where that is nothing to go by."""
    reader.close()
    curve = reader.curve
    log = TrainLog(
        reader.form, curve.steps, curve.last_step, curve.first_loss, curve.last_loss, curve.rates(), _faults(reader, about), reader.lines,
        reader.cut_lines, about,
    )  # fmt: skip
    enough = any(one.n >= _ENOUGH for one in log.rates)
    if about.failed and not enough and not log.faults:
        raise Unreadable(_failed(about), code=TASK_FAILED, next_step=READ_THE_LOG, reading=log)
    if about.end in (TaskEnd.CUT, TaskEnd.CANCELLED, TaskEnd.REFUSED) and not enough:
        code = Reason.CONNECTION_LOST if about.end == TaskEnd.CUT else Reason.NOT_COLLECTED
        raise Unreadable("the task was ended before its speed could be told", code=code, reading=log)
    if not curve.steps and not log.faults:
        raise Unreadable("no line of a known trainer in this log", next_step="try a pattern of your own: named groups loss, step, tokens_s")
    if not enough:
        words = "no speed is told after the warm-up" if curve.steps >= _ENOUGH else "the log ends before its warm-up does"
        raise Unreadable(words, code=Reason.NOT_COLLECTED, reading=log)
    return log


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
    return min(80, 40 + 8 * best) if best >= _ENOUGH else 0
