"""How many cards does a contract pay for on a day, and is a card of it a module or a chip?

What a contract says of that is written down with the day: each day has the figure that stood at its end. Days before the first
one have that, because a contract says the same before somebody writes it down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date

from gpulease_gui.checks.watch_time import as_named, paid_card
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.services.contract_day import Days
from gpulease_gui.store.claims import Holder, list_claim_history
from gpulease_gui.store.doors import Reader

COUNTS = ("gpu.count", "npu.count")
# From a day on: so many cards; None = not stated.
Counts = tuple[tuple[date, int | None], ...]
BY_CHIP = Text("a card of the contract is one chip", "合同按芯片计卡")


@dataclass(frozen=True, slots=True)
class Seen:
    """How many modules (GPUs are modules, too) and how many chips."""

    modules: int
    chips: int


def stated_counts(connection: Reader, contract_id: str, days: Days, now: int | None) -> Counts:
    """How many cards a contract states from which of its days on, the first for all time before; `now` is what it states today."""
    told: dict[date, dict[str, TermValue | None]] = {}
    for term in COUNTS:
        for change in list_claim_history(connection, Holder.contract(contract_id), term):
            told.setdefault(days.of(change.at.timestamp()), {})[term] = change.value
    made: list[tuple[date, int | None]] = []
    standing: dict[str, TermValue | None] = {}
    for day in sorted(told):
        standing |= told[day]
        count = _figure(next((standing[term] for term in COUNTS if standing.get(term) is not None), None))
        if (count is not None or made) and (not made or made[-1][1] != count):
            made.append((day if made else date.min, count))
    return (*made[:-1], (made[-1][0], now)) if made else ((date.min, now),)


def count_on(counts: Counts, day: date) -> int | None:
    """That of a day; None = not stated, as is none at all."""
    return next((count or None for since, count in reversed(counts) if since <= day), None)


def change_words(counts: Counts, days: Iterable[date]) -> Iterable[Text]:
    """That these days have different counts."""
    first, last = min(days, default=date.max), max(days, default=date.min)
    for (_, before), (since, after) in zip(counts, counts[1:], strict=False):
        if first < since <= last:
            yield Text(
                f"the contract states {before or 'no number of'} cards until {since} and {after or 'no number'} from then on; each day counts by its own",
                f"合同卡数于 {since} 由 {before or '未写明'} 变更为 {after or '未写明'}，各日按当日卡数计",
            )  # fmt: skip


def by_chip(stated: int | None, seen: Iterable[Seen]) -> bool | None:
    """Whether so many cards are so many chips, not modules, by the first that tells; None = they are neither."""
    told = [one for one in seen if one.chips != one.modules]
    if stated is None or not told:
        return False
    return next((stated == one.chips for one in told if stated in (one.modules, one.chips)), None)


def paid_as(chips: bool | None) -> Callable[[str], str]:
    """What of a subject is the card that is paid for; where that can't be told it is the module, which claims less."""
    return as_named if chips else paid_card


def misfit_words(stated: int | None, seen: Seen) -> Text:
    """That neither fits."""
    return Text(
        f"the contract states {stated} cards, seen were {seen.modules} modules with {seen.chips} chips: counted by module",
        f"合同写明 {stated} 卡，实际看到 {seen.modules} 个模组共 {seen.chips} 颗芯片：按模组计",
    )


def _figure(value: TermValue | None) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
