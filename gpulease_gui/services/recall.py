"""What was stored of a node lately, so that a restarted watch goes on where the last one ended?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpulease_gui.services.series import RING_POINTS, Ring
from gpulease_gui.store.records import Gap
from gpulease_gui.store.samples import list_gaps, read_blocks

if TYPE_CHECKING:
    import sqlite3

_NS = 1_000_000_000


def recall(
    connection: sqlite3.Connection, node_id: str, now_s: float, interval_s: float
) -> tuple[dict[tuple[str, str], Ring], tuple[Gap, ...]]:
    """Rings by (metric, subject) with what was stored in the time that a ring holds, and the gaps of that time.

    A silence ends a line with a NaN, as a gap does while watching.
    """
    end_ns = int(now_s * _NS)
    start_ns = end_ns - int(RING_POINTS * interval_s * _NS)
    rings: dict[tuple[str, str], Ring] = {}
    for series, blocks in read_blocks(connection, node_id, start_ns, end_ns).items():
        ring = rings.setdefault((series.metric, series.subject), Ring())
        for block in blocks:
            _append(ring, block.start_ns / _NS, block.step_ns / _NS, block.values.tolist())
    return rings, list_gaps(connection, node_id, "", start_ns, end_ns)


def _append(ring: Ring, start_s: float, step_s: float, values: list[float]) -> None:
    last = ring.last
    if last is not None and start_s - last[0] > 3 * step_s:
        ring.append(last[0] + step_s, None)
    for place, value in enumerate(values):
        ring.append(start_s + place * step_s, None if math.isnan(value) else value)
