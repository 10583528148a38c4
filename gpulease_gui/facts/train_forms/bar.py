"""What does a progress bar (tqdm) say?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpulease_gui.facts.train_forms.form import PLAIN, value

_BAR = re.compile(r"(?P<percent>\d{1,3})%\|[^|]{0,200}\| *(?P<at>\d{1,12})/(?P<of>\d{1,12}) \[[\d:?]{1,12}<[^,\]]{1,20}, {1,4}(?P<rate>" + PLAIN + r"[kM]?)(?P<unit>s/it|it/s)")


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar at `at` of `of`; `head` is what stands before it, `tail` behind. Seconds per step; None = not told."""

    at: int
    of: int
    step_s: float | None
    head: str
    tail: str


def bar_in(line: str) -> Bar | None:
    """The bar of a line; None if there is none."""
    found = _BAR.search(line) if "%|" in line else None
    if found is None:
        return None
    rate = value(found["rate"])
    step_s = rate if found["unit"] == "s/it" else 1 / rate if rate else None
    return Bar(int(found["at"]), int(found["of"]), step_s, line[: found.start()].strip(), line[found.end() :])
