"""Does every benchmark still measure what it says? Each area once, at its smallest size, without peers."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.bar import absolute, table

ROOT = Path(__file__).parents[2]
KEYS = {"name", "ours", "peer", "ratio", "bar", "met", "spread", "rounds", "unit"}


def areas() -> list[str]:
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if "\ndef bars(size" in path.read_text())


@pytest.mark.sshd
@pytest.mark.parametrize("area", areas())
def test_that_a_benchmark_runs_and_every_bar_is_a_whole_line(area):
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", "--smallest", area], cwd=ROOT, capture_output=True, text=True, check=False
    )
    bars = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert bars, done.stderr
    assert {bar["name"].split(".")[0] for bar in bars} == {area}
    for bar in bars:
        assert bar.keys() - {"note"} == KEYS
        assert bar["ratio"] is None and bar["note"] or math.isfinite(bar["ratio"])
    assert "Traceback" not in done.stderr, done.stderr


def test_that_the_columns_of_the_table_stand_apart():
    row = table([absolute("soak.8_nodes.peak_memory", [222.6], 273.787109375, "MiB")]).splitlines()[1]
    assert row.split() == ["soak.8_nodes.peak_memory", "222.6", "223", "273.8", "223", "to", "223", "1", "MiB", "met"]
