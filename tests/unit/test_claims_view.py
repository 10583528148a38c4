"""Is a promise written down with its history, and read back with what was found?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gpulease_gui.catalog.catalogue import Catalogue, load_catalogue
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.supplier import Contract, Offer, Supplier
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import Text
from gpulease_gui.reports.unit_words import unit_text
from gpulease_gui.services import directory
from gpulease_gui.services.claims_view import TermRow, history_in, shown_model, terms_in
from gpulease_gui.store import claims, nodes, runs, settings
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.records import Run, RunState
from gpulease_gui.store.workspace import Workspace

AT = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
OFFER, CONTRACT = Holder.offer("o1"), Holder.contract("c1")


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace.open(tmp_path / "own.db")
    opened.submit(lambda db: directory.save_supplier(db, Supplier("s1", "Haven"))).result()
    opened.submit(lambda db: directory.save_offer(db, Offer("o1", "s1", "Q-1"))).result()
    yield opened
    opened.close()


def state(workspace: Workspace, catalogue: Catalogue, term: str, value: object | None, holder: Holder = OFFER,
          source: str | None = None, written: bool | None = None) -> Claim:  # fmt: skip
    return workspace.submit(
        lambda db: directory.state_term(db, holder, term, value, catalogue, source=source, written=written)
    ).result()


def row(workspace: Workspace, catalogue: Catalogue, term: str, holder: Holder = OFFER) -> TermRow:
    with workspace.read() as connection:
        return next(row for row in terms_in(connection, holder, catalogue) if row.term.key == term)


def states(workspace: Workspace, term: str, holder: Holder = OFFER) -> list[tuple[str, TermValue | None]]:
    with workspace.read() as connection:
        return [(str(change.state), change.value) for change in history_in(connection, holder, term)]


def test_that_every_term_is_listed_and_what_nobody_said_is_not_stated(workspace: Workspace, catalogue: Catalogue) -> None:
    with workspace.read() as connection:
        rows = terms_in(connection, OFFER, catalogue)
    assert {row.term.key for row in rows} == set(catalogue.terms)
    assert {(row.value, row.state) for row in rows} == {(None, ClaimState.NOT_ASKED)}
    assert [row.group.key for row in rows][0] == "gpu"
    groups = [row.group.key for row in rows]
    assert groups == sorted(groups, key=list(dict.fromkeys(groups)).index)


def test_that_a_typed_value_is_an_answer_and_a_document_is_evidence(workspace: Workspace, catalogue: Catalogue) -> None:
    assert state(workspace, catalogue, "gpu.count", 8).state is ClaimState.ANSWERED
    assert state(workspace, catalogue, "gpu.count", 8, source="annex A, line 3").state is ClaimState.EVIDENCED
    assert row(workspace, catalogue, "gpu.count").written is True
    assert state(workspace, catalogue, "gpu.count", 8, source="call of 20 Nov", written=False).state is ClaimState.ANSWERED
    assert states(workspace, "gpu.count") == [("answered", 8), ("evidenced", 8), ("answered", 8)]


def test_that_a_corrected_value_keeps_its_document(workspace: Workspace, catalogue: Catalogue) -> None:
    state(workspace, catalogue, "network.gbit_s", 25, source="clause 4.2")
    after = state(workspace, catalogue, "network.gbit_s", 100)
    assert (after.value, after.source, after.state) == (100, "clause 4.2", ClaimState.EVIDENCED)


def test_that_clearing_is_not_stated_and_stays_in_the_history(workspace: Workspace, catalogue: Catalogue) -> None:
    state(workspace, catalogue, "gpu.count", 8)
    assert state(workspace, catalogue, "gpu.count", None).state is ClaimState.NOT_ASKED
    assert states(workspace, "gpu.count") == [("answered", 8), ("not_asked", None)]


def test_that_a_value_that_cannot_be_meant_changes_nothing(workspace: Workspace, catalogue: Catalogue) -> None:
    with pytest.raises(UsageError):
        state(workspace, catalogue, "gpu.count", 4096)
    assert row(workspace, catalogue, "gpu.count").claim is None


def test_that_the_history_names_the_user_of_the_settings(workspace: Workspace, catalogue: Catalogue) -> None:
    state(workspace, catalogue, "gpu.count", 8)
    workspace.submit(lambda db: settings.save_setting(db, directory.USER_NAME, "Lin Yue")).result()
    state(workspace, catalogue, "gpu.count", 4)
    with workspace.read() as connection:
        assert [change.by for change in history_in(connection, OFFER, "gpu.count")] == ["me", "Lin Yue"]


def test_that_asking_is_noted_until_there_is_an_answer(workspace: Workspace, catalogue: Catalogue) -> None:
    assert workspace.submit(lambda db: directory.ask_term(db, OFFER, "gpu.ecc")).result().state is ClaimState.ASKED
    assert state(workspace, catalogue, "gpu.ecc", True).state is ClaimState.ANSWERED
    assert workspace.submit(lambda db: directory.ask_term(db, OFFER, "gpu.ecc")).result().state is ClaimState.ANSWERED


def test_that_the_model_implies_what_nobody_stated(workspace: Workspace, catalogue: Catalogue) -> None:
    state(workspace, catalogue, "gpu.model", "nvidia-h100-sxm5-80gb")
    state(workspace, catalogue, "gpu.count", 8)
    assert row(workspace, catalogue, "gpu.power_w").implied == 700
    assert row(workspace, catalogue, "gpu.interconnect").implied == "nvswitch"
    state(workspace, catalogue, "gpu.power_w", 500)
    assert row(workspace, catalogue, "gpu.power_w").implied is None


@pytest.mark.parametrize(("model", "memory_gb"), [
    ("huawei-ascend-910b3-64gb", 64), ("huawei-ascend-910b4-32gb", 32), ("huawei-ascend-910c-128gb", 128), ("910B", None), ("huawei-atlas-300i-310p-24gb", None),
])  # fmt: skip
def test_that_an_npu_implies_the_memory_that_its_chips_report(workspace: Workspace, catalogue: Catalogue, model: str, memory_gb: int | None) -> None:
    state(workspace, catalogue, "npu.model", model)
    assert row(workspace, catalogue, "npu.memory_gb").implied == memory_gb
    assert row(workspace, catalogue, "gpu.memory_gb").implied is None


def test_that_a_family_implies_nothing_and_is_shown_as_family(workspace: Workspace, catalogue: Catalogue) -> None:
    state(workspace, catalogue, "gpu.model", "H100")
    assert row(workspace, catalogue, "gpu.power_w").implied is None
    assert shown_model("H100", catalogue) == ("H100", True)
    assert shown_model("nvidia-h100-sxm5-80gb", catalogue) == ("H100 SXM5 80GB", False)


def test_that_accepting_an_offer_copies_its_claims_with_their_history(workspace: Workspace, catalogue: Catalogue) -> None:
    state(workspace, catalogue, "gpu.count", 8)
    state(workspace, catalogue, "gpu.count", 8, source="annex A")
    workspace.submit(lambda db: directory.sign_offer(db, "o1", Contract("c1", "s1", "HT-7", "o1"))).result()
    assert row(workspace, catalogue, "gpu.count", CONTRACT).claim == Claim("gpu.count", 8, ClaimState.EVIDENCED, "annex A")
    assert states(workspace, "gpu.count", CONTRACT) == [("answered", 8), ("evidenced", 8), ("evidenced", 8)]
    with workspace.read() as connection:
        deals = directory.suppliers_in(connection)[0].deals
    assert [(deal.number, deal.stated, deal.contracts) for deal in deals] == [("Q-1", 1, ("HT-7",)), ("HT-7", 1, ())]


@pytest.mark.parametrize("contract", [
    Contract("c2", "s1", ""), Contract("c2", "s1", "HT-7"),
    Contract("c2", "s1", "HT-8", start=AT.date(), end=AT.date().replace(day=1)),
], ids=["no number", "number taken", "ends first"])  # fmt: skip
def test_that_a_contract_that_cannot_be_is_refused(workspace: Workspace, contract: Contract) -> None:
    workspace.submit(lambda db: directory.save_contract(db, Contract("c1", "s1", "HT-7"))).result()
    with pytest.raises(UsageError):
        workspace.submit(lambda db: directory.save_contract(db, contract)).result()


def test_that_two_suppliers_never_share_a_name(workspace: Workspace) -> None:
    with pytest.raises(UsageError):
        workspace.submit(lambda db: directory.save_supplier(db, Supplier("s2", "Haven"))).result()


def test_that_the_worst_node_speaks_for_a_term_and_a_verified_claim_stays(workspace: Workspace, catalogue: Catalogue) -> None:
    state(workspace, catalogue, "gpu.power_w", 700)
    workspace.submit(lambda db: directory.sign_offer(db, "o1", Contract("c1", "s1", "HT-7", "o1"))).result()
    for name, verdict, measured in (("n1", Verdict.FAIL, 350), ("n2", Verdict.PASS, 700)):
        save_run(workspace, name, Finding("power.limit", verdict, Text("a", "b"), "gpu.power_w", 700, measured, "W", required=True))
    found = row(workspace, catalogue, "gpu.power_w", CONTRACT).found
    assert found is not None
    assert (found.node_name, found.finding.measured, found.finding.verdict) == ("n1", 350, Verdict.FAIL)


def save_run(workspace: Workspace, name: str, *findings: Finding) -> None:
    """A finished run of a new node of contract c1."""
    workspace.submit(lambda db: nodes.save_node(db, Node(name, name, contract_id="c1"))).result()
    workspace.submit(lambda db: runs.save_run(db, Run(f"run-{name}", name, AT, "c1"))).result()
    for finding in findings:
        workspace.submit(lambda db, f=finding: runs.save_finding(db, f"run-{name}", f, saved_at=AT)).result()
        workspace.submit(lambda db, f=finding: claims.apply_finding(db, "c1", name, f, at=AT)).result()
    workspace.submit(lambda db: runs.finish_run(db, f"run-{name}", RunState.FINISHED, AT, findings[0].verdict)).result()


def test_that_the_source_of_a_measured_promise_can_be_added_without_losing_the_verdict(
    workspace: Workspace, catalogue: Catalogue
) -> None:
    state(workspace, catalogue, "gpu.count", 8)
    workspace.submit(lambda db: directory.sign_offer(db, "o1", Contract("c1", "s1", "HT-7", "o1"))).result()
    save_run(workspace, "n1", Finding("gpu.count", Verdict.PASS, Text("a", "b"), "gpu.count", 8, 8, "GPUs", required=True))
    after = state(workspace, catalogue, "gpu.count", 8, CONTRACT, source="annex A")
    assert (after.state, after.source, after.node_id) == (ClaimState.VERIFIED, "annex A", "n1")
    assert state(workspace, catalogue, "gpu.count", 4, CONTRACT).state is ClaimState.ANSWERED


@pytest.mark.parametrize(("unit", "shown"), [
    ("GB as marketed", Text("GB", "GB")), ("IOPS, 4 KiB random", Text("IOPS", "IOPS")), ("GPUs", Text("GPUs", "卡")),
    ("Gbit/s between two nodes", Text("Gbit/s", "Gbit/s")), ("", Text("", "")),
])  # fmt: skip
def test_that_units_are_short_and_only_counted_things_are_translated(unit: str, shown: Text) -> None:
    assert unit_text(unit) == shown
