"""Which stored readings of a node belong beside a run?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from gpulease_gui.domain.finding import Finding
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.reports.document import Blank, Curve
from gpulease_gui.reports.facts import LiveStretch
from gpulease_gui.services.gap_words import reason_words
from gpulease_gui.services.live_export import stretches_in_report
from gpulease_gui.store.kept_state import KeptState, kept_states
from gpulease_gui.store.records import Gap, Run, SampleRange, Stretch
from gpulease_gui.store.samples import list_series, read_range
from gpulease_gui.telemetry.source import Metric, metrics

if TYPE_CHECKING:
    import sqlite3

CHARTS = 3
POINTS = 480
_NS = 1_000_000_000
_NEAR_NS = 15 * 60 * _NS
_FAR_NS = 24 * 3600 * _NS
# A stretch without readings longer than this is drawn as a gap even if nobody noted why.
_SILENT_STEPS = 3
_FIRST = ("task.tokens_s", "task.samples_s", "net.tx_gbit_s", "net.rx_gbit_s", "gpu.power_w", "npu.power_w", "disk.read_mb_s", "disk.write_mb_s", "gpu.util_percent")


def live_stretches(
    connection: sqlite3.Connection, run: Run, terms: Mapping[str, TermValue], findings: Iterable[Finding] = (),
    states: Iterable[KeptState] | None = None,
) -> tuple[LiveStretch, ...]:
    """Up to three metrics around the run, or of each stretch that the user chose for the report, those with a promised figure
    first; empty if nothing was recorded nearby.

    A figure that the contract does not state may be implied by its model: the findings then carry it. `states`: what became of
    the readings that were kept of the run, if that is known already. A stretch that such readings lie in says so when they are others now.
    """
    implied = {f.term: f.promised for f in findings if f.term and f.promised is not None and f.term not in terms}
    lines = {metric.id: _line(metric, terms, implied) for metric in metrics().values()}
    sampled = {series.metric for series in list_series(connection, run.node_id)}
    known = [metrics()[id_] for id_ in _FIRST if id_ in sampled and id_ in metrics()]
    known.sort(key=lambda metric: lines[metric.id][0] is None)
    spans = stretches_in_report(connection, run.node_id, run.id) or _span(connection, run, known)
    found: list[LiveStretch] = []
    others = [one for one in (kept_states(connection, run.id) if states is None else states) if not one.drawn_as_kept]
    for span in spans:
        inside = [one for one in others if one.kept.start_ns < span[1] and one.kept.end_ns > span[0]]
        made = ((metric, _stretch(connection, run.node_id, metric, lines[metric.id], span)) for metric in known)
        found += [_marked(stretch, metric, inside) for metric, stretch in made if stretch is not None][:CHARTS]
    return tuple(found)


def _marked(stretch: LiveStretch, metric: Metric, others: Iterable[KeptState]) -> LiveStretch:
    """Where readings are others, nobody looks at summaries: any chart may be another one then. Else those of changed summaries are."""
    title = stretch.title
    if any(not one.fits for one in others):
        return replace(stretch, title=Text(f"{title.en}: not the readings that were kept", f"{title.zh}：与存证读数不符"))
    if any(name == metric.id for one in others for slots in one.slots for name, _ in slots.series):
        return replace(stretch, title=Text(f"{title.en}: its summaries are not what its readings make", f"{title.zh}：汇总与读数不符"))
    return stretch


_Line = tuple[float | None, bool]


def _line(metric: Metric, terms: Mapping[str, TermValue], implied: Mapping[str, TermValue]) -> _Line:
    """(promised figure, whether the model implies it)."""
    if metric.term is None:
        return None, False
    stated = _figure(terms.get(metric.term))
    return (stated, False) if stated is not None else (_figure(implied.get(metric.term)), True)


def _figure(promised: TermValue | None) -> float | None:
    return None if isinstance(promised, bool) or not isinstance(promised, int | float) else float(promised)


def _span(connection: sqlite3.Connection, run: Run, known: list[Metric]) -> tuple[tuple[int, int], ...]:
    """(start, end) in ns of the readings near the run, else of the last quarter of an hour of that day; none without readings."""
    begin = int(run.started_at.timestamp() * _NS)
    end = int((run.finished_at or utc_now()).timestamp() * _NS)
    for reach in (_NEAR_NS, _FAR_NS):
        ranges = [read_range(connection, run.node_id, m.id, begin - reach, end + reach, 10_000) for m in known]
        times = [t for one in ranges for stretch in one.stretches for t in (stretch.times_ns[0], stretch.times_ns[-1])]
        if times:
            last = max(times)
            return ((max(min(times), last - 2 * _NEAR_NS), last + _NS),)
    return ()


def _stretch(
    connection: sqlite3.Connection, node_id: str, metric: Metric, line: _Line, span: tuple[int, int]
) -> LiveStretch | None:
    found = read_range(connection, node_id, metric.id, *span, POINTS)
    if not found.stretches:
        return None
    curves = tuple(_curve(stretch) for stretch in found.stretches)
    return LiveStretch(
        metric.title, metric.unit, curves, span[0] / _NS, span[1] / _NS, line[0], _blanks(found, span), line[1], _coarser(found, span)
    )


def _coarser(found: SampleRange, span: tuple[int, int]) -> tuple[tuple[float, float, float], ...]:
    return tuple((max(a, span[0]) / _NS, min(z, span[1]) / _NS, step / _NS) for a, z, step in found.coarser)


def _curve(stretch: Stretch) -> Curve:
    times = tuple(t / _NS for t in stretch.times_ns)
    return Curve(stretch.series.subject, times, tuple(stretch.low), tuple(stretch.high))


def _blanks(found: SampleRange, span: tuple[int, int]) -> tuple[Blank, ...]:
    noted = [_blank(gap, span) for gap in found.gaps if gap.end_ns > span[0] and gap.start_ns < span[1]]
    silent = [b for b in _silences(found) if not any(n.start_s < b.end_s and b.start_s < n.end_s for n in noted)]
    return tuple(sorted([*noted, *silent], key=lambda blank: blank.start_s))


def _blank(gap: Gap, span: tuple[int, int]) -> Blank:
    return Blank(max(gap.start_ns, span[0]) / _NS, min(gap.end_ns, span[1]) / _NS, reason_words(gap))


def _silences(found: SampleRange) -> list[Blank]:
    """Where no subject was read for several steps."""
    times = sorted({t for stretch in found.stretches for t in stretch.times_ns})
    steps = sorted(later - earlier for earlier, later in zip(times, times[1:], strict=False))
    if not steps:
        return []
    usual = max(steps[len(steps) // 2], _NS)
    return [
        Blank(earlier / _NS, later / _NS, Text("no readings", "无读数"))
        for earlier, later in zip(times, times[1:], strict=False) if later - earlier > _SILENT_STEPS * usual
    ]  # fmt: skip
