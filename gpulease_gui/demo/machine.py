"""What stands in a simulated node?"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType

from gpulease_gui.demo.boards import Board

# nvidia-smi's bit mask of clock event reasons, by the words of its XML.
REASON_BITS: Mapping[str, int] = MappingProxyType({
    "gpu_idle": 0x1, "applications_clocks_setting": 0x2, "sw_power_cap": 0x4, "hw_slowdown": 0x8, "sync_boost": 0x10,
    "sw_thermal_slowdown": 0x20, "hw_thermal_slowdown": 0x40, "hw_power_brake_slowdown": 0x80,
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class GpuCard:
    """One GPU as it is now. `bus` is the PCI bus in hexadecimal; watts, degrees C, MHz; counts are errors or rows.

    `pace` is its speed as a part of that of its kind.
    """

    index: int
    board: Board
    bus: str
    uuid: str
    serial: str
    vbios: str
    name: str
    power_limit_w: int
    draw_w: float
    temperature_c: int
    sm_mhz: int
    reasons: tuple[str, ...] = ()
    ecc_uncorrected: int = 0
    ecc_corrected: int = 0
    remapped: int = 0
    remap_failure: bool = False
    process: str = ""
    pace: float = 1.0

    @property
    def throttled(self) -> bool:
        """Whether the hardware holds it back."""
        return "hw_slowdown" in self.reasons

    @property
    def reason_bits(self) -> int:
        """The reasons as nvidia-smi's bit mask."""
        return sum(REASON_BITS[word] for word in self.reasons)

    @property
    def bus_id(self) -> str:
        """As nvidia-smi prints it."""
        return f"00000000:{self.bus.upper()}:00.0"

    @property
    def address(self) -> str:
        """As the kernel prints it."""
        return f"0000:{self.bus.lower()}:00.0"


@dataclass(frozen=True, slots=True)
class Npu:
    """One Ascend board. `bus` is the PCI address as npu-smi prints it."""

    index: int
    name: str
    bus: str
    power_w: float
    temperature_c: int
    memory_mib: int
    used_mib: int
    health: str = "OK"
    aicore_percent: int = 0


@dataclass(frozen=True, slots=True)
class Port:
    """A network port. `speed_mbit` -1: the kernel does not know; `address` with prefix length."""

    name: str
    speed_mbit: int
    driver: str
    mac: str
    pci: str = ""
    mtu: int = 1500
    up: bool = True
    address: str = ""
    master: str = ""


@dataclass(frozen=True, slots=True)
class Disk:
    """A block device. `mount` empty: not mounted. Rates in MB/s."""

    name: str
    model: str
    serial: str
    size_bytes: int
    transport: str
    mount: str = ""
    filesystem: str = ""
    read_mb_s: float = 0.0
    write_mb_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Host:
    """The computer around the cards. `memory_kib` is MemTotal; `virtualization` as systemd-detect-virt prints it."""

    hostname: str
    kernel: str
    cpu: str
    sockets: int
    cores_per_socket: int
    memory_kib: int
    virtualization: str = "none"
    uptime_h: int = 200
    arch: str = "x86_64"
    threads_per_core: int = 2
    maker: str = "Supermicro"
    product: str = "SYS-821GE-TNHR"

    def booted(self, now: datetime) -> datetime:
        """When it was started: the same moment at all calls of one day (UTC), at least `uptime_h` hours ago."""
        return now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(hours=self.uptime_h)

    @property
    def threads(self) -> int:
        """Logical CPUs."""
        return self.sockets * self.cores_per_socket * self.threads_per_core


@dataclass(frozen=True, slots=True)
class Driver:
    """The GPU driver: versions as printed; `dtd` the number of the XML layout."""

    version: str
    cuda: str
    open_modules: bool = True

    @property
    def branch(self) -> int:
        """550 of 550.127.05."""
        return int(self.version.split(".")[0])


@dataclass(frozen=True, slots=True)
class Machine:
    """A simulated node from the inside. `quirks` names what it does wrong beyond its figures; `torch` as 2.6.0+cu124, None = none."""

    name: str
    host: Host
    driver: Driver | None
    gpus: tuple[GpuCard, ...]
    npus: tuple[Npu, ...]
    ports: tuple[Port, ...]
    disks: tuple[Disk, ...]
    iperf_gbit_s: float
    nvlink_up: bool = True
    quirks: frozenset[str] = frozenset()
    lost: tuple[GpuCard, ...] = ()
    torch: str | None = None

    def dice(self, what: str) -> random.Random:
        """Seeded chance: the same for the same node and purpose at every run."""
        return random.Random(f"{self.name}/{what}")

    @property
    def fastest_disk(self) -> Disk:
        """The disk that test files lie on."""
        return max(self.disks, key=lambda disk: disk.read_mb_s)

    @property
    def fastest(self) -> Port:
        """The port that node-to-node traffic takes."""
        return max((p for p in self.ports if p.pci and p.up), key=lambda p: p.speed_mbit)


def uuid_of(name: str, index: int) -> str:
    """An invented GPU UUID, steady per node and card."""
    digits = hashlib.sha256(f"{name} card {index}".encode()).hexdigest()
    return f"GPU-{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:32]}"


def mac_of(name: str, port: str) -> str:
    """An invented, locally administered MAC address."""
    digits = hashlib.sha256(f"{name} port {port}".encode()).hexdigest()
    return ":".join(["02", *(digits[n : n + 2] for n in range(0, 10, 2))])


def c_time(moment: datetime) -> str:
    """As C's ctime writes it, whatever the locale of this computer."""
    day = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[moment.weekday()]
    month = "JanFebMarAprMayJunJulAugSepOctNovDec"[moment.month * 3 - 3 : moment.month * 3]
    return f"{day} {month} {moment.day:2} {moment:%H:%M:%S %Y}"
