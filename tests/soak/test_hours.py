"""Does a watch of hours keep every second, invent no gap, and hold no more memory at its end than after its first minutes?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
# Long enough for the rings to begin anew and for two rows of half hours; ten hours of eight nodes are a bench.
HOURS, TICKS, CARDS = "1.05", 3780, 8
WARM = 7  # looks of five minutes: the first whole half hour was summarised and looked at


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-m", "tests.soak.hours", HOURS, "1"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_that_every_second_of_an_hour_is_stored_as_it_was_told(found):
    (stored,) = found["stored"]
    assert stored["wrong_tick"] is None
    assert stored["wrong_rates"] == []
    # A rate needs two counters, so it has no first value; nothing else is missing.
    assert set(stored["counts"].values()) == {TICKS - 1, TICKS}
    assert sum(count == TICKS for count in stored["counts"].values()) == 14 * CARDS + 3
    assert found["series"] == len(stored["counts"])


def test_that_summaries_of_the_hour_hold_its_lowest_mean_and_highest(found):
    (stored,) = found["stored"]
    assert stored["half_hours"] == 2 * CARDS
    assert stored["wrong_slots"] == []


def test_that_no_gap_no_trouble_and_no_event_is_invented(found):
    (stored,) = found["stored"]
    assert (stored["gaps"], stored["events"], found["curves_broken"], found["troubles"]) == (0, 0, 0, [])


def test_that_an_hour_leaves_no_thread_no_file_handle_and_no_memory(found):
    assert len(set(found["threads"])) == 1, found["threads"]
    assert len(set(found["handles"])) == 1, found["handles"]
    warm, late = found["rss_mib"][WARM:], found["rss_mib"][-1]
    assert late - min(warm) < 10, found["rss_mib"]


def test_that_readings_older_than_they_are_kept_go_meanwhile_and_their_summaries_stay(found):
    (packs, _), (packs_left, rows_left) = found["old"]
    assert packs > 100
    assert (packs_left, rows_left > 30) == (0, True)
