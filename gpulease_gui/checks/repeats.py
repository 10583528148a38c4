"""What do one or two measurements of a rate say against the promised one?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.thresholds import SHARE, Origin, Threshold
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.raw_runs import NOTHING_MOVED

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


@dataclass(frozen=True, slots=True)
class BandMarks:
    """The two figures of a check that make its bands."""

    passes: Threshold
    warns: Threshold

    @property
    def both(self) -> tuple[Threshold, Threshold]:
        """As a check lists them."""
        return self.passes, self.warns

    @property
    def shipped(self) -> Bands:
        """The bands as the program ships them, for a picture that belongs to no run."""
        return Bands(self.passes.value, self.warns.value)

    def at(self, promise: Promise) -> Bands:
        """The bands as the user left them."""
        return Bands(promise.limit(self.passes), promise.limit(self.warns))


# A share below this would pass what nobody calls kept: it is no mark any more.
LEAST = 0.5


def band_marks(
    check: str, passes: float, warns: float, of: Text, *, origin: Origin = Origin.ASSUMPTION, source: str = "", name: str = "",
    pass_origin: Origin | None = None, pass_source: str | None = None,
) -> BandMarks:  # fmt: skip
    """Two shares of `of` (the promise, the first minute). `name` tells several pairs of one check apart."""
    head = f"{name}_" if name else ""
    good = Threshold(
        check, f"{head}pass", passes, SHARE, Text(f"passes from (share of {of.en})", f"通过下限（基准：{of.zh}）"), ">=",
        pass_origin or origin, source if pass_source is None else pass_source, low=min(passes, LEAST), high=1.0,
    )  # fmt: skip
    low = Threshold(
        check, f"{head}warn", warns, SHARE, Text(f"too slow below (share of {of.en})", f"过慢界限（基准：{of.zh}）"), "<",
        origin, source, low=min(warns, LEAST), high=1.0,
    )  # fmt: skip
    return BandMarks(good, low)


PROMISE = Text("the promise", "承诺值")
PROMISE_ITSELF = "the promise itself"


MOVED_NOTHING = Text(
    "the tool reports a good end and moved nothing at all: a rate of nought", "工具报告正常结束，却没有传输任何数据：速率为零"
)


def without_rate(code: str) -> tuple[Verdict, float | None]:
    """Verdict and measured value where no test gave a rate, by the code of the last: nothing moved is a fail, all else is open."""
    return (Verdict.FAIL, 0.0) if code == NOTHING_MOVED else (Verdict.INCONCLUSIVE, None)


def judged(rates: Sequence[float], promised: float, bands: Bands) -> tuple[Verdict, str]:
    """Verdict and reason code of the better rate; one bad measurement alone can be bad luck and only warns."""
    verdict = bands.of(max(rates), promised)
    if verdict is not Verdict.FAIL:
        return verdict, "" if verdict is Verdict.PASS else "rate_low"
    return (Verdict.FAIL, "rate_low") if len(rates) > 1 else (Verdict.WARN, MEASURED_ONCE)


def repeat_due(rates: Sequence[float], promised: float | None, bands: Bands) -> bool:
    """Whether the only rate so far would fail and must be measured once more."""
    return promised is not None and len(rates) == 1 and bands.of(rates[0], promised) is Verdict.FAIL
