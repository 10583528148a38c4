"""Are the readings of a node still those that were kept as evidence of a run, and if not, what was done to them?"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.store.evidence import get_content
from gpulease_gui.store.kept_slots import SlotsState, slot_states
from gpulease_gui.store.moments import blocks_of
from gpulease_gui.store.packing import unpack
from gpulease_gui.store.retention import KeptStretch, kept_lines, list_kept, stretch_content
from gpulease_gui.store.slots import LEVELS, LONGEST_NS, covered, rows_between

_REMEMBERED = 64
# Summaries that are looked at together; a day of a large node is 20 MB.
_TOGETHER_NS = 24 * LONGEST_NS
_Blocks = Mapping[tuple[str, int], tuple[int, bytes]]


@dataclass(frozen=True, slots=True)
class KeptState:
    """What became of the readings of a stretch. Blocks are ten seconds of one series, more or less.

    `changed` hold other readings, or fewer, than were kept; `missing` are not there any more; `added` came later.
    `first_ns`: where the first of them begins (UTC). `copy_fits`: whether the copy that was kept is still what its hash says;
    if it is not, and the readings are others, nobody can say which, and the counts are 0. `slots`: where the readings are what
    they were, the summaries of them that are not what they make.
    """

    kept: KeptStretch
    fits: bool
    copy_fits: bool = True
    changed: int = 0
    missing: int = 0
    added: int = 0
    first_ns: int | None = None
    slots: tuple[SlotsState, ...] = ()

    @property
    def intact(self) -> bool:
        """Whether readings, their summaries and the copy are what they were."""
        return self.drawn_as_kept and self.copy_fits

    @property
    def drawn_as_kept(self) -> bool:
        """Whether a chart of any length shows the readings that were kept."""
        return self.fits and not self.slots


class _Known:
    """What was found of stretches whose rows are the same as then: the readings of a day take seconds to compare."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[tuple[KeptStretch, str], KeptState] = OrderedDict()

    def get(self, key: tuple[KeptStretch, str]) -> KeptState | None:
        with self._lock:
            return self._found.get(key)

    def put(self, key: tuple[KeptStretch, str], state: KeptState) -> KeptState:
        with self._lock:
            self._found[key] = state
            while len(self._found) > _REMEMBERED:
                self._found.popitem(last=False)
        return state


_known = _Known()


def kept_states(connection: sqlite3.Connection, run_id: str) -> tuple[KeptState, ...]:
    """All stretches that were kept for a run, each compared with what is stored now. A day of a large node takes seconds the first time."""
    return tuple(state_of(connection, kept) for kept in list_kept(connection, run_id))


def kept_hashes(connection: sqlite3.Connection, node_id: str) -> tuple[str, ...]:
    """The SHA-256 of all that was kept of a node, the newest first, each once."""
    rows = connection.execute(
        "SELECT sha256 FROM kept_stretches WHERE node_id = ? GROUP BY sha256 ORDER BY max(entry) DESC", (node_id,)
    )
    return tuple(sha256 for (sha256,) in rows)


def node_states(connection: sqlite3.Connection, node_id: str) -> tuple[KeptState, ...]:
    """All stretches that were kept for any run of a node, those of the newest run first."""
    rows = connection.execute("SELECT run_id FROM kept_stretches WHERE node_id = ? GROUP BY run_id ORDER BY max(entry) DESC", (node_id,)).fetchall()
    return tuple(state for (run_id,) in rows for state in kept_states(connection, run_id))


def state_of(connection: sqlite3.Connection, kept: KeptStretch) -> KeptState:
    """One of them."""
    key = kept, _rows_hash(connection, kept)
    found = _known.get(key)
    return found if found is not None else _known.put(key, _compared(connection, kept))


def _compared(connection: sqlite3.Connection, kept: KeptStretch) -> KeptState:
    now = stretch_content(connection, kept.node_id, kept.start_ns, kept.end_ns)
    fits = hashlib.sha256(now).hexdigest() == kept.sha256
    slots = slot_states(connection, kept.node_id, kept.start_ns, kept.end_ns) if fits else ()
    try:
        copy = get_content(connection, kept.sha256)
    except (UsageError, UserFacing):
        return KeptState(kept, fits, copy_fits=False, slots=slots)
    if fits:
        return KeptState(kept, fits, slots=slots)
    then, there = _blocks(copy), _blocks(now)
    changed = [key for key in then.keys() & there.keys() if then[key] != there[key]]
    missing, added = then.keys() - there.keys(), there.keys() - then.keys()
    starts = [start_ns for _, start_ns in (*changed, *missing, *added)]
    return KeptState(kept, fits, True, len(changed), len(missing), len(added), min(starts, default=None))


def _blocks(content: bytes) -> _Blocks:
    """(name of the series, start) -> (step, readings) of the bytes that were kept; a series that was renamed is another one."""
    names, packed = kept_lines(content)
    return {
        (names.get(id_, str(id_)), start_ns): (step_ns, values.tobytes()) for id_, start_ns, step_ns, values in blocks_of(unpack(packed))
    }


def _rows_hash(connection: sqlite3.Connection, kept: KeptStretch) -> str:
    """Of all that a comparison reads, as it lies in the file."""
    made = hashlib.sha256()
    for level, first_ns, last_ns in _looked_at(kept):
        for start_ns, end_ns, content in rows_between(connection, kept.node_id, level, first_ns, last_ns):
            made.update(b"%d %d %d %d\n" % (level, start_ns, end_ns, len(content)))
            made.update(content)
    made.update(b"%d\n" % (covered(connection, kept.node_id) or 0))
    names = connection.execute("SELECT id, metric, subject, unit FROM sample_series WHERE node_id = ? ORDER BY id", (kept.node_id,))
    made.update(repr(names.fetchall()).encode("utf-8", "surrogatepass"))
    copy = connection.execute("SELECT zlib_bytes, full_size FROM evidence WHERE sha256 = ?", (kept.sha256,)).fetchone()
    made.update(repr(copy and copy[1]).encode() + (copy[0] if copy else b""))
    return made.hexdigest()


def _looked_at(kept: KeptStretch) -> Iterator[tuple[int, int, int]]:
    """(level, start, end) of what is read at once; a summary that the stretch touches is made of readings beside it, too."""
    half_ns = LONGEST_NS // 2
    first_ns, last_ns = kept.start_ns // half_ns * half_ns, -(-kept.end_ns // half_ns) * half_ns
    for at_ns in range(first_ns, last_ns, _TOGETHER_NS):
        yield from ((level, at_ns, min(last_ns, at_ns + _TOGETHER_NS)) for level in (0, *LEVELS))
