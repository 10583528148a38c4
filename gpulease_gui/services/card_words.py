"""What is a card called wherever one is named, in the window and in a terminal?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from gpulease_gui.domain.text import Text, visible

_SHORT = 12
_MOST_NAMED = 4
_CHIP = re.compile(r"[0-9]{1,4}(@[0-9A-Fa-f:.]{1,32})?/[0-9]{1,4}")


def is_chip(subject: str) -> bool:
    """Whether it is a chip of an NPU, named npu/chip."""
    return _CHIP.fullmatch(subject) is not None


def card_name(subject: str, numbers: Mapping[str, int]) -> str:
    """"GPU 2" for a card with a number, "NPU 3/0" for a chip, else the head of what it calls itself; empty for the whole node."""
    if is_chip(subject):
        return f"NPU {subject}"
    number = numbers.get(subject)
    return visible(subject)[:_SHORT] if number is None else f"GPU {number}"


def short_name(subject: str, number: int) -> str:
    """What a card is called beside its kind: "2" for a GPU, "3/0" for the chip of an NPU, which its node names so everywhere."""
    return subject if is_chip(subject) else str(number)


def card_place(subject: str, numbers: Mapping[str, int]) -> int:
    """Where a card stands among those of its node, such as NPU 2/0 before NPU 10/0; no number of a card or chip has five digits."""
    card, _, chip = subject.partition("/") if is_chip(subject) else (str(numbers.get(subject, 0)), "", "0")
    return 10_000 * int(card.partition("@")[0]) + int(chip)


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
