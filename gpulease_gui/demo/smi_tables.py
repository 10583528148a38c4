"""How do the smaller calls of nvidia-smi print the cards of a simulated node?"""

from __future__ import annotations

from gpulease_gui.demo.machine import GpuCard, Machine

_LEGEND = """
Legend:

  X    = Self
  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes (e.g., QPI/UPI)
  NODE = Connection traversing PCIe as well as the interconnect between PCIe Host Bridges within a NUMA node
  PHB  = Connection traversing PCIe as well as a PCIe Host Bridge (typically the CPU)
  PXB  = Connection traversing multiple PCIe bridges (without traversing the PCIe Host Bridge)
  PIX  = Connection traversing at most a single PCIe bridge
  NV#  = Connection traversing a bonded set of # NVLinks
"""


def smi_list(machine: Machine) -> str:
    """`nvidia-smi -L`."""
    return "".join(f"GPU {c.index}: {c.name} (UUID: {c.uuid})\n" for c in machine.gpus)


def topo(machine: Machine) -> str:
    """`nvidia-smi topo -m`: cards, network cards, affinities, legend; underlined from driver 590 on."""
    cards, nics = machine.gpus, [p for p in machine.ports if p.pci]
    heads = [*(f"GPU{c.index}" for c in cards), *(f"NIC{n}" for n in range(len(nics)))]
    head = "\t" + "\t".join([*heads, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"])
    assert machine.driver is not None
    if machine.driver.branch >= 590:
        head = "\t\x1b[4m" + head[1:] + "\x1b[0m"
    rows = [head]
    for card in cards:
        cells = [_between(machine, card, other) for other in cards]
        cells += [_to_nic(machine, card, n) for n in range(len(nics))]
        numa = _numa(machine, card)
        rows.append("\t".join([f"GPU{card.index}", *cells, _cpus(machine, numa), str(numa), "\tN/A"]))
    for n in range(len(nics)):
        cells = [_to_nic(machine, c, n) for c in cards] + [" X " if m == n else "SYS" for m in range(len(nics))]
        rows.append("\t".join([f"NIC{n}", *cells, "\t"]))
    legend = "".join(f"  NIC{n}: mlx5_{n}\n" for n in range(len(nics)))
    return "\n".join(rows) + "\n" + _LEGEND + ("\nNIC Legend:\n\n" + legend if legend else "")


def _between(machine: Machine, one: GpuCard, other: GpuCard) -> str:
    if one.index == other.index:
        return " X "
    if one.board.links and machine.nvlink_up:
        return f"NV{one.board.links}"
    if _numa(machine, one) != _numa(machine, other):
        return "SYS"
    return "PHB" if one.index // 2 == other.index // 2 else "NODE"


def _to_nic(machine: Machine, card: GpuCard, nic: int) -> str:
    if _numa(machine, card) != nic % machine.host.sockets:
        return "SYS"
    return "PXB" if card.index % 4 == 0 else "NODE"


def _numa(machine: Machine, card: GpuCard) -> int:
    total = len(machine.gpus) + len(machine.lost)
    return card.index * machine.host.sockets // max(1, total)


def _cpus(machine: Machine, numa: int) -> str:
    host = machine.host
    cores, total = host.cores_per_socket, host.sockets * host.cores_per_socket
    starts = [numa * cores + total * thread for thread in range(host.threads_per_core)]
    return ",".join(f"{start}-{start + cores - 1}" for start in starts)


def nvlink(machine: Machine) -> str:
    """`nvidia-smi nvlink -s`."""
    return "".join(f"GPU {c.index}: {c.name} (UUID: {c.uuid})\n" + _links(machine, c) for c in machine.gpus)


def _links(machine: Machine, card: GpuCard) -> str:
    board = card.board
    if not board.links or not machine.nvlink_up:
        return "NVML: Unable to retrieve NVLink information as all links are inActive\n"
    return "".join(f"\t Link {n}: {board.link_gb_s} GB/s\n" for n in range(board.links))


def mig(machine: Machine) -> str:
    """`nvidia-smi mig -lgi` on cards that are not sliced."""
    return "No MIG-enabled devices found.\n"
