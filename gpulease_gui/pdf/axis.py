"""Which round values stand on an axis?"""

from __future__ import annotations

import math

from gpulease_gui.domain.units import number_text

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def nice_step(span: float, parts: int) -> float:
    """The round step (1, 2, 2.5 or 5 times a power of ten) that cuts `span` in at most `parts`; span > 0."""
    rough = span / parts
    power = 10.0 ** math.floor(math.log10(rough))
    return power * next(step for step in _STEPS if step * power >= rough * (1 - 1e-9))


def tick_text(value: float) -> str:
    """A round value with no more decimals than it has."""
    text = number_text(value, 6)
    return text.rstrip("0").rstrip(".") if "." in text else text


def ticks(top: float, parts: int) -> tuple[float, ...]:
    """Round values from 0 up to at most `top` (> 0)."""
    step = nice_step(top, parts)
    return tuple(step * n for n in range(int(top / step + 1e-9) + 1))
