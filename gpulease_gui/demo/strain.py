"""Which measurements run on a simulated node, and what do its counters show of them?"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Rates:
    """What a measurement moves: Gbit/s of the fastest port, MB/s of the fastest disk, the share of all processors; None = not its matter."""

    rx_gbit_s: float | None = None
    tx_gbit_s: float | None = None
    read_mb_s: float | None = None
    write_mb_s: float | None = None
    cpu: float | None = None


@dataclass(frozen=True, slots=True)
class Measuring:
    """One measurement in seconds of the nodes' life; `end_s` None while it runs."""

    rates: Rates
    begin_s: float
    end_s: float | None = None

    def span(self, second: float) -> tuple[float, float]:
        """Its part up to `second`; empty before it began."""
        end_s = second if self.end_s is None else min(second, self.end_s)
        return self.begin_s, max(self.begin_s, end_s)


class Strain:
    """The measurements of all nodes of a server; any thread. `clock`: the second of the nodes' life."""

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        opened_s = time.monotonic()
        self.clock = clock or (lambda: time.monotonic() - opened_s)
        self._lock = threading.Lock()
        self._of: dict[str, tuple[Measuring, ...]] = {}

    def on(self, name: str) -> tuple[Measuring, ...]:
        """What ran and runs on a node, in the order begun."""
        with self._lock:
            return self._of.get(name, ())

    @contextmanager
    def under(self, name: str, rates: Rates) -> Iterator[None]:
        """While a node is measured."""
        one = Measuring(rates, self.clock())
        with self._lock:
            self._of[name] = (*self._of.get(name, ()), one)
        try:
            yield
        finally:
            ended = replace(one, end_s=self.clock())
            with self._lock:
                self._of[name] = tuple(ended if known is one else known for known in self._of[name])


def with_tests(second: float, usual: Callable[[float], float], tests: tuple[Measuring, ...], rate: Callable[[Rates], float | None]) -> float:
    """A counter that grows as `usual` does, and while it is tested by `rate` a second instead."""
    total, free_s = usual(second), 0.0
    for test in tests:
        speed = rate(test.rates)
        if speed is None:
            continue
        begin_s, end_s = test.span(second)
        begin_s = max(begin_s, free_s)  # two at once share what there is
        if end_s > begin_s:
            total += speed * (end_s - begin_s) - (usual(end_s) - usual(begin_s))
            free_s = end_s
    return total
