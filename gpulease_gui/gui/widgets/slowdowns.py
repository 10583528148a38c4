"""When did which cards say that something holds their clocks back?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gpulease_gui.catalog.xid import CLOCKS_HELD_BACK
from gpulease_gui.domain.text import Text
from gpulease_gui.gui.widgets import chart_data as data
from gpulease_gui.gui.widgets.chart_data import Flags, Floats
from gpulease_gui.gui.widgets.chart_spec import Curve, Happening
from gpulease_gui.gui.widgets.lasting import APART_S, LEAST_S
from gpulease_gui.gui.widgets.strip import HELD_BACK


def slowdowns(
    curves: Sequence[Curve], names: Mapping[int, str], start_s: float, interval_s: float, promised_w: float | None, term: str
) -> tuple[Happening, ...]:
    """A happening for each stretch in which cards were held back, with their numbers and the reasons, from `start_s` on (UTC seconds).

    `curves` are of power, with the bit masks beside; a card that draws what was promised is held back by no one: with
    `promised_w`, the power cap counts only below it. `names`: the catalogue's name of each bit.
    """
    found: list[_Slow] = []
    for curve in curves:
        reasons = data.EMPTY if curve.reasons is None else data.between(data.read(curve.reasons), start_s, float("inf"))
        masks = np.nan_to_num(reasons.values).astype(np.int64)
        seen = int(np.bitwise_or.reduce(masks)) & HELD_BACK if len(masks) else 0
        for bit in (bit for bit in names if bit & seen):
            floor = promised_w if names[bit] == "sw_power_cap" else None
            words = CLOCKS_HELD_BACK.get(names[bit], Text(names[bit], names[bit]))
            held = (masks & bit) != 0 if floor is None else ((masks & bit) != 0) & _under(curve, reasons.times_s, floor)
            found += [_Slow(*span, frozenset([curve.number]), (words,)) for span in _spans(reasons.times_s[held], interval_s)]
    return tuple(
        Happening(one.start_s, one.end_s, _named(one, len(curves)), "verdict-warn", "warn", concerns=term) for one in _together(found)
    )


@dataclass(frozen=True, slots=True)
class _Slow:
    """A stretch in which these cards were held back for these reasons."""

    start_s: float
    end_s: float
    cards: frozenset[int]
    reasons: tuple[Text, ...]


def _under(curve: Curve, times_s: Floats, floor: float) -> Flags:
    """Whether the card drew less than `floor` at each time."""
    watts = data.read(curve.ring)
    if not len(watts.values):
        return np.ones(len(times_s), np.bool_)
    place = np.clip(np.searchsorted(watts.times_s, times_s, "right") - 1, 0, None)
    with np.errstate(invalid="ignore"):
        return np.asarray(watts.values[place] < floor, np.bool_)


def _spans(times_s: Floats, interval_s: float) -> list[tuple[float, float]]:
    """(start, end) of the stretches that these times make."""
    if not len(times_s):
        return []
    cuts = np.flatnonzero(np.diff(times_s) > max(APART_S, 3 * interval_s)) + 1
    parts = [(float(part[0]), float(part[-1]) + interval_s) for part in np.split(times_s, cuts)]
    return [(begin, end) for begin, end in parts if end - begin >= LEAST_S]


def _together(found: Sequence[_Slow]) -> list[_Slow]:
    """Stretches that overlap become one, with all their cards and reasons."""
    joined: list[_Slow] = []
    for one in sorted(found, key=lambda slow: slow.start_s):
        if joined and one.start_s <= joined[-1].end_s + APART_S:
            last = joined[-1]
            reasons = tuple(dict.fromkeys([*last.reasons, *one.reasons]))
            joined[-1] = _Slow(last.start_s, max(last.end_s, one.end_s), last.cards | one.cards, reasons)
        else:
            joined.append(one)
    return joined


def _named(slow: _Slow, cards: int) -> Text:
    """"power cap, GPU 2, 5", or "power cap, all 8 GPUs"."""
    listed = sorted(slow.cards)
    every = len(listed) == cards > 1
    who_en = f"all {cards} GPUs" if every else "GPU " + ", ".join(map(str, listed))
    who_zh = f"全部 {cards} 卡" if every else "GPU " + "、".join(map(str, listed))
    why_en, why_zh = ", ".join(r.en for r in slow.reasons), "、".join(r.zh for r in slow.reasons)
    if len(slow.reasons) > 1:
        return Text(f"{who_en}: {why_en}", f"{who_zh}：{why_zh}")
    return Text(f"{why_en}, {who_en}", f"{why_zh}，{who_zh}")
