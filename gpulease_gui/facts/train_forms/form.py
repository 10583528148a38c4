"""What does a line of a trainer say, and how are its numbers written?"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from gpulease_gui.facts.train_curve import Unit

# A number as it stands whole: what is taken in part (`1.54` of `1.54e+06`, `12` of `12k`) would be another number.
# Commas only between groups of three, k and M only where they stand for a thousand and a million by themselves.
PLAIN = r"(?>(?:\d{1,3}(?:,\d{3}){1,6}(?!,?\d)|\d{1,40})(?:\.\d{0,40})?|\.\d{1,40})(?>(?:[eE][-+]?\d{1,6})?)(?>(?:[kKM](?![A-Za-z]))?)"
# What may not follow: more digits, and letters that stand for a size nobody can be sure of.
NUMBER = r"[-+]?" + PLAIN + r"(?![.,]?\d|[GTB](?![A-Za-z]))|[-+]?(?:nan|NaN|NAN|Infinity|inf|Inf|INF)(?!(?!ms)[A-Za-z])"
_WRITTEN = re.compile(NUMBER)
_TIMES = {"k": 1e3, "K": 1e3, "M": 1e6}
# No machine does so much of anything: it is the figure of a broken counter.
MOST = 1e18


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
    """A finite number as NUMBER writes it; None for NaN, Inf, no text, and what is written otherwise (`1,5`)."""
    words = (text or "").strip()
    if _WRITTEN.fullmatch(words) is None:
        return None
    times = _TIMES.get(words[-1], 1.0)
    found = float(words.rstrip("kKM").replace(",", "")) * times
    return found if math.isfinite(found) else None


def is_bad(text: str | None) -> bool:
    """Whether a loss is written as NaN or Inf."""
    return bool(text) and re.fullmatch(r"\s*[-+]?(?:nan|inf|infinity)\s*", text or "", re.IGNORECASE) is not None


def speeds(*told: tuple[Unit, float | None]) -> tuple[tuple[Unit, float], ...]:
    """Those that are numbers."""
    return tuple((unit, found) for unit, found in told if found is not None and found < MOST)
