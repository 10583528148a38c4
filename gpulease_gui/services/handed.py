"""Which readings of a watch stand in which stored block, so that none of them is taken for a newer one?

Stored readings stand in even slots, which are not the times at which they came. So it is written down with each block up to
which time the readings were handed to the store.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass

from gpulease_gui.store.records import SampleBlock

# What was stored before is forgotten, but for what a reader of the store may still have before it.
_LEAST, _MOST = 8, 360
_NS, _MS = 1_000_000_000, 1_000_000


@dataclass(slots=True)
class Given:
    """(start, step in ns, readings) of blocks that were handed out together, and when the last reading of them came (UTC seconds)."""

    spans: frozenset[tuple[int, int, int]]
    last_s: float
    writing: Future[None] | None = None

    @property
    def is_stored(self) -> bool | None:
        """Whether the store has them; None = they are on their way."""
        if self.writing is None or not self.writing.done():
            return None
        return not self.writing.cancelled() and self.writing.exception() is None

    def holds(self, block: SampleBlock) -> bool:
        """Whether a block, or what a stretch cuts out of it, is one of them."""
        return any(
            step_ns == block.step_ns and 0 <= block.start_ns - start_ns < count * step_ns and not (block.start_ns - start_ns) % step_ns
            for start_ns, step_ns, count in self.spans
        )


class Handed:
    """What one watch handed to the store. Its thread adds, others look."""

    def __init__(self) -> None:
        self._given: tuple[Given, ...] = ()
        self._recalled_s = 0.0

    def later(self, at_s: float) -> float:
        """The time of a line that came at `at_s` (UTC seconds): lines may come at one moment, and none that comes after what was
        handed out has its time.
        """
        handed_s = self._given[-1].last_s if self._given else 0.0
        return at_s if at_s > handed_s else math.nextafter(handed_s, math.inf)

    def recall(self, last_s: float) -> None:
        """What was stored up to then by another program, or before a clock was set back, is all that there is."""
        self._given, self._recalled_s = (), last_s

    def add(self, blocks: Iterable[SampleBlock], last_s: float) -> Given:
        """All readings that came up to `last_s` and were not handed out yet are in these blocks; told before they are written."""
        given = Given(frozenset((block.start_ns, block.step_ns, len(block.values)) for block in blocks), last_s)
        held = [one for one in self._given[-_MOST:] if one.is_stored is not False]
        while len(held) >= _LEAST and held[1].is_stored:
            del held[0]
        self._given = (*held, given)
        return given

    def until_s(self, block: SampleBlock) -> float | None:
        """Up to when (UTC seconds) readings stand in the store, of which this is the last block; None = another program kept it."""
        for given in reversed(self._given):
            if given.holds(block):
                return given.last_s
        last_ms = (block.start_ns + (len(block.values) - 1) * block.step_ns + _MS // 2) // _MS
        return self._recalled_s if last_ms <= round(self._recalled_s * 1000) else None
