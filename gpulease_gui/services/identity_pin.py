"""What does the store remember of a node and its cards, and what is remembered of a run?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING

from gpulease_gui.checks.history import Elsewhere, History
from gpulease_gui.checks.judgement import Evidence
from gpulease_gui.checks.machine import Machine, machine_of
from gpulease_gui.domain.errors import Unreadable, UserFacing
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.node import HostKey, Node, Reach
from gpulease_gui.domain.task import TaskRate, TaskSpec
from gpulease_gui.facts.environment import Environment
from gpulease_gui.facts.fact import read, readers
from gpulease_gui.facts.nvlink import NvlinkReport
from gpulease_gui.facts.smi_xml import SmiReport
from gpulease_gui.store import nodes, runs, samples, suppliers
from gpulease_gui.store.doors import Database, Reader
from gpulease_gui.store.evidence import get_output, list_run_evidence
from gpulease_gui.store.records import Mark, Run, RunState, Sighting, SightingKind, new_id
from gpulease_gui.store.sightings import list_elsewhere, newest_run_with_cards
from gpulease_gui.store.task_runs import list_task_runs

if TYPE_CHECKING:
    import sqlite3

_MOST_RUNS = 20
SWAP_ACCEPTED = "swap_accepted"
MARK_FACTS = ("smi_xml", "environment", "nvlink")


def machine_in(connection: sqlite3.Connection, run: Run) -> Machine:
    """The node as a stored run saw it, read anew from its evidence; what can't be read is not said."""
    lines = {line.fact_id: line for line in list_run_evidence(connection, run.evidence_run)}
    readings: dict[str, object] = {}
    for fact_id in MARK_FACTS:
        if fact_id in lines:
            try:
                readings[fact_id] = read(readers()[fact_id], get_output(connection, lines[fact_id]))
            except (Unreadable, UserFacing):
                continue  # a baseline that was changed or cut is none: the comparison says nothing of it
    return _machine(readings, run.host_key)


def _machine(readings: Mapping[str, object], host_key: HostKey | None) -> Machine:
    smi, env, links = (readings.get(fact_id) for fact_id in MARK_FACTS)
    return machine_of(
        smi if isinstance(smi, SmiReport) else None, env if isinstance(env, Environment) else None,
        links if isinstance(links, NvlinkReport) else None, host_key.fingerprint if host_key else None,
    )  # fmt: skip


def machine_from(evidence: Mapping[str, Evidence]) -> Machine:
    """The node as the readings so far show it."""
    return _machine({id_: evidence[id_].reading for id_ in MARK_FACTS if id_ in evidence}, None)


def pinned_run(connection: sqlite3.Connection, node_id: str, before: datetime) -> Run | None:
    """The newest run before `before` that was accepted: it passed, or somebody accepted its swapped cards."""
    noted = {mark.run_id for mark in _accepted(connection, node_id, before)}
    earlier = (run for run in runs.list_runs(connection, node_id=node_id, parts=True) if run.started_at < before)
    return next((run for run in earlier if run.id in noted or _passed(run)), None)


def _passed(run: Run) -> bool:
    """Whether it accepts its node: some checks alone never do."""
    return not run.is_part and run.state is RunState.FINISHED and run.overall in (Verdict.PASS, Verdict.WARN)


def _accepted(connection: sqlite3.Connection, node_id: str, before: datetime) -> list[Mark]:
    start = datetime(1970, 1, 1, tzinfo=before.tzinfo)
    return [mark for mark in samples.list_marks(connection, node_id, start, before) if mark.kind == SWAP_ACCEPTED]


def accept_swap(db: Database, run: Run, why: str, at: datetime) -> None:
    """From now on the node is what this run saw. `why` is kept with it, for whoever asks later."""
    samples.save_mark(db, Mark(new_id(), run.node_id, at, SWAP_ACCEPTED, why, run.id))


def history_of(connection: Reader, node: Node, at: datetime, host_key: HostKey | None, machine: Machine | None = None) -> History:
    """What is known of `node` before `at` (UTC). With `machine`, also where else its marks were seen."""
    pinned = pinned_run(connection, node.id, at)
    seen = list_elsewhere(connection, node.id, _marks(machine)) if machine else ()
    # In a fleet this is asked for each node: all nodes for each would be their number squared.
    known = {n.id: n for n in nodes.list_nodes(connection)} if seen else {}
    kept = [
        s for s in seen
        if s.seen_at < at and s.node_id in known
        and not is_one_machine(node, host_key, known[s.node_id], runs.get_run(connection, s.run_id).host_key)
    ]  # fmt: skip
    newest = {node_id: newest_run_with_cards(connection, node_id) for node_id in {s.node_id for s in kept}}
    return History(
        at, machine_in(connection, pinned) if pinned else None, pinned.started_at if pinned else None,
        node.contract_id is not None, host_key.fingerprint if host_key else None,
        tuple(_elsewhere(connection, s, known[s.node_id], at.date(), newest[s.node_id]) for s in kept),
    )  # fmt: skip


def same_task_before(connection: Reader, node: Node, spec: TaskSpec, at: datetime) -> tuple[tuple[TaskRate, ...], ...]:
    """The speeds of the newest runs of a task on `node` before `at`, run by the same command in the same surroundings."""
    wanted = _surroundings(spec)
    found = list_task_runs(connection, node_id=node.id, task=spec.name, limit=_MOST_RUNS)
    return tuple(run.reading.rates for run in found if run.started_at < at and run.reading and _surroundings(run.spec) == wanted)


def _surroundings(spec: TaskSpec) -> tuple[object, ...]:
    """What makes two runs of one task comparable; secrets are dots in both."""
    return spec.source.kind, spec.command, spec.hidden().environment, spec.container


def _marks(machine: Machine) -> list[tuple[SightingKind, str]]:
    marks = [(SightingKind.UUID, card.uuid) for card in machine.cards]
    marks += [(SightingKind.SERIAL, card.serial) for card in machine.cards]
    marks += [(SightingKind.BOOT_ID, machine.boot_id), (SightingKind.MACHINE_ID, machine.machine_id)]
    return [(kind, value) for kind, value in marks if value]


def place_of(node: Node) -> str:
    """The way to a node; two records with one way are one machine."""
    if node.address is None or node.reach is not Reach.SSH:
        return f"{node.reach}:{node.target}"
    return f"{node.reach}:{node.address.host.lower()}:{node.address.port}"


def is_one_machine(one: Node, key: HostKey | None, other: Node, other_key: HostKey | None) -> bool:
    """Whether two records, and the host keys that answered there, are one machine.

    Behind other gates one address with another key of the same type is another machine; where a key is unknown it is not said.
    """
    if place_of(one) != place_of(other):
        return False
    is_other_way = (one.jump, one.proxy) != (other.jump, other.proxy)
    return not (is_other_way and key and other_key and key.kind == other_key.kind and key != other_key)


def _elsewhere(connection: Reader, seen: Sighting, node: Node, today: date, newest: str | None) -> Elsewhere:
    contract = suppliers.get_contract(connection, node.contract_id) if node.contract_id else None
    rented = contract is None or contract.end is None or contract.end >= today
    return Elsewhere(seen.kind, seen.value, node.name, seen.seen_at, seen.run_id == newest, rented, seen.faulty)


def sightings_of(
    run_id: str, node_id: str, at: datetime, evidence: Mapping[str, Evidence], findings: Iterable[Finding]
) -> tuple[Sighting, ...]:
    """What a run saw that a later run may meet again elsewhere."""
    machine = machine_from(evidence)
    faulty = {
        subject.id for f in findings if f.check.startswith("health.") for subject in f.subjects if subject.verdict is Verdict.FAIL
    }  # fmt: skip
    serials = {card.serial for card in machine.cards if card.uuid in faulty and card.serial}
    return tuple(
        Sighting(run_id, node_id, at, kind, value, value in faulty or value in serials) for kind, value in _marks(machine)
    )
