"""What do our own shell facts find on a simulated node?"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime

from gpulease_gui.demo.boards import A100_PCIE_80, Board
from gpulease_gui.demo.machine import Driver, GpuCard, Machine, Port

Pairs = Iterable[tuple[str, str]]

_CAPABILITIES = "000001ffffffffff"


def keyed(pairs: Pairs) -> str:
    """`key: value`, one a line, closed by the line that says nothing is missing."""
    return "".join(f"{key}: {value}\n" for key, value in pairs) + "end: yes\n"


def clock_now(machine: Machine, now: datetime) -> str:
    """The node's clock, which agrees with ours."""
    uptime = (now - machine.host.booted(now)).total_seconds()
    return keyed([
        ("utc", f"{now.timestamp():.6f}000"), ("zone", "+0000"), ("boot_id", _id(machine, "boot", dashes=True)),
        ("uptime", f"{uptime:.2f} {uptime * machine.host.threads * 0.97:.2f}"),
    ])  # fmt: skip


def environment(machine: Machine) -> str:
    """Bare metal and root, unless the host says otherwise."""
    host = machine.host
    virtual = host.virtualization != "none"
    pairs = [
        ("kernel", f"Linux {host.kernel} {host.arch}"), ("hostname", host.hostname), ("user", "0 root"),
        ("path", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"), ("virt.vm", host.virtualization),
        ("virt.container", "none"), ("cgroup1", "0::/init.scope"),
        ("mount.root", "/ rw,relatime shared:1 - ext4 /dev/md0 rw"), ("status.CapEff", _CAPABILITIES),
        ("status.CapBnd", _CAPABILITIES), ("status.Seccomp", "0"), ("uid_map", "0          0 4294967295"),
    ]  # fmt: skip
    if host.arch == "x86_64":  # other processors list no such flag
        pairs.append(("cpu.hypervisor", "yes" if virtual else "no"))
    pairs += [(f"dmi.{name}", host.maker) for name in ("sys_vendor", "board_vendor", "chassis_vendor")]
    pairs.append(("dmi.product_name", host.product))
    pairs += [
        ("os", 'PRETTY_NAME="Ubuntu 22.04.5 LTS"'), ("os", 'NAME="Ubuntu"'), ("os", 'VERSION_ID="22.04"'),
        ("boot_id", _id(machine, "boot", dashes=True)), ("machine_id", _id(machine, "machine")),
    ]  # fmt: skip
    return keyed(pairs)


def cpu_limits(machine: Machine) -> str:
    """All processors, no quota."""
    host = machine.host
    last = host.threads - 1
    return keyed([
        ("nproc", str(host.threads)), ("online", f"0-{last}"), ("allowed", f"0-{last}"),
        ("cgroup", "/sys/fs/cgroup/user.slice/user-0.slice/session-1.scope"), ("cgroup", "/sys/fs/cgroup/user.slice"),
        ("cpu.max", "max 100000"), ("cpu.stat", "usage_usec 918273645"), ("cpu.stat", "nr_throttled 0"),
        ("cgroup", "/sys/fs/cgroup"), ("cpuset.cpus.effective", f"0-{last}"),
        ("lscpu", f"Architecture:                         {host.arch}"), ("lscpu", f"CPU(s):                               {host.threads}"),
        ("lscpu", f"Model name:                           {host.cpu}"), ("lscpu", f"Thread(s) per core:                   {host.threads_per_core}"),
        ("lscpu", f"Core(s) per socket:                   {host.cores_per_socket}"),
        ("lscpu", f"Socket(s):                            {host.sockets}"),
    ])  # fmt: skip


def memory_limits(machine: Machine) -> str:
    """All memory, no limit, nearly all of it free."""
    total = machine.host.memory_kib
    return keyed([
        ("page", "4096"), ("meminfo", f"MemTotal:       {total} kB"), ("meminfo", f"MemFree:        {total * 94 // 100} kB"),
        ("meminfo", f"MemAvailable:   {total * 97 // 100} kB"), ("meminfo", "SwapTotal:             0 kB"),
        ("cgroup", "/sys/fs/cgroup/user.slice"), ("memory.max", "max"), ("memory.high", "max"),
        ("memory.events", "oom_kill 0"), ("cgroup", "/sys/fs/cgroup"),
    ])  # fmt: skip


def net_links(machine: Machine) -> str:
    """Every port with its speed as the kernel knows it."""
    pairs = [("net", "yes")]
    for port in machine.ports:
        pairs += _link(port)
    pairs.append(("infiniband", "yes" if any(p.driver == "mlx5_core" for p in machine.ports) else "no"))
    for n, port in enumerate(p for p in machine.ports if p.driver == "mlx5_core"):
        rate = f"{port.speed_mbit // 1000} Gb/sec (4X EDR)" if port.up else "10 Gb/sec (4X SDR)"
        pairs += [
            ("rdma", f"mlx5_{n}/1"), ("link_layer", "Ethernet"), ("state", "4: ACTIVE" if port.up else "1: DOWN"),
            ("phys_state", "5: LinkUp" if port.up else "3: Disabled"), ("rate", rate), ("netdev", port.name),
        ]  # fmt: skip
    return keyed(pairs)


def _link(port: Port) -> list[tuple[str, str]]:
    lines = [("link", port.name), ("type", "772" if port.name == "lo" else "1")]
    lines += [("operstate", ("unknown" if port.name == "lo" else "up") if port.up else "down")]
    lines += [("carrier", "1" if port.up else "0"), ("mtu", str(port.mtu))]
    lines += [("speed", str(port.speed_mbit))] if port.up and port.name != "lo" else []
    lines += [("master", port.master)] if port.master else []
    if port.pci:
        lines += [("device", port.pci), ("driver", port.driver), ("subsystem", "pci")]
    return lines


def mounts(machine: Machine) -> str:
    """`df -P -T -B 1`."""
    rows = [("Filesystem", "Type", "1-blocks", "Used", "Available", "Capacity", "Mounted on")]
    total = machine.host.memory_kib * 1024
    rows.append(("tmpfs", "tmpfs", str(total // 10), "3276800", str(total // 10 - 3276800), "1%", "/run"))
    for disk in (d for d in machine.disks if d.mount):
        size = disk.size_bytes * 98 // 100
        used = 41_231_646_720 if disk.mount == "/" else size // 160
        rows.append((f"/dev/{disk.name}", disk.filesystem, str(size), str(used), str(size - used), f"{used * 100 // size + 1}%",
                     disk.mount))  # fmt: skip
    return "".join(f"{a:<16} {b:<8} {c:>16} {d:>14} {e:>16} {f:>8} {g}\n" for a, b, c, d, e, f, g in rows)


def driver_version_lines(driver: Driver) -> list[tuple[str, str]]:
    """/proc/driver/nvidia/version."""
    kind = "Open Kernel Module for x86_64" if driver.open_modules else "x86_64 Kernel Module"
    return [
        ("version", f"NVRM version: NVIDIA UNIX {kind}  {driver.version}  Release Build  (root@build-7)"),
        ("version", "GCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04.1)"),
    ]


def nvidia_proc(machine: Machine) -> str:
    """/proc/driver/nvidia; a node without the driver has none."""
    if machine.driver is None:
        return keyed([("module", "no")])
    pairs = [("module", "yes"), *driver_version_lines(machine.driver)]
    for card in machine.gpus:
        pairs += [
            ("gpu", card.address), ("information", f"Model: \t\t {true_board(machine, card).name}"),
            ("information", f"IRQ:   \t\t {171 + card.index}"), ("information", f"GPU UUID: \t {card.uuid}"),
            ("information", f"Video BIOS: \t {card.vbios}"), ("information", "Bus Type: \t PCIe"),
            ("information", f"Bus Location: \t {card.address}"), ("information", f"Device Minor: \t {card.index}"),
            ("information", "GPU Excluded:\t No"),
        ]  # fmt: skip
    return keyed(pairs)


def pci_devices(machine: Machine) -> str:
    """The bus: cards (a lost one still has its slot), NVSwitches, boards, network cards."""
    pairs = [("bus", "yes")]
    for card in sorted((*machine.gpus, *machine.lost), key=lambda c: c.index):
        board = true_board(machine, card)
        numa = card.index // 4 if machine.host.sockets > 1 else 0
        pairs += _device(card.address, board.device_id, "0x10de", "0x030200", "0x10de", board.subsystem_id, numa)
    if any(c.board.form == "SXM" for c in machine.gpus):
        for n in range(4):
            pairs += _device(f"0000:{0x05 + n:02x}:00.0", "22A3", "0x10de", "0x068000", "0x10de", "1796", 0)
    for npu in machine.npus:
        pairs += _device(npu.bus.lower(), "D802", "0x19e5", "0x120000", "0x19e5", "3005", npu.index // 2 % 4)
    for n, port in enumerate(p for p in machine.ports if p.driver == "mlx5_core"):
        pairs += _device(port.pci, "1021", "0x15b3", "0x020000", "0x15b3", "0023", n % machine.host.sockets)
    return keyed([*pairs, ("count", "211")])


def true_board(machine: Machine, card: GpuCard) -> Board:
    """What is really in the slot; a lying node has cheaper cards than nvidia-smi says."""
    return A100_PCIE_80 if "liar" in machine.quirks else card.board


def _device(
    address: str, device: str, vendor: str, kind: str, sub_vendor: str, sub: str, numa: int
) -> list[tuple[str, str]]:
    return [
        ("device", address), ("device_id", f"0x{device.lower()}"), ("vendor", vendor), ("class", kind),
        ("subsystem_vendor", sub_vendor), ("subsystem_device", f"0x{sub.lower()}"), ("numa_node", str(numa)),
    ]  # fmt: skip


def _id(machine: Machine, what: str, *, dashes: bool = False) -> str:
    digits = hashlib.sha256(f"{machine.name} {what} id".encode()).hexdigest()[:32]
    if not dashes:
        return digits
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
