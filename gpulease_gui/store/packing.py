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
from itertools import accumulate, pairwise

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
    if not blocks:
        return Pack(array("I"), array("q"), array("q"), array("I"), array("f"))
    ids, starts, steps, readings = zip(*blocks, strict=True)
    values = array("f", b"".join(readings))
    return Pack(array("I", ids), array("q", starts), array("q", steps), array("I", map(len, readings)), values)


def pack(blocks: Sequence[Block]) -> bytes:
    """Blocks as one content."""
    made = pack_of(blocks)
    parts = (made.starts_ns, made.steps_ns, made.ids, made.counts, made.values)
    return _HEAD.pack(len(blocks)) + b"".join([packed(part) for part in parts])


def _told(content: bytes) -> int:
    """How many blocks a content has; 0 for one that was damaged in the file, which then tells nothing."""
    (count,) = _HEAD.unpack_from(content) if len(content) >= _HEAD.size else (0,)
    head = 4 + 24 * count
    if len(content) < head:
        return 0
    fits = 4 * sum(_whole("I", content[4 + 20 * count : head])) == len(content) - head
    return count if fits and min(_whole("q", content[4 + 8 * count : 4 + 16 * count]), default=1) > 0 else 0


def unpack(content: bytes) -> Pack:
    """What `pack` wrote; no blocks of what was damaged since."""
    count = _told(content)
    if not count:
        return pack_of(())
    at = [4, 4 + 8 * count, 4 + 16 * count, 4 + 20 * count, 4 + 24 * count]
    starts, steps = _whole("q", content[at[0] : at[1]]), _whole("q", content[at[1] : at[2]])
    ids, counts = _whole("I", content[at[2] : at[3]]), _whole("I", content[at[3] : at[4]])
    return Pack(ids, starts, steps, counts, unpacked(content[at[4] :]))


@dataclass(frozen=True, slots=True)
class Pieces:
    """A pack whose readings stay bytes: series ids, then start, step, count and readings of each block."""

    ids: bytes
    starts_ns: array[int]
    steps_ns: array[int]
    counts: array[int]
    readings: list[bytes]


def in_pieces(content: bytes) -> Pieces:
    """What `pack` wrote, for one who wants few of its numbers; no blocks of what was damaged since."""
    count = _told(content)
    steps, ids, counts, values = (4 + width * count for width in (8, 16, 20, 24))
    lengths = _whole("I", content[counts:values])
    edges = accumulate([4 * length for length in lengths], initial=values)
    readings = [content[begin:end] for begin, end in pairwise(edges)]
    return Pieces(content[ids:counts], _whole("q", content[4:steps]), _whole("q", content[steps:ids]), lengths, readings)


def pack_slots(ids: Sequence[int], slots: int, values: array[float]) -> bytes:
    """Summaries of `slots` slots of each series, series by series, FIELDS numbers a slot."""
    return _HEADS.pack(len(ids), slots) + packed(array("I", ids)) + packed(values)


def slots_head(content: bytes) -> tuple[int, bytes, int]:
    """(slots, bytes of the series ids, place of the numbers) of what `pack_slots` wrote; no series of what was damaged since."""
    count, slots = _HEADS.unpack_from(content) if len(content) >= _HEADS.size else (0, 0)
    after = 8 + 4 * count
    if len(content) != after + 4 * FIELDS * count * slots:
        return 0, b"", len(content)
    return slots, content[8:after], after


def ids_of(content: bytes) -> array[int]:
    """Series ids of a head."""
    return _whole("I", content)
