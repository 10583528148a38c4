"""How do readings and their summaries become bytes of the store, the same on every machine?

A pack of readings: count, then starts and steps (int64 ns), series ids and lengths (uint32) of its blocks, then all
readings (float32). A pack of summaries: count of series, count of slots, series ids, then five float32 for each slot of
each series. All little-endian.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

FIELDS = 5
# (series id, start, step, readings): times in ns, UTC.
Block = tuple[int, int, int, "array[float]"]
_HEAD, _HEADS = struct.Struct("<I"), struct.Struct("<II")


@dataclass(frozen=True, slots=True)
class Pack:
    """Blocks of readings: series, start, step (ns, UTC) and count of each, and all readings in one piece. NaN = not read."""

    ids: array[int]
    starts_ns: array[int]
    steps_ns: array[int]
    counts: array[int]
    values: array[float]


def packed(values: array[float] | array[int]) -> bytes:
    """Numbers in the order of bytes of the store."""
    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values.tobytes()


def unpacked(content: bytes) -> array[float]:
    """The float32 that `packed` wrote."""
    values: array[float] = array("f")
    values.frombytes(content)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def _whole(typecode: str, content: bytes) -> array[int]:
    values: array[int] = array(typecode)
    values.frombytes(content)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def pack_of(blocks: Sequence[Block]) -> Pack:
    """Blocks in one piece."""
    values: array[float] = array("f")
    for block in blocks:
        values.extend(block[3])
    starts, steps = array("q", [block[1] for block in blocks]), array("q", [block[2] for block in blocks])
    return Pack(array("I", [b[0] for b in blocks]), starts, steps, array("I", [len(b[3]) for b in blocks]), values)


def pack(blocks: Sequence[Block]) -> bytes:
    """Blocks as one content."""
    made = pack_of(blocks)
    parts = (made.starts_ns, made.steps_ns, made.ids, made.counts, made.values)
    return _HEAD.pack(len(blocks)) + b"".join([packed(part) for part in parts])


def unpack(content: bytes) -> Pack:
    """What `pack` wrote."""
    (count,) = _HEAD.unpack_from(content)
    at = [4, 4 + 8 * count, 4 + 16 * count, 4 + 20 * count, 4 + 24 * count]
    starts, steps = _whole("q", content[at[0] : at[1]]), _whole("q", content[at[1] : at[2]])
    ids, counts = _whole("I", content[at[2] : at[3]]), _whole("I", content[at[3] : at[4]])
    return Pack(ids, starts, steps, counts, unpacked(content[at[4] :]))


def pack_slots(ids: Sequence[int], slots: int, values: array[float]) -> bytes:
    """Summaries of `slots` slots of each series, series by series, FIELDS numbers a slot."""
    return _HEADS.pack(len(ids), slots) + packed(array("I", ids)) + packed(values)


def slots_head(content: bytes) -> tuple[int, bytes, int]:
    """(slots, bytes of the series ids, place of the numbers) of what `pack_slots` wrote."""
    count, slots = _HEADS.unpack_from(content)
    after = 8 + 4 * count
    return slots, content[8:after], after


def ids_of(content: bytes) -> array[int]:
    """Series ids of a head."""
    return _whole("I", content)
