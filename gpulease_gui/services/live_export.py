"""How does the stretch in sight come into the report of its node?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.store.doors import Database, Reader
from gpulease_gui.store.records import Mark, RunState
from gpulease_gui.store.retention import keep_stretch, newest_pack
from gpulease_gui.store.runs import list_runs
from gpulease_gui.store.samples import list_marks, outline, save_mark

REPORT_MARK = "report"
STRETCHES = 6
_NS = 1_000_000_000
# A node that was read so lately is being watched.
_GROWS_NS = 120 * _NS


def put_into_report(db: Database, node_id: str, start_s: float, end_s: float) -> str:
    """Show this stretch, too, in the reports of the node from now on; the answer is its SHA-256.

    The readings become evidence of the node's newest run. A stretch that reaches to what is not stored yet ends before it:
    evidence that grows would no longer be what was kept. Raises UserFacing without a run, without stored readings, and
    where the report shows STRETCHES of them already.
    """
    run = next((one for one in list_runs(db.conn, node_id=node_id) if one.state is RunState.FINISHED), None)
    if run is None:
        raise UserFacing(Text("the node was not verified yet", "该节点尚未验收"), Text("A report speaks of a run", "报告写的是一次验收"), Text("Verify the node first", "请先验收该节点"))
    held = stretches_in_report(db.conn, node_id, run.id)
    if len(held) >= STRETCHES:
        raise UserFacing(Text(f"the report shows {STRETCHES} stretches already", f"报告中已有 {STRETCHES} 段"), "", Text("Take one of them out of the report first", "请先从报告中移除一段"))
    kept = keep_stretch(db, run.id, node_id, int(start_s * _NS), _end_ns(db.conn, node_id, int(end_s * _NS)))
    if kept is None and outline(db.conn, node_id, int(start_s * _NS), int(end_s * _NS), _NS).slabs:
        why = Text("Readings go by their age, and evidence is made of readings", "读数到期清除，而存证由读数构成")
        raise UserFacing(Text("only summaries are left of this stretch", "此段只剩汇总"), why, Text("Choose a later stretch, or keep readings for longer", "请选择较晚的时段，或延长读数保留时间"))
    if kept is None:
        raise UserFacing(Text("nothing is stored of this stretch yet", "此段尚无已存读数"), Text("Readings are written every ten seconds", "读数每十秒写入一次"), Text("Try again in a moment", "请稍后重试"))
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
