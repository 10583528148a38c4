"""Does a watch of hours keep every second, invent no gap, and hold no more memory at its end than after its first minutes?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(900)  # half a minute of a processor; beside other work it may wait for that
ROOT = Path(__file__).parents[2]
# Long enough for the rings to fill and to turn, and for two rows of half hours; ten hours are a bench.
HOURS, TICKS, NODES, CARDS = "1.1", 3960, 8, 8
WARM = 7  # looks of five minutes: the first whole half hour was summarised and looked at
FULL_MIB = NODES * 4500 * (4 * 196 + 8 * 24) / 2**20  # an hour and a quarter of all curves, and of the times that they share


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    done = subprocess.run([sys.executable, "-m", "tests.soak.hours", HOURS, str(NODES)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_that_every_second_of_all_nodes_is_stored_as_it_was_told(found):
    assert len(found["stored"]) == NODES
    for stored in found["stored"]:
        assert stored["wrong_tick"] is None
        assert stored["wrong_rates"] == []
        # A rate needs two counters, so it has no first value; nothing else is missing.
        assert set(stored["counts"].values()) == {TICKS - 1, TICKS}
        assert sum(count == TICKS for count in stored["counts"].values()) == 14 * CARDS + 3
    assert found["series"] == sum(len(stored["counts"]) for stored in found["stored"])


def test_that_summaries_of_the_hours_hold_their_lowest_mean_and_highest(found):
    assert [(stored["half_hours"], stored["wrong_slots"]) for stored in found["stored"]] == [(2 * CARDS, [])] * NODES


def test_that_no_gap_no_trouble_and_no_event_is_invented(found):
    assert [(stored["gaps"], stored["events"]) for stored in found["stored"]] == [(0, 0)] * NODES
    assert (found["curves_broken"], found["troubles"]) == (0, [])


def test_that_hours_leave_no_thread_no_file_handle_and_no_memory(found):
    assert len(set(found["threads"])) == 1, found["threads"]
    assert len(set(found["handles"])) == 1, found["handles"]
    besides = [held - rings for held, rings in zip(found["rss_mib"], found["rings_mib"], strict=True)]
    assert besides[-1] - min(besides[WARM:]) < 10, besides
    assert found["rings_mib"][-1] < 1.05 * FULL_MIB, found["rings_mib"]


def test_that_readings_older_than_they_are_kept_go_meanwhile_and_their_summaries_stay(found):
    (packs, _), (packs_left, rows_left) = found["old"]
    assert packs > 100
    assert (packs_left, rows_left > 30) == (0, True)
