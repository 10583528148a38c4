"""Are readings of a run kept once its minute is over, also when the program ends before, and does upkeep end with it?"""

from __future__ import annotations

import random
import subprocess
import sys
from array import array
from datetime import timedelta
from pathlib import Path

import pytest

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.services.events import Bus, ReadingsNotKept, RunEnded
from gpulease_gui.services.upkeep import Upkeep
from gpulease_gui.store import retention, runs, samples
from gpulease_gui.store.imported import note_imported
from gpulease_gui.store.records import Run, RunState, SampleBlock, Series
from gpulease_gui.store.workspace import Workspace

S = 1_000_000_000
POWER = Series("n1", "gpu.power_w", "GPU-a", "W")


@pytest.fixture
def ended(desk):
    """A run of five minutes in an hour of readings."""
    begin_ns = int(desk.noon.timestamp()) * S - 600 * S
    desk.write(lambda db: samples.append_blocks(db, [SampleBlock(POWER, begin_ns + n * 10 * S, S, array("f", [350.0] * 10)) for n in range(360)]))
    desk.write(lambda db: runs.finish_run(db, "r1", RunState.FINISHED, desk.noon + timedelta(minutes=5), Verdict.FAIL))
    return RunEnded("r1", "n1", Verdict.FAIL)


def kept(desk):
    desk.write(lambda db: None)
    with desk.workspace.read() as connection:
        return retention.list_kept(connection, "r1")


def test_that_readings_are_kept_a_minute_after_a_run_and_once(desk, ended):
    now_s = [desk.noon.timestamp() + 300]
    bus = Bus()
    upkeep = Upkeep(desk.workspace, bus, lambda: now_s[0])
    bus.publish(ended)
    upkeep.keep_due()
    assert kept(desk) == ()
    now_s[0] += 75
    upkeep.keep_due()
    (one,) = kept(desk)
    assert (one.end_ns - one.start_ns) / S == pytest.approx(60 + 300 + 60)
    upkeep.close()
    assert kept(desk) == (one,)


def test_that_a_program_that_ends_before_keeps_what_was_read_so_far(desk, ended):
    bus = Bus()
    upkeep = Upkeep(desk.workspace, bus, lambda: desk.noon.timestamp() + 310)
    bus.publish(ended)
    upkeep.start()
    upkeep.close()
    upkeep.close()
    (one,) = kept(desk)
    assert (one.end_ns - one.start_ns) / S == pytest.approx(60 + 310)


def test_that_a_step_moves_older_readings_before_it_removes_any(desk, ended):
    upkeep = Upkeep(desk.workspace, Bus(), lambda: desk.noon.timestamp() + 90 * 86_400)
    desk.write(lambda db: db.execute("INSERT INTO sample_blocks VALUES (1, 0, 1000000000000000000, 1000000000, 1, x'00000000')"))
    assert upkeep.step() is True and desk.rows("SELECT count(*) FROM sample_blocks") == [(0,)]
    assert desk.rows("SELECT count(*) FROM sample_packs WHERE level = 0") == [(3,)]
    while upkeep.step():
        pass
    assert desk.rows("SELECT count(*) FROM sample_packs WHERE level = 0") == [(0,)]


def start(workspace, now_s, *, told=None):
    """A program that starts at a time: it looks once, and keeps what is due."""
    bus = Bus()
    bus.subscribe(lambda event: told.append(event) if told is not None else None)
    upkeep = Upkeep(workspace, bus, lambda: now_s)
    upkeep.find_owed()
    upkeep.keep_due()
    return upkeep


def test_that_a_program_killed_after_a_run_owes_its_readings_and_the_next_start_keeps_them(path):
    command = [sys.executable, str(Path(__file__).with_name("ended_process.py")), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        ended_s = float(process.stdout.readline())
        process.kill()
        process.communicate(timeout=60)
    assert process.returncode == -9
    workspace = Workspace.open(path)
    try:
        def found():
            with workspace.read() as connection:
                return [((one.start_ns - int(ended_s * S)) // S, (one.end_ns - int(ended_s * S)) // S) for one in retention.list_kept(connection, "r1")]

        start(workspace, ended_s + 74)
        assert found() == [], "its minute is not over"
        start(workspace, ended_s + 76)
        ((begin_s, end_s),) = found()
        assert begin_s in (-121, -120) and end_s in (59, 60), "from a minute before the run, which lasted a minute"
        before = found()
        start(workspace, ended_s + 3000)
        assert found() == before
    finally:
        workspace.close()


def test_that_nobody_is_owed_what_was_never_read_came_in_a_file_was_kept_or_is_a_month_old(desk, ended):
    now_s = desk.noon.timestamp() + 3000
    later = desk.noon + timedelta(days=2)
    for run_id in ("unread", "imported"):
        at = later if run_id == "unread" else desk.noon
        desk.write(lambda db, run_id=run_id, at=at: runs.save_run(db, Run(run_id, "n1", at)))
        desk.write(lambda db, run_id=run_id, at=at: runs.finish_run(db, run_id, RunState.FINISHED, at, Verdict.PASS))
    desk.write(lambda db: note_imported(db, [("imported", "n1")], "theirs.json", later))
    start(desk.workspace, now_s + 40 * 86_400)
    assert kept(desk) == ()
    start(desk.workspace, now_s + 3 * 86_400)
    assert desk.rows("SELECT run_id FROM kept_stretches") == [("r1",)]


def test_that_a_full_disk_is_told_once_and_the_readings_are_kept_when_there_is_room(desk, ended):
    now_s, told, noise = [desk.noon.timestamp() + 400], [], random.Random(5)
    begin_ns = int(desk.noon.timestamp()) * S
    blocks = [SampleBlock(Series("n1", "cpu.util_percent", f"{n}", "%"), begin_ns, S, array("f", [noise.random() for _ in range(300)])) for n in range(60)]
    desk.write(lambda db: samples.append_blocks(db, blocks))
    bus = Bus()
    bus.subscribe(told.append)
    upkeep = Upkeep(desk.workspace, bus, lambda: now_s[0])
    upkeep.find_owed()
    (pages,) = desk.write(lambda db: db.execute("PRAGMA page_count").fetchone())
    desk.write(lambda db: db.execute(f"PRAGMA max_page_count = {pages}").fetchall())
    upkeep.keep_due()
    now_s[0] += 31
    upkeep.keep_due()
    (event,) = [one for one in told if isinstance(one, ReadingsNotKept)]
    assert (event.run_id, event.node_id) == ("r1", "n1") and "full" in event.words.en and "tried again" in event.words.en
    assert kept(desk) == ()
    desk.write(lambda db: db.execute("PRAGMA max_page_count = 1000000").fetchall())
    upkeep.keep_due()
    assert kept(desk) == (), "not before its time"
    now_s[0] += 31
    upkeep.keep_due()
    assert len(kept(desk)) == 1


def test_that_a_stretch_ends_before_the_readings_on_which_the_next_ones_may_lie(desk):
    block = SampleBlock(POWER, int(desk.noon.timestamp()) * S, S, array("f", [350.0] * 350))
    desk.write(lambda db: samples.append_blocks(db, [block]))
    desk.write(lambda db: runs.finish_run(db, "r1", RunState.FINISHED, desk.noon + timedelta(minutes=5), Verdict.FAIL))
    start(desk.workspace, desk.noon.timestamp() + 376)
    (one,) = kept(desk)
    assert (one.end_ns - int(desk.noon.timestamp()) * S) / S == 348


def test_that_a_run_that_is_not_there_any_more_owes_nothing(desk):
    told = []
    upkeep = start(desk.workspace, desk.noon.timestamp(), told=told)
    upkeep._on_event(RunEnded("gone", "n1", Verdict.PASS))
    upkeep.close()
    assert told == []
