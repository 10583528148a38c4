"""Is everything that was said to be saved still there after kill -9?"""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from gpulease_gui.store import evidence, runs
from gpulease_gui.store.records import RunState
from gpulease_gui.store.workspace import Workspace

KILLS = 20


def test_that_no_finding_that_was_shown_is_lost_by_twenty_kills(path):
    chance = random.Random(20260301)
    shown = []
    for _ in range(KILLS):
        shown += shown_before_the_kill(path, chance.randrange(0, 60))
    assert len(shown) >= KILLS
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    opened = Workspace.open(path)
    with opened.read() as connection:
        for finding_id in shown:
            stored = runs.get_finding(connection, finding_id)
            content = evidence.get_content(connection, stored.finding.evidence[0])
            assert content.startswith(stored.run_id.encode())
        assert {run.state for run in runs.list_runs(connection)} == {RunState.INTERRUPTED}
    opened.close()


def shown_before_the_kill(path: Path, lines: int) -> list[str]:
    """Start the process, kill it once it has shown `lines` ids; every id that it could print before it died."""
    command = [sys.executable, str(Path(__file__).with_name("saving_process.py")), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        first = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        rest, errors = process.communicate(timeout=60)
    assert not errors and process.returncode == -9
    return [line.strip() for line in (*first, *rest.splitlines(keepends=True)) if line.endswith("\n")]
