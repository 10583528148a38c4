"""What does the log of a training say: loss, speed, drift, and what went wrong?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.finding import Reason
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import Fact
from gpulease_gui.facts.train_curve import Rates, Unit
from gpulease_gui.facts.train_faults import Fault
from gpulease_gui.facts.train_forms import FORMS
from gpulease_gui.facts.train_reader import LogReader

FACT = Fact(id="train_log", title=Text("Training log", "训练日志"), ok_codes=None)
_ENOUGH = 3  # a log with fewer steps after the warm-up is none to judge


@dataclass(frozen=True, slots=True)
class TrainLog:
    """One log. `form` names the trainer whose lines were found (or "own pattern").

    `steps` counts lines with a step or a loss, `last_step` is the highest number told. `rates` holds one entry per unit of
    speed that the log tells, the first is the trainer's own; the warm-up is not part of it. `faults` are NaN, OOM, CUDA and
    NCCL errors and stalls with their line. `lines` were read, `cut_lines` of them only in part.
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

    def speed(self, unit: Unit) -> Rates | None:
        """The rates of one unit; None if the log does not tell it."""
        return next((one for one in self.rates if one.unit is unit), None)


def parse(output: CommandOutput) -> TrainLog:
    """Read a whole log. Raises Unreadable where no trainer's lines stand in it."""
    return read_log([output.text])


def read_log(pieces: Iterable[str], pattern: str = "") -> TrainLog:
    """Read a log piece by piece, in bounded memory whatever its length; `pattern` is the user's own instead of the known ones.

    Raises Unreadable (no steps, too few after the warm-up), UsageError for a pattern that cannot be used.
    """
    reader = LogReader(pattern)
    for piece in pieces:
        reader.feed(piece)
    return log_of(reader)


def log_of(reader: LogReader) -> TrainLog:
    """What the reader has found so far. Raises Unreadable where that is nothing to go by."""
    reader.close()
    curve = reader.curve
    log = TrainLog(
        reader.form, curve.steps, curve.last_step, curve.first_loss, curve.last_loss, curve.rates(), reader.faults.found(), reader.lines,
        reader.cut_lines,
    )  # fmt: skip
    if not curve.steps and not log.faults:
        raise Unreadable("no line of a known trainer in this log", next_step="try a pattern of your own: named groups loss, step, tokens_s")
    if not any(one.n >= _ENOUGH for one in log.rates):
        words = "no speed is told after the warm-up" if curve.steps >= _ENOUGH else "the log ends before its warm-up does"
        raise Unreadable(words, code=Reason.NOT_COLLECTED, reading=log)
    return log


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
    lines = re.split(r"[\r\n]+", text[:60_000])[:600]
    best = max((sum(form.knows(line[:2000]) for line in lines) for form in FORMS), default=0)
    return min(80, 40 + 8 * best) if best >= _ENOUGH else 0
