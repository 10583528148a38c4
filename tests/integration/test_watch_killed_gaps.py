"""Are the gaps of curves that lasted when the program was killed still told, as long as its readings go on?"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from gpulease_gui.domain.text import Language
from gpulease_gui.services.live_csv import readings_csv
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


@pytest.mark.parametrize("value", ["7", '"7"', '"[[1]]"', "null", '"[]"', '"{"'])
def test_that_word_of_a_watch_that_nobody_can_read_keeps_no_program_from_opening_its_workspace(node: Scripted, tmp_path: Path, value: str) -> None:
    node.services.workspace.submit(lambda db: db.conn.execute("INSERT INTO settings (key, value) VALUES ('gaps:x', ?)", (value,))).result()
    workspace = killed(node, tmp_path)
    with closing(workspace), workspace.read() as connection:
        assert connection.execute(OPEN).fetchone() == (0,)
