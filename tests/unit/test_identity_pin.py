"""What the store remembers of a node comes back into its next run, and of its cards into the runs of others."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from gpulease_gui.checks.history import Elsewhere, History
from gpulease_gui.checks.judgement import Evidence
from gpulease_gui.checks.machine import ChangeKind
from gpulease_gui.cli.main import main
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.finding import Basis, Finding, SubjectFinding, Verdict
from gpulease_gui.domain.node import Address, HostKey, Node
from gpulease_gui.domain.supplier import Contract, Supplier
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import read, readers
from gpulease_gui.services.drift import shared_cards, since_accepted
from gpulease_gui.services.identity_pin import accept_swap, history_of, machine_from, pinned_run, sightings_of
from gpulease_gui.store import runs
from gpulease_gui.store.evidence import collected, save_run_evidence
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.records import Run, RunKind, RunState
from gpulease_gui.store.sightings import save_sightings
from gpulease_gui.store.suppliers import save_contract, save_supplier
from gpulease_gui.store.workspace import Workspace

XML = (Path(__file__).parents[1] / "outputs" / "h100_sxm8.xml").read_text("utf-8")
OUTPUT = CommandOutput(XML.encode())
FIRST = "GPU-3f1c7a52-8d0e-4b6f-9a21-5e7c04d9b1f0"
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
KEY = HostKey("ssh-ed25519", "SHA256:abc")


class Desk:
    """Two nodes of one contract, and a short way to let a run see the cards of the report."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.nodes = [Node(f"n{k}", f"node-0{k}", address=Address("10.0.0.9", 2200 + k), contract_id="c1") for k in (1, 2)]
        self.write(lambda db: save_supplier(db, Supplier("s1", "supplier")))
        self.write(lambda db: save_contract(db, Contract("c1", "s1", "2026-1", end=date(2026, 9, 1))))
        for node in self.nodes:
            self.write(lambda db, node=node: save_node(db, node))
        self.evidence = {"smi_xml": Evidence(read(readers()["smi_xml"], OUTPUT))}

    def write(self, work):
        return self.workspace.submit(work).result(timeout=30)

    def run(self, id_: str, node: str, at: datetime, overall: Verdict, findings: tuple[Finding, ...] = (), xml: str = XML, **more) -> Run:
        made = Run(id_, node, at, "c1", host_key=KEY, **more)
        line, blobs = collected(id_, "smi_xml", "nvidia-smi -q -x", CommandOutput(xml.encode()), at)

        def work(db) -> None:
            runs.save_run(db, made)
            save_run_evidence(db, line, blobs)
            for finding in findings:
                runs.save_finding(db, id_, finding, saved_at=at)
            save_sightings(db, sightings_of(id_, node, at, self.evidence, findings))
            runs.finish_run(db, id_, RunState.FINISHED, at, overall)

        self.write(work)
        return made

    def history(self, number: int, at: datetime) -> History:
        with self.workspace.read() as connection:
            return history_of(connection, self.nodes[number - 1], at, KEY, machine_from(self.evidence))

    def pin(self, node: str, before: datetime) -> str | None:
        with self.workspace.read() as connection:
            found = pinned_run(connection, node, before)
            return found.id if found else None


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    workspace = Workspace.open(tmp_path / "w.db")
    yield Desk(workspace)
    workspace.close()


def test_that_a_first_run_has_no_past(desk: Desk) -> None:
    assert desk.history(1, NOON) == History(NOON, None, None, True, "SHA256:abc", ())


def test_that_the_newest_accepted_run_before_this_one_is_the_pin(desk: Desk) -> None:
    desk.run("a", "n1", NOON, Verdict.PASS)
    desk.run("b", "n1", NOON + timedelta(hours=1), Verdict.WARN)
    desk.run("c", "n1", NOON + timedelta(hours=2), Verdict.FAIL)
    desk.run("d", "n1", NOON + timedelta(hours=3), Verdict.PASS, kind=RunKind.REJUDGED, original_id="c")
    assert desk.pin("n1", NOON + timedelta(days=1)) == "b"
    assert desk.pin("n1", NOON + timedelta(minutes=30)) == "a"
    assert desk.pin("n1", NOON) is None
    history = desk.history(1, NOON + timedelta(days=1))
    assert history.pinned_at == NOON + timedelta(hours=1) and history.pinned is not None
    assert [card.uuid for card in history.pinned.cards][:1] == [FIRST] and len(history.pinned.cards) == 8
    assert history.pinned.host_key == "SHA256:abc"


def test_that_a_swap_that_somebody_accepted_is_the_new_pin_from_then_on(desk: Desk) -> None:
    desk.run("a", "n1", NOON, Verdict.PASS)
    failed = desk.run("b", "n1", NOON + timedelta(hours=1), Verdict.FAIL)
    desk.write(lambda db: accept_swap(db, failed, "card 3 replaced under RMA 17", NOON + timedelta(hours=2)))
    assert desk.pin("n1", NOON + timedelta(hours=3)) == "b"
    assert desk.pin("n1", NOON + timedelta(hours=1, minutes=30)) == "a"


def test_that_the_cards_of_one_node_are_known_in_the_run_of_the_other(desk: Desk) -> None:
    desk.run("a", "n1", NOON, Verdict.PASS)
    seen = desk.history(2, NOON + timedelta(hours=1)).elsewhere
    assert {s.kind for s in seen} == {"uuid", "serial"} and len(seen) == 16
    assert Elsewhere("uuid", FIRST, "node-01", NOON) in seen
    assert desk.history(1, NOON + timedelta(hours=1)).elsewhere == ()
    assert desk.history(2, NOON).elsewhere == ()  # a run that was later is no past


def test_that_two_records_of_one_address_are_one_machine(desk: Desk) -> None:
    desk.run("a", "n1", NOON, Verdict.PASS)
    desk.nodes[1] = replace(desk.nodes[1], address=Address("10.0.0.9", 2201, "other"))
    assert desk.history(2, NOON + timedelta(hours=1)).elsewhere == ()


def test_that_a_card_that_failed_a_health_check_stays_known_as_faulty_by_uuid_and_serial(desk: Desk) -> None:
    bad = Finding("health.row_remap", Verdict.FAIL, Text("x", "x"), subjects=(SubjectFinding(FIRST, Verdict.FAIL),))
    desk.run("a", "n1", NOON, Verdict.FAIL, (bad,))
    faulty = [s.value for s in desk.history(2, NOON + timedelta(days=90)).elsewhere if s.faulty]
    assert faulty == [FIRST, "1651023004100"]


def test_that_a_card_of_a_contract_that_is_over_is_not_rented(desk: Desk) -> None:
    desk.run("a", "n1", NOON, Verdict.PASS)
    assert {s.rented for s in desk.history(2, datetime(2026, 9, 1, 8, tzinfo=UTC)).elsewhere} == {True}
    assert {s.rented for s in desk.history(2, datetime(2026, 9, 2, 8, tzinfo=UTC)).elsewhere} == {False}


SWAPPED = XML.replace(FIRST, "GPU-00000000-aaaa-4bbb-8ccc-000000000001").replace("1651023004100", "1651099000001")
FASTER, SLOWER = (
    Finding("net.iperf_multi", Verdict.PASS, Text("x", "x"), "network.gbit_s", 100, rate, "Gbit/s", basis=Basis.MEASURED, better="more",
            direction="target->peer")
    for rate in (96.0, 60.0)
)  # fmt: skip


def swapped(desk: Desk) -> Run:
    """An accepted run, and one after a swap with a slower line."""
    desk.run("old", "n1", NOON, Verdict.PASS, (FASTER,))
    return desk.run("new", "n1", NOON + timedelta(days=1), Verdict.FAIL, (SLOWER,), SWAPPED)


def test_that_a_run_says_what_changed_since_the_accepted_one(desk: Desk) -> None:
    swapped(desk)
    found = since_accepted(desk.workspace, "new")
    assert found is not None and (found.node_id, found.since) == ("n1", "old")
    assert [(c.kind, c.verdict) for c in found.changes] == [(ChangeKind.CARD_SWAPPED, Verdict.FAIL), (ChangeKind.RATE, Verdict.FAIL)]
    assert found.changes[1].words.en == "net.iperf_multi network.gbit_s target->peer fell by 38 %: 96 Gbit/s before, 60 Gbit/s now"
    assert since_accepted(desk.workspace, "old") is None


def test_that_two_runs_of_one_time_with_the_same_cards_are_a_duplicate(desk: Desk) -> None:
    desk.run("a", "n1", NOON, Verdict.PASS)
    desk.run("b", "n2", NOON, Verdict.PASS)
    found = shared_cards(desk.workspace, ["a", "b"])
    assert [(d.first, d.second, len(d.cards)) for d in found] == [("node-01", "node-02", 8)]
    assert found[0].words.zh.startswith("8 张卡同时出现在 node-01 和 node-02")


def test_that_diff_prints_the_changes_and_an_accepted_swap_is_kept_with_its_reason(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    swapped(desk)
    desk.run("other", "n2", NOON, Verdict.PASS)
    words = ["--workspace", str(tmp_path / "w.db")]
    assert main(["diff", "old", "new", "--json", *words]) == 1
    said = json.loads(capsys.readouterr().out)
    assert [(c["kind"], c["subject"][:12]) for c in said["changes"]] == [("card_swapped", "GPU-00000000"), ("rate_fell", "net.iperf_mu")]
    assert said["findings"][0]["measured_after"] == 60.0 and said["duplicates"] == []
    assert main(["diff", "old", "new", *words]) == 1
    assert "  fail  the card at 00000000:18:00.0 was swapped" in capsys.readouterr().out
    assert main(["diff", "old", "old", *words]) == 0
    assert "nothing changed" in capsys.readouterr().out
    assert main(["diff", "old", "other", *words]) == 1
    assert "8 cards are in node-01 and node-02 at once" in capsys.readouterr().out
    assert main(["diff", "old", "other", "--accept", "x", *words]) == main(["diff", "old", "new", "--accept", " ", *words]) == 64
    assert main(["diff", "old", "new", "--accept", "card replaced under RMA 17", *words]) == 0
    assert desk.pin("n1", datetime(2100, 1, 1, tzinfo=UTC)) == "new"


def test_that_one_address_behind_two_gates_is_two_machines_only_where_the_host_keys_say_so(desk: Desk) -> None:
    """Behind gates several nodes have one private address: cards that two of them share were never told."""
    behind = replace(desk.nodes[1], address=desk.nodes[0].address, jump="gate-b")
    desk.write(lambda db: save_node(db, behind))
    other, rsa = HostKey(KEY.kind, "SHA256:other"), HostKey("ssh-rsa", "SHA256:other")
    for n, node in ((1, "n1"), (2, "n2")):
        desk.run(f"run-{n}", node, NOON - timedelta(hours=3 - n), Verdict.PASS)
    told = {}
    for key in (KEY, other, rsa, None):
        with desk.workspace.read() as connection:
            told[key] = {found.node for found in history_of(connection, desk.nodes[0], NOON, key, machine_from(desk.evidence)).elsewhere}
    assert told == {KEY: set(), other: {"node-02"}, rsa: set(), None: set()}
    assert shared_cards(desk.workspace, ["run-1", "run-2"]) == ()
    desk.write(lambda db: runs.save_connection(db, "run-2", host_key=other, clock_offset_s=None))
    assert [(found.first, found.second) for found in shared_cards(desk.workspace, ["run-1", "run-2"])] == [("node-01", "node-02")]
