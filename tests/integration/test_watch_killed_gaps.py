"""Are the gaps of nodes and curves that lasted when the program was killed still told, as long as its readings go on?"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Language
from gpulease_gui.services.intake import WatchView
from gpulease_gui.services.links import NotConnected
from gpulease_gui.services.live_csv import readings_csv
from gpulease_gui.services.recall import begin_with
from gpulease_gui.services.watch import _Watch
from gpulease_gui.store.doors import Database
from gpulease_gui.store.samples import list_gaps
from gpulease_gui.store.watch_ends import close_forsaken
from gpulease_gui.store.workspace import Workspace
from gpulease_gui.telemetry.gpu_agent import UNHEARD, XID
from tests.integration.test_watch_scripted import NS, POWER, START_S, A, B, Scripted

OPEN = "SELECT count(*) FROM settings WHERE key GLOB 'gaps:*'"
_Told = set[tuple[str, str | None, int, int]]


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Scripted]:
    made = Scripted(tmp_path)
    yield made
    made.services.close()


def told(workspace: Workspace) -> _Told:
    workspace.submit(lambda db: None).result()
    with workspace.read() as connection:
        return {(g.reason, g.metric, g.start_ns // NS - START_S, g.end_ns // NS - START_S) for g in list_gaps(connection, "scripted", None, 0, 2**62)}


def killed(node: Scripted, tmp_path: Path) -> Workspace:
    """The workspace as a program finds it that starts after the one that has it open was killed."""
    node.services.workspace.submit(lambda db: None).result()
    after = tmp_path / "after.gpulease.db"
    after.unlink(missing_ok=True)
    with closing(sqlite3.connect(node.services.workspace.path)) as left, closing(sqlite3.connect(after)) as copy:
        left.backup(copy)
    return Workspace.open(after, demo=False)


def lost(node: Scripted, first: int, last: int, after: int) -> None:
    """Two cards, of which the second is lost from `first` to `last`."""
    for node.at in range(after):
        how = {"lost": "GPU is lost"} if first <= node.at < last else {"power_w": 400.0}
        node.say("gpu", json.dumps({"index": 0, "uuid": A, "power_w": 500.0}), json.dumps({"index": 1, "uuid": B, **how}))


def test_that_a_stretch_whose_xids_nobody_heard_says_so_after_a_kill_as_far_as_its_readings_go(node: Scripted, tmp_path: Path) -> None:
    for node.at in range(65):
        node.cards((0, A, "500"))
    assert told(node.services.workspace) == set(), "it lasts"
    workspace = killed(node, tmp_path)
    with closing(workspace):
        assert told(workspace) == {(UNHEARD, XID, 0, 55)}, "readings are written every ten seconds"
        with workspace.read() as connection:
            assert b"Xid: not told here" in readings_csv(connection, "scripted", START_S, START_S + 60, {}, Language.EN)
            assert connection.execute(OPEN).fetchone() == (0,)


def test_that_a_card_that_was_lost_at_the_kill_is_lost_until_the_readings_end(node: Scripted, tmp_path: Path) -> None:
    lost(node, 22, 90, 65)
    workspace = killed(node, tmp_path)
    with closing(workspace):
        assert told(workspace) == {(f"lost {B}", POWER, 22, 55)}


def test_that_a_source_that_could_not_be_read_at_the_kill_is_a_gap_of_its_curves(node: Scripted, tmp_path: Path) -> None:
    for node.at in range(65):
        node.network(100.0 + node.at, eth0=node.at * 125_000_000)
        node.say("gpu", json.dumps({"index": 0, "uuid": A, "power_w": 500.0}) if node.at < 30 else "! the NVIDIA driver does not answer")
    workspace = killed(node, tmp_path)
    with closing(workspace):
        assert told(workspace) == {("the NVIDIA driver does not answer", POWER, 30, 55)}


def test_that_a_gap_that_ended_before_the_kill_is_told_once_and_what_is_over_lasts_no_longer(node: Scripted, tmp_path: Path) -> None:
    lost(node, 15, 45, 65)
    workspace = killed(node, tmp_path)
    with closing(workspace):
        assert told(workspace) == told(node.services.workspace) == {(f"lost {B}", POWER, 15, 45)}


def test_that_a_watch_that_stops_leaves_nothing_open_behind(node: Scripted) -> None:
    lost(node, 15, 90, 65)
    node.watch._flush()
    node.watch._unseen(START_S + 65.0)
    assert told(node.services.workspace) == {(f"lost {B}", POWER, 15, 65)}
    with node.services.workspace.read() as connection:
        assert connection.execute(OPEN).fetchone() == (0,)


def test_that_another_program_ends_them_only_of_a_watch_that_is_silent_for_ten_minutes_and_its_own_word_counts(node: Scripted) -> None:
    def look(after_s: int) -> _Told:
        def work(db: Database) -> None:
            close_forsaken(db.conn, (START_S + after_s) * NS)

        node.services.workspace.submit(work).result()
        return told(node.services.workspace)

    lost(node, 15, 90, 65)
    assert (look(65), look(654)) == (set(), set())
    assert look(656) == {(f"lost {B}", POWER, 15, 55)}
    node.at = 700
    node.watch._unseen(START_S + 700.0)
    assert told(node.services.workspace) == {(f"lost {B}", POWER, 15, 700)}


def test_that_a_node_that_was_not_read_at_the_kill_keeps_its_reason_as_long_as_its_watch_said_so(node: Scripted, tmp_path: Path) -> None:
    for node.at in range(65):
        node.cards((0, A, "500"))
    node.watch._flush()
    node.watch._gap(START_S + 65.0, "connection_lost")
    for node.at in (70, 130, 190):
        node.watch._saving.lost(START_S + float(node.at))
    assert (None not in {metric for _, metric, _, _ in told(node.services.workspace)}), "it lasts"
    workspace = killed(node, tmp_path)
    with closing(workspace):
        assert {one for one in told(workspace) if one[1] is None} == {("connection_lost", None, 65, 190)}
        view = WatchView("scripted", 1.0)
        found = begin_with(view, workspace, START_S + 300.0)
        assert (found.why, found.last_s, found.noted_s) == ("not_watched", START_S + 64.0, START_S + 190.0)
        assert [(gap.start_s - START_S, gap.reason, gap.end_s) for gap in view.gaps] == [(65.0, "connection_lost", START_S + 190.0)]
        node.at = 300
        again = _Watch(node.watch.node, 1.0, workspace, node.services.bus, node.services.links, node.watch._clock)
        again._recall()
        assert [(gap.start_s - START_S, gap.reason) for gap in again.view.gaps] == [(65.0, "connection_lost"), (190.0, "not_watched")]


def test_that_the_end_of_a_gap_of_a_node_that_its_watch_tells_counts_and_nothing_is_told_twice(node: Scripted) -> None:
    node.network(100.0, eth0=0)
    node.network(101.0, eth0=0)
    node.watch._gap(START_S + 1.0, "no_answer")
    node.watch._saving.lost(START_S + 50.0)
    node.services.workspace.submit(lambda db: close_forsaken(db.conn, (START_S + 651) * NS)).result()
    assert told(node.services.workspace) == {("no_answer", None, 1, 50)}, "nobody said so for ten minutes"
    node.watch._saving.lost(START_S + 660.0)
    node.watch._close_gap(START_S + 700.0, resumed=True)
    assert told(node.services.workspace) == {("no_answer", None, 1, 700)}
    node.services.workspace.submit(lambda db: close_forsaken(db.conn, (START_S + 2000) * NS)).result()
    assert told(node.services.workspace) == {("no_answer", None, 1, 700)}
    with node.services.workspace.read() as connection:
        assert connection.execute(OPEN).fetchone() == (0,)


def test_that_word_of_a_program_of_before_is_read_as_it_wrote_it(node: Scripted, tmp_path: Path) -> None:
    for node.at in range(65):
        node.cards((0, A, "500"))
    node.services.workspace.submit(lambda db: None).result()
    with node.services.workspace.read() as connection:
        (value,) = connection.execute("SELECT value FROM settings WHERE key GLOB 'gaps:*'").fetchone()
    assert [len(one) for one in json.loads(json.loads(value))] == [4]
    workspace = killed(node, tmp_path)
    with closing(workspace):
        assert told(workspace) == {(UNHEARD, XID, 0, 55)}


@pytest.mark.parametrize("value", ['"[[\"scripted\", 1, \"x\", null, \"y\"]]"', '"[[\"scripted\", null, \"x\", null]]"', "7", '"7"', '"[[1]]"', "null", '"[]"', '"{"'])
def test_that_word_of_a_watch_that_nobody_can_read_keeps_no_program_from_opening_its_workspace(node: Scripted, tmp_path: Path, value: str) -> None:
    node.services.workspace.submit(lambda db: db.conn.execute("INSERT INTO settings (key, value) VALUES ('gaps:x', ?)", (value,))).result()
    workspace = killed(node, tmp_path)
    with closing(workspace), workspace.read() as connection:
        assert connection.execute(OPEN).fetchone() == (0,)


def test_that_a_watch_says_after_each_try_that_its_node_is_still_not_read(node: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    watch, said, tries = node.watch, list[tuple[str, float]](), list[float]()

    def once() -> bool:
        tries.append(watch._clock.wall())
        node.at += 30
        if len(tries) == 3:
            watch.stop()
        raise NotConnected(watch.node, "connect", UserFacing("no way there"))

    monkeypatch.setattr(watch, "_once", once)
    monkeypatch.setattr("gpulease_gui.services.watch.BACKOFF_S", (0.0, 0.0))
    monkeypatch.setattr(watch._saving, "lost", lambda at_s: said.append((watch.view.gaps[-1].reason, at_s - START_S)))
    watch._live()
    assert said == [("not_reached_connect", 30.0), ("not_reached_connect", 60.0), ("not_reached_connect", 90.0)]
