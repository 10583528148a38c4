"""Which errors of cards does `gpulease watch` tell: Xids, broken and repaired memory, lost links?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gpulease_gui.catalog.xid import load_xids
from gpulease_gui.domain.text import Text, foreign, visible
from gpulease_gui.services.card_words import card_name
from gpulease_gui.services.intake import SeriesKey, WatchView
from gpulease_gui.services.live_events import APART_S, ERRORS, XID
from gpulease_gui.telemetry.source import metrics

# A node decides how many it tells: of each kind of a card so many are told within one spell of them.
_MOST_OF_A_SPELL = 8


@dataclass(slots=True)
class _Spell:
    """Errors of one kind of one card that follow each other."""

    heard: int = 0
    last_s: float = float("-inf")
    values: set[float] = field(default_factory=set)


class Errors:
    """What was told already. `since_s`: what is older (UTC seconds) was stored before this watch, and is not told."""

    def __init__(self, since_s: float) -> None:
        self._since_s = since_s
        self._spells: dict[tuple[str, SeriesKey], _Spell] = {}

    def new(self, views: Iterable[WatchView]) -> Iterator[tuple[str, str, float, Text, dict[str, str]]]:
        """(node, kind, UTC seconds, words, what it is of) of each error since the last look; the kinds are `xid` and `error`.

        One that is told with every reading is one error, until none was told for a quarter of a minute.
        """
        for view in views:
            for key, ring in list(view.rings.items()):
                if key[0] not in ERRORS:
                    continue
                spell = self._spells.setdefault((view.node_id, key), _Spell())
                if ring.total == spell.heard:
                    continue
                seen = ring.view()
                count = min(seen.total - spell.heard if seen.total >= spell.heard else seen.total, len(seen.values))
                spell.heard = seen.total
                for place in range(len(seen.values) - count, len(seen.values)):
                    at_s, value = seen.times_s[place], seen.values[place]
                    if value > 0 and at_s >= self._since_s and self._is_new(spell, key, at_s, value):
                        yield view.node_id, "xid" if key[0] == XID else "error", at_s, _words(key[0], value), _of(view, key, value)

    def _is_new(self, spell: _Spell, key: SeriesKey, at_s: float, value: float) -> bool:
        """Of Xids each number is one, of the others the first of a spell."""
        if at_s - spell.last_s > APART_S:
            spell.values.clear()
        spell.last_s = at_s
        what = value if key[0] == XID else 1.0
        if what in spell.values or len(spell.values) >= _MOST_OF_A_SPELL:
            return False
        spell.values.add(what)
        return True


def _words(metric_id: str, value: float) -> Text:
    if metric_id == XID and value < 1e6:
        known = load_xids().xids.get(int(value))
        words = f"Xid {int(value)}" + (f" ({known.name})" if known is not None else "")
        return Text(words, words)
    metric = metrics().get(metric_id)
    return metric.title if metric is not None else foreign(metric_id)


def _of(view: WatchView, key: SeriesKey, value: float) -> dict[str, str]:
    metric_id, subject = key
    code = {"xid": str(int(value))} if metric_id == XID and value < 1e6 else {}
    return {"metric": metric_id, **code, "subject": visible(subject), "card": card_name(subject, view.numbers)}
