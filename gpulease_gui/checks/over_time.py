"""Does a rate hold over many minutes, or does it fall once a credit is used up?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.repeats import Bands
from gpulease_gui.checks.thresholds import Threshold
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Text

# Credits and caches last for minutes: before the tenth one an even rate says nothing; below two nothing is said at all.
LONG_S = Threshold(
    "net.sustained", "long", 590.0, "s", Text("an even course passes from this length on", "速率平稳且达到此时长才算通过"), ">=", low=60.0
)
SHORT_S = Threshold(
    "net.sustained", "short", 120.0, "s", Text("nothing is said of a test shorter than", "短于此时长的测试不作判定"), "<", low=10.0
)
WINDOW_S = 60.0

TOO_FEW = Text("the test was too short to show a course over time", "测试太短，看不出速率随时间的变化")


@dataclass(frozen=True, slots=True)
class Course:
    """Mean rates of the first and the last stretch of a test, each `window_s` long; `length_s` of the whole."""

    first: float
    last: float
    window_s: float
    length_s: float

    @property
    def ratio(self) -> float:
        """The last against the first."""
        return self.last / self.first if self.first > 0 else 0.0


def course(points: Sequence[tuple[float, float]]) -> Course | None:
    """The course of points (seconds at the end of a stretch, rate); None with less than three, or if time runs back.

    The windows are a minute each, in a short test a third of it.
    """
    ends = [end_s for end_s, _ in points]
    if len(points) < 3 or ends[0] <= 0 or any(b <= a for a, b in zip(ends, ends[1:], strict=False)):
        return None
    length_s = points[-1][0]
    window_s = min(WINDOW_S, length_s / 3)
    early = [rate for end_s, rate in points if end_s <= window_s + 1e-6] or [points[0][1]]
    late = [rate for end_s, rate in points if end_s > length_s - window_s + 1e-6] or [points[-1][1]]
    return Course(sum(early) / len(early), sum(late) / len(late), window_s, length_s)


def held(found: Course, bands: Bands, promise: Promise) -> tuple[Verdict, str]:
    """Verdict and reason code: a fall counts from two minutes on, a pass needs ten.

    A fall is not measured again at once: the credit would still be used up, and an even low rate look like a pass.
    """
    if found.length_s < promise.limit(SHORT_S):
        return Verdict.INCONCLUSIVE, "too_short"
    verdict = bands.of(found.ratio, 1.0)
    if verdict is not Verdict.PASS:
        return verdict, "rate_falls"
    return (Verdict.PASS, "") if found.length_s >= promise.limit(LONG_S) else (Verdict.INCONCLUSIVE, "too_short")
