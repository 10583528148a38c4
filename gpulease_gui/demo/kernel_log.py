"""What has the kernel of a simulated node written since it started?"""

from __future__ import annotations

from datetime import datetime, timedelta

from gpulease_gui.demo.machine import Machine

_OPEN = "NVIDIA UNIX Open Kernel Module for x86_64"
_CLOSED = "NVIDIA UNIX x86_64 Kernel Module"


def kernel_log(machine: Machine, now: datetime) -> str:
    """`dmesg --time-format iso`, whole, from the first line of this boot."""
    boot = machine.host.booted(now)
    lines = [(0.0, f"Linux version {machine.host.kernel} (buildd@lcy02-amd64-061) #1 SMP PREEMPT_DYNAMIC")]
    lines += [(0.0, f"Command line: BOOT_IMAGE=/vmlinuz-{machine.host.kernel} ro quiet iommu=pt")]
    lines += [(0.004 + n * 0.0001, line) for n, line in enumerate(_start(machine))]
    lines += [(2.1 + n * 0.07, line) for n, line in enumerate(_devices(machine))]
    lines += [(3600.0 * hour, line) for hour, line in _troubles(machine)]
    return "".join(f"{_stamp(boot + timedelta(seconds=s))} {line}\n" for s, line in sorted(lines, key=lambda x: x[0]))


def _stamp(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S},{moment:%f}+00:00"


def _start(machine: Machine) -> list[str]:
    host = machine.host
    return [
        f"CPU0: {host.cpu}",
        f"smp: Brought up {host.sockets} nodes, {host.threads} CPUs",
        f"Memory: {host.memory_kib}K available",
        "PCI: Using ACPI for IRQ routing",
    ]


def _devices(machine: Machine) -> list[str]:
    driver = machine.driver
    lines = [f"nvme nvme{n}: pci function 0000:{0x21 + n:02x}:00.0" for n in range(len(machine.disks))]
    if driver is not None:
        words = _OPEN if driver.open_modules else _CLOSED
        lines.append("nvidia-nvlink: Nvlink Core is being initialized, major device number 235")
        lines += [f"nvidia {c.address}: enabling device (0140 -> 0142)" for c in (*machine.gpus, *machine.lost)]
        lines.append(f"NVRM: loading {words}  {driver.version}  Release Build  (root@{machine.host.hostname})")
    lines += [f"davinci {n.bus.lower()}: device ready" for n in machine.npus]
    lines += [f"{p.driver} {p.pci}: Port module event: module 0, Cable plugged" for p in machine.ports if p.pci]
    lines += [f"{p.driver} {p.pci} {p.name}: Link up" for p in machine.ports if p.pci and p.up]
    return lines


def _troubles(machine: Machine) -> list[tuple[float, str]]:
    """(hours after the start, line)"""
    quiet = [
        (1.5, "systemd-journald[1142]: Received client request to flush runtime journal."),
        (machine.host.uptime_h - 0.4, "perf: interrupt took too long (2511 > 2500), lowering max_sample_rate to 79000"),
    ]
    if "faulty" in machine.quirks:
        return quiet + _fallen(machine) + _uncorrected(machine)
    if "hot" in machine.quirks:
        return [
            *quiet,
            (41.2, "mce: CPU24: Package temperature above threshold, cpu clock throttled (total events = 61)"),
        ]
    return quiet


def _fallen(machine: Machine) -> list[tuple[float, str]]:
    lines = []
    for card in machine.lost:
        place = card.address[:-2]
        lines += [
            (70.1, f"NVRM: GPU at PCI:{place}: {card.uuid}"),
            (70.1, f"NVRM: GPU Board Serial Number: {card.serial}"),
            (70.1, f"NVRM: Xid (PCI:{place}): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
            (70.1, f"NVRM: GPU {card.address}: GPU has fallen off the bus."),
        ]
    return lines


def _uncorrected(machine: Machine) -> list[tuple[float, str]]:
    lines = []
    for card in (c for c in machine.gpus if c.ecc_uncorrected):
        place = card.address[:-2]
        lines += [
            (93.4, f"NVRM: Xid (PCI:{place}): 48, pid=91822, name=python3, DBE (double bit error) ECC Error, "
                   "physAddr 0x1183ab40e0, partition 7, subpartition 0"),
            (93.4, f"NVRM: Xid (PCI:{place}): 64, pid='<unknown>', name=<unknown>, "
                   "Row Remapper Error: (0x00000001183ab40e) - All reserved rows for bank are remapped"),
        ]  # fmt: skip
    return lines
