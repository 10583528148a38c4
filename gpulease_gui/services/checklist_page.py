"""What does the checklist page read at once: a deal's checklist, its scores for every use, one item in detail?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.scenarios import Scenario, load_scenarios
from gpulease_gui.checks.check import rules
from gpulease_gui.domain.commercial import Field, HolderOf, Stated, Subject
from gpulease_gui.domain.finding import WORST_FIRST
from gpulease_gui.domain.supplier import Attachment
from gpulease_gui.domain.text import Text, foreign
from gpulease_gui.services.acting import user_name_in
from gpulease_gui.services.checklist_templates import Template, templates_in
from gpulease_gui.services.checklist_view import ChecklistRow, ChecklistView, checklist_of
from gpulease_gui.services.claims_view import Found
from gpulease_gui.services.commerce import deal_in
from gpulease_gui.services.commerce_score import DealScore, score_of, weights_in
from gpulease_gui.store import answers, attachments, deals, nodes, runs
from gpulease_gui.store.answers import AnswerChange
from gpulease_gui.store.deals import DealRow
from gpulease_gui.store.evidence import list_run_evidence
from gpulease_gui.store.records import RunState

if TYPE_CHECKING:
    import sqlite3


@dataclass(frozen=True, slots=True)
class ChecklistSeen:
    """A checklist for the use of the deal, its score by use ("" = every use alike), the user's templates and name.

    `files` are the deal's attachments by id, `scenarios` all uses that there are.
    """

    view: ChecklistView
    scores: Mapping[str, DealScore]
    templates: tuple[Template, ...]
    files: Mapping[str, Attachment]
    scenarios: Mapping[str, Scenario]
    user: str

    @property
    def score(self) -> DealScore:
        """The score for the use that is shown."""
        return self.scores[self.view.scenario]


@cache
def known_scenarios() -> Mapping[str, Scenario]:
    """The uses of the catalogue by id; read once, on a worker."""
    return load_scenarios().scenarios


def seen_in(connection: sqlite3.Connection, subject: Subject, catalogue: Catalogue, day: date) -> ChecklistSeen:
    """Everything that the page shows of an offer or contract as of `day`. Raises UsageError for an unknown one."""
    scenarios = known_scenarios()
    facts = deal_in(connection, subject, day)
    known = templates_in(connection)
    template = next((t for t in known if t.id == facts.row.template_id), Template("", ""))
    view = checklist_of(facts, template, catalogue)
    if view.scenario not in ("", *scenarios):
        view = checklist_of(facts, template, catalogue, "")
    scores = {}
    for use, scenario in (("", None), *scenarios.items()):
        here = view if use == view.scenario else checklist_of(facts, template, catalogue, use)
        scores[use] = score_of(here, weights_in(connection, scenario))
    files = {file.id: file for file in attachments.list_attachments(connection, subject)}
    return ChecklistSeen(view, scores, known, files, scenarios, user_name_in(connection))


# -- one item ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LinkedCheck:
    """A check that answers an item by itself; `found` is its worst newest finding on the deal's nodes, None = not run yet.

    `known` False: this version does not have the check yet.
    """

    id: str
    title: Text
    found: Found | None = None
    known: bool = True


@dataclass(frozen=True, slots=True)
class Proof:
    """What an answer rests on: a file of the deal, or the output of a command (`name` is then its fact)."""

    id: str
    name: str
    sha256: str
    at: datetime | None
    attachment: Attachment | None = None


@dataclass(frozen=True, slots=True)
class ItemSeen:
    """One item in detail: checks, proofs, terms that answer it (with what is stated), and the answers it had before."""

    row: ChecklistRow
    checks: tuple[LinkedCheck, ...]
    proofs: tuple[Proof, ...]
    terms: tuple[tuple[Field, Stated | None], ...]
    history: tuple[AnswerChange, ...]


def item_in(connection: sqlite3.Connection, view: ChecklistView, item_id: str) -> ItemSeen:
    """The detail of one line of a checklist. Raises KeyError for an item that the checklist does not have."""
    row = view.row(item_id)
    facts = view.facts
    terms = tuple((field, facts.commercial(field.key).stated.get(field.key)) for field in row.fields)
    history = answers.list_answer_history(connection, facts.row.deal, item_id)
    return ItemSeen(row, _linked(connection, facts.row, row.item.checks), _proofs(connection, row), terms, history)


def _linked(connection: sqlite3.Connection, deal: DealRow, checks: Iterable[str]) -> tuple[LinkedCheck, ...]:
    worst = found_by_check(connection, deal.id) if deal.kind is HolderOf.CONTRACT and checks else {}
    known = rules()
    return tuple(
        LinkedCheck(id_, known[id_].check.title if id_ in known else foreign(id_), worst.get(id_), id_ in known) for id_ in checks
    )


def found_by_check(connection: sqlite3.Connection, contract_id: str) -> Mapping[str, Found]:
    """Check -> the worst of its findings among the newest finished runs of the contract's nodes."""
    worst: dict[str, Found] = {}
    for node in nodes.list_nodes(connection, contract_id):
        made = runs.list_runs(connection, node_id=node.id, contract_id=contract_id)
        latest = next((run for run in made if run.state is RunState.FINISHED), None)
        for stored in runs.list_current_findings(connection, latest.id) if latest else ():
            here = Found(stored.finding, node.name, node.id, stored.saved_at)
            worst[stored.finding.check] = min(worst.get(stored.finding.check, here), here, key=_loudness)
    return worst


def _loudness(found: Found) -> int:
    return WORST_FIRST.index(found.finding.verdict)


def _proofs(connection: sqlite3.Connection, row: ChecklistRow) -> tuple[Proof, ...]:
    answer = row.answer
    if answer is None or not answer.evidence:
        return ()
    files = attachments.get_attachments(connection, answer.evidence)
    lines = list_run_evidence(connection, answer.run_id) if answer.run_id else ()
    outputs = {line.stdout_sha256: line for line in lines}
    return tuple(_proof(id_, files.get(id_), outputs[id_].fact_id if id_ in outputs else "", answer.at) for id_ in answer.evidence)


def _proof(id_: str, file: Attachment | None, fact: str, at: datetime) -> Proof:
    if file is not None:
        return Proof(id_, file.name, file.sha256, file.at, file)
    return Proof(id_, fact, id_, at)


# -- which deal ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DealsFound:
    """The first deals that hold all the words looked for, and how many there are in all."""

    rows: tuple[DealRow, ...]
    total: int


def find_deals(connection: sqlite3.Connection, words: str, most: int = 200) -> DealsFound:
    """Contracts, then offers, whose number, title, supplier or model holds every word of `words`, newest first."""
    wanted = words.casefold().split()
    rows = [*reversed(deals.list_deals(connection, HolderOf.CONTRACT)), *reversed(deals.list_deals(connection, HolderOf.OFFER))]
    found = [row for row in rows if all(word in _hay(row) for word in wanted)] if wanted else rows
    return DealsFound(tuple(found[:most]), len(found))


def _hay(row: DealRow) -> str:
    return f"{row.number} {row.title} {row.supplier} {row.gpu_model or ''}".casefold()


def first_deal(connection: sqlite3.Connection) -> Subject | None:
    """The deal that is shown when none was chosen: the contract with most answers, else the newest offer; None without any."""
    signed = deals.list_deals(connection, HolderOf.CONTRACT)
    if signed:
        return max(signed, key=lambda row: (row.answered, row.deal)).subject
    offered = deals.deal_ids(connection, HolderOf.OFFER)
    return deals.subject_of(connection, offered[-1]) if offered else None


def weights_of(connection: sqlite3.Connection, scenario: Scenario | None) -> tuple[Mapping[str, Decimal], Mapping[str, Decimal]]:
    """(the weights that count, those that are shipped) of a use."""
    shipped = {name: Decimal(scenario.weights[name]) if scenario else Decimal(1) for name in weights_in(connection, scenario)}
    return weights_in(connection, scenario), shipped
