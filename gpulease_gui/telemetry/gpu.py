"""How busy, hot, fast and hungry is each NVIDIA GPU?"""

from __future__ import annotations

import math
import re

from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text, visible
from gpulease_gui.domain.units import NO_VALUES
from gpulease_gui.telemetry import gpu_agent, gpu_alike
from gpulease_gui.telemetry.figure_bounds import possible
from gpulease_gui.telemetry.rates import Changes, counter
from gpulease_gui.telemetry.row import Row
from gpulease_gui.telemetry.source import Metric, Point, Source

# Asked in this order; the last is the bit mask of clock event reasons (clocks_throttle_reasons.* before driver 535).
FIELDS = (
    "index", "uuid", "utilization.gpu", "utilization.memory", "memory.used", "power.draw", "temperature.gpu",
    "clocks.sm", "clocks.mem",
)  # fmt: skip
# Asked behind it where nvidia-smi knows them, the counters no oftener than once a second: reading them takes a driver long.
MORE = ("pci.bus_id", "enforced.power.limit", "temperature.memory")
COUNTERS = ("ecc.errors.corrected.aggregate.total", "ecc.errors.uncorrected.aggregate.total")
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
    # What only the agent tells.
    Metric("gpu.power_limit_w", Text("Power limit", "功耗上限"), "W", "power_limit", decimals=0),
    Metric("gpu.temperature_memory_c", Text("Memory temperature", "显存温度"), "°C", "memory_temperature", decimals=0),
    Metric("gpu.pcie_rx_gb_s", Text("PCIe received", "PCIe 接收"), "GB/s", "pcie_rx", own_pace=True),
    Metric("gpu.pcie_tx_gb_s", Text("PCIe sent", "PCIe 发送"), "GB/s", "pcie_tx", own_pace=True),
    Metric("gpu.nvlink_rx_gb_s", Text("NVLink received", "NVLink 接收"), "GB/s", "nvlink_rx"),
    Metric("gpu.nvlink_tx_gb_s", Text("NVLink sent", "NVLink 发送"), "GB/s", "nvlink_tx"),
    Metric("gpu.pcie_replays", Text("New PCIe replays", "新增 PCIe 重传"), "", "events", decimals=0),
    Metric("gpu.nvlink_errors", Text("New NVLink errors", "新增 NVLink 错误"), "", "events", decimals=0),
    Metric("gpu.ecc_corrected", Text("New corrected ECC errors", "新增可纠正 ECC 错误"), "", "events", decimals=0, own_pace=True),
    Metric("gpu.ecc_uncorrected", Text("New uncorrected ECC errors", "新增不可纠正 ECC 错误"), "", "events", decimals=0, own_pace=True),
    Metric("gpu.remapped_rows", Text("Newly remapped rows", "新增重映射行"), "", "events", decimals=0),
    Metric("gpu.remap_pending", Text("Row remap pending", "待生效的行重映射"), "", "events", decimals=0),
    Metric("gpu.remap_failed", Text("Row remap failed", "行重映射失败"), "", "events", decimals=0),
    Metric("gpu.xid", Text("Xid", "Xid"), "", "events", decimals=0, apart=True),
    Metric("gpu.processes", Text("Processes", "进程数"), "", "events", decimals=0, own_pace=True),
    Metric("gpu.process_memory_gib", Text("Memory of processes", "进程占用显存"), "GiB", "process_memory", own_pace=True),
)
# What each row of nvidia-smi tells, in its order; what some tell behind it.
BY_SMI = METRICS[: len(FIELDS) - 1]
_IDS = tuple(metric.id for metric in BY_SMI)
_MORE_IDS, _COUNTER_IDS = ("gpu.power_limit_w", "gpu.temperature_memory_c"), ("gpu.ecc_corrected", "gpu.ecc_uncorrected")
_LEAST = len(FIELDS) + 1
_LENGTHS = (_LEAST, _LEAST + len(MORE), _LEAST + len(MORE) + len(COUNTERS))
_MIB_PER_GIB, _WORDS = 1024.0, 120
_ALL_BITS = 2.0**64  # as near as a float comes: a driver has none
GONE = "nvidia-smi does not name it any more"
NOT_INSTALLED = "nvidia-smi is not installed on the node"
_BUS = re.compile(r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]\Z")
_LOST, _WARNING = ("gpu is lost", "gpu requires reset"), "WARNING:"

# An nvidia-smi that says nothing for so long hangs: it is ended with what it started, and asked again.
_SILENT_S, _AGAIN_S = 60, 2
NO_GPU, NONE_SHOWN = "no NVIDIA GPU on the node", "the NVIDIA driver shows no GPU"
_NONE_OF, _SILENT = "the NVIDIA driver shows none of $n NVIDIA GPUs on the PCI bus", "the NVIDIA driver does not answer"

SCRIPT = (
    "exec 2>/dev/null\n"
    f"command -v nvidia-smi >&2 || {{ printf '! {NOT_INSTALLED}\\n'; exit; }}\n"
    "t=$GPULEASE_TMP/gpu\n"
    'kids() { for k in $(cat /proc/"$1"/task/*/children); do echo "$k"; kids "$k"; done; }\n'
    "say() { printf '%s\\n' \"! $1\"; }\n"
    "ask() {\n"
    f"  reasons={REASONS[1]}\n"
    "  help=$(nvidia-smi --help-query-gpu 2>/dev/null | grep '^\"')\n"
    f"  case $help in *{REASONS[0]}*) reasons={REASONS[0]} ;; esac\n"
    f'  more=,{",".join(MORE)}\n'
    f'  [ "$GPULEASE_INTERVAL_MS" -lt 1000 ] || more=$more,{",".join(COUNTERS)}\n'
    f"  for field in {' '.join((*MORE, *COUNTERS))}; do\n"
    "    case $help in *\"$field\"*) ;; *) more= ;; esac\n"
    "  done\n"
    f"  exec nvidia-smi --query-gpu={','.join(FIELDS)},$reasons$more --format=csv,noheader,nounits "
    "-lms \"$GPULEASE_INTERVAL_MS\"\n"
    "}\n"
    # What it says is passed on by a reader; the guard ends both where no row came between two looks.
    "pass() {\n"
    "  while IFS= read -r row; do\n"
    '    case $row in *"o devices were found"*) true > "$t.none"; continue ;; *GPU-*) true > "$t.shown" ;; esac\n'
    "    printf '%s\\n' \"$row\"\n"
    '    true > "$t.row"\n'
    "  done\n"
    "}\n"
    "guard() {\n"
    "  trap 'kill $s; exit' TERM\n"
    f'  while rm -f "$t.row"; do sleep $(({_SILENT_S} + GPULEASE_INTERVAL_MS / 500)) & s=$!; wait $s; [ -e "$t.row" ] || break; done\n'
    '  true > "$t.late"\n'
    # From the top down: a shell whose child is killed first prints that, as if the tool had said it, and goes on.
    '  read -r p < "$t.pid" && kill -KILL "$p" $(kids "$p")\n'
    '  kill -KILL "$1"\n'
    "}\n"
    # How many cards of NVIDIA the PCI bus lists; "" where it lists nothing.
    "bus() {\n"
    "  n=\n"
    "  for v in /sys/bus/pci/devices/*/vendor; do\n"
    '    read -r vendor < "$v" && read -r kind < "${v%vendor}class" || { n=; return; }\n'
    "    case $vendor$kind in 0x10de0x03*) n=$((${n:-0} + 1)) ;; *) n=${n:-0} ;; esac\n"
    "  done\n"
    "}\n"
    "while hash -r; command -v nvidia-smi >&2; do\n"
    '  rm -f "$t.late" "$t.none"\n'
    '  { ask 2>&1 & echo $! > "$t.pid"; wait $!; } | pass &\n'
    "  reader=$!\n"
    "  guard $reader >&2 &\n"
    "  dog=$!\n"
    "  wait $reader; kill $dog; wait $dog\n"
    "  bus\n"
    '  if [ "$n" = 0 ] && [ ! -e "$t.shown" ]; then\n'
    f"    say '{NO_GPU}'\n"
    '  elif [ -e "$t.late" ]; then\n'
    f"    say '{_SILENT}'\n"
    '  elif [ -e "$t.none" ]; then\n'
    f'    [ "${{n:-0}}" = 0 ] && say \'{NONE_SHOWN}\' || say "{_NONE_OF}"\n'
    "  else\n"
    "    say 'nvidia-smi ended'\n"
    "  fi\n"
    # What the kernel holds is waited for: another one would only be held beside it.
    f'  read -r p < "$t.pid" && while sleep {_AGAIN_S}; kill -0 "$p"; do say \'{_SILENT}\'; done\n'
    "done\n"
    f"printf '! {NOT_INSTALLED}\\n'\n"
)


class _Reader:
    def __init__(self) -> None:
        self._agent = gpu_agent.Reader()
        self._indexes: dict[str, int] = {}
        self._round: set[str] = set()
        self._last_index = 0
        self._buses: dict[str, str] = {}
        self._told: dict[str, dict[str, None]] = {}
        self._changes = Changes()

    def look(self, line: str) -> Row | tuple[Point, ...]:
        """What `read` says, as a row where that costs less."""
        return self._agent.look(line) if line.startswith("{") else self._row(line)

    def read(self, line: str) -> tuple[Point, ...]:
        """One line is one GPU: index, UUID, then the values in the order of METRICS, and what MORE and COUNTERS name where that was
        asked; or an object of the agent. Of two cards with one UUID the second one is named by its bus address, too.

        A warning that nvidia-smi prints beside its rows tells nothing, and disturbs none.
        """
        return self._agent.read(line) if line.startswith("{") else self._row(line)

    def _row(self, line: str) -> tuple[Point, ...]:
        if line.startswith(_WARNING):
            return ()
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) not in _LENGTHS or counter(cells[0]) is None:
            raise Unreadable(f"not a GPU sample: {line[:120]}")
        values = [number(cell) for cell in cells[2:_LEAST]]
        if values[2] is not None:
            values[2] /= _MIB_PER_GIB
        index, uuid = int(cells[0][:6]), cells[1]
        if not gpu_agent.UUID.match(uuid):
            raise Unreadable(f"the row names no GPU: {line[:120]}")
        if cells[_LEAST:]:
            uuid = self._name(uuid, cells[_LEAST])
        if uuid not in self._indexes and len(self._indexes) >= gpu_agent.MOST_GPUS:
            raise Unreadable(f"more than {gpu_agent.MOST_GPUS} GPUs")
        lost = next((visible(cell.strip("[]"))[:_WORDS] for cell in cells[2:_LEAST] if any(words in cell.lower() for words in _LOST)), "")
        if not lost and all(value is None for value in values):
            lost = gpu_agent.MUTE
        told = self._told.setdefault(uuid, dict.fromkeys(_IDS))
        said = [*((id_, value, "") for id_, value in zip(_IDS, values, strict=True)), *self._more(uuid, cells[_LEAST + 1 :])]
        told.update(dict.fromkeys(id_ for id_, value, _ in said if value is not None))
        points = tuple(_point(id_, uuid, value, why, index, lost) for id_, value, why in said if id_ in told)
        # nvidia-smi tells the Xids of no card: that is said once, of the whole node.
        unheard = () if self._indexes else (Point(gpu_agent.XID, "", None, why=gpu_agent.UNHEARD),)
        return (*unheard, *self._missing(uuid, index), *points)

    def _name(self, uuid: str, bus: str) -> str:
        other = _BUS.match(bus) is not None and self._buses.setdefault(uuid, bus) != bus
        return f"{uuid}/{bus}" if other and len(self._buses) <= gpu_agent.MOST_GPUS else uuid

    def _more(self, uuid: str, cells: list[str]) -> list[tuple[str, float | None, str]]:
        """What not each card tells: a metric that it never told makes no curve. Counters become what they rose by."""
        values = [number(cell) for cell in cells]
        counts = zip(_COUNTER_IDS, values[len(_MORE_IDS) :], strict=False)
        known = ((id_, None if count is None or math.isnan(count) else count) for id_, count in counts)
        risen = [(id_, *((None, "") if count is None else self._changes.since(id_ + uuid, count))) for id_, count in known]
        return [*((id_, value, "") for id_, value in zip(_MORE_IDS, values, strict=False)), *risen]

    def _missing(self, uuid: str, index: int) -> tuple[Point, ...]:
        """A GPU that two rows of another one enclose, without a row of its own, is gone.

        Rows come in the order of their numbers: a UUID that stands twice among them begins no new round.
        """
        lost: list[str] = []
        if uuid in self._round and index <= self._last_index:
            lost = [known for known in self._indexes if known not in self._round]
            self._round = set()
        self._round.add(uuid)
        self._last_index = index
        self._indexes[uuid] = index
        return tuple(Point(id_, gone, None, self._indexes[gone], GONE) for gone in lost for id_ in self._told[gone])


def _point(metric: str, uuid: str, said: float | None, fell: str, index: int, lost: str) -> Point:
    value, why = possible(metric, said)
    return Point(metric, uuid, None if lost else value, index, lost, "" if lost else why or fell)


def number(cell: str) -> float | None:
    """A cell as a number, NaN for one that is not finite or beyond all bounds; None for every spelling of "not available" and for words."""
    if cell.lower() in NO_VALUES:
        return None
    try:
        found = float(int(cell, 16)) if cell.startswith("0x") else float(cell)
    except ValueError:
        return None
    except OverflowError:
        return math.nan
    if found == _ALL_BITS:
        return None
    return found if -gpu_alike.MOST < found < gpu_alike.MOST else math.nan


SOURCE = Source("gpu", Text("NVIDIA GPUs", "NVIDIA GPU"), SCRIPT, METRICS, _Reader)
