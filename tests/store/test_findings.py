"""Are findings and their evidence kept whole, once, and for ever?"""

from __future__ import annotations

import dataclasses
import json
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.finding import Basis, Finding, SubjectFinding, Verdict
from gpulease_gui.domain.text import Text
from gpulease_gui.store import evidence, runs
from gpulease_gui.store.codec import finding_from, finding_text
from gpulease_gui.store.records import EvidenceBlob, Run

words = st.text(st.characters())  # half surrogates and NUL included: a node may print them
values = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), words)
texts = st.builds(Text, words, words)
subjects = st.builds(
    SubjectFinding, words, st.sampled_from(Verdict), values, st.one_of(st.none(), st.integers(0, 64)), texts
)
findings = st.builds(
    Finding, check=words, verdict=st.sampled_from(Verdict), reason=texts, term=st.one_of(st.none(), words),
    promised=values, measured=values, unit=words, subjects=st.lists(subjects, max_size=4).map(tuple),
    reason_code=words, next_step=texts, basis=st.sampled_from(Basis), better=st.one_of(st.none(), words),
    rule_version=st.integers(1, 99), required=st.booleans(), evidence=st.lists(words, max_size=3).map(tuple),
    direction=words,
)  # fmt: skip


@given(findings)
def test_that_every_finding_comes_back_equal_with_the_kind_of_each_value(finding):
    text = finding_text(finding)
    text.encode()  # what a column takes
    back = finding_from(text)
    assert back == finding
    assert repr(back) == repr(finding)  # 8 is not 8.0 and not True


def test_that_no_field_of_a_finding_is_forgotten():
    kept = json.loads(finding_text(Finding("a", Verdict.PASS, Text("", ""), subjects=(SubjectFinding("g", Verdict.PASS),))))
    assert set(kept) == {field.name for field in dataclasses.fields(Finding)}
    assert set(kept["subjects"][0]) == {field.name for field in dataclasses.fields(SubjectFinding)}


def test_that_a_reading_of_not_a_number_does_not_become_a_missing_one():
    back = finding_from(finding_text(Finding("a", Verdict.FAIL, Text("", ""), measured=float("nan"))))
    assert repr(back.measured) == "nan"


def test_that_a_finding_with_half_a_character_in_it_is_saved_and_read(desk):
    hostile = Finding("gpu.model", Verdict.FAIL, Text("\ud800<b>", "\udfff\x00"), "gpu.model", "H100", "\udc80")
    stored = desk.write(lambda db: runs.save_finding(db, "r1", hostile, saved_at=desk.noon))
    with desk.workspace.read() as connection:
        assert runs.get_finding(connection, stored.id) == stored
    assert desk.rows("SELECT reason, measured FROM findings") == [("?<b>", "?")]


def test_that_a_finding_is_stored_with_readable_columns(desk):
    stored = desk.find(Verdict.FAIL)
    columns = "id, run_id, saved_at, check_id, term, verdict, promised, measured, reason"
    assert desk.rows(f"SELECT {columns} FROM findings") == [
        (stored.id, "r1", "2026-03-01T12:00:00.250000Z", "gpu.count", "gpu.count", "fail", "8", "8", "eight cards")
    ]


def test_that_a_finding_and_its_evidence_are_saved_together(desk):
    stored = desk.find(output=b"Eight \x00\xff")
    with desk.workspace.read() as connection:
        assert runs.list_findings(connection, "r1") == (stored,)
        assert evidence.get_content(connection, stored.finding.evidence[0]) == b"Eight \x00\xff"


def test_that_a_finding_whose_evidence_is_missing_saves_nothing(desk):
    blob = EvidenceBlob.of(b"here")
    finding = Finding("gpu.count", Verdict.PASS, Text("", ""), evidence=(blob.sha256, "0" * 64))
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        desk.write(lambda db: runs.save_finding(db, "r1", finding, [blob], saved_at=desk.noon))
    assert desk.rows("SELECT (SELECT count(*) FROM findings), (SELECT count(*) FROM evidence)") == [(0, 0)]


def test_that_the_same_evidence_is_kept_once(desk):
    first, second = desk.find(), desk.find(term="gpu.model")
    assert first.finding.evidence == second.finding.evidence
    assert desk.rows("SELECT count(*) FROM evidence") == [(1,)]
    assert desk.rows("SELECT count(*) FROM finding_evidence") == [(2,)]


def test_that_checking_again_adds_a_finding_and_the_newest_counts(desk):
    first, other, again = desk.find(Verdict.FAIL), desk.find(term=None), desk.find(Verdict.PASS)
    with desk.workspace.read() as connection:
        assert runs.list_findings(connection, "r1") == (first, other, again)
        assert runs.list_current_findings(connection, "r1") == (other, again)


def test_that_the_two_directions_of_one_term_are_two_findings(desk):
    there = Finding("net.iperf_multi", Verdict.PASS, Text("", ""), "net.gbit_s", direction="a->b")
    back = dataclasses.replace(there, direction="b->a", verdict=Verdict.FAIL)
    saved = [desk.write(lambda db, f=f: runs.save_finding(db, "r1", f, saved_at=desk.noon)) for f in (there, back)]
    with desk.workspace.read() as connection:
        assert list(runs.list_current_findings(connection, "r1")) == saved


def test_that_findings_of_a_term_are_found_across_the_runs_of_a_contract(desk):
    first = desk.find(Verdict.FAIL)
    desk.find(term="gpu.model")
    desk.write(lambda db: runs.save_run(db, Run("r2", "n1", desk.noon, "c1")))
    later = desk.write(lambda db: runs.save_finding(db, "r2", first.finding, saved_at=desk.noon))
    with desk.workspace.read() as connection:
        assert runs.list_term_findings(connection, "c1", "gpu.count") == (later, first)
        assert runs.list_term_findings(connection, "c2", "gpu.count") == ()


@pytest.mark.parametrize("table", ["findings", "finding_evidence", "evidence", "run_evidence", "host_keys", "claim_history"])
def test_that_history_can_be_neither_changed_nor_removed(desk, table):
    triggers = desk.rows(f"SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = '{table}' ORDER BY name")
    assert triggers == [(f"{table}_never_changed",), (f"{table}_never_removed",)]


def test_that_a_finding_can_be_neither_changed_nor_removed(desk):
    desk.find(Verdict.FAIL)
    for sql in ("UPDATE findings SET verdict = 'pass'", "DELETE FROM findings",
                "UPDATE evidence SET zlib_bytes = x''", "DELETE FROM finding_evidence"):  # fmt: skip
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            desk.write(lambda db, sql=sql: db.conn.execute(sql))


def test_that_an_output_comes_back_as_it_was_collected(desk):
    output = CommandOutput(b"out", b"err", None, 1.5, stdout_cut=True)
    line, blobs = evidence.collected("r1", "topo", "nvidia-smi topo -m", output, desk.noon)
    quiet, quiet_blobs = evidence.collected("r1", "lspci", "lspci", CommandOutput(b""), desk.noon)
    desk.write(lambda db: evidence.save_run_evidence(db, line, blobs))
    desk.write(lambda db: evidence.save_run_evidence(db, line, blobs))
    desk.write(lambda db: evidence.save_run_evidence(db, quiet, quiet_blobs))
    with desk.workspace.read() as connection:
        assert evidence.list_run_evidence(connection, "r1") == (line, quiet)
        assert evidence.get_output(connection, line) == output
        assert evidence.get_output(connection, quiet) == CommandOutput(b"")
        assert evidence.get_blob(connection, line.stdout_sha256) == blobs[0]
        assert blobs[0].cut and blobs[0].full_size == 3


def test_that_an_unknown_hash_is_a_usage_error(desk):
    with desk.workspace.read() as connection, pytest.raises(UsageError, match="no evidence"):
        evidence.get_content(connection, "0" * 64)


@pytest.mark.parametrize("forged", [EvidenceBlob.of(b"pass").packed, b"no zlib", b""])
def test_that_evidence_which_was_changed_behind_our_back_is_not_shown(desk, forged):
    blob = EvidenceBlob.of(b"fail")
    desk.write(lambda db: evidence.save_blobs(db, [dataclasses.replace(blob, packed=forged)]))
    with desk.workspace.read() as connection, pytest.raises(UserFacing, match="changed after it was saved"):
        evidence.get_content(connection, blob.sha256)
