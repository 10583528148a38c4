"""How does the stretch in sight leave the program as a table: readings, and what happened meanwhile?

A row is a moment of the node: what was read within three quarters of its usual step stands together, at the time of the first of
it, as sources and cards are read some milliseconds apart. The last two columns say why nothing was read, and what happened.
"""

from __future__ import annotations

import csv
import io
import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from operator import itemgetter
from statistics import median

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.reports.as_csv import safe_cell
from gpulease_gui.services.gap_words import reason_words
from gpulease_gui.services.intake import SeriesKey
from gpulease_gui.services.live_events import REASONS, XID, Happened, happened, held_back, xids
from gpulease_gui.services.series import Ring
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.records import Gap, SampleBlock
from gpulease_gui.store.samples import list_gaps, read_blocks, read_range
from gpulease_gui.telemetry.source import metrics

# Up to so long every reading is in the table; beyond it a row stands for an even slice of the time.
READINGS_S, SLICES = 86_400.0, 20_000
# Of the usual step: what lies nearer to the first reading of a row than this is of the same moment.
_TOGETHER = 0.75
_USUAL_MS = 1000.0
_NS, _MS = 1_000_000_000, 1_000_000
# So many readings before or after its time the first one of a block may have been read.
_SHIFTED = 4
_TIME, _GAP, _EVENT = Text("time (UTC)", "时间（UTC）"), Text("gap", "缺口"), Text("event", "事件")
_LOW, _MEAN, _HIGH = Text("lowest", "最低"), Text("mean", "均值"), Text("highest", "最高")
# (milliseconds, value) by time, for each column with its head.
_Column = tuple[str, list[tuple[int, float]]]
_Row = tuple[int, dict[int, float]]


def readings_csv(
    connection: Reader, node_id: str, start_s: float, end_s: float, live: Mapping[SeriesKey, Ring], language: Language
) -> bytes:
    """What was read, and happened, with start <= time < end (UTC seconds), a column each series with its unit in the head, as UTF-8 CSV.

    `live` has what is newer than the last stored block. What was not read is an empty cell; where a gap begins, the last but
    one column says why. Longer than a day: lowest, mean and highest of each slice. Raises UserFacing when nothing was read.
    """
    all_gaps = list_gaps(connection, node_id, None, int(start_s * _NS), int(end_s * _NS))
    told = happened(connection, node_id, start_s, end_s, all_gaps)
    if end_s - start_s <= READINGS_S:
        series = _readings(connection, node_id, start_s, end_s, live)
        columns = [(_head(*key), readings) for key, readings in series.items() if key[0] != XID]
        step_ms = _step_ms(readings for _, readings in columns)
        for (metric, subject), readings in series.items():
            told += xids(subject, readings) if metric == XID else held_back(subject, readings) if metric == REASONS else ()
    else:
        columns, more = _slices(connection, node_id, start_s, end_s, language)
        step_ms = (end_s - start_s) * 1000 / SLICES
        told += more
    rows = _rows(columns, step_ms)
    if not rows:
        raise UserFacing("nothing was read in this stretch", "", "choose another stretch of time")
    told = sorted((one for one in told if start_s * 1000 <= one.at_ms < end_s * 1000), key=lambda one: one.at_ms)
    gaps = _reasons(all_gaps, int(start_s * 1000), language)
    return _written([head for head, _ in columns], _with_moments(rows, step_ms, gaps, told, language), language)


def _written(heads: Sequence[str], rows: Iterable[tuple[int, dict[int, float], str, str]], language: Language) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([_TIME.say(language), *(safe_cell(head) for head in heads), _GAP.say(language), _EVENT.say(language)])
    for at_ms, held, why, what in rows:
        writer.writerow([_time(at_ms), *(_cell(held.get(place)) for place in range(len(heads))), safe_cell(why), safe_cell(what)])
    return out.getvalue().encode("utf-8-sig", "replace")


def _rows(columns: Sequence[_Column], step_ms: float) -> list[_Row]:
    """Readings of one moment of the node together; no series is twice in a row."""
    read = sorted((at_ms, place, value) for place, (_, readings) in enumerate(columns) for at_ms, value in readings)
    rows: list[_Row] = []
    for at_ms, place, value in read:
        if not rows or at_ms - rows[-1][0] >= step_ms * _TOGETHER or place in rows[-1][1]:
            rows.append((at_ms, {}))
        rows[-1][1][place] = value
    return rows


def _step_ms(series: Iterable[Sequence[tuple[int, float]]]) -> float:
    """How far apart the readings of the quickest series usually are."""
    steps = (median(later[0] - earlier[0] for earlier, later in pairwise(readings)) for readings in series if len(readings) > 1)
    return min(steps, default=_USUAL_MS)


def _with_moments(
    rows: Sequence[_Row], step_ms: float, gaps: Mapping[int, str], told: Iterable[Happened], language: Language
) -> Iterable[tuple[int, dict[int, float], str, str]]:
    """(time, readings, why none, what happened) of each row; what happened stands with the nearest readings, or by itself where nobody read."""
    starts = [at_ms for at_ms, _ in rows]
    events: dict[int, dict[str, None]] = {}
    for one in told:
        place = bisect_left(starts, one.at_ms)
        nearest = min(starts[max(0, place - 1) : place + 1], key=lambda at_ms: abs(at_ms - one.at_ms))
        near = abs(nearest - one.at_ms) < step_ms
        events.setdefault(nearest if near else one.at_ms, {})[one.words.say(language)] = None
    held = dict(rows)
    for at_ms in sorted(held.keys() | gaps.keys() | events.keys()):
        yield at_ms, held.get(at_ms, {}), gaps.get(at_ms, ""), "; ".join(events.get(at_ms, ()))


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
    """As spreadsheets take it for a time; the head says that it is UTC."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.") + f"{at_ms % 1000:03}"


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
) -> dict[SeriesKey, list[tuple[int, float]]]:
    stored = {
        (series.metric, series.subject): blocks
        for series, blocks in read_blocks(connection, node_id, int(start_s * _NS), int(end_s * _NS)).items()
    }  # fmt: skip
    found: dict[SeriesKey, list[tuple[int, float]]] = {}
    for key in sorted(stored.keys() | live.keys()):
        blocks = stored.get(key, ())
        read = [(_ms(block.start_ns + n * block.step_ns), value) for block in blocks for n, value in enumerate(block.values)]
        read += _newer(live.get(key), blocks[-1] if blocks else None, int(start_s * 1000), int(end_s * 1000))
        found[key] = read
    return found


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
) -> tuple[list[_Column], list[Happened]]:
    """The columns, and what the readings of events tell: of a slice what was highest."""
    columns: list[_Column] = []
    told: list[Happened] = []
    for id_ in metrics():
        for one in read_range(connection, node_id, id_, int(start_s * _NS), int(end_s * _NS), SLICES).stretches:
            times, of = [_ms(at_ns) for at_ns in one.times_ns], one.series.subject
            highest = list(zip(times, one.high, strict=True))
            if id_ == XID:
                told += xids(of, highest)
                continue
            told += held_back(of, highest) if id_ == REASONS else ()
            for words, values in ((_LOW, one.low), (_MEAN, one.mean), (_HIGH, one.high)):
                columns.append((_head(id_, of, language, words), list(zip(times, values, strict=True))))
    return columns, told
