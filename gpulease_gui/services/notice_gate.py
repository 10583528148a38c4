"""Which alarms of watched nodes are told now, which together, and which later, so that a fleet in trouble does not bury the user?

Everything is in the list of events whatever happens here. The first alarm is told at once with what comes within seconds of it; from
then on there is one notice a minute, of all that came meanwhile. Of one rule on one node there is one in ten minutes, with how
often it was broken since.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gpulease_gui.services.events import WatchAlarm

# Seconds: what belongs together comes within GATHER_S; notices are APART_S apart, those of the same thing SAME_APART_S.
GATHER_S, APART_S, SAME_APART_S = 2.0, 60.0, 600.0
_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Heard:
    """A rule that was broken on a node `times` times, by these cards ("" = the node); `last` came last."""

    last: WatchAlarm
    times: int
    subjects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Waiting:
    """`free_s`: from when on it may be told; `due_s`: when it is, if nothing else is told before."""

    heard: Heard
    free_s: float
    due_s: float


class NoticeGate:
    """Alarms go in, notices come out; seconds of any clock that never goes back. One thread.

    `grave`: of the rules that say a lease is broken. The first of these is not kept waiting by what only warned.
    """

    def __init__(self, grave: frozenset[str]) -> None:
        self._grave = grave
        self._waiting: dict[_Key, _Waiting] = {}
        self._told_s: dict[_Key, float] = {}
        self._last_s, self._last_grave = -math.inf, False

    def hear(self, alarm: WatchAlarm, now_s: float) -> None:
        """An alarm that may disturb."""
        key = alarm.node_id, alarm.rule
        held = self._waiting.get(key)
        if held is None:
            free_s = self._told_s.get(key, -math.inf) + SAME_APART_S
            self._waiting[key] = _Waiting(Heard(alarm, 1, (alarm.subject,)), free_s, max(now_s + GATHER_S, free_s))
            return
        subjects = tuple(dict.fromkeys((*held.heard.subjects, alarm.subject)))
        self._waiting[key] = replace(held, heard=Heard(alarm, held.heard.times + 1, subjects))

    def next_s(self) -> float | None:
        """When there is something to tell; None: nothing waits."""
        times = [max(one.due_s, self._open_s(key)) for key, one in self._waiting.items()]
        return min(times, default=None)

    def take(self, now_s: float) -> tuple[Heard, ...]:
        """What one notice tells now, the gravest and oldest first; nothing before `next_s`."""
        first_s = self.next_s()
        if first_s is None or first_s > now_s:
            return ()
        due = [key for key, one in self._waiting.items() if one.free_s <= now_s]
        due.sort(key=lambda key: key[1] not in self._grave)
        self._last_s, self._last_grave = now_s, any(rule in self._grave for _, rule in due)
        self._told_s = {key: at_s for key, at_s in self._told_s.items() if now_s - at_s < SAME_APART_S} | dict.fromkeys(due, now_s)
        return tuple(self._waiting.pop(key).heard for key in due)

    def clear(self) -> None:
        """Forget everything, as when another workspace is opened."""
        self._waiting, self._told_s, self._last_s, self._last_grave = {}, {}, -math.inf, False

    def _open_s(self, key: _Key) -> float:
        """From when on a notice may tell of it."""
        graver = key[1] in self._grave and not self._last_grave
        return -math.inf if graver else self._last_s + APART_S


def by_rule(heard: Sequence[Heard]) -> Mapping[str, tuple[Heard, ...]]:
    """They by their rule, in their order."""
    found: dict[str, list[Heard]] = {}
    for one in heard:
        found.setdefault(one.last.rule, []).append(one)
    return {rule: tuple(some) for rule, some in found.items()}
