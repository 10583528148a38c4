"""Judged again, seen before, sent by the supplier: what is derived stands beside the runs and never in their place."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import timedelta

import pytest

from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.text import Text
from gpulease_gui.store import runs
from gpulease_gui.store.nodes import save_node
from gpulease_gui.store.pastes import list_pastes, save_paste
from gpulease_gui.store.records import EvidenceBlob, Paste, PastedOutput, RunKind, Sighting, SightingKind
from gpulease_gui.store.sightings import list_elsewhere, newest_run_with_cards, save_sightings

from .conftest import NOON, Desk


def test_that_a_run_judged_again_is_linked_and_never_the_newest_of_its_node(desk: Desk) -> None:
    again = replace(desk.run, id="r1-again", started_at=NOON + timedelta(days=9), kind=RunKind.REJUDGED, original_id="r1")
    desk.write(lambda db: runs.save_run(db, again))
    finding = Finding("gpu.count", Verdict.FAIL, Text("seven", "七"), "gpu.count", 8, 7)
    desk.write(lambda db: runs.save_finding(db, again.id, finding, saved_at=NOON))
    with desk.workspace.read() as connection:
        assert runs.get_run(connection, "r1-again") == again
        assert runs.list_rejudged(connection, "r1") == (again,)
        assert runs.list_runs(connection) == runs.list_latest_runs(connection) == (desk.run,)
        assert runs.get_latest_run(connection, "n1") == desk.run
        assert runs.list_term_findings(connection, "c1", "gpu.count") == ()


def test_that_a_run_is_found_by_the_beginning_of_its_id_when_only_one_begins_so(desk: Desk) -> None:
    desk.write(lambda db: runs.save_run(db, replace(desk.run, id="r2")))
    with desk.workspace.read() as connection:
        assert runs.find_run(connection, "r1") == desk.run
        for word in ("r", "", "x", "%"):
            with pytest.raises(UsageError):
                runs.find_run(connection, word)


def test_that_a_card_is_found_on_the_other_node_only(desk: Desk) -> None:
    desk.write(lambda db: save_node(db, Node("n2", "node-08")))
    mine = Sighting("r1", "n1", NOON, SightingKind.UUID, "GPU-a")
    other = Sighting("r1", "n2", NOON, SightingKind.UUID, "GPU-a", faulty=True)
    later = replace(other, seen_at=NOON + timedelta(hours=1))
    desk.write(lambda db: save_sightings(db, [mine, other, later]))
    with desk.workspace.read() as connection:
        assert list_elsewhere(connection, "n1", [(SightingKind.UUID, "GPU-a"), (SightingKind.SERIAL, "GPU-a")]) == (later,)
        assert newest_run_with_cards(connection, "n2") == "r1"
        assert newest_run_with_cards(connection, "n9") is None
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        desk.write(lambda db: db.conn.execute("DELETE FROM sightings"))


def test_that_a_paste_comes_back_as_it_was_kept_and_touches_no_run(desk: Desk) -> None:
    blob = EvidenceBlob.of(b"GPU 0: H100")
    finding = Finding("gpu.count", Verdict.PASS, Text("one", "一"), "gpu.count", 1, 1, evidence=(blob.sha256,))
    outputs = (PastedOutput("smi_list", "chat.txt", "nvidia-smi -L", blob.sha256), PastedOutput(None, "chat.txt", "", blob.sha256, True))
    paste = Paste("p1", NOON, outputs, (finding,), Verdict.PASS, "c1", (("gpu.count", 1),), "1.0")
    before = desk.rows("SELECT count(*) FROM findings")
    desk.write(lambda db: save_paste(db, paste, [blob]))
    with desk.workspace.read() as connection:
        assert list_pastes(connection) == list_pastes(connection, "c1") == (paste,)
        assert list_pastes(connection, "c2") == ()
    assert desk.rows("SELECT count(*) FROM findings") == before
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        desk.write(lambda db: db.conn.execute("UPDATE paste_findings SET verdict = 'pass'"))
