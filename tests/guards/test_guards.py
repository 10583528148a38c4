"""Would the tests of the bug reports notice if the product's guard were gone?"""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests import tables

ROOT = Path(__file__).parents[2]
GUARDS = tomllib.loads(Path(__file__).with_name("guards.toml").read_text("utf-8"))["guard"]


def outcome(*words: str) -> dict[str, object]:
    done = subprocess.run([sys.executable, "-m", "tests.guards.without", *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("guard", GUARDS, ids=lambda guard: guard["report"])
def test_that_the_case_fails_without_the_guard(guard: dict[str, str]) -> None:
    assert outcome(guard["case"], guard["module"], guard["text"], guard["without"])


def test_that_a_case_holds_where_nothing_is_taken_out() -> None:
    """The way of asking itself finds no difference where there is none: a line is replaced by itself."""
    for guard in (GUARDS[0], GUARDS[-2]):
        assert outcome(guard["case"], guard["module"], guard["text"], guard["text"]) == {}


def test_that_every_guard_is_one_of_a_report_and_its_case_in_the_table() -> None:
    shown = {bug.report: bug.shown for bug in tables.bugs()}
    assert len({guard["report"] for guard in GUARDS}) >= 10
    assert [guard["report"] for guard in GUARDS if guard["case"] not in shown.get(guard["report"], ())] == []
