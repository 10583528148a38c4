"""What does the agent of a busy node with eight cards print at a tick? Every figure follows from the number of the tick.

The memory of each card is the number itself in eighths of a GiB, so what is stored says by itself which second it is, and no
figure of ten hours is beyond what a card can have; rates are constant.
"""

from __future__ import annotations

import json
from functools import lru_cache

CARDS = 8
UUIDS = tuple(f"GPU-50a4{card:04d}-0000-4000-8000-00000000000{card}" for card in range(CARDS))
# Per second; what a reader must make of them.
PCIE_BYTES, NVLINK_KIB, NET_BYTES, SECTORS, WORDS = 12_500_000_000, 39_062_500, 1_250_000_000, 2_000_000, 250_000_000
RATES = {
    "gpu.pcie_tx_gb_s": 12.5, "gpu.pcie_rx_gb_s": 6.25, "gpu.nvlink_tx_gb_s": 40.0, "gpu.nvlink_rx_gb_s": 40.0,
    "net.rx_gbit_s": 10.0, "net.tx_gbit_s": 5.0, "disk.read_mb_s": 1024.0, "disk.write_mb_s": 512.0, "rdma.rx_gbit_s": 8.0,
    "rdma.tx_gbit_s": 8.0,
}  # fmt: skip
GAUGES = {
    "util_percent": 97, "memory_util_percent": 61, "memory_used_mib": 12345678, "power_w": 651.25, "power_limit_w": 700.0,
    "temperature_c": 58, "clock_sm_mhz": 1980, "clock_memory_mhz": 2619, "event_reasons": 0, "temperature_memory_c": 66,
    "remap_pending": 0, "remap_failed": 0, "processes": 1, "process_memory_mib": 71234.0,
}  # fmt: skip
TICKS_A_GIB = 8
MEMORY, POWER = "gpu.memory_used_gib", "gpu.power_w"
_COUNTERS = {
    "at_s": 0, "pcie_replays": 0, "nvlink_tx_kib": 1, "nvlink_rx_kib": 1, "nvlink_crc_flit": 0, "nvlink_crc_data": 0,
    "nvlink_replay": 0, "nvlink_recovery": 0, "remapped_corrected": 0, "remapped_uncorrected": 0, "pcie_tx_bytes": 2,
    "pcie_rx_bytes": 3, "ecc_corrected": 0, "ecc_uncorrected": 0,
}  # fmt: skip


def _figures() -> str:
    """What the line of a card says after its number and UUID, with places for the numbers that change."""
    line = json.dumps({**GAUGES, "counters": _COUNTERS})[1:]
    places = {
        '"memory_used_mib": 12345678': '"memory_used_mib": %(mib)d', '"power_w": 651.25': '"power_w": %(power)s',
        '"at_s": 0': '"at_s": %(at)d', '"nvlink_tx_kib": 1': '"nvlink_tx_kib": %(kib)d',
        '"nvlink_rx_kib": 1': '"nvlink_rx_kib": %(kib)d', '"pcie_tx_bytes": 2': '"pcie_tx_bytes": %(tx)d',
        '"pcie_rx_bytes": 3': '"pcie_rx_bytes": %(rx)d',
    }  # fmt: skip
    for found, place in places.items():
        assert line.count(found) == 1, found
        line = line.replace(found, place)
    return line


_FIGURES = _figures()
_CARDS = tuple(f'gpu {{"index": {card}, "uuid": "{uuid}", ' for card, uuid in enumerate(UUIDS))
_NODE = (
    "host %(at)d.000000\x1ecpu  %(busy)d 0 0 %(idle)d 0 0 0 0 0 0\x1eMemTotal: 2113929216 kB\x1eMemFree: 1000000000 kB\x1e"
    "MemAvailable: 1577058304 kB\x1e",
    "network %(at)d.000000\x1e  eth0: %(net)d 1 0 0 0 0 0 0 %(net_tx)d 1 0 0 0 0 0 0\x1e",
    "disk %(at)d.000000\x1e 259 0 nvme0n1 9 0 %(read)d 0 9 0 %(written)d 0 0 0 0\x1e",
    "rdma %(at)d.000000\x1emlx5_0/1 %(words)d %(words)d 0\x1e",
    'agent {"cpu_percent": 0.7, "memory_mib": 14.5, "via": "pynvml"}',
)


def memory_gib(tick: int) -> float:
    """What every card holds at a tick; a float of 32 bits holds it exactly."""
    return tick / TICKS_A_GIB


def power_w(tick: int) -> float:
    """The draw of every card at a tick: a saw of a minute over 600 W."""
    return 600.0 + tick % 60


@lru_cache(maxsize=2)
def _said(tick: int) -> tuple[str, ...]:
    """The lines of a tick without their mark: all nodes say the same, and all cards of a node."""
    told = {
        "at": 1000 + tick, "mib": 1024 // TICKS_A_GIB * tick, "power": power_w(tick), "kib": NVLINK_KIB * tick,
        "tx": PCIE_BYTES * tick, "rx": PCIE_BYTES * tick // 2, "busy": 60 * tick, "idle": 40 * tick, "net": NET_BYTES * tick,
        "net_tx": NET_BYTES * tick // 2, "read": SECTORS * tick, "written": SECTORS * tick // 2, "words": WORDS * tick,
    }  # fmt: skip
    figures = _FIGURES % told
    return "", *(line % told for line in _NODE), *(card + figures for card in _CARDS)


def text_of(mark: str, tick: int) -> bytes:
    """All lines of a tick, the first one being 0."""
    return (f"\n{mark} ".join(_said(tick))[1:] + "\n").encode()
