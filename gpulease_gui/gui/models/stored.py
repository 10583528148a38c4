"""When was a node read, and what happened to it?

Runs on a worker thread: one metric of the last day for the navigator, the stretches in which anything is stored, and the
runs and notes of the node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from gpulease_gui.checks.watch_rules import WATCH_RULES
from gpulease_gui.checks.work_task import TERMS
from gpulease_gui.domain.task import TaskRun
from gpulease_gui.domain.text import Text, visible
from gpulease_gui.gui.models.cards import OfCards
from gpulease_gui.gui.models.verified import Verified, read_verified
from gpulease_gui.gui.widgets.chart_spec import Happening
from gpulease_gui.pdf.badges import badge_of
from gpulease_gui.services.live_export import REPORT_MARK, span_of
from gpulease_gui.services.log_words import LOG_MARK, log_mark_words
from gpulease_gui.services.watch_ends import FROM_FILE, NOT_SEEN, unseen_ends
from gpulease_gui.services.watch_warmup import judged_from, with_warmup
from gpulease_gui.store.ahead import CLOCK_MARK
from gpulease_gui.store.records import Mark, RunKind
from gpulease_gui.store.runs import list_runs
from gpulease_gui.store.samples import list_marks, list_series, read_range, recorded_spans
from gpulease_gui.store.task_runs import list_task_runs, task_points
from gpulease_gui.store.watch_events import WatchEvent, list_events
from gpulease_gui.telemetry.source import metrics

if TYPE_CHECKING:
    import sqlite3

_NS = 1_000_000_000
DAY_S = 86_400.0
REACH_S = 30 * DAY_S
POINTS = 960
_APART_S, _NO_HOLE_S = 30.0, 2.0
NOTE = "note"
_LOOKED_AT = 40  # the newest tasks
# Units in which a time is said that is twice as long at least.
_STEPS = ((86_400, "d", "天"), (3600, "h", "小时"), (60, "min", "分钟"), (1, "s", "秒"))
_TOGETHER_NS = 15 * 1_000_000_000
# The navigator shows the first of these that was sampled.
_FIRST = ("net.tx_gbit_s", "gpu.power_w", "npu.power_w", "gpu.util_percent", "npu.aicore_percent", "cpu.util_percent")


@dataclass(frozen=True, slots=True)
class Stored:
    """What the store holds of a node. Times are UTC seconds; `low` and `high` belong to `times_s`, over all subjects."""

    node_id: str
    title: Text = Text("", "")
    metric: str = ""
    term: str | None = None
    span_s: tuple[float, float] = (0.0, 0.0)
    times_s: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    recorded_s: tuple[tuple[float, float], ...] = ()
    happenings: tuple[Happening, ...] = ()
    verified: Verified = Verified()

    @property
    def last_s(self) -> float | None:
        """When the node was read last."""
        return self.recorded_s[-1][1] if self.recorded_s else None

    def holds(self, start_s: float, end_s: float) -> bool:
        """Whether anything is stored between two times."""
        return any(begin < end_s and end > start_s for begin, end in self.recorded_s)


def between_recorded(recorded_s: Iterable[tuple[float, float]], start_s: float, end_s: float) -> list[tuple[float, float]]:
    """The stretches from start to end (UTC seconds) in which nothing was recorded; what is shorter than two seconds is none."""
    found, at_s = list[tuple[float, float]](), start_s
    for first, last in sorted(recorded_s):
        if min(first, end_s) - at_s > _NO_HOLE_S:
            found.append((at_s, min(first, end_s)))
        at_s = max(at_s, last)
    if end_s - at_s > _NO_HOLE_S:
        found.append((at_s, end_s))
    return found


def read_stored(connection: sqlite3.Connection, node_id: str, now_s: float, promised: frozenset[str] = frozenset()) -> Stored:
    """Read it for the time up to now; the navigator shows a metric with a promised term, if one was sampled."""
    happenings, verified = _happenings(connection, node_id, now_s), read_verified(connection, node_id)
    sampled = {series.metric for series in list_series(connection, node_id)}
    known = [id_ for id_ in (*_FIRST, *sorted(sampled)) if id_ in sampled and id_ in metrics()]
    metric = next((id_ for id_ in known if metrics()[id_].term in promised), next(iter(known), None))
    if metric is None:
        return Stored(node_id, happenings=happenings, verified=verified)
    now_ns = int(now_s * _NS) + 1
    spans = recorded_spans(connection, node_id, now_ns - int(REACH_S * _NS), now_ns, int(_APART_S * _NS))
    recorded = tuple((begin / _NS, end / _NS) for begin, end in spans)
    end_s = now_s if not recorded or recorded[-1][1] > now_s - DAY_S else recorded[-1][1]
    times, high = _outline(connection, node_id, metric, end_s - DAY_S, end_s)
    what = metrics()[metric]
    return Stored(node_id, what.title, metric, what.term, (end_s - DAY_S, end_s), times, high, recorded, happenings, verified)


def _outline(
    connection: sqlite3.Connection, node_id: str, metric: str, start_s: float, end_s: float
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The highest reading of each slice of a day, over all subjects."""
    found = read_range(connection, node_id, metric, int(start_s * _NS), int(end_s * _NS), POINTS)
    slice_s, highest = (end_s - start_s) / POINTS, dict[int, float]()
    for stretch in found.stretches:
        for at_ns, value in zip(stretch.times_ns, stretch.high, strict=True):
            place = int((at_ns / _NS - start_s) // slice_s)
            highest[place] = max(value, highest.get(place, value))
    places = sorted(highest)
    return tuple(start_s + place * slice_s for place in places), tuple(highest[place] for place in places)


def _happenings(connection: sqlite3.Connection, node_id: str, now_s: float) -> tuple[Happening, ...]:
    since = datetime.fromtimestamp(now_s - REACH_S, UTC)
    tasks = {task.id: task for task in list_task_runs(connection, node_id=node_id) if task.started_at >= since}
    made = [_task(connection, task, looked_at=place < _LOOKED_AT) for place, task in enumerate(tasks.values())]
    for run in list_runs(connection, node_id=node_id, parts=True):
        if run.kind is RunKind.VERIFIED and run.started_at >= since and run.id not in tasks:
            words, verdict = Text("Verification", "验收"), badge_of(run.overall).word if run.overall is not None else None
            if isinstance(verdict, Text):
                words = Text(f"Verification: {verdict.en}", f"验收：{verdict.zh}")
            end_s = run.finished_at.timestamp() if run.finished_at else None
            made.append(Happening(run.started_at.timestamp(), end_s, words, "nav-verify", "run"))
    for mark in list_marks(connection, node_id, since, datetime.fromtimestamp(now_s + DAY_S, UTC)):
        if mark.kind == NOTE:
            at_s = mark.at.timestamp()
            made.append(Happening(at_s, at_s, Text(f"note: {mark.words}", f"备注：{mark.words}"), "flag", ""))
        elif mark.kind == CLOCK_MARK:
            made.append(Happening(mark.at.timestamp(), mark.at.timestamp(), _clock_words(mark), "clock", ""))
        elif mark.kind == LOG_MARK:
            made.append(Happening(mark.at.timestamp(), mark.at.timestamp(), log_mark_words(mark.words), "document", ""))
        elif mark.kind == REPORT_MARK and (span := span_of(mark)) is not None:
            made.append(Happening(span[0] / _NS, span[1] / _NS, Text("in the report", "已加入报告"), "nav-reports", "run"))
    return (*made, *_broken(connection, node_id, now_s))


def _clock_words(mark: Mark) -> Text:
    """By how much the clock was set back, and up to when readings were written down before their time."""
    until = datetime.fromisoformat(mark.words)
    ahead_s, said = (until - mark.at).total_seconds(), f"{until.astimezone():%Y-%m-%d %H:%M:%S}"
    size, en, zh = next((step for step in _STEPS if ahead_s >= 2 * step[0]), _STEPS[-1])
    by = round(ahead_s / size)
    return Text(
        f"the clock of this computer was set back by {by} {en}: some readings stand up to {said}",
        f"本机时钟被调回 {by} {zh}：部分读数记到了 {said}",
    )


def _task(connection: sqlite3.Connection, task: TaskRun, *, looked_at: bool) -> Happening:
    """A task puts the speed that was promised of it to the test from its warm-up to its end."""
    words = Text(f"task: {visible(task.spec.name)}", f"任务：{visible(task.spec.name)}")
    start_s, end_s = task.started_at.timestamp(), task.ended_at.timestamp() if task.ended_at else None
    points = task_points(connection, task.id) if looked_at else ()
    left_out, after_s = judged_from(points, task.reading.rates if task.reading else ())
    # A command begins some seconds after its run: what a run that is over took is counted back from its end.
    begin_s = end_s - task.seconds if end_s is not None and task.seconds is not None else start_s
    return Happening(start_s, end_s, with_warmup(words, left_out), "run", "run", tuple(TERMS), judged_from_s=begin_s + after_s)


def _broken(connection: sqlite3.Connection, node_id: str, now_s: float) -> Iterator[Happening]:
    """What the watch rules noticed; the time that something cost stands in red."""
    titles = {rule.id: rule.title for rule in WATCH_RULES}
    events = list_events(connection, node_id, int((now_s - REACH_S) * _NS), int((now_s + DAY_S) * _NS))
    unseen = unseen_ends(connection, node_id, events)
    for cards in _together(events):
        first, ends = cards[0], [one.ended_ns for one in cards]
        title = titles.get(first.rule, Text(first.rule, first.rule))
        known = [end_ns for end_ns in ends if end_ns is not None]
        end_s = None if len(known) < len(ends) else max(known) / _NS
        of_cards, token = _of_cards(title, cards, seen=end_s is None or unseen.isdisjoint(one.id for one in cards)), "fail" if first.degraded else "warn"
        yield Happening(first.began_ns / _NS, end_s, of_cards.words({}), "bell", token, concerns=first.finding.term or "", of_cards=of_cards)


def _together(events: Sequence[WatchEvent]) -> list[list[WatchEvent]]:
    """Cards that broke one rule within seconds are one stretch: eight boxes over each other would say less."""
    made: list[list[WatchEvent]] = []
    for event in events:
        alike = next((
            held for held in reversed(made) if held[0].rule == event.rule and event.began_ns - held[0].began_ns < _TOGETHER_NS
            and event.subject not in {one.subject for one in held} and (event.imported is None) == (held[0].imported is None)
        ), None)  # fmt: skip
        if alike is None:
            made.append([event])
        else:
            alike.append(event)
    return made


def _of_cards(title: Text, cards: Sequence[WatchEvent], *, seen: bool) -> OfCards:
    away, subjects = cards[0].away if len(cards) == 1 else None, tuple(one.subject for one in cards)
    if away is None:
        notes = [*([] if seen else [NOT_SEEN]), *([FROM_FILE] if cards[0].imported else [])]
        return OfCards(title, subjects, Text("".join(f", {one.en}" for one in notes), "".join(f"，{one.zh}" for one in notes)))
    return OfCards(title, subjects, Text(f", then taken away by agreement: {visible(away.note)}", f"，随后经协商移除：{visible(away.note)}"))
