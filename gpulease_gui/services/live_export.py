"""How does the stretch in sight leave the program: as a table of readings, or into the report of its node?"""

from __future__ import annotations

import csv
import io
import math
import time
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import itemgetter

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.reports.as_csv import safe_cell
from gpulease_gui.services.gap_words import reason_words
from gpulease_gui.services.intake import SeriesKey
from gpulease_gui.services.series import Ring
from gpulease_gui.store.doors import Database, Reader
from gpulease_gui.store.records import Gap, Mark, RunState, SampleBlock
from gpulease_gui.store.retention import keep_stretch, newest_pack
from gpulease_gui.store.runs import list_runs
from gpulease_gui.store.samples import list_gaps, list_marks, outline, read_blocks, read_range, save_mark
from gpulease_gui.telemetry.source import metrics

REPORT_MARK = "report"
STRETCHES = 6
_NS, _MS = 1_000_000_000, 1_000_000
# A node that was read so lately is being watched.
_GROWS_NS = 120 * _NS
# Up to so long every reading is a row; beyond it a row stands for an even slice of the time.
READINGS_S, SLICES = 86_400.0, 20_000
# So many readings before or after its time the first one of a block may have been read.
_SHIFTED = 4
_TIME, _GAP = Text("time (UTC)", "时间（UTC）"), Text("gap", "缺口")
_LOW, _MEAN, _HIGH = Text("lowest", "最低"), Text("mean", "均值"), Text("highest", "最高")
_Rows = dict[int, dict[int, float]]


def readings_csv(
    connection: Reader, node_id: str, start_s: float, end_s: float, live: Mapping[SeriesKey, Ring], language: Language
) -> bytes:
    """The readings with start <= time < end (UTC seconds), a column each series with its unit in the head, as UTF-8 CSV.

    `live` has what is newer than the last stored block. What was not read is an empty cell; where a gap begins, the last
    column says why. Longer than a day: lowest, mean and highest of each slice. Raises UserFacing when nothing was read.
    """
    heads, rows = _readings(connection, node_id, start_s, end_s, live) if end_s - start_s <= READINGS_S else _slices(
        connection, node_id, start_s, end_s, language)  # fmt: skip
    if not rows:
        raise UserFacing("nothing was read in this stretch", "", "choose another stretch of time")
    gaps = _reasons(list_gaps(connection, node_id, None, int(start_s * _NS), int(end_s * _NS)), int(start_s * 1000), language)
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([_TIME.say(language), *(safe_cell(head) for head in heads), _GAP.say(language)])
    for at_ms in sorted(rows.keys() | gaps.keys()):
        held = rows.get(at_ms, {})
        writer.writerow([_time(at_ms), *(_cell(held.get(place)) for place in range(len(heads))), safe_cell(gaps.get(at_ms, ""))])
    return out.getvalue().encode("utf-8-sig", "replace")


def _reasons(gaps: Iterable[Gap], start_ms: int, language: Language) -> dict[int, str]:
    """Why, by where it begins (ms); what began before the stretch is told at its start."""
    said: dict[int, dict[str, None]] = {}
    for gap in gaps:
        said.setdefault(max(start_ms, _ms(gap.start_ns)), {})[reason_words(gap).say(language)] = None
    return {at_ms: "; ".join(reasons) for at_ms, reasons in said.items()}


def _ms(at_ns: int) -> int:
    """The nearest millisecond: readings of one moment stand in slots of sources that may differ by some nanoseconds."""
    return (at_ns + _MS // 2) // _MS


def _time(at_ms: int) -> str:
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at_ms % 1000:03}Z"


def _cell(value: float | None) -> str:
    return "" if value is None or not math.isfinite(value) else format(value, ".7g")


def _head(metric: str, subject: str, language: Language | None = None, more: Text | None = None) -> str:
    """Metric, subject, unit: such as `gpu.power_w GPU-0a1b [W]`."""
    known = metrics().get(metric)
    unit = f"[{known.unit}]" if known is not None and known.unit else ""
    said = more.say(language) if more is not None and language is not None else ""
    return " ".join(part for part in (metric, subject, said, unit) if part)


def _readings(
    connection: Reader, node_id: str, start_s: float, end_s: float, live: Mapping[SeriesKey, Ring]
) -> tuple[list[str], _Rows]:
    stored = {
        (series.metric, series.subject): blocks
        for series, blocks in read_blocks(connection, node_id, int(start_s * _NS), int(end_s * _NS)).items()
    }  # fmt: skip
    keys = sorted(stored.keys() | live.keys())
    rows: _Rows = {}
    for place, key in enumerate(keys):
        blocks = stored.get(key, ())
        for block in blocks:
            for number, value in enumerate(block.values):
                rows.setdefault(_ms(block.start_ns + number * block.step_ns), {})[place] = value
        for at_ms, value in _newer(live.get(key), blocks[-1] if blocks else None, int(start_s * 1000), int(end_s * 1000)):
            rows.setdefault(at_ms, {})[place] = value
    return [_head(*key) for key in keys], rows


def _newer(ring: Ring | None, block: SampleBlock | None, from_ms: int, to_ms: int) -> Iterable[tuple[int, float]]:
    """What the ring has after the last stored block."""
    if ring is None or not ring.total:
        return ()
    view = ring.view()
    pairs = [(round(at_s * 1000), value) for at_s, value in zip(view.times_s.tolist(), view.values.tolist(), strict=True) if value == value]
    held = pairs if block is None else _after(block, pairs)
    return [(at_ms, value) for at_ms, value in held if from_ms <= at_ms < to_ms]


def _after(block: SampleBlock, pairs: Sequence[tuple[int, float]]) -> Sequence[tuple[int, float]]:
    """Those that were read after a block. Its readings stand in even slots, which tell no time to compare: they are found by what
    they are. Of one that is not in the ring, as another program kept it, what lies half a step after its last slot goes on.
    """
    own = [value for value in block.values if value == value]
    place = bisect_left(pairs, block.start_ns // _MS - 1, key=itemgetter(0))
    for first in sorted(range(max(0, place - _SHIFTED), place + _SHIFTED + 1), key=lambda at: abs(at - place)) if own else ():
        if [value for _, value in pairs[first : first + len(own)]] == own:
            return pairs[first + len(own) :]
    last_ms = (block.start_ns + (2 * len(block.values) - 1) * block.step_ns // 2) // _MS
    return [pair for pair in pairs if pair[0] >= last_ms]


def _slices(
    connection: Reader, node_id: str, start_s: float, end_s: float, language: Language
) -> tuple[list[str], _Rows]:
    heads: list[str] = []
    rows: _Rows = {}
    for id_ in metrics():
        for one in read_range(connection, node_id, id_, int(start_s * _NS), int(end_s * _NS), SLICES).stretches:
            for at_ns, *held in zip(one.times_ns, one.low, one.mean, one.high, strict=True):
                rows.setdefault(_ms(at_ns), {}).update(enumerate(held, len(heads)))
            heads += [_head(id_, one.series.subject, language, words) for words in (_LOW, _MEAN, _HIGH)]
    return heads, rows


def put_into_report(db: Database, node_id: str, start_s: float, end_s: float) -> str:
    """Show this stretch, too, in the reports of the node from now on; the answer is its SHA-256.

    The readings become evidence of the node's newest run. A stretch that reaches to what is not stored yet ends before it:
    evidence that grows would no longer be what was kept. Raises UserFacing without a run, without stored readings, and
    where the report shows STRETCHES of them already.
    """
    run = next((one for one in list_runs(db.conn, node_id=node_id) if one.state is RunState.FINISHED), None)
    if run is None:
        raise UserFacing("the node was not verified yet", "a report speaks of a run", "verify the node first")
    held = stretches_in_report(db.conn, node_id, run.id)
    if len(held) >= STRETCHES:
        raise UserFacing(f"the report shows {STRETCHES} stretches already", "", "take one of them out of the report first")
    kept = keep_stretch(db, run.id, node_id, int(start_s * _NS), _end_ns(db.conn, node_id, int(end_s * _NS)))
    if kept is None and outline(db.conn, node_id, int(start_s * _NS), int(end_s * _NS), _NS).slabs:
        why = "readings go by their age, and evidence is made of readings"
        raise UserFacing("only summaries are left of this stretch", why, "choose a later stretch, or keep readings for longer")
    if kept is None:
        raise UserFacing("nothing is stored of this stretch yet", "readings are written every ten seconds", "try again in a moment")
    if (kept.start_ns, kept.end_ns) not in held:
        id_ = f"{REPORT_MARK}-{node_id}-{run.id}-{kept.start_ns}-{kept.end_ns}"
        save_mark(db, Mark(id_, node_id, datetime.fromtimestamp(start_s, UTC), REPORT_MARK, f"{kept.start_ns}\t{kept.end_ns}", run.id))
    return kept.sha256


def _end_ns(connection: Reader, node_id: str, end_ns: int) -> int:
    """The end of a stretch, two readings before the end of what is stored where more will come: blocks of one time may overlap there."""
    now_ns = time.time_ns()
    found = newest_pack(connection, node_id, now_ns)
    if found is None:
        return end_ns
    last_ns, step_ns = found
    grows = now_ns - last_ns < _GROWS_NS and end_ns > last_ns - 2 * step_ns
    return last_ns - 2 * step_ns if end_ns > last_ns or grows else end_ns


def take_out_of_report(db: Database, node_id: str, mark_id: str = "") -> int:
    """Show one of the chosen stretches ("": none of them) no more; how many left. What was kept as evidence stays."""
    where, what = "DELETE FROM marks WHERE node_id = ? AND kind = ? AND ? IN ('', id)", (node_id, REPORT_MARK, mark_id)
    return int(db.conn.execute(where, what).rowcount)


@dataclass(frozen=True, slots=True)
class ReportStretch:
    """A stretch that the user put into the report of a run; times are UTC seconds. `run_at` None: the run is not there any more."""

    id: str
    start_s: float
    end_s: float
    run_at: datetime | None = None


def report_stretches(connection: Reader, node_id: str) -> tuple[ReportStretch, ...]:
    """All stretches that stand in reports of a node, the newest first."""
    runs = {run.id: run.started_at for run in list_runs(connection, node_id=node_id)}
    found = [
        ReportStretch(mark.id, span[0] / _NS, span[1] / _NS, runs.get(mark.run_id or ""))
        for mark in _report_marks(connection, node_id) if (span := span_of(mark)) is not None
    ]  # fmt: skip
    return tuple(reversed(found))


def stretches_in_report(connection: Reader, node_id: str, run_id: str) -> tuple[tuple[int, int], ...]:
    """(start, end) in ns of the stretches that the user put into the report of a run, oldest first."""
    marks = _report_marks(connection, node_id)
    return tuple(span for mark in marks if mark.run_id == run_id and (span := span_of(mark)) is not None)


def _report_marks(connection: Reader, node_id: str) -> list[Mark]:
    now = datetime.now(UTC)
    marks = list_marks(connection, node_id, now - timedelta(days=7300), now + timedelta(days=7300))
    return [mark for mark in marks if mark.kind == REPORT_MARK]


def span_of(mark: Mark) -> tuple[int, int] | None:
    """(start, end) in ns of a stretch in the report; None of what was edited by hand into something else."""
    first, _, last = mark.words.partition("\t")
    return (int(first), int(last)) if first.isdigit() and last.isdigit() else None
