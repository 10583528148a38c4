"""Are readings of a run kept once its minute is over, also when the program ends before, and does upkeep end with it?"""

from __future__ import annotations

from array import array
from datetime import timedelta

import pytest

from gpulease_gui.domain.finding import Verdict
from gpulease_gui.services.events import Bus, RunEnded
from gpulease_gui.services.upkeep import Upkeep
from gpulease_gui.store import retention, runs, samples
from gpulease_gui.store.records import RunState, SampleBlock, Series

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
