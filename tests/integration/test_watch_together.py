"""Is each moment told once where two programs watch one node, one of them is killed, or our clock was set back by seconds?"""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest

from gpulease_gui.domain.money import Money
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.domain.text import Language
from gpulease_gui.gui.models.past import Past, Wish, read_past
from gpulease_gui.gui.models.stored import read_stored
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.degraded import degraded_in
from gpulease_gui.services.live_csv import readings_csv
from gpulease_gui.services.timeline import Clock
from gpulease_gui.services.watch import _Watch
from gpulease_gui.services.watch_cards import lately
from gpulease_gui.services.watch_rules import RuleKeeper
from gpulease_gui.store.doors import Database
from gpulease_gui.store.suppliers import save_contract, save_supplier
from tests.integration.test_watch_scripted import POWER, START_S, A, B, Scripted

HOT = "0x0000000000000040"


class Beside(Scripted):
    """Another program that watches the same node from now on, its lines so much later."""

    def __init__(self, path: Path, at: int, late_s: float) -> None:
        self.services = open_services(path)
        self.services.upkeep.close()
        self.at, self.slept_s, self.late_s = at, 0, late_s
        clock = Clock(wall=lambda: START_S + self.at + late_s, steady=lambda: 1000.0 + self.at + late_s)
        node = Node("scripted", "scripted", Reach.LOCAL)
        self.watch = _Watch(node, 1.0, self.services.workspace, self.services.bus, self.services.links, clock)
        self.watch._recall()
        self.watch.rules = RuleKeeper(self.services.workspace, self.services.bus, self.services.catalogue, clock.wall).of(node)
        self.watch._timeline.begin(0.0)
        self.watch.rules.renew(lately(self.watch.view.rings))

    def say(self, source: str, *lines: str) -> None:
        for line in lines:
            self.watch._on_line(source, line.encode(), 1000.0 + self.at + self.late_s)

    def close(self) -> None:
        self.services.close()


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Scripted]:
    made = Scripted(tmp_path)
    yield made
    made.services.close()


def throttled(one: Scripted, *, hot: bool) -> None:
    bits = HOT if hot else "0x0000000000000000"
    one.say("gpu", f"0, {A}, 97, 41, 71680, 500, 63, 1755, 2619, {bits}", f"1, {B}, 97, 41, 71680, 400, 63, 1755, 2619, 0x0000000000000000")


def past(one: Scripted, end_s: int) -> Past:
    with one.services.workspace.read() as connection:
        return read_past(connection, Wish("scripted", START_S, START_S + end_s, 900, (START_S, START_S + end_s)), {})


def rows(one: Scripted, end_s: int) -> list[dict[str, str]]:
    with one.services.workspace.read() as connection:
        table = readings_csv(connection, "scripted", START_S, START_S + end_s, one.watch.view.rings, Language.EN, one.watch.view.handed).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(table)))


def written(*ones: Scripted) -> None:
    for one in ones:
        one.watch._flush()
        one.services.workspace.submit(lambda db: None).result()


@pytest.fixture
def both(node: Scripted) -> Iterator[tuple[Scripted, Beside]]:
    """The first watches for 300 s, the second from second 100 to 400; a card is throttled from 50 to 350."""
    for node.at in range(100):
        throttled(node, hot=node.at >= 50)
    written(node)
    with closing(Beside(node.services.workspace.path, 100, 0.3)) as second:
        for node.at in range(100, 300):
            second.at = node.at
            throttled(node, hot=True)
            throttled(second, hot=True)
            if node.at % 10 == 0:
                written(node, second)  # no writer is so late that the other one takes it for dead
        written(node)  # and is killed: nothing that it holds open is ended
        for second.at in range(300, 400):
            throttled(second, hot=second.at < 350)
        written(second)
        yield node, second


def test_that_two_programs_on_one_node_tell_each_moment_once(both: tuple[Scripted, Beside]) -> None:
    _, second = both
    shown = past(second, 400)
    times = shown.view.rings[POWER, A].view().times_s.tolist()
    assert all(0.5 < after - before < 1.5 for before, after in pairwise(times)) and len(times) in (400, 401)
    figures, expected = shown.figures[POWER, ""]
    assert figures.count == 2 * len(times) and abs(expected - figures.count) <= 2
    assert [gap for gap in shown.view.gaps if gap.end_s is None or gap.end_s - gap.start_s > 1.0] == [], "the first one's readings cover it"
    assert second.gaps() == []


def test_that_the_table_of_two_programs_rises_in_time_and_has_no_moment_twice(both: tuple[Scripted, Beside]) -> None:
    _, second = both
    told = [row["time (UTC)"] for row in rows(second, 400) if row[f"{POWER} {A} [W]"]]
    at_s = [datetime.fromisoformat(one).timestamp() for one in told]
    assert all(0.5 < after - before < 1.5 for before, after in pairwise(at_s)) and len(at_s) in (400, 401)


def sign(db: Database) -> None:
    save_supplier(db, Supplier("s1", "Harbor"))
    save_contract(db, Contract("c1", "s1", "HG-9", price=Money(Decimal("36.00"), "CNY"), price_unit="gpu_hour"))


def test_that_degraded_time_and_its_money_count_once_though_one_of_two_programs_was_killed(both: tuple[Scripted, Beside]) -> None:
    _, second = both
    second.services.workspace.submit(sign).result()
    assert [(began, end) for _, _, began, end in second.events()] == [(50, None), (100, 350)], "nobody ended what the killed one held open"
    for until_s in (1000, 4000):
        with second.services.workspace.read() as connection:
            found = degraded_in(connection, Node("scripted", "scripted", Reach.LOCAL, contract_id="c1"), START_S, START_S + until_s)
        assert float(found.card_hours * 3600) == pytest.approx(300, abs=1.0) and found.money == Money(Decimal("3.00"), "CNY")


FIRST = """
import sys
from pathlib import Path
from tests.integration.test_watch_scripted import Scripted
from tests.integration.test_watch_together import throttled, written

node = Scripted(Path(sys.argv[1]))
print("ready", flush=True)
for line in sys.stdin:
    for node.at in range(node.at, int(line)):
        throttled(node, hot=node.at >= 50)
    node.at += 1
    written(node)
    print("told", flush=True)
"""


def test_that_a_program_that_is_killed_beside_another_one_leaves_no_moment_twice_and_no_hole(tmp_path: Path) -> None:
    first = subprocess.Popen(
        [sys.executable, "-c", FIRST, str(tmp_path)], cwd=Path(__file__).parents[2], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    assert first.stdin is not None and first.stdout is not None
    try:
        assert first.stdout.readline() == "ready\n"
        first.stdin.write("50\n")
        assert first.stdout.readline() == "told\n"
        with closing(Beside(tmp_path / "own.gpulease.db", 50, 0.3)) as second:
            for until_s in range(100, 301, 50):
                first.stdin.write(f"{until_s}\n")
                assert first.stdout.readline() == "told\n"
                for second.at in range(until_s - 50, until_s):
                    throttled(second, hot=True)
            first.kill()
            first.wait()
            for second.at in range(300, 500):
                throttled(second, hot=second.at < 350)
            written(second)
            times = past(second, 500).view.rings[POWER, A].view().times_s.tolist()
            assert all(0.5 < after - before < 1.5 for before, after in pairwise(times)) and len(times) in (500, 501)
            assert second.gaps() == [] and second.degraded_s() == pytest.approx(300, abs=1.0)
    finally:
        first.kill()
        first.communicate()


def set_back(node: Scripted, by_s: int, seconds: int) -> None:
    """A computer whose clock is set back in second 100 and stays so; a card is throttled from second 200 on and hot at the end."""
    clock = Clock(wall=lambda: float(START_S + node.at + node.slept_s), steady=lambda: 1000.0 + node.at, lasting=lambda: 1000.0 + node.at)
    node.watch._clock = node.watch._timeline._clock = clock
    node.watch._timeline.begin(0.0)
    for node.at in range(seconds):
        node.slept_s = -by_s if node.at >= 100 else 0
        if 360 <= node.at < 395:
            node.say("gpu", "! the NVIDIA driver does not answer")
        else:
            throttled(node, hot=False)
    written(node)


@pytest.mark.parametrize("by_s", [6, 30, 60, 100])
def test_that_a_clock_that_was_set_back_by_seconds_is_told_once_and_nothing_runs_backwards(node: Scripted, by_s: int) -> None:
    set_back(node, by_s, 700)
    end_s = 700 - by_s
    shown = past(node, end_s)
    ring = shown.view.rings[POWER, A].view()
    told = [(at_s - START_S, value == value) for at_s, value in zip(ring.times_s.tolist(), ring.values.tolist(), strict=True)]
    assert all(after > before for (before, _), (after, _) in pairwise(told))
    # The driver was silent for 35 s, of which the right clock read a part, or all, once more.
    times = [at_s for at_s, read in told if read]
    assert sorted(set(range(end_s)) - set(times)) == list(range(360, 400 - by_s))
    assert shown.figures[POWER, ""][0].count == 2 * len(times)
    rising = [row["time (UTC)"] for row in rows(node, end_s)]
    assert rising == sorted(set(rising))
    with node.services.workspace.read() as connection:
        happened = [one for one in read_stored(connection, "scripted", START_S + end_s).happenings if "clock" in str(one.words)]
    assert len(happened) == 1 and f"set back by {by_s} s:" in str(happened[0].words)
    assert [gap for gap in node.gaps() if gap[2] - gap[1] > 1] == [], "the right clock read that time, too"


@pytest.mark.parametrize("by_s", [30, 60, 100])
def test_that_what_was_degraded_before_a_clock_was_set_back_counts_for_its_whole_time_once(node: Scripted, by_s: int) -> None:
    set_back(node, by_s, 700)
    assert [(rule, end - begin) for rule, _, begin, end in node.events() if end is not None] == [("watch.driver", 35)], "from the first second that was missed to the first one that was read again"
    with node.services.workspace.read() as connection:
        found = degraded_in(connection, Node("scripted", "scripted", Reach.LOCAL), START_S, START_S + 700)
    assert float(found.card_hours * 3600) == pytest.approx(70.0)


def test_that_the_ring_of_a_watch_holds_all_that_was_read_before_its_clock_was_set_back(node: Scripted) -> None:
    set_back(node, 100, 800)
    held = [round(at_s) - START_S for at_s in node.watch.view.rings[POWER, A].view().times_s]
    assert held == list(range(700))
