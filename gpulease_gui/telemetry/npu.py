"""How busy, hot and hungry is each Ascend chip?"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.text import Text
from gpulease_gui.facts import npu_smi
from gpulease_gui.facts.npu_table import Chip
from gpulease_gui.telemetry.figure_bounds import BEYOND, possible
from gpulease_gui.telemetry.source import RECORD_END, WHOLE_SECONDS, Metric, Point, Source

METRICS = (
    Metric("npu.aicore_percent", Text("AI core", "AI Core 利用率"), "%", "npu_util", decimals=0, own_pace=True),
    Metric("npu.hbm_used_gib", Text("HBM used", "已用 HBM"), "GiB", "npu_memory", own_pace=True),
    Metric("npu.power_w", Text("NPU power", "NPU 功耗"), "W", "npu_power", decimals=0, own_pace=True),
    Metric("npu.temperature_c", Text("NPU temperature", "NPU 温度"), "°C", "npu_temperature", decimals=0, own_pace=True),
)
_MIB_PER_GIB = 1024.0

GONE = "npu-smi does not name it any more"
_MOST_CHIPS = 256

# npu-smi needs a second or two of its own; the table travels as one line. It does not bear two calls at once, and a check of
# the node calls it too: what failed once is tried once more before it is told.
SCRIPT = (
    "rs=$(printf '\\036') failed=0\n"
    f"{WHOLE_SECONDS}limit=\n"
    "command -v timeout >/dev/null 2>&1 && limit='timeout -s KILL 20'\n"
    "while hash -r; command -v npu-smi >/dev/null 2>&1; do\n"
    '  : > "$GPULEASE_TMP/npu.code"\n'
    '  { $limit npu-smi info; echo $? > "$GPULEASE_TMP/npu.code"; } 2>&1 | head -c 60000 > "$GPULEASE_TMP/npu"\n'
    '  read -r code < "$GPULEASE_TMP/npu.code"\n'
    '  if [ "$code" = 0 ]; then\n'
    "    line= failed=0\n"
    '    while IFS= read -r part; do line="$line$part$rs"; done < "$GPULEASE_TMP/npu"\n'
    "    printf '%s\\n' \"$line\"\n"
    '    sleep "$GPULEASE_INTERVAL"\n'
    "  else\n"
    "    failed=$((failed + 1))\n"
    "    [ $failed -lt 2 ] || printf '! npu-smi does not answer\\n'\n"
    "    sleep 5\n"
    "  fi\n"
    "done\n"
    "printf '! npu-smi is not installed on the node\\n'\n"
)


class _Reader:
    def __init__(self) -> None:
        self._named: dict[str, None] = {}
        self._names: dict[str, str] = {}  # by the bus address

    @property
    def names(self) -> Mapping[str, str]:
        """The name of each chip by its bus address; a chip that was replaced in its place has the name of the one before."""
        return dict(self._names)

    def recall(self, names: Mapping[str, str]) -> None:
        """Names of a program before. Where this one called another chip so already, both keep what they have here."""
        taken = set(self._names.values())
        more = {bus: name for bus, name in names.items() if bus not in self._names and name not in taken}
        self._names.update(islice(more.items(), _MOST_CHIPS - len(self._names)))

    def renewed(self) -> _Reader:
        """The reader of the next stream: a chip that has another number after it is still the same chip."""
        after = _Reader()
        after._names = self._names
        return after

    def read(self, line: str) -> tuple[Point, ...]:
        """The whole table of `npu-smi info`; a chip is named npu/chip as printed first for its bus address, whatever number it has
        later. One that a whole table leaves out is lost.
        """
        report = npu_smi.parse(CommandOutput(line.replace(RECORD_END, "\n").encode()))
        points: list[Point] = []
        buses = [chip.bus_id for chip in report.chips]
        first_bus = {chip.npu_id: chip.bus_id for chip in reversed(report.chips)}
        for chip in report.chips:
            if chip.chip_id is None:
                continue  # the table breaks off in it, or says nothing but its name
            name = self._name(chip, first_bus[chip.npu_id], unique=buses.count(chip.bus_id) == 1)
            hbm = None if chip.hbm_used_mb is None else chip.hbm_used_mb / _MIB_PER_GIB
            values = (chip.aicore_percent, hbm, chip.power_w, chip.temperature_c)
            points += [_point(metric.id, name, value) for metric, value in zip(METRICS, values, strict=True)]
        return (*self._missing({point.subject: None for point in points}, whole=not report.cut_off), *points)

    def _name(self, chip: Chip, first_bus: str | None, *, unique: bool) -> str:
        """npu/chip as printed; of a module whose number another one had before, the address of its first chip stands with the number."""
        printed, bus = f"{chip.npu_id}/{chip.chip_id}", chip.bus_id
        if bus is None or not unique or "*" in bus or len(self._names) >= _MOST_CHIPS:
            return printed
        if bus not in self._names:
            taken = printed in self._names.values()
            self._names[bus] = f"{chip.npu_id}@{first_bus}/{chip.chip_id}" if taken else printed
        return self._names[bus]

    def _missing(self, now: dict[str, None], *, whole: bool) -> list[Point]:
        gone = [name for name in self._named if name not in now] if whole else []
        self._named |= now
        return [Point(metric.id, name, None, lost=GONE) for name in gone for metric in METRICS]


def _point(metric: str, name: str, said: float | None) -> Point:
    """A sensor that tells 0 °C tells nothing."""
    value, why = possible(metric, said)
    if metric == "npu.temperature_c" and value == 0:
        value, why = None, BEYOND
    return Point(metric, name, value, why=why)


SOURCE = Source("npu", Text("Ascend NPUs", "Ascend NPU"), SCRIPT, METRICS, _Reader)
