"""What other nodes measured becomes a yardstick, and a figure that the user moved counts in every later judgement."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.checks.fleet import Fleet, FleetMedian, KnownTool
from gpulease_gui.checks.machine import Machine
from gpulease_gui.cli.main import main
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.finding import Basis, Finding, Reason, Verdict
from gpulease_gui.domain.node import Address, Node
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.domain.text import Text
from gpulease_gui.domain.threshold import Origin
from gpulease_gui.services.drift import changes, snapshot
from gpulease_gui.services.fleet import fleet_of
from gpulease_gui.services.rejudge import rejudge
from gpulease_gui.services.thresholds import set_threshold
from gpulease_gui.store import runs
from gpulease_gui.store.evidence import collected, save_run_evidence
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.records import Run, RunKind, RunState
from gpulease_gui.store.suppliers import save_contract, save_supplier
from gpulease_gui.store.workspace import Workspace

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
XML = (Path(__file__).parents[1] / "outputs" / "h100_sxm8.xml").read_text("utf-8")
SAID = Text("x", "x")
DIGEST, OTHER = "ab" * 32, "cd" * 32


class Desk:
    """Nodes 1 to 6, the odd ones of supplier s1, the even ones of s2; each stands at an address of its own."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        for k in (1, 2):
            self.write(lambda db, k=k: save_supplier(db, Supplier(f"s{k}", f"supplier {k}")))
            self.write(lambda db, k=k: save_contract(db, Contract(f"c{k}", f"s{k}", f"2026-{k}")))
        self.nodes = [Node(f"n{k}", f"node-{k}", address=Address("10.0.0.9", 2200 + k), contract_id=f"c{2 - k % 2}") for k in range(1, 7)]
        for node in self.nodes:
            self.write(lambda db, node=node: save_node(db, node))

    def write(self, work):
        return self.workspace.submit(work).result(timeout=30)

    def run(self, node: int, at: datetime, *findings: Finding, contract: str | None = "", **more) -> str:
        id_, own = f"run-{node}-{at:%d%H}", self.nodes[node - 1]
        made = Run(id_, own.id, at, own.contract_id if contract == "" else contract, **more)

        def work(db) -> None:
            runs.save_run(db, made)
            for finding in findings:
                runs.save_finding(db, id_, finding, saved_at=at)
            runs.finish_run(db, id_, RunState.FINISHED, at, Verdict.PASS)

        self.write(work)
        return id_

    def fleet(self, node: int = 6, at: datetime = NOON + timedelta(days=9)) -> Fleet:
        with self.workspace.read() as connection:
            return fleet_of(connection, self.nodes[node - 1], at)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    workspace = Workspace.open(tmp_path / "w.db")
    yield Desk(workspace)
    workspace.close()


def rate(value: float, verdict: Verdict = Verdict.PASS, code: str = "", basis: Basis = Basis.MEASURED) -> Finding:
    return Finding(
        "disk.seq", verdict, SAID, "disk.read_mb_s", None, value, "MB/s", reason_code=code, basis=basis, direction="read", better="more"
    )


MODEL = Finding("gpu.model", Verdict.PASS, SAID, "gpu.model", None, "H100 SXM5 80GB")


def tool(digest: str, verdict: Verdict = Verdict.WARN) -> Finding:
    return Finding("trust.smi_binary", verdict, SAID, None, None, digest)


def driver(version: str) -> Finding:
    return Finding("drv.version", Verdict.PASS, SAID, "driver.min", None, version)


def test_that_the_newest_rate_of_each_other_node_makes_the_median(desk: Desk) -> None:
    for number, value in enumerate((1000.0, 3000.0, 2000.0), start=1):
        desk.run(number, NOON, rate(value), MODEL)
    desk.run(1, NOON + timedelta(hours=1), rate(2500.0), MODEL)
    desk.run(6, NOON, rate(1.0), MODEL)
    fleet = desk.fleet()
    assert fleet.median("disk.seq", "read") == FleetMedian("disk.seq", "read", "", "MB/s", 2500.0, 3)
    assert fleet.median("disk.seq", "read", "H100 SXM5 80GB") == FleetMedian("disk.seq", "read", "H100 SXM5 80GB", "MB/s", 2500.0, 3)
    assert fleet.median("disk.seq", "write") is fleet.median("disk.seq", "read", "L40S") is fleet.median("disk.rand") is None
    early = desk.fleet(at=NOON + timedelta(minutes=30)).median("disk.seq", "read")
    assert early is not None and early.median == 2000.0


def test_that_rates_without_a_yardstick_become_one_and_those_of_busy_nodes_do_not(desk: Desk) -> None:
    for number, value in enumerate((600.0, 605.0, 610.0, 615.0, 620.0), start=1):
        desk.run(number, NOON, rate(value, Verdict.INCONCLUSIVE, "no_yardstick"), MODEL)
    assert desk.fleet().median("disk.seq", "read", "H100 SXM5 80GB") == FleetMedian("disk.seq", "read", "H100 SXM5 80GB", "MB/s", 610.0, 5)
    desk.run(5, NOON + timedelta(hours=1), rate(90.0, Verdict.WARN, "not_idle"))
    assert desk.fleet().median("disk.seq", "read") == FleetMedian("disk.seq", "read", "", "MB/s", 610.0, 5)


def test_that_many_tasks_do_not_push_out_the_run_that_names_the_cards(desk: Desk) -> None:
    whole = desk.run(1, NOON, MODEL)
    for hour in range(1, 9):
        desk.run(1, NOON + timedelta(hours=hour), rate(100.0 + hour), original_id=whole)
    assert desk.fleet().median("disk.seq", "read", "H100 SXM5 80GB") == FleetMedian("disk.seq", "read", "H100 SXM5 80GB", "MB/s", 108.0, 1)


def test_that_what_was_not_measured_or_not_judged_is_no_part_of_it(desk: Desk) -> None:
    desk.run(1, NOON, rate(9000.0, Verdict.INCONCLUSIVE, "page_cache"))
    desk.run(2, NOON, rate(8000.0, basis=Basis.REPORTED))
    desk.run(3, NOON, rate(7000.0), kind=RunKind.REJUDGED, original_id="run-2-0112")
    assert desk.fleet().medians == ()
    desk.run(4, NOON, rate(2000.0, Verdict.INCONCLUSIVE, Reason.NOT_PROMISED))
    desk.run(5, NOON, rate(1000.0, Verdict.FAIL, "rate_low"))
    found = desk.fleet().median("disk.seq", "read")
    assert found is not None and (found.median, found.nodes) == (1500.0, 2)


def test_that_a_file_is_known_by_nodes_and_suppliers_beside_its_driver(desk: Desk) -> None:
    for number in (1, 2, 3):
        desk.run(number, NOON, tool(DIGEST), driver("570.86.15"))
    desk.run(4, NOON, tool(DIGEST), driver("550.54.15"), contract=None)
    desk.run(5, NOON, tool(OTHER, Verdict.FAIL), driver("570.86.15"))
    assert desk.fleet().tools == (KnownTool("550.54.15", DIGEST, 1, 0), KnownTool("570.86.15", DIGEST, 3, 2))


def test_that_two_records_of_one_machine_are_one_witness(desk: Desk) -> None:
    twin = replace(desk.nodes[1], address=desk.nodes[0].address)
    desk.write(lambda db: save_node(db, twin))
    for number in (1, 2):
        desk.run(number, NOON, tool(DIGEST), driver("570.86.15"), rate(1000.0))
    fleet = desk.fleet()
    assert [t.nodes for t in fleet.tools] == [m.nodes for m in fleet.medians] == [1]
    assert desk.fleet(node=1) == Fleet()


# -- moved figures in later judgements ----------------------------------------------------------------------------------


def test_that_a_stored_run_is_judged_again_by_the_figures_of_today(desk: Desk) -> None:
    id_ = desk.run(1, NOON)
    line, blobs = collected(id_, "smi_xml", "nvidia-smi -q -x", CommandOutput(XML.encode()), NOON)
    desk.write(lambda db: save_run_evidence(db, line, blobs))
    catalogue = load_catalogue()
    first = rejudge(desk.workspace, catalogue, id_)
    before = next(f for f in first.outcome.findings if f.check == "thermal.gpu")
    assert (before.verdict, {one.origin for one in before.judged_by}) == (Verdict.INCONCLUSIVE, {Origin.ASSUMPTION})
    desk.write(lambda db: set_threshold(db, "thermal.gpu", "hot", 20.0, why="an ice hall", at=NOON, by="li"))
    second = rejudge(desk.workspace, catalogue, str(first.outcome.run))
    after = next(f for f in second.outcome.findings if f.check == "thermal.gpu")
    assert after.verdict is Verdict.WARN
    assert next(one for one in after.judged_by if one.name == "hot").source == "an ice hall (li, 2026-06-01)"
    assert [c.finding.check for c in second.changed] == ["thermal.gpu"]
    assert rejudge(desk.workspace, catalogue, str(second.outcome.run)).changed == ()


def test_that_two_runs_are_compared_by_the_figures_of_today(desk: Desk) -> None:
    pair = [desk.run(1, NOON, rate(1000.0)), desk.run(1, NOON + timedelta(hours=1), rate(950.0))]

    def verdicts() -> list[Verdict]:
        with desk.workspace.read() as connection:
            old, new = (snapshot(connection, runs.get_run(connection, id_)) for id_ in pair)
        assert old.machine == new.machine == Machine()
        return [change.verdict for change in changes(old, new)]

    assert verdicts() == [Verdict.WARN]
    desk.write(lambda db: set_threshold(db, "evidence.drift", "break", 4.0, why="strict", at=NOON))
    assert verdicts() == [Verdict.FAIL]
    desk.write(lambda db: set_threshold(db, "evidence.drift", "note", 6.0, why="calm", at=NOON))
    desk.write(lambda db: set_threshold(db, "evidence.drift", "break", 10.0, why="calm", at=NOON))
    assert verdicts() == []


def test_that_the_command_line_lists_moves_and_takes_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "own.db")
    assert main(["thresholds", "set", "power.limit", "full", "97 %", "--why", "a cool bin", "--by", "Li", "--workspace", path]) == 0
    assert "≥ 97 % (set here: a cool bin (Li, " in capsys.readouterr().out
    assert main(["checks", "--thresholds", "--json", "--workspace", path]) == 0
    rows = {(row["check"], row["name"]): row for row in json.loads(capsys.readouterr().out)}
    full = rows["power.limit", "full"]
    assert (full["value"], full["shipped"], full["origin"], full["shipped_origin"], full["moved"]["by"]) == (0.97, 0.99, "set", "assumption", "Li")
    assert rows["health.row_remap", "spare_rows"]["moved"] is None
    assert main(["thresholds", "reset", "power.limit", "full", "--workspace", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["moved"] is None
    assert main(["checks", "--thresholds", "--json"]) == 0
    assert {(row["check"], row["name"]) for row in json.loads(capsys.readouterr().out)} == set(rows)


@pytest.mark.parametrize(("words", "says"), [
    (["set", "power.limit", "full", "120 %", "--why", "x"], "120 % is out of bounds for power.limit full. it may be 0 % to 100 %"),
    (["set", "power.limit", "full", "much", "--why", "x"], "'much' is no value of power.limit full. give a number in %"),
    (["set", "power.limit", "full", "0.9"], "a moved figure needs a reason"),
    (["set", "power.limit", "nothing", "1", "--why", "x"], "its figures are full, lowered, rounding, same_bin"),
    (["set", "gpu.count", "full", "1", "--why", "x"], "it compares with no figure"),
    (["reset", "gpu.xyz", "full"], "there is no such check"),
])  # fmt: skip
def test_that_a_wrong_call_is_said_in_words(words: list[str], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["thresholds", *words, "--workspace", str(tmp_path / "own.db")]) == 64
    assert says in capsys.readouterr().err
