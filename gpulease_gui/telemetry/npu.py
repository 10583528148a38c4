"""How busy, hot and hungry is each Ascend chip?"""

from __future__ import annotations

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import npu_smi
from gpulease_gui.telemetry.source import RECORD_END, Metric, Point, Source

METRICS = (
    Metric("npu.aicore_percent", Text("AI core", "AI Core 利用率"), "%", "npu_util", decimals=0, own_pace=True),
    Metric("npu.hbm_used_gib", Text("HBM used", "已用 HBM"), "GiB", "npu_memory", own_pace=True),
    Metric("npu.power_w", Text("NPU power", "NPU 功耗"), "W", "npu_power", decimals=0, own_pace=True),
    Metric("npu.temperature_c", Text("NPU temperature", "NPU 温度"), "°C", "npu_temperature", decimals=0, own_pace=True),
)
_MIB_PER_GIB = 1024.0

# npu-smi needs a second or two of its own; the table travels as one line.
SCRIPT = (
    "command -v npu-smi >/dev/null 2>&1 || { printf '! npu-smi is not installed on the node\\n'; exit; }\n"
    "rs=$(printf '\\036')\n"
    'while npu-smi info > "$GPULEASE_TMP/npu" 2>&1; do\n'
    "  line=\n"
    '  while IFS= read -r part; do line="$line$part$rs"; done < "$GPULEASE_TMP/npu"\n'
    "  printf '%s\\n' \"$line\"\n"
    '  sleep "$GPULEASE_INTERVAL"\n'
    "done\n"
    "printf '! npu-smi does not answer\\n'\n"
)


class _Reader:
    def read(self, line: str) -> tuple[Point, ...]:
        """The whole table of `npu-smi info`; a chip is named npu/chip as printed."""
        report = npu_smi.parse(CommandOutput(line.replace(RECORD_END, "\n").encode()))
        points: list[Point] = []
        for chip in report.chips:
            name = f"{chip.npu_id}/{chip.chip_id}"
            hbm = None if chip.hbm_used_mb is None else chip.hbm_used_mb / _MIB_PER_GIB
            values = (chip.aicore_percent, hbm, chip.power_w, chip.temperature_c)
            points += [Point(metric.id, name, value) for metric, value in zip(METRICS, values, strict=True)]
        return tuple(points)


SOURCE = Source("npu", Text("Ascend NPUs", "Ascend NPU"), SCRIPT, METRICS, _Reader)
