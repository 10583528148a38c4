"""How busy, hot, fast and hungry is each NVIDIA GPU?"""

from __future__ import annotations

from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.units import NO_VALUES
from gpulease_gui.telemetry.source import Metric, Point, Source

# Asked in this order; the last is the bit mask of clock event reasons (clocks_throttle_reasons.* before driver 535).
FIELDS = (
    "index", "uuid", "utilization.gpu", "utilization.memory", "memory.used", "power.draw", "temperature.gpu",
    "clocks.sm", "clocks.mem",
)  # fmt: skip
REASONS = ("clocks_event_reasons.active", "clocks_throttle_reasons.active")

METRICS = (
    Metric("gpu.util_percent", Text("GPU utilization", "GPU 利用率"), "%", "util", decimals=0),
    Metric("gpu.memory_util_percent", Text("Memory controller", "显存控制器"), "%", "memory_util", decimals=0),
    Metric("gpu.memory_used_gib", Text("Memory used", "已用显存"), "GiB", "memory"),
    Metric("gpu.power_w", Text("Power", "功耗"), "W", "power", term="gpu.power_w", decimals=0),
    Metric("gpu.temperature_c", Text("Temperature", "温度"), "°C", "temperature", decimals=0),
    Metric("gpu.clock_sm_mhz", Text("SM clock", "SM 频率"), "MHz", "clock", decimals=0),
    Metric("gpu.clock_memory_mhz", Text("Memory clock", "显存频率"), "MHz", "memory_clock", decimals=0),
    Metric("gpu.event_reasons", Text("Clock event reasons", "降频原因"), "", "events", decimals=0),
)
_IDS = tuple(metric.id for metric in METRICS)
_MIB_PER_GIB = 1024.0

SCRIPT = (
    "command -v nvidia-smi >/dev/null 2>&1 || { printf '! nvidia-smi is not installed on the node\\n'; exit; }\n"
    f"reasons={REASONS[1]}\n"
    f"nvidia-smi --help-query-gpu 2>/dev/null | grep -q '{REASONS[0]}' && reasons={REASONS[0]}\n"
    f"nvidia-smi --query-gpu={','.join(FIELDS)},$reasons --format=csv,noheader,nounits "
    "-lms \"$GPULEASE_INTERVAL_MS\" 2>&1\n"
    "printf '! nvidia-smi ended\\n'\n"
)


class _Reader:
    def read(self, line: str) -> tuple[Point, ...]:
        """One line is one GPU: index, UUID, then the values in the order of METRICS."""
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) != len(FIELDS) + 1 or not cells[0].isdigit():
            raise Unreadable(f"not a GPU sample: {line[:120]}")
        values = [number(cell) for cell in cells[2:]]
        if values[2] is not None:
            values[2] /= _MIB_PER_GIB
        return tuple(Point(id_, cells[1], value) for id_, value in zip(_IDS, values, strict=True))


def number(cell: str) -> float | None:
    """A cell as a number; None for every spelling of "not available" and for words."""
    if cell.lower() in NO_VALUES:
        return None
    try:
        return float(int(cell, 16)) if cell.startswith("0x") else float(cell)
    except ValueError:
        return None


SOURCE = Source("gpu", Text("NVIDIA GPUs", "NVIDIA GPU"), SCRIPT, METRICS, _Reader)
