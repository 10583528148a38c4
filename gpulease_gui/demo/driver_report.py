"""Which driver files lie on a simulated node?"""

from __future__ import annotations

from gpulease_gui.demo.machine import Machine


def driver_files(machine: Machine) -> str:
    """To be filled when the fact is there."""
    return ""
