"""A node whose every line is scripted: whatever goes wrong on it is the right gap for the right reason, and the recording is whole.

What needs a real line (cut, silence, a killed agent, a full disk, a line of a megabyte) is in test_watch and test_agent.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.text import Language, Text
from gpulease_gui.gui.models.past import Wish, read_past
from gpulease_gui.gui.pages.live_lanes import holes_of
from gpulease_gui.gui.widgets.chart_spec import Hole
from gpulease_gui.remote.stream import TOO_LONG
from gpulease_gui.reports.document import Blank
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.degraded import degraded_in
from gpulease_gui.services.events import NodeState
from gpulease_gui.services.intake import GapSpan, WatchView
from gpulease_gui.services.live_csv import readings_csv
from gpulease_gui.services.live_export import put_into_report
from gpulease_gui.services.live_stretches import live_stretches
from gpulease_gui.services.recording import FLOODED
from gpulease_gui.services.source_gaps import source_of
from gpulease_gui.services.source_silence import STALE
from gpulease_gui.services.timeline import Clock
from gpulease_gui.services.watch import _Watch
from gpulease_gui.services.watch_cards import NOT_BACK, UNREAD, lately
from gpulease_gui.services.watch_owed import Owed
from gpulease_gui.services.watch_rules import RuleKeeper
from gpulease_gui.services.watch_words import trouble_words
from gpulease_gui.store.doors import Database
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.records import Run, RunState, Sighting, SightingKind
from gpulease_gui.store.runs import finish_run, get_run, save_run
from gpulease_gui.store.samples import list_gaps, list_marks, read_blocks
from gpulease_gui.store.sightings import save_sightings
from gpulease_gui.store.watch_events import list_events
from gpulease_gui.telemetry.gpu_agent import UNHEARD
from gpulease_gui.telemetry.source import RECORD_END, Point
from gpulease_gui.telemetry.task_log import SOURCE as TASK_LOG

START_S, NS = 1_772_323_200, 1_000_000_000
A, B = "GPU-0a1b2c3d-4e5f-4a6b-8c9d-000000000001", "GPU-0a1b2c3d-4e5f-4a6b-8c9d-000000000002"
RX, TX, POWER = "net.rx_gbit_s", "net.tx_gbit_s", "gpu.power_w"
Told = dict[int, float | None]


def loud_holes(view: WatchView) -> list[Hole]:
    """What could not be read; rows of nvidia-smi tell no Xids besides, which is quiet."""
    return [hole for hole in holes_of(view) if not hole.quiet]


class Scripted:
    """A node and the seconds in which it speaks; `at` counts them from the start."""

    def __init__(self, folder: Path, interval_s: float = 1.0) -> None:
        self.services = open_services(folder / "own.gpulease.db")
        self.services.upkeep.close()  # its clock is not the scripted one: what is held open would be years without a sign of life
        self.at, self.slept_s = 0, 0
        clock = Clock(wall=lambda: float(START_S + self.at + self.slept_s), steady=lambda: 1000.0 + self.at)
        node = Node("scripted", "scripted", Reach.LOCAL)
        self.services.workspace.submit(lambda db: save_node(db, node)).result()
        self.watch = _Watch(node, interval_s, self.services.workspace, self.services.bus, self.services.links, clock)
        self.watch.rules = RuleKeeper(self.services.workspace, self.services.bus, self.services.catalogue, clock.wall).of(node, interval_s)
        self.watch.rules.renew()
        self.watch._timeline.begin(0.0)

    def anew(self, *, recalled: bool) -> None:
        """The watch was stopped, and is started in this second; `recalled`: what was read lately is still known."""
        assert self.watch.rules is not None
        self.watch._flush()
        self.watch._unseen(START_S + self.at - 1.0)
        self.services.workspace.submit(lambda db: None).result()
        node, rings = Node("scripted", "scripted", Reach.LOCAL), self.watch.view.rings if recalled else {}
        self.watch = _Watch(node, 1.0, self.services.workspace, self.services.bus, self.services.links, self.watch._clock)
        self.watch.rules = RuleKeeper(self.services.workspace, self.services.bus, self.services.catalogue, self.watch._clock.wall).of(node)
        self.watch.rules.renew(lately(rings))
        self.watch._timeline.begin(0.0)

    def degraded_s(self) -> float:
        """Card-seconds until this second."""
        return self.degraded_at(self.at)

    def degraded_at(self, until_s: float) -> float:
        """Card-seconds until a second."""
        self.services.workspace.submit(lambda db: None).result()
        with self.services.workspace.read() as connection:
            found = degraded_in(connection, Node("scripted", "scripted", Reach.LOCAL), START_S, START_S + until_s)
        return float(found.card_hours * 3600)

    def say(self, source: str, *lines: str) -> None:
        """Lines of this second."""
        for line in lines:
            self.watch._on_line(source, line.encode(), 1000.0 + self.at)

    def network(self, uptime_s: float, **counters: int) -> None:
        rows = [f"{name}: {received} 0 0 0 0 0 0 0 0 0" for name, received in counters.items()]
        self.say("network", RECORD_END.join([f"{uptime_s} 1.0", *rows]) + RECORD_END)

    def cards(self, *rows: tuple[int, str, str]) -> None:
        """(index, UUID, watts) as nvidia-smi says them."""
        self.say("gpu", *(f"{index}, {uuid}, 97, 41, 71680, {watts}, 63, 1755, 2619, 0x0000000000000000" for index, uuid, watts in rows))

    def end(self) -> dict[tuple[str, str], Told]:
        """What is stored, by second since the start; None = a slot without a reading."""
        self.watch._flush()
        self.services.workspace.submit(lambda db: None).result()
        found: dict[tuple[str, str], Told] = {}
        with self.services.workspace.read() as connection:
            for series, blocks in read_blocks(connection, "scripted", 0, 2**62).items():
                told = found.setdefault((series.metric, series.subject), {})
                for block in blocks:
                    first = block.start_ns // NS - START_S
                    told.update({first + n: None if math.isnan(v) else round(v, 3) for n, v in enumerate(block.values)})
        return found

    def source_gaps(self) -> list[GapSpan]:
        """Without the one that lasts wherever rows of nvidia-smi are read: they tell no Xids."""
        return [gap for gap in self.watch.view.source_gaps if gap.reason != UNHEARD]

    def drawn(self, metric: str, subject: str) -> list[float]:
        return [round(value, 3) for value in self.watch.view.rings[metric, subject].view().values]

    def reconnect(self) -> None:
        """The line was cut and is back in this second."""
        self.watch._gap(START_S + self.at - 1.0, "connection_lost")
        self.watch._state(NodeState.LOST, "")
        self.watch._intake.renew()
        self.watch._timeline.begin(self.watch._last_s)
        assert self.watch.rules is not None
        self.watch.rules.renew(lately(self.watch.view.rings))

    def events(self) -> list[tuple[str, str, int, int | None]]:
        """(rule, subject, begin, end) in seconds since the start."""
        self.services.workspace.submit(lambda db: None).result()
        with self.services.workspace.read() as connection:
            return [(e.rule, e.subject, e.began_ns // NS - START_S, None if e.ended_ns is None else e.ended_ns // NS - START_S)
                    for e in list_events(connection, "scripted", 0, 2**62)]  # fmt: skip

    def gaps(self) -> list[tuple[str, int, int]]:
        with self.services.workspace.read() as connection:
            return [(g.reason, g.start_ns // NS - START_S, g.end_ns // NS - START_S) for g in list_gaps(connection, "scripted", "", 0, 2**62)]


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Scripted]:
    made = Scripted(tmp_path)
    yield made
    made.services.close()


def test_that_a_renamed_interface_is_two_curves_and_no_joined_line(node: Scripted) -> None:
    for node.at in range(12):
        node.network(100.0 + node.at, **{"eth0" if node.at < 6 else "ens3": node.at * 125_000_000})
        node.cards((0, A, "500"))
    stored = node.end()
    assert stored[RX, "eth0"] == {0: None, **dict.fromkeys(range(1, 6), 1.0), 6: None}, "a rate needs two counters"
    assert {at: v for at, v in stored[RX, "ens3"].items() if v is not None} == dict.fromkeys(range(7, 12), 1.0)
    assert math.isnan(node.drawn(RX, "eth0")[-1]) and node.gaps() == []
    assert stored[POWER, A] == dict.fromkeys(range(12), 500.0), "the other sources are whole"


@pytest.mark.parametrize("after", [[7, 125_000_007, 250_000_007], [0, 125_000_000, 250_000_000]])
def test_that_a_counter_that_wraps_or_is_reset_is_one_missing_reading_and_no_rate(node: Scripted, after: list[int]) -> None:
    near = 2**32 - 3 * 125_000_000
    for node.at, counter in enumerate([near, near + 125_000_000, near + 250_000_000, *after]):
        node.network(100.0 + node.at, eth0=counter)
    stored = node.end()[RX, "eth0"]
    assert {at: v for at, v in stored.items() if v is not None} == {1: 1.0, 2: 1.0, 4: 1.0, 5: 1.0}
    drawn = node.drawn(RX, "eth0")
    assert max(v for v in drawn if v == v) == 1.0 and any(math.isnan(v) for v in drawn[2:-2]) and node.gaps() == []


def test_that_a_clock_of_the_node_that_jumps_moves_no_reading_and_makes_no_rate(node: Scripted) -> None:
    for node.at, uptime_s in enumerate([100.0, 101.0, 102.0, 40.0, 41.0, 42.0]):
        node.network(uptime_s, eth0=node.at * 125_000_000)
        node.cards((0, A, "500"))
    stored = node.end()
    assert {at: v for at, v in stored[RX, "eth0"].items() if v is not None} == {1: 1.0, 2: 1.0, 4: 1.0, 5: 1.0}
    assert stored[POWER, A] == dict.fromkeys(range(6), 500.0) and node.gaps() == []


@pytest.mark.parametrize("watts", ["[N/A]", "[Not Supported]", "[Unknown Error]"])
def test_that_a_figure_that_becomes_not_available_is_missing_and_no_zero(node: Scripted, watts: str) -> None:
    for node.at in range(8):
        node.cards((0, A, watts if node.at in (3, 4) else "500"), (1, B, "400"))
    stored = node.end()
    assert {at: v for at, v in stored[POWER, A].items() if v is not None} == dict.fromkeys((0, 1, 2, 5, 6, 7), 500.0)
    assert stored[POWER, B] == dict.fromkeys(range(8), 400.0) and node.gaps() == []
    assert math.isnan(node.drawn(POWER, A)[3]) and node.watch.view.lost == {}


def test_that_a_driver_that_is_reloaded_breaks_the_curves_says_why_and_keeps_every_name(node: Scripted) -> None:
    for node.at in range(12):
        if 4 <= node.at < 7:
            node.say("gpu", "! the NVIDIA driver does not answer")
            assert node.watch.view.troubles == {"gpu": "the NVIDIA driver does not answer"}
        else:
            first, second = ((A, "500"), (B, "400")) if node.at < 4 else ((B, "400"), (A, "500"))
            node.cards((0, *first), (1, *second))
        node.network(100.0 + node.at, eth0=node.at * 125_000_000)
    stored = node.end()
    for uuid, watts in ((A, 500.0), (B, 400.0)):
        assert {at: v for at, v in stored[POWER, uuid].items() if v is not None} == dict.fromkeys([0, 1, 2, 3, 7, 8, 9, 10, 11], watts)
        assert math.isnan(node.drawn(POWER, uuid)[4])
    assert node.watch.view.troubles == {} and node.watch.view.indexes == {B: 0, A: 1}
    assert stored[RX, "eth0"] == {0: None, **dict.fromkeys(range(1, 12), 1.0)} and node.gaps() == []
    assert node.events() == [("watch.driver", "", 4, None)]
    for node.at in range(12, 17):
        node.cards((0, B, "400"), (1, A, "500"))
    assert node.events() == [("watch.driver", "", 4, 7)], "two cards of one second are one answer"


def test_that_a_sleep_of_this_computer_is_its_own_gap_and_what_came_before_and_after_stands_at_its_time(node: Scripted) -> None:
    for node.at in range(10):
        node.slept_s = 3600 if node.at >= 5 else 0
        node.cards((0, A, "500"))
    stored = node.end()
    assert stored[POWER, A] == dict.fromkeys([*range(5), *range(3605, 3610)], 500.0)
    assert node.gaps() == [("computer_slept", 4, 3605)]


def test_that_a_card_that_vanishes_is_lost_in_the_table_and_the_report_and_returns_under_its_own_name(node: Scripted) -> None:
    for node.at in range(30):
        both = node.at < 10 or node.at >= 20
        line = {"index": 0, "uuid": A, "power_w": 500.0} if both else {"index": 0, "uuid": A, "lost": "GPU is lost"}
        node.say("gpu", json.dumps(line), json.dumps({"index": 1 if both else 0, "uuid": B, "power_w": 400.0}))
        assert node.watch.view.lost == ({} if both else {A: "GPU is lost"})
    stored = node.end()
    assert {at: v for at, v in stored[POWER, A].items() if v is not None} == dict.fromkeys([*range(10), *range(20, 30)], 500.0)
    assert stored[POWER, B] == dict.fromkeys(range(30), 400.0), "the other card takes nobody's index for its name"
    at = datetime.fromtimestamp(START_S + 5, UTC)
    node.services.workspace.submit(lambda db: save_run(db, Run("r1", "scripted", at))).result()
    node.services.workspace.submit(lambda db: finish_run(db, "r1", RunState.FINISHED, at, Verdict.FAIL)).result()
    node.services.workspace.submit(lambda db: put_into_report(db, "scripted", START_S, START_S + 30)).result()
    with node.services.workspace.read() as connection:
        rows = list(csv.reader(io.StringIO(readings_csv(connection, "scripted", START_S, START_S + 30, {}, Language.EN).decode("utf-8-sig"))))
        shown = live_stretches(connection, get_run(connection, "r1"), {"gpu.power_w": 700})
        (event,) = list_events(connection, "scripted", 0, 2**62)
    place = {head: n for n, head in enumerate(rows[0])}
    watts = [(row[place[f"{POWER} {A} [W]"]], row[place[f"{POWER} {B} [W]"]]) for row in rows[1:]]
    assert watts == [("500", "400")] * 10 + [("", "400")] * 10 + [("500", "400")] * 10
    first, second = f"GPU 0 ({A})", f"GPU 1 ({B})"
    curves = {curve.name: curve for curve in shown[0].curves}
    assert not [at_s for at_s in curves[first].times_s if START_S + 10 <= at_s < START_S + 20] and len(curves[second].times_s) == 30
    assert shown[0].blanks == (Blank(START_S + 10, START_S + 20, Text("lost", "丢失"), (first,), Text("GPU 0", "GPU 0")),), "the other card was read"
    assert (event.rule, event.subject, event.began_ns // NS - START_S) == ("watch.lost", A, 10) and event.finding.verdict is Verdict.FAIL


def test_that_a_table_at_ten_hertz_has_every_reading_once_stored_or_not(node: Scripted) -> None:
    node.watch.view.interval_s = node.watch._recorder._interval_s = 0.1
    for n in range(250):
        jitter_s = 0.04 * (-1) ** n
        node.watch._on_line("gpu", json.dumps({"index": 0, "uuid": A, "power_w": n}).encode(), 1000.0 + n * 0.1 + jitter_s)
    node.services.workspace.submit(lambda db: None).result()
    with node.services.workspace.read() as connection:
        table = readings_csv(connection, "scripted", START_S - 1, START_S + 30, node.watch.view.rings, Language.EN, node.watch.view.handed).decode("utf-8-sig")
    assert [float(row[f"{POWER} {A} [W]"]) for row in csv.DictReader(io.StringIO(table)) if row[f"{POWER} {A} [W]"]] == list(range(250))


@pytest.mark.parametrize("hz", [3.0, 0.7])
def test_that_a_table_at_an_odd_rate_has_a_row_for_each_moment_and_no_more(tmp_path: Path, hz: float) -> None:
    node = Scripted(tmp_path, 1 / hz)
    row = "0, {}, 97, 41, 71680, {}, 63, 1755, 2619, 0x0000000000000000"
    for n in range(100):
        node.at = n / hz  # type: ignore[assignment]
        node.say("gpu", row.format(A, 500 + n))
        node.network(100.0 + node.at, eth0=int(node.at * 125_000_000))
    node.end()
    with node.services.workspace.read() as connection:
        for live in ({}, node.watch.view.rings):
            table = readings_csv(connection, "scripted", START_S, START_S + 100 / hz, live, Language.EN, node.watch.view.handed).decode("utf-8-sig")
            rows = list(csv.DictReader(io.StringIO(table)))
            assert [row[f"{POWER} {A} [W]"] for row in rows] == [str(500 + n) for n in range(100)]
            assert [row[f"{RX} eth0 [Gbit/s]"] for row in rows] == ["", *["1"] * 99]
    node.services.close()


def test_that_a_card_that_is_gone_after_a_cut_is_lost_and_other_cards_in_its_place_are_no_loss(node: Scripted) -> None:
    for node.at in range(5):
        node.cards((0, A, "500"), (1, B, "400"))
    node.at = 20
    node.reconnect()
    for node.at in range(20, 40):
        assert node.watch.view.lost == ({B: NOT_BACK} if node.at > 23 else {})
        node.cards((0, A, "500"))
    assert node.events() == [("watch.lost", B, 20, None)], "from the first line on that it missed"
    assert math.isnan(node.drawn(POWER, B)[-1]) and node.watch.view.indexes[B] == 1, "no nought, no line, its own name"
    node.at = 40
    node.reconnect()
    for node.at in range(40, 60):
        node.cards((0, A, "500"), *([(1, B, "400")] if node.at >= 50 else []))
        assert node.watch.view.lost == ({B: NOT_BACK} if node.at < 50 else {})
    assert node.events() == [("watch.lost", B, 20, 39), ("watch.lost", B, 40, 50)], "a second cut forgets it no more than the first"
    node.reconnect()
    for node.at in range(60, 90):
        node.cards((0, "GPU-c", "500"), (1, "GPU-d", "400"))
    assert len(node.events()) == 2 and node.watch.view.lost == {}


def test_that_a_card_called_lost_before_a_cut_is_not_missed_on_a_node_that_got_others(node: Scripted) -> None:
    for node.at in range(5):
        told = {"power_w": 400.0} if node.at < 2 else {"lost": "GPU is lost"}
        node.say("gpu", json.dumps({"index": 0, "uuid": A, "power_w": 500.0}), json.dumps({"index": 1, "uuid": B, **told}))
    assert node.watch.view.lost == {B: "GPU is lost"}
    node.at = 20
    node.reconnect()
    for node.at in range(20, 26):
        node.cards((0, "GPU-c", "500"), (1, "GPU-d", "400"))
    assert node.watch.view.lost == {}


def test_that_cards_of_the_hour_before_the_program_or_of_the_last_run_are_missed_too(node: Scripted) -> None:
    node.at = 5
    assert node.watch.rules is not None
    node.say("gpu", "! no NVIDIA GPU on the node")
    assert node.events() == [], "nobody ever saw a card there"
    at = datetime.fromtimestamp(START_S, UTC)
    seen = [Sighting("r1", "scripted", at, SightingKind.UUID, uuid, False) for uuid in (A, B)]
    node.services.workspace.submit(lambda db: save_run(db, Run("r1", "scripted", at))).result()
    node.services.workspace.submit(lambda db: save_sightings(db, seen)).result()
    node.watch.rules.renew()
    node.say("gpu", "! nvidia-smi is not installed on the node")
    assert node.events() == []
    node.say("gpu", "! no NVIDIA GPU on the node")
    assert node.events() == [("watch.driver", "", 5, None)]


def test_that_a_silent_driver_costs_the_time_of_the_cards_of_then(node: Scripted) -> None:
    for node.at in range(5):
        node.cards(*((index, f"GPU-old{index}", "500") for index in range(8)))
    node.at = 10
    node.reconnect()
    for node.at in range(10, 60):
        if 20 <= node.at < 40:
            node.say("gpu", "! the NVIDIA driver does not answer")
        else:
            node.cards(*((index, f"GPU-new{index}", "500") for index in range(8)))
    node.end()
    assert node.events() == [("watch.driver", "", 20, 40)]
    with node.services.workspace.read() as connection:
        assert degraded_in(connection, Node("scripted", "scripted", Reach.LOCAL), START_S, START_S + 100).card_hours * 3600 == 8 * 20


def test_that_a_card_of_which_nvidia_smi_says_in_its_row_that_it_is_lost_is_lost(node: Scripted) -> None:
    for node.at in range(20):
        node.cards((0, A, "500"))
        if node.at < 5:
            node.cards((1, B, "400"))
        else:
            node.say("gpu", ", ".join(["1", B, *["[GPU is lost]"] * 8]))
    assert node.events() == [("watch.lost", B, 5, None)] and node.watch.view.lost == {B: "GPU is lost"}


def odd_rows(node: Scripted, seconds: range, odd: Callable[[int], bool]) -> None:
    """Two cards, each second; the line of B is cut short where `odd` says so."""
    for node.at in seconds:
        node.cards((0, A, "500"), *([] if odd(node.at) else [(1, B, "400")]))
        if odd(node.at):
            node.say("gpu", f"1, {B}, 97, 41, 7")


def test_that_one_odd_line_of_a_card_is_neither_a_dead_driver_nor_a_lost_card(node: Scripted) -> None:
    odd_rows(node, range(60), lambda at: at in (5, 20, 21, 40))
    assert node.events() == [] and node.watch.view.lost == {} and node.watch.view.troubles == {}
    assert math.isnan(node.drawn(POWER, B)[5]) and len([v for v in node.drawn(POWER, B) if v == v]) == 56


def test_that_a_card_whose_lines_stay_odd_is_lost_while_the_driver_answers(node: Scripted) -> None:
    odd_rows(node, range(40), lambda at: 10 <= at < 25)
    assert node.events() == [("watch.lost", B, 10, 25)] and node.watch.view.lost == {}
    odd_rows(node, range(40, 50), lambda at: True)
    assert node.watch.view.lost == {B: UNREAD}


def test_that_a_driver_of_which_only_odd_lines_come_is_told_after_three_samples(node: Scripted) -> None:
    for node.at in range(20):
        if 5 <= node.at < 10:
            node.say("gpu", "Unable to determine the device handle for GPU0: 0000:18:00.0: Unknown Error", "Unknown Error", "Unknown Error")
        else:
            node.cards((0, A, "500"))
        assert bool(node.events()) == (node.at >= 7)
    assert node.events() == [("watch.driver", "", 5, 10)], "told after three samples, and true from the first one on"


@pytest.mark.parametrize(("lines", "told"), [
    (["! no NVIDIA driver answers here (Driver Not Loaded)"], True),
    (["! the NVIDIA driver does not answer"], True),
    (["NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "! nvidia-smi ended"], True),
    (["No devices were found", "! nvidia-smi ended"], False),
    (["! no NVIDIA GPU on the node"], False),
    (["! nvidia-smi is not installed on the node"], False),
    (["! nvidia-smi ended"], False),
])  # fmt: skip
def test_that_a_dead_driver_is_told_of_a_node_that_never_had_a_card_and_of_none_that_has_no_cards(node: Scripted, lines: list[str], told: bool) -> None:
    for node.at in range(0, 100, 2):
        node.say("gpu", *lines)
        node.network(100.0 + node.at, eth0=0)
    assert [(rule, subject) for rule, subject, _, _ in node.events()] == [("watch.driver", "")] * told
    with node.services.workspace.read() as connection:
        for event in list_events(connection, "scripted", 0, 2**62):
            assert lines[-1][2:] in event.finding.reason.en and "restart the node" in event.finding.next_step.en


@pytest.mark.parametrize(("before", "told"), [(0, False), (3, True)])
def test_that_an_nvidia_smi_that_ends_at_once_is_a_dead_driver_where_a_card_was_known_and_never_said_to_be_no_gpu(node: Scripted, before: int, told: bool) -> None:
    for node.at in range(20):
        if node.at < before:
            node.cards((0, A, "500"))
        elif node.at == 5:
            node.say("gpu", "! nvidia-smi ended")
        node.network(100.0 + node.at, eth0=0)
    assert [rule for rule, *_ in node.events()] == ["watch.driver"] * told
    assert node.watch.view.troubles == {"gpu": "nvidia-smi ended"}


def test_that_a_driver_that_hangs_without_a_word_is_told_within_a_minute(node: Scripted) -> None:
    for node.at in range(200):
        if node.at < 10 or node.at >= 150:
            node.cards((0, A, "500"))
        node.network(100.0 + node.at, eth0=0)
    assert node.events() == [("watch.driver", "", 10, 150)], "from the first line on that was missed"
    node.at = 300
    node.reconnect()
    for node.at in range(300, 355):
        node.network(100.0 + node.at, eth0=0)
    assert len(node.events()) == 1, "what was not heard while the line was cut is no silence"


def test_that_a_silent_npu_smi_is_a_dead_driver_and_a_node_without_one_is_not(node: Scripted) -> None:
    for node.at in range(200):
        node.say("gpu", "! nvidia-smi is not installed on the node")
        node.network(100.0 + node.at, eth0=0)
        if node.at == 100:
            node.say("npu", "! npu-smi is not installed on the node")
    assert node.events() == []
    node.say("npu", "! npu-smi does not answer")
    assert node.events() == [("watch.driver", "", 199, None)]


def test_that_a_driver_that_comes_and_goes_is_one_event(node: Scripted) -> None:
    for node.at in range(120):
        if node.at % 4 < 2:
            node.cards((0, A, "500"), (1, B, "400"))
        else:
            node.say("gpu", "! the NVIDIA driver does not answer")
    assert node.events() == [("watch.driver", "", 2, None)]


def test_that_a_source_in_trouble_is_a_gap_of_its_own_with_the_reason_stored_and_in_the_table(node: Scripted) -> None:
    for node.at in range(20):
        node.cards((0, A, "500"))
        if 5 <= node.at < 11 or node.at == 15:
            node.say("network", "! cat /proc/net/dev failed")
        else:
            node.network(100.0 + node.at, eth0=node.at * 125_000_000)
        (hole,) = loud_holes(node.watch.view)[:1] or (None,)
        assert (hole is None) == (node.at < 5)
    node.end()
    assert [(hole.start_s - START_S, hole.end_s and hole.end_s - START_S, hole.source) for hole in loud_holes(node.watch.view)] == [(5, 11, "network")]
    assert node.gaps() == [], "the node was read all the time, and one missing line is no gap"
    with node.services.workspace.read() as connection:
        kept = [(g.metric, g.start_ns // NS - START_S, g.end_ns // NS - START_S) for g in list_gaps(connection, "scripted", None, 0, 2**62)]
        table = readings_csv(connection, "scripted", START_S, START_S + 20, {}, Language.EN).decode("utf-8-sig")
        past = read_past(connection, Wish("scripted", START_S, START_S + 20, 900, (START_S, START_S + 20)), {}).view
        assert [(g.source, g.reason) for g in past.source_gaps] == [("network", "cat /proc/net/dev failed")]
    assert kept == [(RX, 5, 11), (TX, 5, 11)]
    assert [row["gap"] for row in csv.DictReader(io.StringIO(table)) if row["gap"]] == ["Network interfaces: cat /proc/net/dev failed"]


def test_that_a_driver_that_is_said_to_be_gone_once_costs_its_time_until_the_line_is_cut(node: Scripted) -> None:
    for node.at in range(600):
        if node.at < 20:
            node.cards((0, A, "500"), (1, B, "400"))
        elif node.at == 20:
            node.say("gpu", "! nvidia-smi ended")
        node.network(100.0 + node.at, eth0=node.at)
    node.watch._gap(START_S + 600.0, "connection_lost")
    assert node.events() == [("watch.driver", "", 20, 599)] and node.degraded_s() == 2 * 579


@pytest.mark.parametrize("recalled", [True, False])
def test_that_a_lost_card_is_lost_through_a_stop_and_a_start_of_the_watch(node: Scripted, recalled: bool) -> None:
    for node.at in range(300):
        node.cards((0, A, "500"), *([(1, B, "400")] if node.at < 100 else []))
    node.at = 300
    node.anew(recalled=recalled)
    for node.at in range(300, 400):
        node.cards((0, A, "500"))
    assert node.events() == [("watch.lost", B, 100, 299), ("watch.lost", B, 300, None)]
    assert node.watch.view.lost == {B: NOT_BACK}
    for node.at in range(400, 420):
        node.cards((0, A, "500"), (1, B, "400"))
    assert node.events()[1] == ("watch.lost", B, 300, 400)
    node.anew(recalled=recalled)
    for node.at in range(420, 440):
        node.cards((0, A, "500"), (1, B, "400"))
    assert len(node.events()) == 2 and node.watch.view.lost == {}


@pytest.mark.parametrize("silent", [True, False])
def test_that_a_card_that_went_while_the_program_was_closed_is_lost_and_its_successor_is_none(node: Scripted, silent: bool) -> None:
    for node.at in range(50):
        node.cards((0, A, "500"), (1, B, "400"))
    if silent:
        node.say("gpu", "! nvidia-smi ended")
        for node.at in range(50, 200):
            node.network(100.0 + node.at, eth0=node.at)
    node.at = 7250
    node.anew(recalled=False)
    for node.at in range(7250, 7270):
        node.cards((0, A, "500"))
    assert node.events()[-1] == ("watch.lost", B, 7250, None)
    node.at = 14_000
    node.anew(recalled=False)
    for node.at in range(14_000, 14_020):
        node.cards((0, "GPU-c", "500"), (1, "GPU-d", "400"))
    assert [end for *_, end in node.events() if end is None] == [], "the node got others"
    node.at = 20_000
    node.anew(recalled=False)
    for node.at in range(20_000, 20_020):
        node.cards((0, "GPU-c", "500"), (1, "GPU-d", "400"))
    assert [end for *_, end in node.events() if end is None] == [] and node.watch.view.lost == {}


@pytest.mark.parametrize("verified_s", [-100, 500])
def test_that_a_card_of_the_last_run_that_the_watch_does_not_see_is_lost(node: Scripted, verified_s: int) -> None:
    at = datetime.fromtimestamp(START_S + verified_s, UTC)
    seen = [Sighting("r1", "scripted", at, SightingKind.UUID, uuid, False) for uuid in (A, B)]
    node.services.workspace.submit(lambda db: save_run(db, Run("r1", "scripted", at))).result()
    node.services.workspace.submit(lambda db: save_sightings(db, seen)).result()
    for node.at in range(10):
        node.cards((0, A, "500"))
    node.at = 1000
    node.anew(recalled=True)
    for node.at in range(1000, 1010):
        node.cards((0, A, "500"))
    assert node.events()[-1] == ("watch.lost", B, 1000, None)


def test_that_a_card_that_is_lost_from_its_first_line_on_is_lost(node: Scripted) -> None:
    for node.at in range(10):
        node.say("gpu", json.dumps({"index": 0, "uuid": A, "power_w": 500.0}), json.dumps({"index": 1, "uuid": B, "lost": "GPU is lost"}))
    assert node.events() == [("watch.lost", B, 0, None)] and node.watch.view.lost == {B: "GPU is lost"}
    assert {subject for _, subject in node.watch.view.rings} == {A}, "nothing of it is drawn"


@pytest.mark.parametrize("uuid", ["[GPU is lost]", "[N/A]", "N/A", "", "1"])
def test_that_a_row_whose_uuid_is_none_names_no_card(node: Scripted, uuid: str) -> None:
    for node.at in range(30):
        node.cards((0, A, "500"), *([(1, B, "400")] if node.at < 10 else []))
        if node.at >= 10:
            node.say("gpu", ", ".join(["1", uuid, *["[GPU is lost]"] * 8]))
    assert node.events() == [("watch.lost", B, 10, None)] and node.watch.view.lost == {B: UNREAD}
    assert {subject for _, subject in node.watch.view.rings} == {A, B}


@pytest.mark.parametrize("twice", [2, 5])
def test_that_a_uuid_that_stands_twice_makes_no_other_card_lost(node: Scripted, twice: int) -> None:
    for node.at in range(60):
        if node.at == 30:
            node.reconnect()
        node.cards(*((index, A, "500") for index in range(twice)), (twice, B, "400"))
        assert node.watch.view.lost == {}
    assert node.events() == []


def test_that_a_warning_beside_the_rows_of_each_round_disturbs_nothing(node: Scripted) -> None:
    for node.at in range(60):
        node.cards((0, A, "500"), *([(1, B, "400")] if node.at < 40 else []))
        node.say("gpu", "WARNING: infoROM is corrupted at gpu 0000:86:00.0")
        assert node.watch.view.troubles == {}
    assert len(node.drawn(POWER, A)) == 60 and not any(math.isnan(value) for value in node.drawn(POWER, A)), "one line without a break"
    assert node.events() == [("watch.lost", B, 40, None)]


@pytest.mark.parametrize("beats", [False, True])
def test_that_a_source_that_falls_silent_is_stale_while_the_node_is_heard(node: Scripted, beats: bool) -> None:
    for node.at in range(120):
        if node.at < 20 or node.at >= 100:
            node.cards((0, A, "500"))
            node.network(100.0 + node.at, eth0=node.at * 125_000_000)
        elif beats:
            node.watch._on_beat(1000.0 + node.at)
        else:
            node.network(100.0 + node.at, eth0=node.at * 125_000_000)
        stale = {"gpu": STALE, **({"network": STALE} if beats else {})}
        assert node.watch.view.troubles == (stale if 30 <= node.at < 100 else {})
    node.end()
    with node.services.workspace.read() as connection:
        kept = {(g.metric, g.reason, g.start_ns // NS - START_S, g.end_ns // NS - START_S) for g in list_gaps(connection, "scripted", None, 0, 2**62)}
    assert (POWER, STALE, 20, 100) in kept and ((RX, STALE, 20, 100) in kept) is beats and node.gaps() == []
    assert math.isnan(node.drawn(POWER, A)[20]) and trouble_words(STALE).zh != STALE
    assert node.events() == [("watch.driver", "", 20, 100)]


def test_that_what_was_told_before_is_missed_but_no_log_and_no_agent(node: Scripted) -> None:
    node.watch._expect(START_S)
    assert node.watch._silence._heard == {}
    node.cards((0, A, "500"))
    node.say("agent", json.dumps({"cpu_percent": 1.0, "memory_mib": 20.0}))
    node.watch._intake.take(TASK_LOG.id, (Point(TASK_LOG.metrics[0].id, "", 3.0),), float(START_S))
    assert len({source_of(metric) for metric, _ in node.watch.view.rings}) == 3
    node.watch._expect(START_S)
    assert node.watch._silence._heard.keys() == {"gpu"}


def test_that_an_end_that_the_disk_refused_is_written_when_it_has_room(node: Scripted) -> None:
    full, refuse = UserFacing("can't write", "the disk is full", "make room"), [False]

    def disk(work: Callable[[Database], bool]) -> Future[bool]:
        if not refuse[0]:
            return node.services.workspace.submit(work)
        failed: Future[bool] = Future()
        failed.set_exception(full)
        return failed

    assert node.watch.rules is not None
    node.watch.rules._keeper.owed = Owed(disk)
    for node.at in range(120):
        refuse[0] = 45 <= node.at < 80
        reasons = "0x0000000000000040" if 20 <= node.at < 50 else "0x0000000000000000"
        node.say("gpu", f"0, {A}, 97, 41, 71680, 500, 63, 1755, 2619, {reasons}")
    assert node.events() == [("watch.throttled", A, 20, 50)] and node.degraded_s() == 30
    with node.services.workspace.read() as connection:
        marks = list_marks(connection, "scripted", datetime.fromtimestamp(START_S, UTC), datetime.fromtimestamp(START_S + 200, UTC))
    assert [mark.words.rpartition("\t")[2] for mark in marks] == ["begin", "end"]


def test_that_an_overlong_line_now_and_then_is_no_driver_that_does_not_answer(node: Scripted) -> None:
    for node.at in range(120):
        node.cards((0, A, "500"), (1, B, "400"))
        if node.at % 20 == 5:
            node.say("gpu", TOO_LONG.decode())
    assert node.events() == [] and node.degraded_s() == 0.0


def test_that_warnings_in_the_place_of_rows_are_a_driver_that_does_not_answer_and_beside_them_nothing(node: Scripted) -> None:
    warning = "WARNING: infoROM is corrupted at gpu 0000:18:00.0"
    for node.at in range(60):
        rows = [(0, A, "500"), (1, B, "400")] if node.at < 20 or node.at >= 40 else []
        node.cards(*rows)
        node.say("gpu", warning, warning)
        node.network(100.0 + node.at, eth0=0)
        assert bool(node.events()) == (node.at >= 24)
        assert node.watch.view.troubles == ({"gpu": warning} if 22 <= node.at < 30 else {"gpu": STALE} if 30 <= node.at < 40 else {})
    assert node.events() == [("watch.driver", "", 20, 40)] and node.degraded_s() == 40.0
    assert [(gap.start_s - START_S, gap.end_s and gap.end_s - START_S) for gap in node.source_gaps()] == [(20.0, 40.0)]


@pytest.mark.parametrize(("pause", "told"), [(8, True), (40, False)])
def test_that_a_line_that_is_cut_again_and_again_hides_no_lasting_throttling_and_joins_nothing_over_a_long_cut(
    node: Scripted, pause: int, told: bool
) -> None:
    hot = f"0, {A}, 97, 41, 71680, 500, 63, 1755, 2619, 0x0000000000000020"
    for turn in range(6):
        for node.at in range(turn * pause, turn * pause + 7):
            node.say("gpu", hot)
        node.watch._unseen(START_S + node.at)
        node.at = (turn + 1) * pause
        node.reconnect()
    assert bool(node.events()) is told
    if told:
        assert [(rule, begin, end) for rule, _, begin, end in node.events()] == [
            ("watch.throttled", 0, 14), ("watch.throttled", 16, 30), ("watch.throttled", 32, 46),
        ]  # fmt: skip


def test_that_what_a_flood_leaves_out_is_a_gap_of_its_source_that_says_so(node: Scripted) -> None:
    for node.at in range(40):
        node.cards(*[(0, A, "500")] * (200 if 12 <= node.at < 30 else 1))
        node.network(100.0 + node.at, eth0=0)
    node.end()
    with node.services.workspace.read() as connection:
        kept = [(g.metric, g.start_ns // NS - START_S, g.end_ns // NS - START_S) for g in list_gaps(connection, "scripted", None, 0, 2**62) if g.reason == FLOODED]
    assert {metric for metric, _, _ in kept if metric is None or not metric.startswith("gpu.")} == set()
    begin, end = min(begin for _, begin, _ in kept), max(end for _, _, end in kept)
    assert 10 <= begin <= 12 and 29 <= end <= 32
    (hole,) = loud_holes(node.watch.view)
    assert (hole.start_s - START_S, hole.end_s and hole.end_s - START_S) == (begin, end) and "left out" in str(hole.reason)


@pytest.mark.parametrize("interval_s", [0.1, 1.0, 5.0])
def test_that_a_card_whose_rows_come_many_times_makes_no_other_card_lost(tmp_path: Path, interval_s: float) -> None:
    node = Scripted(tmp_path, interval_s)
    row = "{}, {}, 97, 41, 71680, 500, 63, 1755, 2619, 0x0000000000000000"
    for n in range(1200):
        received_s = 1000.0 + interval_s * n / 20
        node.watch._on_line("gpu", row.format(0, A).encode(), received_s)
        if n % 20 in (3, 7) and n < 900:  # a row of its own each second, once a little late
            if (n // 20) % 2 == (n % 20 == 3):
                node.watch._on_line("gpu", row.format(1, B).encode(), received_s)
        if n == 899:
            assert node.watch.view.lost == {} and node.events() == []
    node.services.workspace.submit(lambda db: None).result()
    with node.services.workspace.read() as connection:
        (event,) = list_events(connection, "scripted", 0, 2**62)
    assert (event.rule, event.subject) == ("watch.lost", B)
    assert 0.3 * interval_s <= event.began_ns / NS - START_S - 44.25 * interval_s <= 1.1 * interval_s, "its last row came then"
    node.services.close()


@pytest.mark.parametrize("gone", [0, 2])
@pytest.mark.parametrize("interval_s", [0.1, 1.0, 5.0])
def test_that_a_loss_begins_with_the_first_row_that_is_missed_whichever_card_it_is(tmp_path: Path, interval_s: float, gone: int) -> None:
    node, cards = Scripted(tmp_path, interval_s), [A, B, "GPU-0a1b2c3d-4e5f-4a6b-8c9d-000000000003"]
    for n in range(70):
        for index, uuid in enumerate(cards):
            if index != gone or not 20 <= n < 50:
                line = f"{index}, {uuid}, 97, 41, 71680, 500, 63, 1755, 2619, 0x0000000000000000"
                node.watch._on_line("gpu", line.encode(), 1000.0 + n * interval_s)
    assert round(node.degraded_at(70 * interval_s), 3) == round(30 * interval_s, 3)
    with node.services.workspace.read() as connection:
        (event,) = list_events(connection, "scripted", 0, 2**62)
        gaps = {(round(gap.start_ns / NS - START_S, 3), round(gap.end_ns / NS - START_S, 3)) for gap in list_gaps(connection, "scripted", POWER, 0, 2**62)}
    assert (event.subject, round(event.began_ns / NS - START_S, 3)) == (cards[gone], 20 * interval_s)
    assert gaps == {(20 * interval_s, 50 * interval_s)}, "the gap of its curve is the same"
    node.services.close()
