"""What do ten seconds of clock event reasons look like on a simulated node?"""

from __future__ import annotations

from datetime import datetime, timedelta

from gpulease_gui.demo.machine import GpuCard, Machine

_ROUNDS = 11


def clock_samples(machine: Machine, now: datetime) -> str:
    """A look a second at every card: idle ones tell nothing but that, a hot one is held back in every look."""
    lines = []
    for n in range(_ROUNDS):
        at = now + timedelta(seconds=1.07 * n)
        lines += [f"round: {n}\n", *(_row(card, at, n) for card in machine.gpus)]
    return "".join([*lines, "end: yes\n"])


def _row(card: GpuCard, at: datetime, n: int) -> str:
    stamp = f"{at:%Y/%m/%d %H:%M:%S}.{at.microsecond // 1000:03}"
    draw = card.draw_w + (n * 7 + card.index * 3) % 5 * 0.21
    return f"{card.index}, {card.uuid}, {stamp}, 0, {draw:.2f}, {card.sm_mhz}, 0x{card.reason_bits:016X}\n"
