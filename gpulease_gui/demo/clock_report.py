"""What do ten seconds of clock event reasons look like on a simulated node?"""

from __future__ import annotations

from datetime import datetime

from gpulease_gui.demo.machine import Machine


def clock_samples(machine: Machine, now: datetime) -> str:
    """To be filled when the fact is there."""
    return ""
