"""For how long was a promise kept or broken, as far as readings and summaries of them can say?

A reading says it exactly. A summary of many readings only bounds it: how many of them lie below a figure follows from their
lowest, mean and highest, and of their bits it is known only that one reading at least had each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gpulease_gui.gui.models.past_readings import Told
from gpulease_gui.gui.widgets import chart_data as data
from gpulease_gui.gui.widgets.chart_data import Floats
from gpulease_gui.gui.widgets.chart_spec import Promised, Rule
from gpulease_gui.gui.widgets.lasting import lasting_s
from gpulease_gui.gui.widgets.strip import HELD_BACK, RAMP_S, Times
from gpulease_gui.services.series import Paces

Places = NDArray[np.intp]
Spans = tuple[tuple[float, float], ...]
# Figures of the store are float32.
_WRONG = 1e-6


@dataclass(frozen=True, slots=True)
class Judged:
    """A promise by which readings are judged; `loads` are the stretches (UTC seconds) in which a check tried it."""

    term: str
    promised: Promised
    loads: Spans = ()


@dataclass(frozen=True, slots=True)
class _Span:
    """Seconds of each reading or summary: at least and at most."""

    least: Floats
    most: Floats


@dataclass(frozen=True, slots=True)
class _Card:
    """What one curve says at its times: seconds read, and how many of them the promise was kept, nearly kept, broken."""

    times_s: Floats
    read_s: Floats
    kept: _Span
    warned: _Span
    broken: _Span
    lasts_s: Floats  # what a reading or summary stands for
    pace_s: Floats


def times(
    judged: Judged, curves: Mapping[str, Told], reasons: Mapping[str, Told], interval_s: float, paces: Paces = ()
) -> Times:
    """Of curves that stand for one promise, by subject: for how long each of them kept it, and any of them did not.

    `reasons`: the event bits of the same subjects. Each reading stands for as long as lies between readings of its time; `paces`
    says how often they were asked for.
    """
    if judged.promised.rule is Rule.SIZE:
        return Times()
    found = ((subject, one.known()) for subject, one in curves.items())
    cards = [_card(judged, one, reasons.get(subject), _pace(one, interval_s, paces)) for subject, one in found if len(one.times_s)]
    return _together(cards) if cards else Times()


def _pace(told: Told, interval_s: float, paces: Paces) -> Floats:
    """The usual distance of readings at the time of each."""
    if not paces:
        return np.full(len(told.times_s), told.pace_s(interval_s))
    if not told.plain:
        return _of_slots(told, paces)
    made = np.empty(len(told.times_s))
    steps_s = [interval_s, *(step_s for _, step_s in paces)]
    edges = [0, *np.searchsorted(told.times_s, [from_s for from_s, _ in paces]).tolist(), len(told.times_s)]
    for step_s, (first, last) in zip(steps_s, pairwise(edges), strict=True):
        made[first:last] = told.part(first, last).pace_s(step_s)
    return made


def _of_slots(told: Told, paces: Paces) -> Floats:
    """The same of summaries: the time of each over what was asked for in it. A node may never be as quick as it is asked; what
    is older than all that is known of the rate is as quick as its fullest slot.
    """
    from_s, steps_s = np.array(paces).T
    before = np.concatenate([[0.0], np.cumsum(np.diff(from_s) / steps_s[:-1])])

    def asked(at_s: Floats) -> Floats:
        place = np.maximum(np.searchsorted(from_s, at_s, "right") - 1, 0)
        return np.asarray(before[place] + (at_s - from_s[place]) / steps_s[place], np.float64)

    lasts_s = np.minimum(np.diff(told.times_s, append=np.inf), told.step_s)
    own, made = lasts_s / told.count, lasts_s / (asked(told.times_s + lasts_s) - asked(told.times_s))
    known = told.times_s >= from_s[0] - told.step_s
    slower = float(np.min(own[known] / made[known])) if known.any() else 1.0
    return np.where(known, made * max(1.0, slower), float(np.min(own[~known])) if not known.all() else 0.0)


def _card(judged: Judged, told: Told, reasons: Told | None, pace_s: Floats) -> _Card:
    read_s = told.count * pace_s
    wanted = _checked(judged.loads, told, read_s, pace_s) if judged.promised.rule is Rule.CHECKED else _held(told, reasons, read_s, pace_s)
    reached = _at_least(told, judged.promised.value * judged.promised.passes, read_s, pace_s)
    nearly = _at_least(told, judged.promised.value * judged.promised.warns, read_s, pace_s)
    below = _Span(read_s - nearly.most, read_s - nearly.least)
    between = _between(told, judged.promised, read_s, reached, nearly)
    lasts_s = np.where(told.count > 1, np.maximum(told.step_s, pace_s), pace_s)
    return _Card(told.times_s, read_s, reached, _both(wanted, between, read_s), _both(wanted, below, read_s), lasts_s, pace_s)


def _at_least(told: Told, figure: float, read_s: Floats, pace_s: Floats) -> _Span:
    """For how long the readings lay at or above a figure: as the mean of each summary allows, and its lowest and highest one."""
    low, mean, high = told.low, told.mean, told.high
    if told.plain:
        reached_s = np.where(low >= figure, read_s, 0.0)
        return _Span(reached_s, reached_s)
    wrong = _WRONG * np.maximum(np.abs(low), np.abs(high))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        least = np.ceil(_share((mean - figure - wrong) / (high - figure)) * told.count - _WRONG)
        most = np.floor(_share((mean - low + wrong) / (figure - low)) * told.count + _WRONG)
    one = np.minimum(read_s, pace_s)
    some, all_ = high >= figure, low >= figure
    least_s = np.where(all_, read_s, np.where(some, np.clip(least * pace_s, one, read_s), 0.0))
    most_s = np.where(all_, read_s, np.where(some, np.clip(most * pace_s, one, read_s - one), 0.0))
    return _Span(np.minimum(least_s, most_s), most_s)


def _share(found: Floats) -> Floats:
    """A part of readings is none or all of them at least and most, however near two figures are that it was made of."""
    return np.clip(np.nan_to_num(found), -1.0, 2.0)


def _between(told: Told, promised: Promised, read_s: Floats, reached: _Span, nearly: _Span) -> _Span:
    """For how long they lay under the promise, though not far."""
    whole = (told.low >= promised.value * promised.warns) & (told.high < promised.value * promised.passes)
    least = np.where(whole, read_s, np.maximum(nearly.least - reached.most, 0.0))
    return _Span(least, np.maximum(nearly.most - reached.least, 0.0))


def _both(one: _Span, other: _Span, read_s: Floats) -> _Span:
    """For how long two things were so at once."""
    return _Span(np.maximum(one.least + other.least - read_s, 0.0), np.minimum(one.most, other.most))


def _held(told: Told, reasons: Told | None, read_s: Floats, pace_s: Floats) -> _Span:
    """For how long a card said that it is held back: of a summary of bits it is one reading at least."""
    none = np.zeros(len(told.times_s))
    if reasons is None or not len(reasons.times_s):
        return _Span(none, none)
    if told.plain and reasons.plain and len(reasons.times_s) == len(told.times_s) and (reasons.times_s == told.times_s).all():
        held_s = np.where((np.nan_to_num(reasons.high).astype(np.int64) & HELD_BACK) != 0, read_s, 0.0)
        return _Span(held_s, held_s)
    place = np.searchsorted(reasons.times_s, told.times_s, "right") - 1
    at = np.maximum(place, 0)
    summed = (reasons.count[at] > 1) | (told.count > 1)
    apart_s = told.times_s - reasons.times_s[at]
    near = (place >= 0) & (apart_s <= np.where(reasons.count[at] > 1, np.maximum(told.step_s, reasons.step_s), data.HOLD_INTERVALS * pace_s))
    said = near & ((np.nan_to_num(reasons.high[at]).astype(np.int64) & HELD_BACK) != 0)
    # Where more bits than figures were read, the reading with the bit may be one without a figure.
    same = (apart_s == 0.0) & (told.count >= reasons.count[at])
    least = np.where(said, np.where(summed, np.where(same, np.minimum(pace_s, read_s), 0.0), read_s), 0.0)
    return _Span(least, np.where(said, read_s, 0.0))


def _checked(loads: Spans, told: Told, read_s: Floats, pace_s: Floats) -> _Span:
    """For how long a check loaded the line; its first and last seconds are left out."""
    least, most = np.zeros(len(told.times_s)), np.zeros(len(told.times_s))
    ends = told.times_s + np.where(told.count > 1, np.maximum(told.step_s, pace_s), pace_s)
    for begin, end in loads:
        since, until = begin + RAMP_S, end - RAMP_S
        within = (told.times_s >= since) & (ends <= until)
        touched_s = np.clip(np.minimum(ends, until) - np.maximum(told.times_s, since), 0.0, read_s)
        least = np.where(within, read_s, least)
        most = np.where(within, read_s, np.where(told.count > 1, np.minimum(most + touched_s, read_s), most))
    return _Span(least, most)


def _together(cards: Sequence[_Card]) -> Times:
    """Kept is what each card that was read kept; one that broke it is enough."""
    moments, places = _moments(cards)
    placed = [_placed(card, at, moments) for card, at in zip(cards, places, strict=True)]
    read_s = np.max([one.read_s for one in placed], axis=0)
    missing = [np.where(one.read_s > 0, 0.0, read_s) for one in placed]
    kept_least = read_s - _sum([np.maximum(read_s - one.kept.least - gap, 0.0) for one, gap in zip(placed, missing, strict=True)])
    kept_most = np.min([one.kept.most + gap for one, gap in zip(placed, missing, strict=True)], axis=0)
    broken_least, broken_most = np.max([one.broken.least for one in placed], axis=0), _sum([one.broken.most for one in placed])
    broken_most = np.minimum(broken_most, read_s)
    warned_least = np.maximum(np.max([one.warned.least for one in placed], axis=0) - broken_most, 0.0)
    warned_most = np.minimum(_sum([one.warned.most for one in placed]), read_s - broken_least)
    lasts_s = np.max([one.lasts_s for one in placed], axis=0)
    interval_s = max(float(np.max(card.pace_s)) for card in cards)
    lasting = (
        lasting_s(moments, lasts_s, broken_least, np.maximum(lasts_s - broken_least, 0.0), interval_s),
        lasting_s(moments, lasts_s, broken_most, np.zeros(len(moments)), interval_s),
    )  # fmt: skip
    return Times(
        _seconds(np.maximum(kept_least, 0.0), kept_most), _seconds(warned_least, warned_most), _seconds(broken_least, broken_most), lasting
    )  # fmt: skip


def _moments(cards: Sequence[_Card]) -> tuple[Floats, list[Places | None]]:
    """When the cards were read, and which of these times each reading of theirs is (None: each its own).

    Cards that are asked in turn are read a little apart: what lies nearer to a reading of the card with most of them than to
    the next one is of the same time.
    """
    most = max(cards, key=lambda card: len(card.times_s))
    found = [None if _alike(card, most) else _nearest(most, card) for card in cards]
    alone = [np.round(card.times_s[~one[1]], 1) for card, one in zip(cards, found, strict=True) if one and not one[1].all()]
    moments = np.unique(np.concatenate([most.times_s, *alone])) if alone else most.times_s
    return moments, [None if one is None and not alone else _places(card, most, one, moments) for card, one in zip(cards, found, strict=True)]


def _alike(card: _Card, most: _Card) -> bool:
    """Whether each reading of one card is of the same time as the one of the other in its place."""
    return len(card.times_s) == len(most.times_s) and bool((np.abs(card.times_s - most.times_s) <= 0.5 * card.pace_s).all())


def _nearest(most: _Card, card: _Card) -> tuple[Places, NDArray[np.bool_]]:
    """Which reading of one card is the nearest one to each of another card, and whether it is of the same time."""
    times = most.times_s
    after = np.minimum(np.searchsorted(times, card.times_s), len(times) - 1)
    before = np.maximum(after - 1, 0)
    place = np.where(card.times_s - times[before] < times[after] - card.times_s, before, after)
    return place, np.abs(times[place] - card.times_s) <= 0.5 * card.pace_s


def _places(card: _Card, most: _Card, nearest: tuple[Places, NDArray[np.bool_]] | None, moments: Floats) -> Places:
    if nearest is None:
        return np.searchsorted(moments, most.times_s)
    place, near = nearest
    return np.searchsorted(moments, np.where(near, most.times_s[place], np.round(card.times_s, 1)))


def _placed(card: _Card, at: Places | None, moments: Floats) -> _Card:
    if at is None:
        return card
    kept, warned, broken = (_Span(_put(one.least, at, moments), _put(one.most, at, moments)) for one in (card.kept, card.warned, card.broken))
    return _Card(moments, _put(card.read_s, at, moments), kept, warned, broken, _put(card.lasts_s, at, moments), card.pace_s)


def _put(values: Floats, at: Places, moments: Floats) -> Floats:
    made = np.zeros(len(moments))
    np.add.at(made, at, values)
    return made


def _sum(parts: Sequence[Floats]) -> Floats:
    return np.asarray(np.sum(parts, axis=0), np.float64)


def _seconds(least: Floats, most: Floats) -> tuple[float, float]:
    return round(float(least.sum()), 3), round(float(most.sum()), 3)
