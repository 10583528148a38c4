"""Do many nodes keep what was promised, asked side by side, and a second time only where no answer came?"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from gpulease_gui.cli.codes import Exit, of_verdict
from gpulease_gui.cli.workspace_file import say_note
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Finding, Verdict, totals
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import in_one_line, visible
from gpulease_gui.services.acceptance import changes_since_before, find_contract, promises_in, promises_of
from gpulease_gui.services.composition import Services
from gpulease_gui.services.drift import shared_cards, since_accepted
from gpulease_gui.services.fleet_run import FleetLine, FleetRun, Phase
from gpulease_gui.services.outcome import Outcome, outcome_json
from gpulease_gui.services.targets import node_of
from gpulease_gui.services.verify import Request
from gpulease_gui.store import nodes, suppliers

if TYPE_CHECKING:
    from gpulease_gui.store.doors import Reader

WITHIN_HOURS = 24.0
NOT_CONNECTED, NOT_TRIED, CANCELLED, BROKE_OFF, NO_VERDICT = (
    "not connected", "not tried", "cancelled", "broke off", "no verdict",
)  # fmt: skip


def add_many_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments that only a verification of several nodes has."""
    parser.add_argument("--all", action="store_true", help="all nodes of the workspace, or of --contract; says what changed")
    parser.add_argument("--rest", action="store_true", help="ask only nodes and checks without an answer (see --within)")
    parser.add_argument(
        "--within", type=float, default=WITHIN_HOURS, metavar="HOURS", help="with --rest: how old an answer may be (default: 24)"
    )


@dataclass(slots=True)
class Round:
    """What came of a round, by the ids of nodes. `kept`: had answered everything before; `untried`: cancelled before their turn.
    `broken`: why we could not go on with a node, by our own fault.

    `names`: as `names_in_round`. `overall`: the verdicts by all that is known of the nodes now, what was kept included.
    """

    names: dict[str, str]
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    kept: list[str] = field(default_factory=list)
    untried: list[str] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)
    overall: dict[str, Verdict] = field(default_factory=dict)


def names_in_round(wanted: Sequence[Node]) -> dict[str, str]:
    """What each node (by its id) is called in a round, in one line: its name, with address, then id where others are called the same."""
    names = {node.id: in_one_line(node.name) for node in wanted}
    for more in ({node.id: node.target for node in wanted}, {node.id: node.id for node in wanted}):
        counted = Counter(names.values())
        names = {id_: in_one_line(f"{name} ({more[id_]})") if counted[name] > 1 else name for id_, name in names.items()}
    return names


def chosen_nodes(services: Services, options: argparse.Namespace) -> tuple[Node, ...]:
    """The named nodes, or all. Raises UsageError where there is none or one is named twice."""
    if not options.all:
        named = [node_of(services.workspace, target, options.identity, note=say_note) for target in options.targets]
        twice = {in_one_line(node.name) for node in named if sum(other.id == node.id for other in named) > 1}
        if twice:
            raise UsageError(f"{sorted(twice)[0]} is named twice", next_step="name each node once")
        return tuple(named)
    contract = find_contract(services.workspace, options.contract) if options.contract else None
    with services.workspace.read() as connection:
        found = nodes.list_nodes(connection, contract.id if contract else None)
    if not found:
        where = f"contract {contract.number}" if contract else "the workspace"
        raise UsageError(f"{where} has no nodes", next_step="add nodes to it first")
    return found


def request_for(services: Services, options: argparse.Namespace, chosen: Request,
                terms: dict[str, TermValue] | None, label: str) -> Callable[[Reader, Node], Request]:  # fmt: skip
    """What each node is asked: against --contract, against --terms, else against the contract that it belongs to."""
    if options.contract:
        contract = find_contract(services.workspace, options.contract)
        fixed = replace(chosen, terms=promises_of(services.workspace, contract.id), contract_id=contract.id)
        return lambda connection, node: fixed
    if terms is not None:
        named = replace(chosen, terms=terms, contract_label=label)
        return lambda connection, node: named

    def own(connection: Reader, node: Node) -> Request:
        if node.contract_id is None:
            return chosen
        mine = suppliers.get_contract(connection, node.contract_id)
        return replace(chosen, terms=promises_in(connection, mine.id), contract_id=mine.id, contract_label=mine.number)

    return own


def verify_round(services: Services, options: argparse.Namespace, wanted: tuple[Node, ...],
                 request_of: Callable[[Reader, Node], Request], say: Callable[[Finding, str], None],
                 interrupted: list[int]) -> Round:  # fmt: skip
    """Verify side by side; Ctrl+C ends all and keeps what was found."""
    made = Round(names_in_round(wanted))
    since = utc_now() - timedelta(hours=options.within) if options.rest else None
    fleet = FleetRun(
        services, wanted, request_of, since=since,
        on_outcome=lambda node, outcome: made.outcomes.update({node.id: replace(outcome, name=made.names[node.id])}),
        on_finding=lambda node, finding: say(finding, f"{made.names[node.id]}: "),
    )  # fmt: skip
    try:
        whole = fleet.start(f"verify {len(wanted)} nodes")
        while not whole.job.done.done():
            if interrupted:
                fleet.cancel_all()
            with suppress(TimeoutError):
                whole.job.done.result(timeout=0.2)
        lines = fleet.lines()
    finally:
        fleet.close()
    _sort_rest(made, lines)
    return made


def _sort_rest(made: Round, lines: tuple[FleetLine, ...]) -> None:
    """Outcomes in the order in which the nodes were named, whatever order they came in."""
    made.outcomes = {line.node.id: made.outcomes[line.node.id] for line in lines if line.node.id in made.outcomes}
    made.overall = {line.node.id: line.overall for line in lines if line.overall is not None}
    for line in lines:
        if line.node.id in made.outcomes:
            continue
        if line.phase is Phase.BROKEN:
            made.broken[line.node.id] = line.reason.en
            continue
        (made.untried if line.phase is Phase.CANCELLED else made.kept).append(line.node.id)


def print_round(services: Services, options: argparse.Namespace, made: Round, show: Callable[[Outcome], None]) -> None:
    """All outcomes in the order of their nodes, what changed on each node, and cards that two nodes share."""
    names = made.names
    changed = {id_: _changed(services, outcome) for id_, outcome in made.outcomes.items()}
    twice = [
        replace(found, first=names[found.ids[0]], second=names[found.ids[1]])
        for found in shared_cards(services.workspace, [outcome.run for outcome in made.outcomes.values() if outcome.run])
    ]
    if options.json:
        contract = find_contract(services.workspace, options.contract).id if options.contract else None
        whole = {"contract": contract, "nodes": [outcome_json(o) for o in made.outcomes.values()],
                 "changed": {names[id_]: lines for id_, lines in changed.items()},
                 "duplicates": [{"nodes": [d.first, d.second], "cards": list(d.cards)} for d in twice],
                 "kept": [names[id_] for id_ in made.kept], "not_tried": [names[id_] for id_ in made.untried],
                 "broken": {names[id_]: why for id_, why in made.broken.items()},
                 "overall": {names[id_]: verdict for id_, verdict in made.overall.items()}}  # fmt: skip
        print(json.dumps(whole, ensure_ascii=False, indent=1))
        return
    for id_, outcome in made.outcomes.items():
        show(outcome)
        for line in changed[id_]:
            print(f"  changed: {visible(line)}")
    for id_ in made.kept:
        print(f"{names[id_]}: {made.overall.get(id_, NO_VERDICT)}; answered before, not asked again")
    for id_, why in made.broken.items():
        print(f"{names[id_]}: broke off by our own fault: {in_one_line(why)}")
    for id_ in made.untried:
        print(f"{names[id_]}: cancelled before its turn")
    for duplicate in twice:
        print(f"fail: {visible(duplicate.words.en)}")
    if len(names) > 1:
        print(_in_short(made))


def _in_short(made: Round) -> str:
    """Such as: 7 nodes: 2 fail, 4 pass, 1 not connected. What is known of each now counts, and each once."""
    ends = Counter(_ended(made, id_) for id_ in made.names)
    told = ", ".join(f"{ends[end]} {end}" for end in (*totals(()), NOT_CONNECTED, NOT_TRIED, CANCELLED, BROKE_OFF, NO_VERDICT) if ends[end])
    return f"{len(made.names)} nodes: {told}"


def _ended(made: Round, id_: str) -> str:
    outcome = made.outcomes.get(id_)
    if outcome is not None and outcome.error is not None and outcome.run is None:
        return NOT_CONNECTED
    if id_ in made.untried or id_ in made.broken:
        return NOT_TRIED if id_ in made.untried else BROKE_OFF
    if outcome is not None and outcome.cancelled and outcome.overall is not Verdict.FAIL:
        return CANCELLED
    return made.overall.get(id_) or (outcome.overall if outcome is not None else NO_VERDICT)


def exit_of_round(services: Services, made: Round, exit_of: Callable[[Outcome], Exit]) -> Exit:
    """The worst of all nodes, by what they said now and by what was kept of them."""
    runs = [outcome.run for outcome in made.outcomes.values() if outcome.run]
    codes = [exit_of(outcome) for outcome in made.outcomes.values()]
    codes += map(of_verdict, made.overall.values())
    codes += [Exit.FAIL] * bool(shared_cards(services.workspace, runs)) + [Exit.INTERRUPTED] * bool(made.untried)
    codes += [Exit.OUR_FAULT] * bool(made.broken)
    order = (Exit.INTERRUPTED, Exit.OUR_FAULT, Exit.FAIL, Exit.NOT_CONNECTED, Exit.INCONCLUSIVE)
    return next((code for code in order if code in codes), Exit.OK)


def _changed(services: Services, outcome: Outcome) -> list[str]:
    """First what is different since the node was accepted, then what the checks say otherwise than the run before."""
    drifted = since_accepted(services.workspace, outcome.run) if outcome.run else None
    lines = [change.words.en for change in drifted.changes] if drifted else []
    return [*lines, *changes_since_before(services.workspace, outcome)]


def say_count(wanted: tuple[Node, ...]) -> None:
    """Before anything is sent: which nodes."""
    names = ", ".join(names_in_round(wanted).values())
    print(f"{len(wanted)} nodes: {names}", file=sys.stderr, flush=True)
