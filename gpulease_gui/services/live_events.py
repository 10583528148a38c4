"""What happened to a node in a stretch of time, as lines of a table: gaps and their ends, broken rules, notes, runs, Xids, clocks held back?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gpulease_gui.catalog.xid import CLOCKS_HELD_BACK, load_xids
from gpulease_gui.checks.watch_rules import WATCH_RULES
from gpulease_gui.domain.finding import VERDICT_WORDS, Verdict
from gpulease_gui.domain.text import Text, visible
from gpulease_gui.services.gap_words import reason_words
from gpulease_gui.services.log_words import LOG_MARK, log_mark_words
from gpulease_gui.services.watch_ends import FROM_FILE, NOT_SEEN, TAKEN_AWAY, unseen_ends
from gpulease_gui.store.ahead import CLOCK_MARK
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.records import Gap, RunKind
from gpulease_gui.store.runs import list_runs
from gpulease_gui.store.samples import list_marks
from gpulease_gui.store.task_runs import list_task_runs
from gpulease_gui.store.watch_events import list_events

XID, REASONS, NOTE = "gpu.xid", "gpu.event_reasons", "note"
# What a card reports of its errors, new ones since the reading before or a state that lasts, and how grave that is: what is
# repaired by the card itself only warns.
ERRORS: Mapping[str, Verdict] = {
    XID: Verdict.FAIL, "gpu.ecc_uncorrected": Verdict.FAIL, "gpu.remap_failed": Verdict.FAIL, "gpu.remapped_rows": Verdict.WARN,
    "gpu.remap_pending": Verdict.WARN, "gpu.ecc_corrected": Verdict.WARN, "gpu.nvlink_errors": Verdict.WARN, "gpu.pcie_replays": Verdict.WARN,
    "rdma.errors": Verdict.WARN,
}  # fmt: skip
# Two that are nearer are one.
APART_S = 15.0
_NS, _MS = 1_000_000_000, 1_000_000
_ENDS = Text("ends", "结束")


@dataclass(frozen=True, slots=True)
class Happened:
    """A moment (UTC milliseconds) and what happened then."""

    at_ms: int
    words: Text


def happened(connection: Reader, node_id: str, start_s: float, end_s: float, gaps: Iterable[Gap]) -> list[Happened]:
    """What is stored of a node with start <= time < end (UTC seconds), by time: begins and ends, each by itself."""
    told = [
        *_noted(connection, node_id, start_s, end_s), *_verified(connection, node_id), *_tasks(connection, node_id),
        *_broken(connection, node_id, start_s, end_s), *_read_again(gaps),
    ]  # fmt: skip
    return sorted((one for one in told if start_s * 1000 <= one.at_ms < end_s * 1000), key=lambda one: one.at_ms)


def xids(subject: str, readings: Iterable[tuple[int, float]]) -> Iterator[Happened]:
    """The Xids of a card by their times."""
    known = load_xids().xids
    for at_ms, value in readings:
        if value == value and value > 0:
            name = known[int(value)].name if int(value) in known else ""
            words = f"Xid {int(value)}" + (f" {name}" if name else "") + (f", {visible(subject)}" if subject else "")
            yield Happened(at_ms, Text(words, words))


def held_back(subject: str, readings: Sequence[tuple[int, float]]) -> Iterator[Happened]:
    """When something began to hold the clocks of a card back, changed, or held them back no more; what was not read changes nothing."""
    catalogue, of = load_xids(), visible(subject)
    before: tuple[str, ...] = ()
    for at_ms, value in readings:
        if value != value:
            continue
        reasons = tuple(name for name in catalogue.reasons_in(int(value)) if name in CLOCKS_HELD_BACK)
        if reasons != before:
            yield Happened(at_ms, _held_words(of, [CLOCKS_HELD_BACK[name] for name in reasons]))
            before = reasons


def _held_words(of: str, reasons: Sequence[Text]) -> Text:
    if not reasons:
        return Text(f"clocks no longer held back, {of}", f"降频结束，{of}")
    en, zh = ", ".join(one.en for one in reasons), "、".join(one.zh for one in reasons)
    return Text(f"clocks held back, {of}: {en}", f"降频，{of}：{zh}")


def _noted(connection: Reader, node_id: str, start_s: float, end_s: float) -> Iterator[Happened]:
    first, last = (datetime.fromtimestamp(at_s, UTC) for at_s in (start_s, end_s))
    for mark in list_marks(connection, node_id, first, last):
        if mark.kind == NOTE:
            yield Happened(_ms(mark.at), Text(f"note: {mark.words}", f"备注：{mark.words}"))
        elif mark.kind == CLOCK_MARK:
            yield Happened(_ms(mark.at), Text("the clock of the watching computer was set back", "监控端时钟被调回"))
        elif mark.kind == LOG_MARK:
            yield Happened(_ms(mark.at), log_mark_words(mark.words))


def _verified(connection: Reader, node_id: str) -> Iterator[Happened]:
    for run in list_runs(connection, node_id=node_id, parts=True):
        if run.kind is RunKind.VERIFIED:
            yield Happened(_ms(run.started_at), Text("verification begins", "验收开始"))
            if run.finished_at is not None:
                verdict = VERDICT_WORDS[run.overall] if run.overall is not None else Text(str(run.state), str(run.state))
                yield Happened(_ms(run.finished_at), Text(f"verification ends: {verdict.en}", f"验收结束：{verdict.zh}"))


def _tasks(connection: Reader, node_id: str) -> Iterator[Happened]:
    for task in list_task_runs(connection, node_id=node_id):
        name = visible(task.spec.name)
        yield Happened(_ms(task.started_at), Text(f"task begins: {name}", f"任务开始：{name}"))
        if task.ended_at is not None:
            yield Happened(_ms(task.ended_at), Text(f"task ends: {name}", f"任务结束：{name}"))


def _broken(connection: Reader, node_id: str, start_s: float, end_s: float) -> Iterator[Happened]:
    titles: Mapping[str, Text] = {rule.id: rule.title for rule in WATCH_RULES}
    events = list_events(connection, node_id, int(start_s * _NS), int(end_s * _NS))
    unseen = unseen_ends(connection, node_id, events)
    for event in events:
        title, of = titles.get(event.rule, Text(event.rule, event.rule)), visible(event.subject)
        en, zh = (f"{words}, {of}" if of else words for words in (title.en, title.zh))
        en, zh = (f"{en}, {FROM_FILE.en}", f"{zh}，{FROM_FILE.zh}") if event.imported else (en, zh)
        yield Happened(event.began_ns // _MS, Text(f"begins: {en}", f"开始：{zh}"))
        if event.ended_ns is not None:
            end = TAKEN_AWAY if event.away is not None else NOT_SEEN if event.id in unseen else _ENDS
            yield Happened(event.ended_ns // _MS, Text(f"{end.en}: {en}", f"{end.zh}：{zh}"))


def _read_again(gaps: Iterable[Gap]) -> Iterator[Happened]:
    for gap in gaps:
        if gap.metric is None:
            why = reason_words(gap)
            yield Happened(gap.end_ns // _MS, Text(f"read again after: {why.en}", f"恢复读取，此前：{why.zh}"))


def _ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)
