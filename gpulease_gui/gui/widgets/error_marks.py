"""When did which cards report an error: an Xid, lost links, repaired or broken memory?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.widgets import chart_data as data
from gpulease_gui.gui.widgets.chart_spec import Happening
from gpulease_gui.services.live_events import APART_S, ERRORS, XID
from gpulease_gui.services.series import Ring

# A longer one is a stretch.
LASTING_S = 30.0
_GRAVEST = f"verdict-{Verdict.FAIL}"
_MOST = 120


@dataclass(frozen=True, slots=True)
class Counted:
    """The readings of one kind of error of one subject; `where` is how the chart calls it, such as "GPU 3"."""

    metric: str
    title: Text
    where: str
    ring: Ring


def error_marks(counted: Iterable[Counted], names: Mapping[int, str], start_s: float, interval_s: float) -> tuple[Happening, ...]:
    """A mark for each time at which a reading was above nought, from `start_s` on (UTC seconds); of too many, the gravest and newest.

    `names`: what each Xid is called. Readings that follow each other within a quarter of a minute are one mark.
    """
    found = [happening for one in counted for happening in _of(one, names, start_s, interval_s)]
    kept = sorted(found, key=lambda one: (one.icon != _GRAVEST, -one.start_s))[:_MOST]
    return tuple(sorted(kept, key=lambda one: one.start_s))


def _of(one: Counted, names: Mapping[int, str], start_s: float, interval_s: float) -> Iterator[Happening]:
    held = one.ring.view().values
    if not len(held) or not np.frombuffer(held, np.float32).any():  # nearly all of them, each second
        return
    told = data.between(data.read(one.ring), start_s, float("inf"))
    with np.errstate(invalid="ignore"):
        hit = told.values > 0
    if one.ring.outlined and one.metric == XID:
        hit[2::3] = False  # the mean of two numbers is no number of an error
    if not hit.any():
        return
    times, values = told.times_s[hit], told.values[hit]
    for times_s, codes in _apart(times, values, max(APART_S, 3 * interval_s)):
        end_s = float(times_s[-1]) + interval_s
        # Where a point stands for a whole minute, a moment in it takes no minute.
        lasting = end_s - float(times_s[0]) >= max(LASTING_S, 3 * interval_s)
        grade = ERRORS[one.metric].value
        words, until_s = _words(one, codes, names), end_s if lasting else float(times_s[0])
        yield Happening(float(times_s[0]), until_s, words, f"verdict-{grade}", grade if lasting else "", short=_short(one, codes))


def _apart(times_s: data.Floats, values: data.Floats, apart_s: float) -> Iterator[tuple[data.Floats, data.Floats]]:
    cuts = np.flatnonzero(np.diff(times_s) > apart_s) + 1
    return zip(np.split(times_s, cuts), np.split(values, cuts), strict=True)


def _words(one: Counted, values: data.Floats, names: Mapping[int, str]) -> Text:
    if one.metric != XID:
        return Text(f"{one.title.en}, {one.where}", f"{one.title.zh}，{one.where}")
    codes = _codes(values)
    named = ", ".join(f"Xid {code}" for code in codes)
    name = f" ({names[codes[0]]})" if len(codes) == 1 and codes[0] in names else ""
    return Text(f"{named}{name}, {one.where}", f"{named}{name}，{one.where}")


def _short(one: Counted, values: data.Floats) -> Text:
    """The name of an Xid is long; its number is what is looked up."""
    return _words(one, values, {}) if one.metric == XID else one.title


def _codes(values: data.Floats) -> list[int]:
    return sorted({int(value) for value in values})
