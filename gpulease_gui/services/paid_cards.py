"""How many cards does a contract pay for on a day, and is a card of it a module or a chip?

The figure that stands now is that of all days: whoever writes another one down corrects what was written before, and a day on which
a wrong one stood owes no other cards. Where the contract itself was changed, its terms say up to which day which count held.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from gpulease_gui.checks.watch_time import as_named, paid_card
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.services.contract_day import Days
from gpulease_gui.store.claims import Holder, list_claim_history
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.term_versions import get_terms

COUNTS, EARLIER = ("gpu.count", "npu.count"), "contract.earlier_cards"
# From a day on: so many cards; None = not stated.
Counts = tuple[tuple[date, int | None], ...]
BY_CHIP = Text("a card of the contract is one chip", "合同按芯片计卡")


@dataclass(frozen=True, slots=True)
class Seen:
    """How many modules (GPUs are modules, too) and how many chips."""

    modules: int
    chips: int


def stated_counts(connection: Reader, contract_id: str, now: int | None) -> Counts:
    """How many cards a contract pays for from which of its days on; `now` is what it states today, for all days of which its terms say nothing else."""
    made: list[tuple[date, int | None]] = []
    since = date.min
    for until, count in sorted(_earlier(connection, contract_id).items()):
        made.append((since, count))
        since = until + timedelta(days=1)
    return (*made, (since, now))


def _earlier(connection: Reader, contract_id: str) -> Mapping[date, int | None]:
    """The count that held up to and with a day, as the terms of the contract say it; of one day the later row counts."""
    found: dict[date, int | None] = {}
    for row in get_terms(connection, Subject(HolderOf.CONTRACT, contract_id)).rows(EARLIER):
        until, cards = row.get("until"), row.get("cards")
        if isinstance(until, date) and until < date.max:
            found[until] = cards if isinstance(cards, int) else None
    return found


def written_counts(connection: Reader, contract_id: str, days: Days) -> Counts:
    """Which figure stood in a contract at the end of which of its days, right or wrong, the first for all time before."""
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
    return tuple(made)


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


def correction_words(counts: Counts, written: Counts, days: Iterable[date]) -> Iterable[Text]:
    """That another figure stood there on these days: it was corrected, or somebody forgot to say up to when it held."""
    told = {(count_on(counts, day), was) for day in days if (was := count_on(written, day)) is not None}
    for count, was in sorted(told, key=lambda one: (one[1], one[0] or 0)):
        if count != was:
            yield Text(
                f"{count or 'no number of'} cards count, though {was} were written down then: taken for a correction. If the contract itself was "
                f"changed, its terms should state the cards that were paid for before",
                f"按 {count or '未写明的'} 卡计，当时写的是 {was} 卡：视为更正。若合同本身有变更，请在条款中填写变更前的计费卡数",
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
