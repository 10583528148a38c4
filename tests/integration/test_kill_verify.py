"""Kill -9 at any moment of a verification loses nothing that was shown."""

from __future__ import annotations

import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from gpulease_gui.domain.text import visible
from gpulease_gui.services.outcome import finding_line
from gpulease_gui.store import runs
from gpulease_gui.store.records import RunState
from gpulease_gui.store.workspace import Workspace

KILLS = 20
MOST_LINES = 24


@pytest.mark.timeout(300)  # twenty starts of the program; on busy cores more than the usual two minutes
def test_that_twenty_kills_lose_no_finding_that_was_shown(tmp_path: Path) -> None:
    path, shown, moments = tmp_path / "demo.db", set[str](), random.Random(20261201)
    words = [sys.executable, "-m", "gpulease_gui.cli.main", "verify", "demo:honest", "--workspace", str(path)]
    for _ in range(KILLS):
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            for _ in range(moments.randrange(1, MOST_LINES)):
                line = process.stderr.readline()
                if line.endswith("\n"):
                    shown.add(line.rstrip("\n"))
            process.kill()
    assert len(shown) > KILLS
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    workspace = Workspace.open(path, demo=True)
    try:
        with workspace.read() as reader:
            kept = runs.list_runs(reader)
            assert {run.state for run in kept} <= {RunState.INTERRUPTED, RunState.FINISHED}
            saved = {visible(finding_line(f.finding)) for run in kept for f in runs.list_findings(reader, run.id)}
    finally:
        workspace.close()
    assert shown <= saved
