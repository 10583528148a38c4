"""What does watching cost the node?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text
from gpulease_gui.telemetry.figure_bounds import BEYOND, possible
from gpulease_gui.telemetry.gpu_agent import figure, parsed
from gpulease_gui.telemetry.source import Metric, Point, Source

METRICS = (
    Metric("agent.cpu_percent", Text("CPU of the agent", "采集程序 CPU"), "%", "agent_cpu", decimals=1),
    Metric("agent.memory_mib", Text("Memory of the agent", "采集程序内存"), "MiB", "agent_memory", decimals=0),
)


class _Reader:
    def read(self, line: str) -> tuple[Point, ...]:
        """An object: share of one processor (%) since the line before, resident memory (MiB)."""
        said = parsed(line)
        return _point("agent.cpu_percent", said.get("cpu_percent")), _point("agent.memory_mib", said.get("memory_mib"))


def _point(metric: str, said: object) -> Point:
    value, why = possible(metric, figure(said))
    if value is None and not why and said is not None:
        why = BEYOND  # told, and no figure at all
    return Point(metric, "", value, why=why)


SOURCE = Source("agent", Text("Agent", "采集程序"), "", METRICS, _Reader)
