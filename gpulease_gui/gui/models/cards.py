"""What is a card called wherever the window names one: tile, readout, band, event, list?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpulease_gui.domain.text import NO_TEXT, Text
from gpulease_gui.services.card_words import card_name, card_place, cards_words, is_chip, short_name

__all__ = ["OfCards", "card_name", "card_place", "cards_words", "is_chip", "short_name"]


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
