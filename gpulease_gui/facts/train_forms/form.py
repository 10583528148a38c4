"""What does a line of a trainer say, and how are its numbers written?"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from gpulease_gui.facts.train_curve import Unit

NUMBER = r"[-+]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15})(?:[eE][-+]?\d{1,3})?|[-+]?(?:nan|NaN|NAN|inf|Inf|INF|Infinity)"


@dataclass(frozen=True, slots=True)
class StepLine:
    """One line of progress. `of` is the total of a progress bar: bars of other totals are other work.

    `bad_loss`: the loss is NaN or Inf. A line of speed alone has `counts` False: it is no step of its own.
    """

    step: int | None = None
    loss: float | None = None
    speeds: tuple[tuple[Unit, float], ...] = ()
    bad_loss: bool = False
    of: int | None = None
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Form:
    """A trainer: `read` gives what a line (2,000 characters at most) says, or None. Lower `rank` wins between equals."""

    name: str
    rank: int
    read: Callable[[str], StepLine | None]

    def knows(self, line: str) -> bool:
        """Whether the line is one of this trainer's."""
        return self.read(line) is not None


def value(text: str | None) -> float | None:
    """A finite number; None for NaN, Inf, no text."""
    if not text:
        return None
    try:
        found = float(text.strip().replace(",", ""))
    except ValueError:
        return None
    return found if math.isfinite(found) else None


def is_bad(text: str | None) -> bool:
    """Whether a loss is written as NaN or Inf."""
    return bool(text) and re.fullmatch(r"\s*[-+]?(?:nan|inf|infinity)\s*", text or "", re.IGNORECASE) is not None


def speeds(*told: tuple[Unit, float | None]) -> tuple[tuple[Unit, float], ...]:
    """Those that are numbers."""
    return tuple((unit, found) for unit, found in told if found is not None)
