"""How busy are the CPUs, how much is stolen, how much memory is used?"""

from __future__ import annotations

from gpulease_gui.domain.errors import Unreadable
from gpulease_gui.domain.text import Text
from gpulease_gui.telemetry.rates import FELL, counter, split_sample
from gpulease_gui.telemetry.source import Metric, Point, Source, proc_loop

METRICS = (
    Metric("cpu.util_percent", Text("CPU", "CPU"), "%", "cpu", decimals=0),
    Metric("cpu.steal_percent", Text("CPU stolen", "CPU 被抢占"), "%", "cpu", decimals=1),
    Metric("ram.used_gib", Text("Memory", "内存"), "GiB", "ram", term="ram_gb"),
)
_KIB_PER_GIB = 1024.0 * 1024.0
# The kernel takes some of its idle time back now and then (idle, iowait): less than passed since. What falls otherwise was set anew.
_MAY_FALL = (3, 4)


class _Reader:
    def __init__(self) -> None:
        self._before: list[int] | None = None

    def read(self, line: str) -> tuple[Point, ...]:
        """/proc/stat (user nice system idle iowait irq softirq steal ...) and /proc/meminfo."""
        _, rows = split_sample(line)
        fields = {words[0]: words[1:] for row in rows if (words := row.split())}
        if "cpu" not in fields:
            raise Unreadable("the sample has no CPU line")
        try:
            busy, stolen, why = self._shares([_count(word) for word in fields["cpu"][:8]])
            used = _used_gib(fields)
        except (ValueError, IndexError) as error:
            raise Unreadable("the CPU or memory line has an unknown form") from error
        return Point("cpu.util_percent", "", busy, why=why), Point("cpu.steal_percent", "", stolen, why=why), Point("ram.used_gib", "", used)

    def _shares(self, counters: list[int]) -> tuple[float | None, float | None, str]:
        before, self._before = self._before, counters
        if before is None or len(before) != len(counters) or len(counters) < 5:
            return None, None, ""
        steps = [now - then for now, then in zip(counters, before, strict=True)]
        risen = sum(step for step in steps if step > 0)
        if any(step < 0 and (place not in _MAY_FALL or -step > risen) for place, step in enumerate(steps)):
            return None, None, FELL
        steps = [max(0, step) for step in steps]
        total = sum(steps)
        if total <= 0:
            return None, None, ""
        idle = steps[3] + steps[4]
        return 100.0 * (total - idle) / total, 100.0 * steps[7] / total if len(steps) > 7 else None, ""


def _used_gib(fields: dict[str, list[str]]) -> float | None:
    if "MemTotal:" not in fields or "MemAvailable:" not in fields:
        return None
    return (_count(fields["MemTotal:"][0]) - _count(fields["MemAvailable:"][0])) / _KIB_PER_GIB


def _count(word: str) -> int:
    """Raises ValueError."""
    found = counter(word)
    if found is None:
        raise ValueError("not a count")
    return found


SOURCE = Source("host", Text("CPU and memory", "CPU 与内存"), proc_loop("host", "head -n 1 /proc/stat", "head -n 5 /proc/meminfo"), METRICS, _Reader)
