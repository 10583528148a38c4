"""What is a card called wherever one is named, in the window and in a terminal?"""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpulease_gui.domain.text import visible

_SHORT = 12
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
