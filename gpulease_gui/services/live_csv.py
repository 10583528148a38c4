"""How does the stretch in sight leave the program as a table: readings, and what happened meanwhile?

A row is a moment of the node: what was read within three quarters of its usual step stands together, at the time of the first of
it, as sources and cards are read some milliseconds apart. The last two columns say why nothing was read, and what happened.
"""

from __future__ import annotations

import csv
import io
import math
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from heapq import merge
from itertools import chain, repeat
from math import inf
from operator import sub
from statistics import median

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.reports.as_csv import safe_cell
from gpulease_gui.services.gap_words import reason_words
from gpulease_gui.services.handed import Handed
from gpulease_gui.services.intake import GapSpan, SeriesKey
from gpulease_gui.services.live_events import REASONS, XID, Happened, happened, held_back, xids
from gpulease_gui.services.series import Ring
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.records import Gap, SampleBlock
from gpulease_gui.store.samples import list_gaps, read_blocks, read_range
from gpulease_gui.telemetry.source import metrics, sources

# Up to so long every reading is in the table; beyond it a row stands for an even slice of the time.
READINGS_S, SLICES = 86_400.0, 20_000
# Of the usual step: what lies nearer to the first reading of a row than this is of the same moment.
_TOGETHER = 0.75
_USUAL_MS = 1000.0
_NS, _MS = 1_000_000_000, 1_000_000
_TIME, _GAP, _EVENT = Text("time (UTC)", "时间（UTC）"), Text("gap", "缺口"), Text("event", "事件")
_LOW, _MEAN, _HIGH = Text("lowest", "最低"), Text("mean", "均值"), Text("highest", "最高")
# (time in ms, readings by the place of their column).
_Row = tuple[int, dict[int, float]]


class _Read:
    """The readings of a series by time: milliseconds since 1970 UTC, and values."""

    __slots__ = ("times_ms", "values")

    def __init__(self, pairs: Iterable[tuple[int, float]] = ()) -> None:
        self.times_ms, self.values = array("q"), array("d")
        self.extend(pairs)

    def extend(self, pairs: Iterable[tuple[int, float]]) -> None:
        """More of them."""
        for at_ms, value in pairs:
            self.times_ms.append(at_ms)
            self.values.append(value)

    def pairs(self) -> list[tuple[int, float]]:
        """(time, value) of each."""
        return list(zip(self.times_ms, self.values, strict=True))


_Column = tuple[str, _Read]


def readings_csv(
    connection: Reader, node_id: str, start_s: float, end_s: float, live: Mapping[SeriesKey, Ring], language: Language,
    handed: Handed | None = None, lasting: Iterable[GapSpan] = (),
) -> bytes:
    """What was read, and happened, with start <= time < end (UTC seconds), a column each series with its unit in the head, as UTF-8 CSV.

    `live` has what is newer than the last stored block, and `handed` says what that is; `lasting` are gaps that have no end yet. What was not read is an empty cell; where a gap begins, the last but
    one column says why. Longer than a day: lowest, mean and highest of each slice. Raises UserFacing when nothing was read.
    """
    all_gaps = list_gaps(connection, node_id, None, int(start_s * _NS), int(end_s * _NS))
    told = happened(connection, node_id, start_s, end_s, all_gaps)
    if end_s - start_s <= READINGS_S:
        series = _readings(connection, node_id, start_s, end_s, live, handed or Handed())
        columns = [(_head(*key), read) for key, read in series.items() if key[0] != XID]
        step_ms = _step_ms(columns)
        for (metric, subject), read in series.items():
            if metric in (XID, REASONS):
                told += (xids if metric == XID else held_back)(subject, read.pairs())
    else:
        columns, more = _slices(connection, node_id, start_s, end_s, language)
        step_ms = (end_s - start_s) * 1000 / SLICES
        told += more
    if not any(len(read.times_ms) for _, read in columns):
        raise UserFacing(Text("nothing was read in this stretch", "此时段没有任何读数"), "", Text("Choose another stretch of time", "请选择其他时段"))
    told = sorted((one for one in told if start_s * 1000 <= one.at_ms < end_s * 1000), key=lambda one: one.at_ms)
    gaps = _reasons(chain(all_gaps, _open_gaps(node_id, lasting, end_s)), int(start_s * 1000), language)
    return _written([head for head, _ in columns], _with_moments(_rows(columns, step_ms), step_ms, gaps, told, language), language)


def _written(heads: Sequence[str], rows: Iterable[tuple[int, dict[int, float], str, str]], language: Language) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow([_TIME.say(language), *(safe_cell(head) for head in heads), _GAP.say(language), _EVENT.say(language)])
    for at_ms, held, why, what in rows:
        writer.writerow([_time(at_ms), *(_cell(held.get(place)) for place in range(len(heads))), safe_cell(why), safe_cell(what)])
    return out.getvalue().encode("utf-8-sig", "replace")


def _rows(columns: Sequence[_Column], step_ms: float) -> Iterator[_Row]:
    """Readings of one moment of the node together; no series is twice in a row. A day of a large node is never in memory as rows."""
    at_ms, held = 0, dict[int, float]()
    for read_ms, place, value in merge(*(zip(read.times_ms, repeat(place), read.values) for place, (_, read) in enumerate(columns))):
        if held and (read_ms - at_ms >= step_ms * _TOGETHER or place in held):
            yield at_ms, held
            held = {}
        at_ms = at_ms if held else read_ms
        held[place] = value
    if held:
        yield at_ms, held


def _step_ms(columns: Iterable[_Column]) -> float:
    """How far apart the readings of the quickest series usually are."""
    steps = (median(map(sub, read.times_ms[1:], read.times_ms)) for _, read in columns if len(read.times_ms) > 1)
    return min(steps, default=_USUAL_MS)


def _with_moments(
    rows: Iterable[_Row], step_ms: float, gaps: dict[int, str], told: Iterable[Happened], language: Language
) -> Iterator[tuple[int, dict[int, float], str, str]]:
    """(time, readings, why none, what happened) of each row; what happened stands with the nearest readings, or by itself where nobody read."""
    waiting, alone = deque(told), dict[int, dict[str, None]]()
    before_ms, before, events = -inf, dict[int, float](), dict[str, None]()
    for at_ms, held in chain[tuple[float, dict[int, float]]](rows, [(inf, {})]):
        later: dict[str, None] = {}
        while waiting and waiting[0].at_ms < at_ms:
            one = waiting.popleft()
            left, right, words = one.at_ms - before_ms, at_ms - one.at_ms, one.words.say(language)
            place = alone.setdefault(one.at_ms, {}) if min(left, right) >= step_ms else events if left <= right else later
            place[words] = None
        if before:
            yield int(before_ms), before, gaps.pop(int(before_ms), ""), "; ".join(events)
        for alone_ms in sorted({*alone, *(gap_ms for gap_ms in gaps if gap_ms < at_ms)}):
            yield alone_ms, {}, gaps.pop(alone_ms, ""), "; ".join(alone.get(alone_ms, ()))
        alone.clear()
        before_ms, before, events = at_ms, held, later


def _open_gaps(node_id: str, lasting: Iterable[GapSpan], end_s: float) -> Iterable[Gap]:
    for gap in lasting:
        if gap.end_s is None and gap.start_s < end_s:
            of = sources()[gap.source].metrics[0].id if gap.source else gap.metric or None
            yield Gap(node_id, int(gap.start_s * _NS), int(end_s * _NS), gap.reason, of)


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
    connection: Reader, node_id: str, start_s: float, end_s: float, live: Mapping[SeriesKey, Ring], handed: Handed
) -> dict[SeriesKey, _Read]:
    stored = {
        (series.metric, series.subject): blocks
        for series, blocks in read_blocks(connection, node_id, int(start_s * _NS), int(end_s * _NS)).items()
    }  # fmt: skip
    found: dict[SeriesKey, _Read] = {}
    for key in sorted(stored.keys() | live.keys()):
        blocks = stored.get(key, ())
        read = found[key] = _Read()
        for block in blocks:
            read.extend((_ms(block.start_ns + n * block.step_ns), value) for n, value in enumerate(block.values))
        after_s = _after_s(handed, blocks[-1]) if blocks else -inf
        read.extend(_newer(live.get(key), after_s, int(start_s * 1000), int(end_s * 1000)))
    return found


def _newer(ring: Ring | None, after_s: float, from_ms: int, to_ms: int) -> Iterable[tuple[int, float]]:
    """What the ring has that came later."""
    if ring is None or not ring.total:
        return ()
    view = ring.view()
    told = zip(view.times_s.tolist(), view.values.tolist(), strict=True)
    pairs = ((round(at_s * 1000), value) for at_s, value in told if at_s > after_s and value == value)
    return [(at_ms, value) for at_ms, value in pairs if from_ms <= at_ms < to_ms]


def _after_s(handed: Handed, block: SampleBlock) -> float:
    """When (UTC seconds) the last reading came that the store has. Of what another program kept nobody knows it: half a step after its last slot."""
    known_s = handed.until_s(block)
    return known_s if known_s is not None else (block.start_ns + (2 * len(block.values) - 1) * block.step_ns // 2) / _NS


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
                columns.append((_head(id_, of, language, words), _Read(zip(times, values, strict=True))))
    return columns, told
