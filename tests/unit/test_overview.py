"""Does the overview put the worst first, and count only what was shown?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from gpulease_gui.catalog.catalogue import Catalogue, load_catalogue
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.domain.text import Text
from gpulease_gui.services.claims_view import Found
from gpulease_gui.services.events import NodeState
from gpulease_gui.services.overview import DemoSteps, Kind, Overview, Standing, local_day, overview_in, standing_of
from gpulease_gui.store import claims, nodes, runs, suppliers
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.records import Run, RunState
from gpulease_gui.store.workspace import Workspace

AT = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
TODAY = date(2026, 12, 1)
SAID = Text("said", "说")
POWER = Finding("power.limit", Verdict.FAIL, SAID, "gpu.power_w", 700, 350, "W", required=True)
LOG = Finding("health.xid", Verdict.INCONCLUSIVE, SAID, required=True)
COUNT = Finding("gpu.count", Verdict.PASS, SAID, "gpu.count", 8, 8, "GPUs", required=True)


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    opened = Workspace.open(tmp_path / "own.db")
    opened.submit(lambda db: suppliers.save_supplier(db, Supplier("s1", "Haven"))).result()
    contract = Contract("c1", "s1", "HT-7", start=TODAY, end=TODAY + timedelta(days=27))
    opened.submit(lambda db: suppliers.save_contract(db, contract)).result()
    for term, value in (("gpu.model", "nvidia-h100-sxm5-80gb"), ("gpu.count", 8), ("gpu.power_w", 700), ("ram_gb", 512)):
        claim = Claim(term, value, ClaimState.EVIDENCED)
        opened.submit(lambda db, c=claim: claims.save_claim(db, Holder.contract("c1"), c, by="me", at=AT)).result()
    yield opened
    opened.close()


def add_run(workspace: Workspace, node: str, *findings: Finding, state: RunState = RunState.FINISHED, run: str = "",
            at: datetime = AT) -> None:  # fmt: skip
    run = run or f"run-{node}"
    workspace.submit(lambda db: nodes.save_node(db, Node(node, node, contract_id="c1"))).result()
    workspace.submit(lambda db: runs.save_run(db, Run(run, node, at, "c1"))).result()
    for finding in findings:
        workspace.submit(lambda db, f=finding: runs.save_finding(db, run, f, saved_at=at)).result()
        workspace.submit(lambda db, f=finding: claims.apply_finding(db, "c1", node, f, at=at)).result()
    if state is not RunState.RUNNING:
        overall = min((f.verdict for f in findings), key=list(Verdict)[::-1].index, default=None)
        workspace.submit(lambda db: runs.finish_run(db, run, state, at, overall)).result()


def look(workspace: Workspace, catalogue: Catalogue, **states: NodeState) -> Overview:
    with workspace.read() as connection:
        return overview_in(connection, catalogue, TODAY, states)


def test_that_a_contract_without_nodes_needs_one(workspace: Workspace, catalogue: Catalogue) -> None:
    seen = look(workspace, catalogue)
    assert [(d.kind, d.contract, d.place) for d in seen.decisions] == [(Kind.NO_NODES, "HT-7", ("nodes",))]
    line = seen.contracts[0]
    assert (line.model, line.gpus_per_node, line.days_left, line.verdict) == ("H100 SXM5 80GB", 8, 27, None)
    assert line.standing == Standing(unknown=4)


def test_that_a_contract_that_was_never_verified_says_so(workspace: Workspace, catalogue: Catalogue) -> None:
    workspace.submit(lambda db: nodes.save_node(db, Node("n1", "node-1", contract_id="c1"))).result()
    assert [(d.kind, d.nodes, d.place) for d in look(workspace, catalogue).decisions] == [
        (Kind.NEVER_VERIFIED, ("node-1",), ("verification", "n1"))
    ]


def test_that_failed_musts_stand_once_per_check_with_all_their_nodes_and_before_open_ones(
    workspace: Workspace, catalogue: Catalogue
) -> None:
    add_run(workspace, "n1", LOG, POWER, COUNT)
    add_run(workspace, "n2", replace(POWER, measured=500), replace(LOG, required=False))
    seen = look(workspace, catalogue)
    assert [(d.kind, d.nodes) for d in seen.decisions] == [(Kind.BROKEN, ("n1", "n2")), (Kind.UNKNOWN, ("n1",))]
    broken = seen.decisions[0]
    assert broken.title.en == "Power limit"
    assert broken.weight == Text("350 for 700 W", "实测 350，承诺 700 W")
    assert broken.place == ("verification", "n1", "power.limit")
    assert (seen.broken, seen.unknown_musts, seen.unknown) == (1, 1, 2)


def test_that_a_fault_that_no_promise_is_about_is_no_broken_promise(workspace: Workspace, catalogue: Catalogue) -> None:
    slow = Finding("perf.clock_event_reasons", Verdict.FAIL, SAID, measured="hw_slowdown", required=True)
    banks = Finding("health.remap_histogram", Verdict.FAIL, SAID, measured=1, unit="banks", required=True)
    links = Finding("nvlink.state", Verdict.FAIL, SAID, "gpu.interconnect", "nvswitch", 0, "links", required=True)
    add_run(workspace, "n1", slow, banks, links)
    seen = look(workspace, catalogue)
    assert (seen.broken, seen.faults) == (1, 2)
    assert {decision.weight.en for decision in seen.decisions} == {"hardware slowdown", "1 bank", "0 links, NVSwitch promised"}


def test_that_a_newer_run_takes_the_place_of_an_older_one(workspace: Workspace, catalogue: Catalogue) -> None:
    add_run(workspace, "n1", POWER)
    add_run(workspace, "n1", replace(POWER, verdict=Verdict.PASS, measured=700), run="later", at=AT + timedelta(hours=1))
    seen = look(workspace, catalogue)
    assert seen.broken == 0
    assert [line.run.id for line in seen.runs] == ["later", "run-n1"]


def test_that_a_run_that_was_cancelled_decides_nothing(workspace: Workspace, catalogue: Catalogue) -> None:
    add_run(workspace, "n1", COUNT, state=RunState.CANCELLED)
    seen = look(workspace, catalogue)
    assert [d.kind for d in seen.decisions] == [Kind.NEVER_VERIFIED]
    assert seen.contracts[0].verdict is None


def test_that_refused_nodes_stand_under_broken_promises_also_without_a_contract(
    workspace: Workspace, catalogue: Catalogue
) -> None:
    add_run(workspace, "n1", POWER)
    workspace.submit(lambda db: nodes.save_node(db, Node("free", "free"))).result()
    seen = look(workspace, catalogue, n1=NodeState.KEY_CHANGED, free=NodeState.REFUSED)
    assert [(d.kind, d.nodes, d.place) for d in seen.decisions[1:]] == [
        (Kind.HOST_KEY, ("free",), ("nodes", "free")), (Kind.HOST_KEY, ("n1",), ("nodes", "n1")),
    ]  # fmt: skip
    assert seen.decisions[2].title.en == "Host key changed, connection refused"


def test_that_the_promises_of_a_contract_stand_as_its_claims_and_newest_findings_say(
    workspace: Workspace, catalogue: Catalogue
) -> None:
    add_run(workspace, "n1", POWER, COUNT, Finding("ram.total", Verdict.WARN, SAID, "ram_gb", 512, 490, "GB", required=True))
    line = look(workspace, catalogue).contracts[0]
    assert line.standing == Standing(kept=1, broken=1, warned=1, unknown=1)
    assert line.sentence.en == "0 of 1 accepted, n1 fails power.limit"


def test_that_a_promise_is_never_kept_without_a_pass() -> None:
    verified = Claim("gpu.count", 8, ClaimState.VERIFIED)
    open_finding = Found(replace(COUNT, verdict=Verdict.INCONCLUSIVE), "n1", "n1", AT)
    assert standing_of([verified], {"gpu.count": open_finding}) == Standing(unknown=1)
    assert standing_of([verified], {}) == Standing(kept=1)
    assert standing_of([Claim("gpu.count", None, ClaimState.ASKED)], {}) == Standing()


def test_that_the_steps_of_the_demo_are_done_when_they_happened(workspace: Workspace, catalogue: Catalogue) -> None:
    assert look(workspace, catalogue).steps == DemoSteps()
    add_run(workspace, "n1", COUNT)
    assert look(workspace, catalogue).steps == DemoSteps(verified=True)


def test_that_a_moment_belongs_to_the_day_of_this_computer() -> None:
    assert local_day(AT) == AT.astimezone().date()
