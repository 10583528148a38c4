"""What does watching cost the node?"""

from __future__ import annotations

from gpulease_gui.domain.text import Text
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
        return (
            Point("agent.cpu_percent", "", figure(said.get("cpu_percent"))),
            Point("agent.memory_mib", "", figure(said.get("memory_mib"))),
        )


SOURCE = Source("agent", Text("Agent", "采集程序"), "", METRICS, _Reader)
