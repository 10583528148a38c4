"""What does a simulated node say of itself while it runs?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from gpulease_gui.demo.life import Life
from gpulease_gui.demo.nodes import DemoNode
from gpulease_gui.demo.npu_report import npu_info
from gpulease_gui.demo.strain import Strain

RECORD_END = "\x1e"

# Payload lines of one source at a moment of a life.
Teller = Callable[[Life, float], list[str]]


def stream_lines(
    node: DemoNode, boundary: str, sources: tuple[str, ...], begin_s: float = 0.0, strain: Strain | None = None
) -> Iterator[tuple[float, bytes]]:
    """(second of the node's life, bytes) once a second for ever from `begin_s` on: a beat, then a line per sample of each source.

    A source that the node can't read says why once, and ends. `strain`: what measurements move beside its own work.
    """
    life = Life(node.machine) if strain is None else Life(node.machine, lambda: strain.on(node.name))
    told = {id_: TELLERS[id_] for id_ in sources if id_ in TELLERS and _can(node, id_)}
    yield begin_s, b"\n" + "".join(_refusal(boundary, id_) for id_ in sources if id_ not in told).encode()
    second = begin_s
    while True:
        lines = [f"{boundary} BEAT\n"]
        lines += [f"{boundary} {id_} {payload}\n" for id_, tell in told.items() for payload in tell(life, second)]
        yield second, "".join(lines).encode()
        second += 1.0


def _can(node: DemoNode, source: str) -> bool:
    has = {"gpu": node.machine.driver is not None, "npu": bool(node.machine.npus)}
    return has.get(source, True)


def _refusal(boundary: str, source: str) -> str:
    if source == "rdma":  # no trouble, as on a node without such ports
        return f"{boundary} END {source} 0\n"
    tool = {"gpu": "nvidia-smi", "npu": "npu-smi"}.get(source, source)
    return f"{boundary} {source} ! {tool} is not installed on the node\n{boundary} END {source} 0\n"


def gpu_lines(life: Life, second: float) -> list[str]:
    """One CSV line per card: index, UUID, utilization %, memory utilization %, MiB, W, degrees C, MHz, MHz, reason bits."""
    lines = []
    for card in life.machine.gpus:
        v = life.gpu(card, second)
        lines.append(
            f"{card.index}, {card.uuid}, {v.util_percent}, {v.memory_util_percent}, {v.used_mib}, {v.power_w:.2f}, "
            f"{v.temperature_c}, {v.sm_mhz}, {card.board.memory_max_mhz}, 0x{v.reason_bits:016X}"
        )
    return lines


def network_lines(life: Life, second: float) -> list[str]:
    """/proc/uptime and /proc/net/dev as one line."""
    rows = [
        "Inter-|   Receive                                                |  Transmit",
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed",
    ]
    for port in life.machine.ports:
        rx, tx = life.port_bytes(port, second)
        rows.append(f"{port.name:>6}: {rx} {rx // 8948} 0 0 0 0 0 0 {tx} {tx // 8948} 0 0 0 0 0 0")
    return [_sample(life, second, rows)]


def disk_lines(life: Life, second: float) -> list[str]:
    """/proc/uptime and /proc/diskstats as one line."""
    rows = []
    for n, disk in enumerate(life.machine.disks):
        read, written = life.disk_sectors(disk, second)
        rows.append(
            f" 259 {n:7} {disk.name} {read // 2048} 0 {read} {read // 900} {written // 2048} 0 {written} {written // 700} 0 0 0"
        )
    return [_sample(life, second, rows)]


def host_lines(life: Life, second: float) -> list[str]:
    """/proc/uptime, the first line of /proc/stat and the head of /proc/meminfo as one line."""
    user, system, idle = life.cpu_ticks(second)
    total = life.machine.host.memory_kib
    available = total - life.used_kib(second)
    return [_sample(life, second, [
        f"cpu  {user} 0 {system} {idle} 0 0 0 0 0 0", f"MemTotal:       {total} kB",
        f"MemFree:        {available - total // 50} kB", f"MemAvailable:   {available} kB", "Buffers:          214872 kB",
        f"Cached:         {total // 50} kB",
    ])]  # fmt: skip


def npu_lines(life: Life, second: float) -> list[str]:
    """The table of npu-smi as one line."""
    return [npu_info(life.npus(second)).replace("\n", RECORD_END)]


def _sample(life: Life, second: float, rows: list[str]) -> str:
    uptime = life.machine.host.uptime_h * 3600 + second
    return RECORD_END.join([f"{uptime:.2f} {uptime * 50:.2f}", *rows]) + RECORD_END


TELLERS: Mapping[str, Teller] = MappingProxyType({
    "gpu": gpu_lines, "network": network_lines, "disk": disk_lines, "host": host_lines, "npu": npu_lines,
})  # fmt: skip
