"""Which accelerator boards can stand in a simulated node, as their tools print them?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Board:
    """One product. Ids are PCI ids without 0x; clocks in MHz; `links` NVLinks at `link_gb_s` GB/s each way."""

    name: str
    architecture: str
    device_id: str
    subsystem_id: str
    memory_mib: int
    reserved_mib: int
    power_w: int
    power_min_w: int
    sm_max_mhz: int
    memory_max_mhz: int
    pcie_gen: int
    links: int
    link_gb_s: str
    board_part: str
    gpu_part: str
    inforom: str
    form: str


H100_SXM = Board(
    name="NVIDIA H100 80GB HBM3", architecture="Hopper", device_id="2330", subsystem_id="16C1", memory_mib=81559,
    reserved_mib=551, power_w=700, power_min_w=200, sm_max_mhz=1980, memory_max_mhz=2619, pcie_gen=5, links=18,
    link_gb_s="26.562", board_part="692-2G520-0200-000", gpu_part="2330-885-A1", inforom="G520.0200.00.05",
    form="SXM",
)  # fmt: skip
H100_PCIE = Board(
    name="NVIDIA H100 PCIe", architecture="Hopper", device_id="2331", subsystem_id="1626", memory_mib=81559,
    reserved_mib=640, power_w=350, power_min_w=200, sm_max_mhz=1755, memory_max_mhz=1593, pcie_gen=5, links=0,
    link_gb_s="26.562", board_part="900-21010-0000-000", gpu_part="2331-882-A1", inforom="1010.0200.00.02",
    form="PCIe",
)  # fmt: skip
A100_SXM_80 = Board(
    name="NVIDIA A100-SXM4-80GB", architecture="Ampere", device_id="20B2", subsystem_id="1463", memory_mib=81920,
    reserved_mib=622, power_w=400, power_min_w=100, sm_max_mhz=1410, memory_max_mhz=1593, pcie_gen=4, links=12,
    link_gb_s="25", board_part="692-2G506-0210-003", gpu_part="20B2-886-A1", inforom="G506.0210.00.03",
    form="SXM",
)  # fmt: skip
A100_PCIE_80 = Board(
    name="NVIDIA A100 80GB PCIe", architecture="Ampere", device_id="20B5", subsystem_id="1533", memory_mib=81920,
    reserved_mib=637, power_w=300, power_min_w=150, sm_max_mhz=1410, memory_max_mhz=1512, pcie_gen=4, links=0,
    link_gb_s="25", board_part="900-21001-0020-100", gpu_part="20B5-895-A1", inforom="1001.0230.00.03",
    form="PCIe",
)  # fmt: skip

BOARDS: Mapping[str, Board] = MappingProxyType(
    {"h100-sxm": H100_SXM, "h100-pcie": H100_PCIE, "a100-sxm": A100_SXM_80, "a100-pcie": A100_PCIE_80}
)
