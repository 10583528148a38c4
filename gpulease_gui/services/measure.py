"""Which facts are measured, one after the other, each on a channel of its own?"""

from __future__ import annotations

from collections.abc import Mapping

from gpulease_gui.facts.fact import readers
from gpulease_gui.services.measure_disk import DISK_MEASURES
from gpulease_gui.services.measure_host import HOST_MEASURES
from gpulease_gui.services.measure_lines import Measurement
from gpulease_gui.services.measure_look import LOOK_MEASURES
from gpulease_gui.services.measure_network import NETWORK_MEASURES
from gpulease_gui.services.measure_torch import TORCH_MEASURES

MEASURES: Mapping[str, Measurement] = {**DISK_MEASURES, **NETWORK_MEASURES, **HOST_MEASURES, **LOOK_MEASURES, **TORCH_MEASURES}


def output_text(fact_id: str) -> str:
    """The command that stands beside the evidence: the template that `gpulease checks --commands` prints."""
    command = readers()[fact_id].fact.command
    return command.line if command else ""
