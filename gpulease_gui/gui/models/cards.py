"""What is a card called wherever the window names one: tile, readout, band, event, list?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.services.card_words import card_name, is_chip

__all__ = ["OfCards", "card_name", "card_place", "cards_words", "is_chip", "short_name"]

_MOST_NAMED = 4


def short_name(subject: str, number: int) -> str:
    """What a card is called beside its kind: "2" for a GPU, "3/0" for the chip of an NPU, which its node names so everywhere."""
    return subject if is_chip(subject) else str(number)


def card_place(subject: str, numbers: Mapping[str, int]) -> int:
    """Where a card stands among those of its node, such as NPU 2/0 before NPU 10/0; no number of a card or chip has five digits."""
    card, _, chip = subject.partition("/") if is_chip(subject) else (str(numbers.get(subject, 0)), "", "0")
    return 10_000 * int(card.partition("@")[0]) + int(chip)


@dataclass(frozen=True, slots=True)
class OfCards:
    """Words of something that befell cards (UUIDs): what, which cards, what came of it."""

    what: Text
    cards: tuple[str, ...]
    then: Text = NO_TEXT

    def words(self, numbers: Mapping[str, int], count: int = 0) -> Text:
        """"Too hot, GPU 2, 5", or of many how many; `count` is how many cards the node has."""
        who = cards_words(self.cards, numbers, count)
        if not who.en:
            return Text(f"{self.what.en}{self.then.en}", f"{self.what.zh}{self.then.zh}")
        return Text(f"{self.what.en}, {who.en}{self.then.en}", f"{self.what.zh}，{who.zh}{self.then.zh}")


def cards_words(cards: Sequence[str], numbers: Mapping[str, int], count: int = 0) -> Text:
    """Their names; how many where they are more than four, or not all have a number. Empty for the whole node."""
    named = [card for card in cards if card]
    if len(named) < 2:
        name = card_name(named[0], numbers) if named else ""
        return Text(name, name)
    chips = all(is_chip(card) for card in named)
    if len(named) == count:
        return Text(f"all {count} NPUs", f"全部 {count} 张 NPU") if chips else Text(f"all {count} GPUs", f"全部 {count} 卡")
    if len(named) > _MOST_NAMED or not chips and not all(card in numbers for card in named):
        return Text(f"{len(named)} cards", f"{len(named)} 张卡")
    kind, listed = "NPU" if chips else "GPU", sorted(named, key=lambda card: card_place(card, numbers))
    shown = [short_name(card, numbers.get(card, 0)) for card in listed]
    return Text(f"{kind} {', '.join(shown)}", f"{kind} {'、'.join(shown)}")
