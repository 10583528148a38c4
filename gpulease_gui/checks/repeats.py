"""What do one or two measurements of a rate say against the promised one?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpulease_gui.domain.finding import Verdict

# The reason code of a rate that would fail and has to be measured once more.
MEASURED_ONCE = "measured_once"


@dataclass(frozen=True, slots=True)
class Bands:
    """Shares of the promise: from `passes` on a rate passes, from `warns` on it warns, below it is too slow."""

    passes: float
    warns: float

    def of(self, rate: float, promised: float) -> Verdict:
        """What one rate alone says."""
        share = round(rate / promised, 6) if promised > 0 else 1.0
        return Verdict.PASS if share >= self.passes else Verdict.WARN if share >= self.warns else Verdict.FAIL


def judged(rates: Sequence[float], promised: float, bands: Bands) -> tuple[Verdict, str]:
    """Verdict and reason code of the better rate; one bad measurement alone can be bad luck and only warns."""
    verdict = bands.of(max(rates), promised)
    if verdict is not Verdict.FAIL:
        return verdict, "" if verdict is Verdict.PASS else "rate_low"
    return (Verdict.FAIL, "rate_low") if len(rates) > 1 else (Verdict.WARN, MEASURED_ONCE)


def repeat_due(rates: Sequence[float], promised: float | None, bands: Bands) -> bool:
    """Whether the only rate so far would fail and must be measured once more."""
    return promised is not None and len(rates) == 1 and bands.of(rates[0], promised) is Verdict.FAIL
