"""How much of the time of a node's cards is degraded or idle, each second of what is paid for once?

A card is what the contract prices. Of an Ascend module with two chips (910C), whose chips are named npu/chip, that is the module
(where a contract counts chips, each of them):
it is degraded while one of its chips is, and idle while none of them works.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from gpulease_gui.checks.watch_rule import NODE, Values

_NPU_USE = "npu.aicore_percent"


def paid_card(subject: str) -> str:
    """The card that is paid for, of which a subject is the whole or a part."""
    module, slash, chip = subject.partition("/")
    return module if slash and module.partition("@")[0].isdecimal() and chip.isdecimal() else subject


def as_named(subject: str) -> str:
    """The card where each chip is paid for by itself."""
    return subject


def used_together(chips: Mapping[str, Values]) -> dict[str, Values]:
    """The readings of chips, each with the use of the busiest chip of its module; while one says nothing, that is not known."""
    uses: dict[str, list[float | None]] = {}
    for name, values in chips.items():
        uses.setdefault(paid_card(name), []).append(values.get(_NPU_USE))
    of_module = {module: None if None in some else max(use for use in some if use is not None) for module, some in uses.items()}
    return {name: {**values, _NPU_USE: of_module[paid_card(name)]} for name, values in chips.items()}


def degraded_s(
    episodes: Iterable[tuple[str, float, float]], cards: int, most: float = math.inf, of: Callable[[str], str] = paid_card
) -> float:
    """Card-seconds of (subject, begin, end) of degraded time, each card's time once; "" = `cards` of the node at least.

    `most`: so many cards are paid for, and no more are degraded at one time. `of`: what of a subject is a card.
    """
    edges = [
        edge for subject, begin_s, end_s in episodes if end_s > begin_s
        for edge in ((begin_s, 1, of(subject)), (end_s, -1, of(subject)))
    ]  # fmt: skip
    lasting = Counter[str]()
    total_s = before_s = 0.0
    for at_s, step, card in sorted(edges):
        named = len(lasting) - (NODE in lasting)
        total_s += (at_s - before_s) * min(most, max(named, cards if NODE in lasting else 0))
        before_s = at_s
        lasting[card] += step
        if not lasting[card]:
            del lasting[card]
    return total_s
