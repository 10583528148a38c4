"""What does an honest node with eight H100 SXM print, file and show?

One report (tests/outputs/h100_sxm8.xml) is the source of all: every other text, table and file repeats its cards, as the
parts of one machine do.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

REPORT = Path(__file__).parents[1] / "outputs" / "h100_sxm8.xml"
LINKS = 18
LINK_GB_S = "26.562"
NIC_COUNT = 8
CORES_A_SOCKET = 48


@dataclass(frozen=True)
class Card:
    """One GPU of the report. `slot` as the kernel writes it, `socket` 0 or 1."""

    index: int
    name: str
    uuid: str
    slot: str
    tree: ET.Element

    @property
    def socket(self) -> int:
        return self.index // 4

    def at(self, path: str) -> str:
        """The text of one element, "" for none."""
        return (self.tree.findtext(path) or "").strip()


@dataclass(frozen=True)
class MachineTexts:
    """The report and its cards; the texts of the tool's other calls."""

    report: str
    driver: str
    cards: tuple[Card, ...]

    def listed(self) -> str:
        return "".join(_head(card) for card in self.cards)

    def nvlink(self, line: str) -> str:
        """`nvlink -s`, `-e`, `-c`: `line` says one link, with {n}."""
        return "".join(_head(card) + "".join(line.format(n=n) for n in range(LINKS)) for card in self.cards)

    def topo(self) -> str:
        heads = [f"GPU{c.index}" for c in self.cards] + [f"NIC{n}" for n in range(NIC_COUNT)]
        rows = ["\t" + "\t".join([*heads, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])]
        for card in self.cards:
            cells = [" X " if card is other else f"NV{LINKS}" for other in self.cards]
            cells += [_to_nic(card.index, n) for n in range(NIC_COUNT)]
            cpus = f"{card.socket * CORES_A_SOCKET}-{card.socket * CORES_A_SOCKET + CORES_A_SOCKET - 1}"
            rows.append("\t".join([f"GPU{card.index}", *cells, cpus, str(card.socket), "\tN/A"]))
        for n in range(NIC_COUNT):
            cells = [_to_nic(card.index, n) for card in self.cards]
            cells += [" X " if n == m else "NODE" if n // 4 == m // 4 else "SYS" for m in range(NIC_COUNT)]
            rows.append("\t".join([f"NIC{n}", *cells, "", "", ""]))
        names = "".join(f"  NIC{n}: mlx5_{n}\n" for n in range(NIC_COUNT))
        return "\n".join(rows) + f"\n\nLegend:\n\n  X    = Self\n  NV#  = joined by # NVLinks\n\nNIC Legend:\n\n{names}"

    def p2p(self) -> str:
        names = [f"GPU{card.index}" for card in self.cards]
        rows = ("\t".join([name, *("X" if name == other else "OK" for other in names)]) + "\n" for name in names)
        return " \t" + "\t".join(names) + f"\n{''.join(rows)}\nLegend:\n\n  X    = Self\n  OK   = Status Ok\n  NS   = Not supported\n"

    def dmon(self) -> str:
        head = "# gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk\n# Idx      W      C      C      %      %      %      %    MHz    MHz\n"
        rows = (
            f"{c.index:5}{_whole(c, 'gpu_power_readings/power_draw'):7}{_whole(c, 'temperature/gpu_temp'):7}"
            f"{_whole(c, 'temperature/memory_temp'):7}{0:7}{0:7}{0:7}{0:7}{_whole(c, 'clocks/mem_clock'):7}{_whole(c, 'clocks/sm_clock'):7}\n"
            for c in self.cards
        )
        return head + "".join(rows)

    def pmon(self) -> str:
        head = "# gpu         pid   type     sm    mem    enc    dec    command\n# Idx           #    C/G      %      %      %      %    name\n"
        return head + "".join(f"{c.index:5}           -     -      -      -      -      -    -              \n" for c in self.cards)

    def plain(self) -> str:
        """`nvidia-smi` without a word."""
        cuda = re.search("<cuda_version>(.*?)<", self.report)
        assert cuda
        bar = "+" + "-" * 89 + "+"
        rows = "".join(
            f"|   {c.index}  {c.name:<30}   On  |   {c.at('pci/pci_bus_id')} Off |                    0 |\n"
            f"| N/A   {_whole(c, 'temperature/gpu_temp')}C    P0             {_whole(c, 'gpu_power_readings/power_draw'):3}W /  700W |"
            f"       4MiB /  {c.at('fb_memory_usage/total').replace(' ', '')} |      0%      Default |\n"
            "|                                         |                        |             Disabled |\n"
            f"{bar}\n"
            for c in self.cards
        )
        return (
            f"@NOW@\n{bar}\n| NVIDIA-SMI {self.driver}             Driver Version: {self.driver}     CUDA Version: {cuda[1]}     |\n"
            "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
            "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
            f"|=========================================+========================+======================|\n{rows}"
        )

    def answers(self) -> dict[str, str]:
        """Command line -> what is printed."""
        count = len(self.cards)
        return {
            "": self.plain(),
            "-q -x": self.report,
            "-L": self.listed(),
            "topo -m": self.topo(),
            "topo -p2p r": self.p2p(),
            "topo -p2p w": self.p2p(),
            "nvlink -s": self.nvlink(f"\t Link {{n}}: {LINK_GB_S} GB/s\n"),
            "nvlink -e": self.nvlink("".join(f"\t Link {{n}}: {word} Errors: 0\n" for word in ("Replay", "Recovery", "CRC"))),
            "nvlink -c": self.nvlink("\t Link {n}, P2P is supported: true\n\t Link {n}, Access to system memory supported: true\n"),
            "mig -lgi": "No MIG-enabled devices found.\n",
            "dmon -c 1": self.dmon(),
            "pmon -c 1": self.pmon(),
            "--version": f"NVIDIA-SMI version  : {self.driver}\nNVML version        : {self.driver[:3]}\nDRIVER version      : {self.driver}\n",
            "count": f"{count}\n",
        }

    def columns(self) -> dict[str, tuple[str, list[tuple[str, str]]]]:
        """Field -> what --help-query-gpu says of it, and for each card the value and its unit."""
        return {name: (about, [_cell(path, card, self) for card in self.cards]) for name, (path, about) in _FIELDS.items()}


def machine_texts(*, left_out: int = 0) -> MachineTexts:
    """The machine; the tool knows nothing of its last `left_out` cards."""
    report = REPORT.read_text("utf-8")
    root = ET.fromstring(re.sub("<!DOCTYPE[^>]*>", "", report))
    for tree in root.findall("gpu")[-left_out:] if left_out else []:
        block = re.search(rf'\t<gpu id="{tree.get("id")}">.*?</gpu>\n', report, re.DOTALL)
        assert block
        report = report.replace(block[0], "")
        root.remove(tree)
    count = len(root.findall("gpu"))
    report = report.replace("<attached_gpus>8<", f"<attached_gpus>{count}<")
    report = re.sub("<timestamp>.*?<", "<timestamp>@NOW@<", report, count=1)
    cards = tuple(
        Card(n, tree.findtext("product_name", ""), tree.findtext("uuid", ""), tree.get("id", "")[4:].lower(), tree)
        for n, tree in enumerate(root.findall("gpu"))
    )
    return MachineTexts(report, root.findtext("driver_version", ""), cards)


def _head(card: Card) -> str:
    return f"GPU {card.index}: {card.name} (UUID: {card.uuid})\n"


def _to_nic(gpu: int, nic: int) -> str:
    return "PXB" if gpu == nic else "NODE" if gpu // 4 == nic // 4 else "SYS"


def _whole(card: Card, path: str) -> int:
    return int(float(card.at(path).split()[0]))


# Field -> (element of the card, or a value after "="; what the help says).
_FIELDS = {
    "timestamp": ("=@STAMP@", "When the query was made."),
    "driver_version": ("/driver", "The version of the installed driver."),
    "count": ("/count", "How many GPUs there are."),
    "index": ("/index", "Index of the GPU, from zero."),
    "name": ("product_name", "The product name of the GPU."),
    "uuid": ("uuid", "The identity of the GPU, the same on every machine."),
    "serial": ("serial", "The serial number of the board."),
    "pci.bus_id": ("pci/pci_bus_id", "PCI bus id."),
    "pci.device_id": ("=0x233010DE", "PCI device and vendor."),
    "pci.sub_device_id": ("=0x16C110DE", "PCI subsystem."),
    "vbios_version": ("vbios_version", "The version of the board's BIOS."),
    "compute_cap": ("=9.0", "The compute capability."),
    "inforom.checksum_validation": ("=valid", "Whether the inforom is intact."),
    "persistence_mode": ("persistence_mode", "Whether the driver stays loaded."),
    "compute_mode": ("compute_mode", "Who may compute."),
    "pstate": ("performance_state", "The performance state."),
    "mig.mode.current": ("mig_mode/current_mig", "Whether MIG is on."),
    "memory.total": ("fb_memory_usage/total", "All memory."),
    "memory.reserved": ("fb_memory_usage/reserved", "Memory kept by the driver."),
    "memory.used": ("fb_memory_usage/used", "Memory in use."),
    "memory.free": ("fb_memory_usage/free", "Memory that is free."),
    "utilization.gpu": ("utilization/gpu_util", "Share of the last sample period with a kernel."),
    "utilization.memory": ("utilization/memory_util", "Share of the last sample period with memory traffic."),
    "temperature.gpu": ("temperature/gpu_temp", "Temperature of the core."),
    "temperature.memory": ("temperature/memory_temp", "Temperature of the memory."),
    "power.draw": ("gpu_power_readings/power_draw", "Power drawn."),
    "power.limit": ("gpu_power_readings/current_power_limit", "The power limit."),
    "enforced.power.limit": ("gpu_power_readings/current_power_limit", "The power limit in force."),
    "ecc.errors.corrected.aggregate.total": ("=7", "Corrected errors since the card was made."),
    "ecc.errors.uncorrected.aggregate.total": ("=0", "Uncorrected errors since the card was made."),
    "power.default_limit": ("gpu_power_readings/default_power_limit", "The power limit after a start."),
    "power.max_limit": ("gpu_power_readings/max_power_limit", "The highest power limit."),
    "clocks.sm": ("clocks/sm_clock", "The clock of the processors."),
    "clocks.mem": ("clocks/mem_clock", "The clock of the memory."),
    "clocks.max.sm": ("max_clocks/sm_clock", "The highest clock of the processors."),
    "clocks_event_reasons.active": ("=0x0000000000000001", "Bits that tell what holds the clocks."),
    "pcie.link.gen.current": ("pci/pci_gpu_link_info/pcie_gen/current_link_gen", "The PCIe generation now."),
    "pcie.link.width.current": ("=16", "The PCIe lanes now."),
    "ecc.mode.current": ("ecc_mode/current_ecc", "Whether ECC is on."),
    "gpu_recovery_action": ("gpu_recovery_action", "What the driver asks for."),
}
_UNITS = ("MiB", "W", "MHz", "%")


def _cell(path: str, card: Card, machine: MachineTexts) -> tuple[str, str]:
    own = {"/driver": machine.driver, "/count": str(len(machine.cards)), "/index": str(card.index)}
    value = path[1:] if path.startswith("=") else own.get(path) or card.at(path)
    number, _, unit = value.rpartition(" ")
    if number and unit in _UNITS:
        return number, unit
    return (number, "") if unit == "C" and number else (value, "")
