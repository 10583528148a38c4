"""What is a card called wherever the window names one: tile, readout, band, event, list?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpulease_gui.domain.text import NO_TEXT, Text, visible

_SHORT, _MOST_NAMED = 12, 4
_CHIP = re.compile(r"\d+/\d+")


def card_name(subject: str, numbers: Mapping[str, int]) -> str:
    """"GPU 2" for a card with a number, "NPU 3/0" for a chip, else the head of what it calls itself; empty for the whole node."""
    number = numbers.get(subject)
    if number is not None:
        return f"GPU {number}"
    return f"NPU {subject}" if _CHIP.fullmatch(subject) else visible(subject)[:_SHORT]


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
    if len(named) == count:
        return Text(f"all {count} GPUs", f"全部 {count} 卡")
    known = sorted(numbers[card] for card in named if card in numbers)
    if len(named) > _MOST_NAMED or len(known) < len(named):
        return Text(f"{len(named)} cards", f"{len(named)} 张卡")
    return Text("GPU " + ", ".join(map(str, known)), "GPU " + "、".join(map(str, known)))
