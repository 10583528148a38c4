"""Which stored readings of a node belong beside a run?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from gpulease_gui.domain.finding import Finding
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.reports.document import Curve
from gpulease_gui.reports.facts import LiveStretch
from gpulease_gui.services.card_words import card_name
from gpulease_gui.services.live_export import stretches_in_report
from gpulease_gui.services.stretch_blanks import blanks_of
from gpulease_gui.store.card_names import get_numbers
from gpulease_gui.store.kept_state import KeptState, kept_states
from gpulease_gui.store.records import Run, SampleRange, Stretch
from gpulease_gui.store.samples import list_series, read_range
from gpulease_gui.telemetry.source import Metric, metrics

if TYPE_CHECKING:
    import sqlite3

CHARTS = 3
POINTS = 480
_NS = 1_000_000_000
_NEAR_NS = 15 * 60 * _NS
_FAR_NS = 24 * 3600 * _NS
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
    numbers = get_numbers(connection, node_id)
    names = {stretch.series.subject: _name(stretch.series.subject, numbers) for stretch in found.stretches}
    curves = tuple(_curve(stretch, names[stretch.series.subject]) for stretch in found.stretches)
    return LiveStretch(
        metric.title, metric.unit, curves, span[0] / _NS, span[1] / _NS, line[0], blanks_of(found, span, numbers, names), line[1], _coarser(found, span)
    )


def _coarser(found: SampleRange, span: tuple[int, int]) -> tuple[tuple[float, float, float], ...]:
    return tuple((max(a, span[0]) / _NS, min(z, span[1]) / _NS, step / _NS) for a, z, step in found.coarser)


def _name(subject: str, numbers: Mapping[str, int]) -> str:
    """A card with the number by which its gaps are told, before the name by which others know it."""
    return f"{card_name(subject, numbers)} ({subject})" if subject in numbers else subject


def _curve(stretch: Stretch, name: str) -> Curve:
    times = tuple(t / _NS for t in stretch.times_ns)
    return Curve(name, times, tuple(stretch.low), tuple(stretch.high))
