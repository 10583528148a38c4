"""What is judged by which rule when another program changes contract and figures while a node is watched?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.services.composition import open_services
from gpulease_gui.services.thresholds import set_threshold
from gpulease_gui.services.watch_stand import STAND_S
from gpulease_gui.store.claims import Holder, save_claim
from gpulease_gui.store.doors import Database
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.suppliers import save_contract, save_supplier
from tests.integration.test_watch_scripted import START_S, A, B, Scripted

SEEN_S = int(STAND_S) + 1


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Scripted]:
    made = Scripted(tmp_path)
    yield made
    made.services.close()


def elsewhere(node: Scripted, work: Callable[[Database], object]) -> None:
    """Another program changes something."""
    with closing(open_services(node.services.workspace.path)) as other:
        other.upkeep.close()
        other.workspace.submit(work).result()


def found(node: Scripted) -> list[tuple[str, int, int | None, float | None, list[float]]]:
    """(rule, begin, end, promised, by which figures) of card A, in the order of their beginning."""
    node.services.workspace.submit(lambda db: None).result()
    with node.services.workspace.read() as connection:
        rows = connection.execute(
            "SELECT rule, began_ns, ended_ns, document FROM watch_events WHERE subject = ? ORDER BY began_ns, rowid", (A,)
        ).fetchall()
    made = []
    for rule, began_ns, ended_ns, document in rows:
        said = json.loads(document)
        figures = [one["value"] for one in said["judged_by"] if one["name"] == "hot"]
        end = None if ended_ns is None else ended_ns // 1_000_000_000 - START_S
        made.append((rule, began_ns // 1_000_000_000 - START_S, end, said["promised"], figures))
    return made


def test_that_a_figure_that_another_program_moves_counts_from_then_on_and_what_began_before_is_told_by_the_old_one(node: Scripted) -> None:
    at = datetime.fromtimestamp(START_S, UTC)
    for node.at in range(150):
        if node.at in (30, 100):
            elsewhere(node, lambda db: set_threshold(db, "watch", "hot", 60.0 if node.at == 30 else 70.0, at=at, why="a test"))
        node.cards((0, A, "500"), (1, B, "500"))  # of 63 degrees
    ((rule, began, ended, _, figures),) = found(node)
    assert (rule, figures) == ("watch.hot", [60.0])
    assert 30 < began <= 30 + SEEN_S and ended is not None and 100 < ended <= 100 + SEEN_S


def test_that_time_under_one_promise_and_time_under_the_next_are_two_events_that_count_each_second_once(node: Scripted) -> None:
    start = date(2026, 2, 1)
    held = Node("scripted", "scripted", Reach.LOCAL, contract_id="c1")

    def promise(watts: int, db: Database) -> None:
        save_claim(db, Holder.contract("c1"), Claim("gpu.power_w", watts, ClaimState.ANSWERED), by="li", at=datetime.fromtimestamp(START_S, UTC))

    def sign(db: Database) -> None:
        save_supplier(db, Supplier("s1", "S"))
        save_contract(db, Contract("c1", "s1", "1", start=start))
        save_node(db, held)
        promise(700, db)

    for node.at in range(200):
        if node.at == 10:
            elsewhere(node, sign)
        if node.at == 80:
            elsewhere(node, lambda db: promise(600, db))
        if node.at == 140:
            elsewhere(node, lambda db: promise(300, db))
        node.say("gpu", f"0, {A}, 97, 41, 71680, 400, 63, 1755, 2619, 0x0000000000000004")
    (first, second) = found(node)
    assert [(one[0], one[3]) for one in (first, second)] == [("watch.floor", 700.0), ("watch.floor", 600.0)]
    assert 10 < first[1] <= 10 + SEEN_S and first[2] == second[1] and 80 < second[1] <= 80 + SEEN_S, "no second is in both, and none in neither"
    assert second[2] is not None and 140 <= second[2] <= 140 + SEEN_S
    assert node.degraded_s() == (first[2] - first[1]) + (second[2] - second[1])
