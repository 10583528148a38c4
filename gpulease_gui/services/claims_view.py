"""What was promised term by term, where is it written, what checks it, and what was found?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from gpulease_gui.catalog.catalogue import Catalogue
from gpulease_gui.catalog.gpus import ModelPromise
from gpulease_gui.checks.check import Check, rules
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.terms_conflict import conflicts
from gpulease_gui.domain.claim import Claim, ClaimChange, ClaimState
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import WORST_FIRST, Finding
from gpulease_gui.domain.term import Term, TermKind, TermValue
from gpulease_gui.domain.text import NO_TEXT, Text, foreign
from gpulease_gui.reports.unit_words import unit_text
from gpulease_gui.store import claims, nodes, runs
from gpulease_gui.store.claims import Holder, HolderKind
from gpulease_gui.store.records import RunState

if TYPE_CHECKING:
    import sqlite3

_GROUPS: Mapping[str, tuple[str, Text]] = {
    "isolation": ("access", Text("Rental form and access", "租用形态与权限")),
    "tenancy": ("access", Text("Rental form and access", "租用形态与权限")),
    "access": ("access", Text("Rental form and access", "租用形态与权限")),
    "gpu": ("gpu", Text("GPU", "GPU")),
    "nvlink": ("gpu", Text("GPU", "GPU")),
    "pcie": ("gpu", Text("GPU", "GPU")),
    "npu": ("npu", Text("NPU", "NPU")),
    "cann": ("npu", Text("NPU", "NPU")),
    "cpu": ("host", Text("CPU and memory", "CPU 与内存")),
    "ram_gb": ("host", Text("CPU and memory", "CPU 与内存")),
    "node": ("host", Text("CPU and memory", "CPU 与内存")),
    "disk": ("disk", Text("Storage", "存储")),
    "network": ("network", Text("Network", "网络")),
    "rdma": ("network", Text("Network", "网络")),
    "perf": ("gpu", Text("GPU", "GPU")),
    "work": ("work", Text("Agreed task", "约定任务")),
    "driver": ("software", Text("Software", "软件")),
    "cuda": ("software", Text("Software", "软件")),
    "framework": ("software", Text("Software", "软件")),
}
GROUP_ORDER = ("gpu", "host", "network", "disk", "software", "access", "npu", "work")
_WRITTEN = {ClaimState.ANSWERED: False, ClaimState.EVIDENCED: True}


@dataclass(frozen=True, slots=True)
class TermGroup:
    """A heading over terms."""

    key: str
    title: Text


@dataclass(frozen=True, slots=True)
class Found:
    """The worst of the newest findings about a term, and on which node and when (UTC) it was made."""

    finding: Finding
    node_name: str
    node_id: str
    at: datetime


@dataclass(frozen=True, slots=True)
class TermRow:
    """One term of an offer or a contract.

    `claim` None: nobody wrote anything down. `written` says whether the source is a document (None = no source known).
    `implied` follows from the promised model. `planned` are checks of the term that this version does not have yet.
    `conflict` says which other stated term it excludes.
    """

    term: Term
    group: TermGroup
    claim: Claim | None
    written: bool | None = None
    implied: TermValue | None = None
    checks: tuple[Check, ...] = ()
    planned: tuple[str, ...] = ()
    found: Found | None = None
    conflict: Text | None = None

    @property
    def value(self) -> TermValue | None:
        """The promised value; None = not stated."""
        return self.claim.value if self.claim is not None else None

    @property
    def state(self) -> ClaimState:
        """How far the promise is proven."""
        return self.claim.state if self.claim is not None else ClaimState.NOT_ASKED

    @property
    def question(self) -> Text:
        """What to ask the supplier when the term is not stated."""
        asked = next((check.ask for check in self.checks if check.ask.en and len(check.terms) == 1), None)
        label = self.term.label
        return asked or Text(
            f"What do you promise for “{label.en}”{_in_unit(self.term.unit)}?", f"“{label.zh}”如何约定{_in_unit_zh(self.term.unit)}？"
        )


def _in_unit(unit: str) -> str:
    return f", in {unit}" if unit else ""


def _in_unit_zh(unit: str) -> str:
    return f"（单位 {unit}）" if unit else ""


def group_of(term: Term) -> TermGroup:
    """The heading that a term stands under; a new family of terms gets its own name as heading."""
    family = term.key.split(".")[0]
    key, title = _GROUPS.get(family, (family, foreign(family)))
    return TermGroup(key, title)


def terms_in(connection: sqlite3.Connection, holder: Holder, catalogue: Catalogue) -> tuple[TermRow, ...]:
    """Every term of the catalogue, stated or not, by groups; findings only for a contract."""
    held = {claim.term: claim for claim in claims.list_claims(connection, holder)}
    implied = implied_values({key: claim.value for key, claim in held.items() if claim.value is not None}, catalogue)
    found = found_in(connection, holder.id, catalogue) if holder.kind is HolderKind.CONTRACT else {}
    rows = [
        _row(connection, holder, term, held.get(term.key), implied.get(term.key), found.get(term.key))
        for term in catalogue.terms.values()
    ]
    torn = conflicts_in({key: claim.value for key, claim in held.items() if claim.value is not None}, catalogue)
    rows = [replace(row, conflict=torn[row.term.key]) if row.term.key in torn else row for row in rows]
    place = {key: n for n, key in enumerate(GROUP_ORDER)}
    return tuple(sorted(rows, key=lambda row: place.get(row.group.key, len(place))))


def _row(
    connection: sqlite3.Connection, holder: Holder, term: Term, claim: Claim | None, implied: TermValue | None,
    found: Found | None,
) -> TermRow:  # fmt: skip
    known = rules()
    checks = tuple(known[check].check for check in term.checks if check in known)
    planned = tuple(check for check in term.checks if check not in known)
    written = is_written(claims.list_claim_history(connection, holder, term.key)) if claim is not None else None
    return TermRow(term, group_of(term), claim, written, implied, checks, planned, found)


def conflicts_in(stated: Mapping[str, TermValue], catalogue: Catalogue) -> Mapping[str, Text]:
    """Term -> why no product keeps it together with another stated one."""
    try:
        return {term: conflict.words for conflict in conflicts(Promise(catalogue, dict(stated))) for term in conflict.open_terms}
    except UsageError:
        return {}  # an older catalogue knew the word


def is_written(history: Iterable[ClaimChange]) -> bool | None:
    """Whether the newest answer came as a document; verdicts of runs say nothing about that."""
    said = [_WRITTEN[change.state] for change in history if change.state in _WRITTEN]
    return said[-1] if said else None


def implied_values(stated: Mapping[str, TermValue], catalogue: Catalogue) -> Mapping[str, TermValue]:
    """What follows from the promised GPU or NPU model for terms that nobody stated."""
    count = stated.get("gpu.count")
    gpu, npu = (_named(stated.get(key), catalogue) for key in ("gpu.model", "npu.model"))
    follows = {**(gpu.implied(count if isinstance(count, int) else None) if gpu else {}), **(npu.implied_of_npu if npu else {})}
    return {key: value for key, value in follows.items() if key not in stated}


def _named(model: TermValue | None, catalogue: Catalogue) -> ModelPromise | None:
    try:
        return catalogue.gpus.promise(model) if isinstance(model, str) else None
    except UsageError:
        return None  # an older catalogue knew the word


def found_in(connection: sqlite3.Connection, contract_id: str, catalogue: Catalogue) -> Mapping[str, Found]:
    """Term -> the worst finding among the newest finished runs of the contract's nodes."""
    worst: dict[str, Found] = {}

    def loudness(found: Found) -> tuple[bool, int, int]:
        return _loudness(found, catalogue)

    for node in nodes.list_nodes(connection, contract_id):
        made = runs.list_runs(connection, node_id=node.id, contract_id=contract_id)
        latest = next((run for run in made if run.state is RunState.FINISHED), None)
        for stored in runs.list_current_findings(connection, latest.id) if latest else ():
            term = stored.finding.term
            if term is None:
                continue
            here = Found(stored.finding, node.name, node.id, stored.saved_at)
            worst[term] = min(worst.get(term, here), here, key=loudness)
    return worst


def _loudness(found: Found, catalogue: Catalogue) -> tuple[bool, int, int]:
    """Required first, then the worst; of two alike the check that the term names first."""
    finding = found.finding
    term = catalogue.terms.get(finding.term or "")
    checks = term.checks if term is not None else ()
    place = checks.index(finding.check) if finding.check in checks else len(checks)
    return not finding.required, WORST_FIRST.index(finding.verdict), place


def history_in(connection: sqlite3.Connection, holder: Holder, term: str) -> tuple[ClaimChange, ...]:
    """The history of one claim, oldest first."""
    return claims.list_claim_history(connection, holder, term)


def shown_model(value: TermValue, catalogue: Catalogue) -> tuple[str, bool]:
    """(name of the promised product or family, whether it is only a family)."""
    try:
        promise = catalogue.gpus.promise(str(value))
    except UsageError:
        return str(value), False
    return (promise.product.name, False) if promise.product else (promise.family or str(value), True)


def short_unit(term: Term) -> Text:
    """The unit of a term that is a number; empty for the others."""
    return unit_text(term.unit) if term.kind in (TermKind.COUNT, TermKind.NUMBER) else NO_TEXT
