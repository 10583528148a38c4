"""What does a simulated node say of the ways between its cards, and of what serves them?"""

from __future__ import annotations

from gpulease_gui.demo.host_report import keyed
from gpulease_gui.demo.machine import Machine


def p2p(machine: Machine) -> str:
    """Every pair may read and write; the bridges' access control is for root only."""
    names = [f"GPU{card.index}" for card in machine.gpus]
    head = "\t" + "\t".join(names) + "\n"
    rows = "".join(f"{row}\t" + "\t".join("X" if row == column else "OK" for column in names) + "\n" for row in names)
    matrix = f"{head}{rows}\nLegend:\n\n  X    = Self\n  OK   = Status Ok\n"
    tail = keyed([("write_code", "0"), ("iommu_groups", "148"), ("iommu_word", "iommu=pt"), ("shut", "00:01.0")])
    return f"p2p: read\n{matrix}p2p: write\n{matrix}p2p: paths\n{tail}"


def fabric_manager(machine: Machine) -> str:
    """The one of the driver, where the board has switches."""
    switched = machine.driver is not None and machine.nvlink_up and any(card.board.links for card in machine.gpus)
    if machine.driver is None or not switched:
        return keyed([("fabric_tool", "none")])
    told = f"Fabric Manager version is : {machine.driver.version}"
    return keyed([("fabric_tool", "/usr/bin/nv-fabricmanager"), ("tool_code", "0"), ("said", told), ("running", "nv-fabricmanage")])


def graphics(machine: Machine) -> str:
    """The libraries of the full driver; nobody installed the tools that list devices."""
    if machine.driver is None:
        return keyed([("graphics", "unset")])
    folder = f"/usr/lib/{machine.host.arch}-linux-gnu"
    names = ("libGLX_nvidia.so.0", "libEGL_nvidia.so.0", "libnvidia-encode.so.1", "libnvcuvid.so.1")
    icd = "/usr/share/vulkan/icd.d/nvidia_icd.json"
    return keyed([("graphics", "unset"), *(("library", f"{folder}/{name}") for name in names), ("icd", icd)])


def npu_links(machine: Machine) -> str:
    """HCCS between all cards, no error."""
    names = [f"NPU{npu.index}" for npu in machine.npus]
    pairs = [("topo_code", "0"), ("topo", "\t".join([*names, "CPU Affinity"]))]
    pairs += [("topo", "\t".join([row, *("X" if row == column else "HCCS" for column in names), "0-23"])) for row in names]
    for npu in machine.npus:
        pairs += [("npu", f"{npu.index} 0"), ("pcie", f"NPU ID : {npu.index}"), ("pcie", "PCIe Tx Err Count : 0"), ("pcie", "PCIe Rx Err Count : 0")]
    return keyed(pairs)


def npu_ports(machine: Machine) -> str:
    """All ports up, at 200 Gbit/s."""
    pairs = [("hccn", "/usr/local/Ascend/driver/tools/hccn_tool")]
    for npu in machine.npus:
        pairs += [
            ("port", str(npu.index)), ("link.code", "0"), ("link", "link status: UP"), ("net_health.code", "0"),
            ("net_health", "net health status: Success"), ("speed.code", "0"), ("speed", "Speed: 200000 Mb/s"),
            ("ip.code", "0"), ("ip", f"ipaddr:10.31.{npu.index}.2"),
        ]  # fmt: skip
    return keyed(pairs)
