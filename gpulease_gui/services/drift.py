"""What changed on a node between two runs, and which cards stand in two nodes at once?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui.checks.machine import SHIPPED_FALLS, Change, ChangeKind, FallLimits, Machine, by_fall, fall_percent
from gpulease_gui.checks.machine import changes as machine_changes
from gpulease_gui.domain.finding import Basis, Finding, Verdict
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text
from gpulease_gui.services.events import NodeDrifted
from gpulease_gui.services.identity_pin import is_one_machine, machine_in, pinned_run
from gpulease_gui.services.rejudge import Rejudgement, changed
from gpulease_gui.services.thresholds import falls
from gpulease_gui.store import nodes, runs
from gpulease_gui.store.doors import Reader
from gpulease_gui.store.records import Run, RunState
from gpulease_gui.store.sightings import newest_run_with_cards, nodes_with_one_card

if TYPE_CHECKING:
    from gpulease_gui.store.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Rate:
    """A measured rate where more is better, such as a network direction; `unit` as the finding has it."""

    name: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One run with what it saw of the machine and what it measured. `record`: the node, where it is known.

    `falls`: how far a value may fall, as the user left it.
    """

    run: Run
    node: str
    machine: Machine
    rates: tuple[Rate, ...] = ()
    record: Node | None = None
    falls: FallLimits = SHIPPED_FALLS


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs beside each other: what changed on the machine, which answers are others, which cards are in both nodes.

    `changes` only for two runs of one node: two machines have no history in common.
    """

    old: Snapshot
    new: Snapshot
    changes: tuple[Change, ...]
    answers: tuple[Rejudgement, ...]
    duplicates: tuple[Duplicate, ...]

    @property
    def is_broken(self) -> bool:
        """Whether something breaks what was accepted, or a card is in two nodes."""
        return bool(self.duplicates) or any(change.verdict is Verdict.FAIL for change in self.changes)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """Two nodes, by name, that showed the same cards in their newest runs; `ids` of their records."""

    first: str
    second: str
    cards: tuple[str, ...]
    ids: tuple[str, str] = ("", "")

    @property
    def words(self) -> Text:
        """Such as: 8 cards are in node-07 and node-12 at once."""
        count = len(self.cards)
        return Text(
            f"{count} {'card is' if count == 1 else 'cards are'} in {self.first} and {self.second} at once ({self.cards[0]}): one machine is sold twice",
            f"{count} 张卡同时出现在 {self.first} 和 {self.second}（{self.cards[0]}）：一机两卖",
        )


def snapshot(connection: Reader, run: Run) -> Snapshot:
    """A stored run as it can be compared with another; read anew from its evidence."""
    found = [stored.finding for stored in runs.list_current_findings(connection, run.id)]
    node = nodes.get_node(connection, run.node_id)
    return Snapshot(run, node.name, machine_in(connection, run), tuple(_rates(found)), node, falls(connection))


def _rates(findings: Iterable[Finding]) -> Iterator[Rate]:
    for finding in findings:
        is_rate = finding.basis is Basis.MEASURED and finding.better == "more" and not isinstance(finding.measured, bool)
        if is_rate and isinstance(finding.measured, int | float):
            name = " ".join(part for part in (finding.check, finding.term, finding.direction) if part)
            yield Rate(name, float(finding.measured), finding.unit)


def changes(old: Snapshot, new: Snapshot) -> tuple[Change, ...]:
    """What is different in the newer run, the worst first: cards, settings, system, and rates that fell by over 3 %."""
    before = {(rate.name, rate.unit): rate.value for rate in old.rates}
    fell = [change for rate in new.rates for change in _fell(before.get((rate.name, rate.unit)), rate, new.falls)]
    found = [*machine_changes(old.machine, new.machine, new.falls), *fell]
    order = (Verdict.FAIL, Verdict.WARN, Verdict.PASS)
    return tuple(sorted(found, key=lambda change: order.index(change.verdict)))


def _fell(old: float | None, new: Rate, limits: FallLimits) -> Iterator[Change]:
    percent = fall_percent(old, new.value) if old is not None else 0.0
    verdict = by_fall(percent, limits)
    if verdict is Verdict.PASS:
        return
    words = Text(
        f"{new.name} fell by {percent:.0f} %: {old:g} {new.unit} before, {new.value:g} {new.unit} now",
        f"{new.name} 下降 {percent:.0f} %：由 {old:g} {new.unit} 降到 {new.value:g} {new.unit}",
    )
    yield Change(ChangeKind.RATE, verdict, words, new.name, old, new.value)


def since_accepted(workspace: Workspace, run_id: str) -> NodeDrifted | None:
    """What this run saw changed since the node was accepted; None when it never was, or nothing changed."""
    with workspace.read() as connection:
        run = runs.get_run(connection, run_id)
        pinned = pinned_run(connection, run.node_id, run.started_at)
        return None if pinned is None else _since(connection, pinned, run)


def compare(connection: Reader, old_id: str, new_id: str) -> Comparison:
    """Two stored runs, of one node or of two. Raises UsageError for an unknown run (ids may be cut short)."""
    pair = runs.find_run(connection, old_id), runs.find_run(connection, new_id)
    before, after = ([s.finding for s in runs.list_current_findings(connection, run.id)] for run in pair)
    old, new = (snapshot(connection, run) for run in pair)
    found = changes(old, new) if old.run.node_id == new.run.node_id else ()
    return Comparison(old, new, found, changed(before, after), duplicates((old, new)))


def run_before(connection: Reader, run: Run) -> Run | None:
    """The finished run of the node before this one."""
    earlier = (r for r in runs.list_runs(connection, node_id=run.node_id) if r.started_at < run.started_at)
    return next((r for r in earlier if r.state is RunState.FINISHED), None)


def duplicates(snapshots: Sequence[Snapshot]) -> tuple[Duplicate, ...]:
    """Which nodes show the same whole cards; slices of a card (MIG) may be shared. Each pair once.

    Two records of one node, or with one way to it, are one machine.
    """
    found = []
    for place, one in enumerate(snapshots):
        mine = _whole_cards(one.machine)
        for other in snapshots[place + 1 :]:
            shared = mine & _whole_cards(other.machine)
            if shared and not _is_same(one, other):
                found.append(Duplicate(one.node, other.node, tuple(sorted(shared)), (one.run.node_id, other.run.node_id)))
    return tuple(found)


def _is_same(one: Snapshot, other: Snapshot) -> bool:
    if one.run.node_id == other.run.node_id:
        return True
    if one.record is None or other.record is None:
        return False
    return is_one_machine(one.record, one.run.host_key, other.record, other.run.host_key)


def _whole_cards(machine: Machine) -> frozenset[str]:
    return frozenset(card.uuid or card.serial or "" for card in machine.cards if card.key and not card.sliced)


@dataclass(frozen=True, slots=True)
class Standing:
    """What the newest looks at all nodes say: changes since each was accepted (by node id), and cards in two nodes.

    `since` is when each of the changed nodes was accepted.
    """

    drifted: Mapping[str, NodeDrifted]
    since: Mapping[str, datetime]
    twice: tuple[Duplicate, ...]


def standing_in(connection: Reader, node_ids: Iterable[str] | None = None) -> Standing:
    """How the nodes stand (all, or these; the cards are always compared with all). About 10 ms for each accepted node."""
    wanted = [node.id for node in nodes.list_nodes(connection)] if node_ids is None else list(node_ids)
    drifted, since = {}, {}
    for node_id in wanted:
        latest = _newest_with_cards(connection, node_id)
        pinned = pinned_run(connection, node_id, latest.started_at) if latest else None
        told = _since(connection, pinned, latest) if pinned and latest else None
        if pinned is not None and told is not None:
            drifted[node_id], since[node_id] = told, pinned.started_at
    seen = [_newest_with_cards(connection, node_id) for node_id in nodes_with_one_card(connection)]
    return Standing(drifted, since, duplicates([snapshot(connection, run) for run in seen if run is not None]))


def _newest_with_cards(connection: Reader, node_id: str) -> Run | None:
    run_id = newest_run_with_cards(connection, node_id)
    return runs.get_run(connection, run_id) if run_id is not None else None


def _since(connection: Reader, pinned: Run, run: Run) -> NodeDrifted | None:
    found = changes(snapshot(connection, pinned), snapshot(connection, run))
    return NodeDrifted(run.node_id, run.id, pinned.id, found) if found else None


def shared_cards(workspace: Workspace, run_ids: Iterable[str]) -> tuple[Duplicate, ...]:
    """The cards that these runs, made at one time, show in more than one node."""
    with workspace.read() as connection:
        return duplicates([snapshot(connection, runs.get_run(connection, run_id)) for run_id in run_ids])
