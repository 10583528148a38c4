"""How does a simulated node spend its time?

A training job: long busy stretches at full power, a short stop for a checkpoint every few minutes. All values are
functions of the node and the second, so that a stream can be told again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from gpulease_gui.demo.machine import REASON_BITS, Disk, GpuCard, Machine, Npu, Port
from gpulease_gui.demo.strain import Measuring, with_tests

_PERIOD_S, _PAUSE_S, _WARM_UP_S = 180.0, 9.0, 6.0
_BYTES_PER_GBIT = 1e9 / 8


@dataclass(frozen=True, slots=True)
class GpuMoment:
    """One card at one second."""

    util_percent: int
    memory_util_percent: int
    used_mib: int
    power_w: float
    temperature_c: int
    sm_mhz: int
    reason_bits: int


class Life:
    """The load of one node over the seconds since a stream began. `tests`: the measurements that ran and run on it."""

    def __init__(self, machine: Machine, tests: Callable[[], tuple[Measuring, ...]] = tuple) -> None:
        self.machine, self._tests = machine, tests

    def load(self, second: float) -> float:
        """0 (idle) to 1 (busy)."""
        if second < _WARM_UP_S:
            return 0.0
        phase = (second - _WARM_UP_S) % _PERIOD_S
        return 0.06 if phase > _PERIOD_S - _PAUSE_S else 1.0

    def gpu(self, card: GpuCard, second: float) -> GpuMoment:
        """Power follows the load up to the limit; a throttled card keeps its low clock."""
        load, ripple = self.load(second), _ripple(card.index, second)
        target = card.draw_w + (card.power_limit_w * 0.985 - card.draw_w) * load
        return GpuMoment(
            util_percent=round(min(100.0, 98.6 * load + ripple)) if load else 0,
            memory_util_percent=round(61 * load + 2 * ripple) if load else 0,
            used_mib=card.board.memory_mib - card.board.reserved_mib - 3072 if second >= _WARM_UP_S else 4,
            power_w=min(card.power_limit_w + 1.5, target * (1 + 0.011 * ripple)),
            temperature_c=round(card.temperature_c + (3 if card.throttled else 34) * load + ripple),
            sm_mhz=self._clock(card, load, ripple),
            reason_bits=REASON_BITS["sw_power_cap"] if load > 0.5 and not card.throttled else card.reason_bits,
        )

    def npus(self, second: float) -> Machine:
        """The node with its boards as they are at one second."""
        return replace(self.machine, npus=tuple(self._npu(npu, second) for npu in self.machine.npus))

    def _npu(self, npu: Npu, second: float) -> Npu:
        load, ripple = self.load(second), _ripple(npu.index, second)
        return replace(
            npu, power_w=round(npu.power_w + 214 * load * (1 + 0.02 * ripple), 1), aicore_percent=round((93 + 4 * ripple) * load),
            temperature_c=round(npu.temperature_c + 19 * load + ripple),
            used_mib=npu.memory_mib - 5120 if second >= _WARM_UP_S else npu.used_mib,
        )  # fmt: skip

    def _clock(self, card: GpuCard, load: float, ripple: float) -> int:
        top = card.sm_mhz if card.throttled else card.board.sm_max_mhz
        return top - 45 * round(1 + ripple) if load > 0.5 else card.sm_mhz

    def port_bytes(self, port: Port, second: float) -> tuple[int, int]:
        """(received, sent) since the start of the node: the fastest port carries the job up to what the line gives."""
        if port.name != self.machine.fastest.name:
            return 1_930_112 + int(second * 2_100), 1_204_533 + int(second * 1_700)
        line, tests = self.machine.iperf_gbit_s * _BYTES_PER_GBIT, self._tests()
        got = with_tests(second, lambda at_s: self._busy_seconds(at_s) * line * 0.93, tests, lambda test: _bytes(test.rx_gbit_s))
        sent = with_tests(second, lambda at_s: self._busy_seconds(at_s) * line * 0.91, tests, lambda test: _bytes(test.tx_gbit_s))
        return 918_273_645_000 + int(got), 917_100_200_000 + int(sent)

    def disk_sectors(self, disk: Disk, second: float) -> tuple[int, int]:
        """(read, written) sectors of 512 bytes since the start of the node: data in while busy, checkpoints out in pauses."""
        fastest = disk.name == self.machine.fastest_disk.name
        share, tests = 1.0 if fastest else 0.01, self._tests() if fastest else ()
        read = with_tests(second, lambda at_s: 0.21 * disk.read_mb_s * self._busy_seconds(at_s) * share, tests, lambda test: test.read_mb_s)
        written = with_tests(
            second, lambda at_s: 0.88 * disk.write_mb_s * self._quiet_seconds(at_s) * share + 1.3 * at_s, tests, lambda test: test.write_mb_s
        )
        return 4_100_200 + int(read * 1e6 / 512), 8_200_400 + int(written * 1e6 / 512)

    def cpu_ticks(self, second: float) -> tuple[int, int, int]:
        """(user, system, idle) hundredths of seconds over all processors since the start of the node."""
        threads = self.machine.host.threads
        worked = with_tests(second, lambda at_s: self._busy_seconds(at_s) * 0.2, self._tests(), lambda test: test.cpu)
        user, system = int(worked * threads * 85), int(worked * threads * 15)
        idle = int((self.machine.host.uptime_h * 3600 + second) * threads * 100) - user - system
        return user + 4_310_221, system + 918_220, idle

    def used_kib(self, second: float) -> int:
        """Main memory in use."""
        total = self.machine.host.memory_kib
        return total * 3 // 100 + int(total * 0.19 * min(1.0, max(0.0, second - _WARM_UP_S) / 20))

    def _quiet_seconds(self, second: float) -> float:
        """How long it rested between its stretches of work, up to `second`."""
        return max(0.0, second - _WARM_UP_S - self._busy_seconds(second))

    def _busy_seconds(self, second: float) -> float:
        """How long the load was on, up to `second`."""
        worked = max(0.0, second - _WARM_UP_S)
        rounds, phase = divmod(worked, _PERIOD_S)
        return rounds * (_PERIOD_S - _PAUSE_S) + min(phase, _PERIOD_S - _PAUSE_S)


def _bytes(gbit_s: float | None) -> float | None:
    return None if gbit_s is None else gbit_s * _BYTES_PER_GBIT


def _ripple(index: int, second: float) -> float:
    """A quiet wave between -1 and 1, another one for each card."""
    return 0.6 * math.sin(second / 7.3 + index * 1.7) + 0.4 * math.sin(second * 1.31 + index)
