"""Does everything come along to the second computer, with its past, and does nothing come along that must not?"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.answer import AnswerState, AnswerValue
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.command import CommandOutput
from gpulease_gui.domain.commercial import HolderOf, Stated, Subject
from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.node import Address, HostKey, Node, Reach
from gpulease_gui.domain.supplier import Contract, Offer, Price, Supplier
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.scoring import Waiver
from gpulease_gui.reports.run_hash import run_hash
from gpulease_gui.services import checklist_edit as checklist
from gpulease_gui.services import commerce_edit as edit
from gpulease_gui.services.acting import recorder
from gpulease_gui.services.checklist_edit import Given
from gpulease_gui.services.commerce_undo import redo, undo
from gpulease_gui.services.exchange import apply_merge, export_bundle, imported_from, merge_in, valid_bundle
from gpulease_gui.store import claims, hostkeys, nodes, pastes, runs, sightings
from gpulease_gui.store import settings as kept_settings
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.deals import deal_number
from gpulease_gui.store.evidence import collected, save_run_evidence
from gpulease_gui.store.exchange.bundle_schema import parse_bundle
from gpulease_gui.store.prices import list_price_versions
from gpulease_gui.store.records import (
    EvidenceBlob,
    KeyDecision,
    KeyState,
    Mark,
    Paste,
    PastedOutput,
    Run,
    RunKind,
    RunState,
    Sighting,
    SightingKind,
)
from gpulease_gui.store.samples import save_mark
from gpulease_gui.store.suppliers import get_offer
from gpulease_gui.store.term_versions import get_terms, list_terms_versions
from gpulease_gui.store.thresholds import ThresholdChange, append_threshold, list_moved
from gpulease_gui.store.trash import in_trash
from gpulease_gui.store.workspace import Workspace

CATALOGUE = load_catalogue()
NOW = datetime(2026, 12, 1, 9, tzinfo=UTC)
OFFER, CONTRACT = Subject(HolderOf.OFFER, "o1"), Subject(HolderOf.CONTRACT, "c1")
OUTPUT = CommandOutput(b"\xff8 GPUs\n", b"one warning", 0, 0.25)


def write(workspace, work):
    return workspace.submit(work).result(timeout=30)


def said_of(workspace):
    with workspace.read() as connection:
        return export_bundle(connection, at=NOW, demo=False)


def look(workspace, data):
    bundle = valid_bundle(parse_bundle(data if isinstance(data, bytes) else json.dumps(data).encode()), CATALOGUE)
    with workspace.read() as connection:
        return merge_in(connection, bundle, demo=False)


def merge(workspace, data, name="theirs.json"):
    found = look(workspace, data)
    write(workspace, lambda db: apply_merge(db, found, name))
    return found


def save_run(db, id_, verdict=Verdict.PASS, *, original=None, kind=RunKind.VERIFIED):
    line, blobs = collected(id_, "smi_list", "nvidia-smi -L", OUTPUT, NOW)
    key = HostKey("ssh-ed25519", "SHA256:abc")
    runs.save_run(db, Run(id_, "n1", NOW, "c1", tool_version="0.1.0", host_key=key, clock_offset_s=0.1, terms=(("gpu.count", 8),), kind=kind, original_id=original))
    finding = Finding("gpu.count", verdict, Text("eight", "八张"), "gpu.count", 8, float("nan"), evidence=(blobs[0].sha256,), required=True)
    runs.save_finding(db, id_, replace(finding, verdict=Verdict.INCONCLUSIVE), blobs, [line], saved_at=NOW)
    runs.save_finding(db, id_, finding, saved_at=NOW + timedelta(seconds=1))
    sightings.save_sightings(db, [Sighting(id_, "n1", NOW, SightingKind.UUID, "GPU-a")])
    runs.finish_run(db, id_, RunState.FINISHED, NOW + timedelta(minutes=1), verdict)


def save_paste(db):
    blob = EvidenceBlob.of(b"what they sent", cut=True)
    finding = Finding("gpu.count", Verdict.FAIL, Text("six", "六张"), "gpu.count", 8, 6, evidence=(blob.sha256,))
    paste = Paste("p1", NOW, (PastedOutput(None, "chat.txt", "", blob.sha256, cut=True),), (finding,), Verdict.FAIL, "c1", (("gpu.count", 8),), "0.1.0")
    pastes.save_paste(db, paste, [blob])


NODE = Node("n1", "节点 7", Reach.SSH, Address("fd00::7", 2222, "ops"), "c1", identity_file="/home/wang/.ssh/id", note="rack 3", jump="ops@gate:22",
            proxy="socks5://wang@127.0.0.1:1080", certificate_file="/home/wang/cert", host_key_alias="seven", known_hosts="/home/wang/known")  # fmt: skip
STEPS = (
    lambda db: edit.save_supplier(db, Supplier("s1", "北辰算力", "CN", "sales@example.com", "met in May")),
    lambda db: edit.save_offer(db, Offer("o1", "s1", "Q-7", "8 cards", valid_until=date(2027, 1, 1))),
    lambda db: edit.save_price(db, OFFER, Price("p1", Money(Decimal("16.20"), "CNY"))),
    lambda db: edit.change_price(db, OFFER, Price("p1", Money(Decimal("15"), "CNY")), date(2026, 11, 1), "asked again"),
    lambda db: edit.state_fields(db, OFFER, {"sla.target": Stated(Decimal("0.999"), source="4.2")}, CATALOGUE, "quote"),
    lambda db: edit.state_fields(db, OFFER, {"sla.target": Stated(Decimal("0.99")), "billing.min_billed_s": Stated(60)}, CATALOGUE, "call"),
    lambda db: claims.save_claim(db, Holder.offer("o1"), Claim("gpu.count", 8, ClaimState.ANSWERED, "p. 2"), by="me", at=NOW),
    lambda db: claims.save_claim(db, Holder.offer("o1"), Claim("ram_gb", 512, ClaimState.ANSWERED), by="me", at=NOW),
    lambda db: claims.save_claim(db, Holder.offer("o1"), Claim("ram_gb", None), by="me", at=NOW + timedelta(hours=1), why="taken back"),
    lambda db: edit.accept_offer(db, "o1", Contract("c1", "s1", "HT-1", "o1", date(2026, 12, 1), date(2027, 12, 1))),
    lambda db: checklist.answer_items(db, OFFER, ["BI-03"], Given(AnswerState.ANSWERED, AnswerValue.YES, "per second")),
    lambda db: checklist.answer_items(db, OFFER, ["BI-03"], Given(AnswerState.EVIDENCED, AnswerValue.NO, "per hour")),
    lambda db: checklist.waive_items(db, OFFER, ["BI-04"], Waiver("me", "small", date(2027, 1, 1))),
    lambda db: checklist.waive_items(db, OFFER, ["BI-04"], Waiver("boss", "small", date(2027, 2, 1))),
    lambda db: edit.attach(db, OFFER, "quote.pdf", "quote", EvidenceBlob.of(b"%PDF-1.7 a quote")),
    lambda db: nodes.save_node(db, NODE),
    lambda db: nodes.save_node(db, Node("n2", "this computer", Reach.LOCAL)),
    lambda db: hostkeys.save_key_decision(db, KeyDecision("n1", HostKey("ssh-ed25519", "SHA256:abc"), KeyState.TRUSTED, NOW)),
    lambda db: save_run(db, "r1"),
    lambda db: save_run(db, "r2", Verdict.FAIL, original="r1", kind=RunKind.REJUDGED),
    lambda db: claims.apply_finding(db, "c1", "n1", Finding("gpu.count", Verdict.PASS, Text("eight", "八张"), "gpu.count", 8, 8), at=NOW),
    lambda db: save_mark(db, Mark("m1", "n1", NOW, "swap_accepted", "two cards", "r1")),
    save_paste,
    lambda db: append_threshold(db, ThresholdChange("gpu.memory_total", "low", None, "share", NOW, "me", "")),
    lambda db: kept_settings.save_setting(db, "offers.workload", "w1"),
    lambda db: kept_settings.save_setting(db, "user.name", "Wang Fang"),
    lambda db: edit.save_supplier(db, Supplier("s2", "Gone")),
    lambda db: edit.delete(db, "supplier", "s2", "closed"),
    lambda db: runs.save_run(db, Run("running", "n1", NOW, "c1")),
)  # fmt: skip


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """The file of a workspace after all STEPS but the last: they take a second, and a run that goes on ends with its process."""
    path = tmp_path_factory.mktemp("filled") / "here.db"
    with closing(Workspace.open(path)) as workspace:
        for step in STEPS[:-1]:
            write(workspace, step)
    return path


@pytest.fixture
def make(tmp_path, filled):
    opened = []

    def make(name, steps=()):
        path = tmp_path / f"{name}.db"
        if steps is STEPS:
            shutil.copyfile(filled, path)
        opened.append(Workspace.open(path))
        for step in STEPS[-1:] if steps is STEPS else steps:
            write(opened[-1], step)
        return opened[-1]

    yield make
    for workspace in opened:
        workspace.close()


def test_that_the_whole_workspace_comes_out_as_it_went_in(make):
    data = said_of(make("here", STEPS))
    there = make("there")
    merge(there, data)
    assert said_of(there) == data
    found = look(there, data)
    assert not found.has_work and found.kept == ()
    said = json.loads(data)
    assert [len(said[n]) for n in ("nodes", "runs", "outputs", "findings", "sightings", "pastes", "marks", "trash", "settings")] == [2, 2, 2, 4, 2, 1, 1, 1, 1]
    assert len(said["term_versions"]) == 3 and len(said["earlier"]) >= 2
    with there.read() as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert [r.id for r in runs.list_runs(connection, node_id="n1")] == ["r1"]
        assert [f.finding.verdict for f in runs.list_current_findings(connection, "r1")] == [Verdict.PASS]
        assert len(claims.list_claim_history(connection, Holder.offer("o1"), "ram_gb")) == 2
        assert in_trash(connection, "supplier", "s2")


def test_that_nothing_of_this_computer_or_of_trust_comes_along(make):
    data = said_of(make("here", STEPS))
    text = data.decode()
    assert [words for words in ("wang", "user.name", "/home", "\"running\"", "\"local\"") if words in text] == []
    there = make("there")
    merge(there, data)
    with there.read() as connection:
        assert hostkeys.list_trusted_keys(connection, "n1") == ()
        node = nodes.get_node(connection, "n1")
        assert (node.address, node.jump, node.host_key_alias, node.identity_file, node.proxy) == (NODE.address, "ops@gate:22", "seven", "", "")
        assert nodes.get_node(connection, "n2").address is None and nodes.get_node(connection, "n2").reach is Reach.SSH


def test_that_a_run_says_that_it_came_in_a_file_and_its_own_workspace_says_nothing(make):
    here, there = make("here", STEPS), make("there")
    data = said_of(here)
    merge(there, data, "theirs.json")
    merge(here, said_of(there))
    with there.read() as connection, here.read() as ours:
        origin = imported_from(connection, "r1")
        assert origin is not None and origin.source == "theirs.json" and "not measured by this computer" in origin.words.en
        assert imported_from(ours, "r1") is None
        assert nodes.get_node(ours, "n2").reach is Reach.LOCAL and nodes.get_node(ours, "n1") == NODE


def test_that_a_merge_is_one_step_back_and_forth_and_what_never_changes_stays(make):
    data = said_of(make("here", STEPS))
    there = make("there", [lambda db: edit.save_supplier(db, Supplier("s9", "Haven"))])
    merge(there, data)
    write(there, undo)
    with there.read() as connection:
        assert in_trash(connection, "offer", "o1") and runs.get_run(connection, "r1").overall is Verdict.PASS
    write(there, redo)
    with there.read() as connection:
        assert get_offer(connection, "o1").title == "8 cards" and not in_trash(connection, "offer", "o1")
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


# -- two people --------------------------------------------------------------------------------------------------------------


def pair(make, mine, theirs):
    """Two workspaces that were one, each with an edit of its own; theirs is the later one."""
    here, there = make("here", STEPS), make("there")
    merge(there, said_of(here))
    write(here, mine)
    write(there, theirs)
    return here, there, said_of(here), said_of(there)


EDITS = {
    "title": (
        lambda db: edit.save_offer(db, Offer("o1", "s1", "Q-7", "mine", valid_until=date(2027, 1, 1))),
        lambda db: edit.save_offer(db, Offer("o1", "s1", "Q-7", "theirs", valid_until=date(2027, 1, 1))),
        lambda c: get_offer(c, "o1").title, "theirs",
    ),
    "terms": (
        lambda db: edit.state_fields(db, OFFER, {"sla.target": Stated(Decimal("0.95"))}, CATALOGUE),
        lambda db: edit.state_fields(db, OFFER, {"sla.target": Stated(Decimal("0.9"))}, CATALOGUE),
        lambda c: get_terms(c, OFFER).value("sla.target"), Decimal("0.9"),
    ),
    "price": (
        lambda db: edit.save_price(db, OFFER, Price("p1", Money(Decimal("11"), "CNY"))),
        lambda db: edit.save_price(db, OFFER, Price("p1", Money(Decimal("12"), "CNY"))),
        lambda c: str(next(v.price.money for v in reversed(list_price_versions(c, deal_number(c, OFFER))) if v.price.id == "p1")), "CNY 12",
    ),
    "promise": (
        lambda db: edit_claim(db, 4), lambda db: edit_claim(db, 2), lambda c: claims.get_claim(c, Holder.offer("o1"), "gpu.count").value, 2,
    ),
    "answer": (
        lambda db: checklist.answer_items(db, OFFER, ["BI-03"], Given(AnswerState.ANSWERED, AnswerValue.PARTLY, "mine")),
        lambda db: checklist.answer_items(db, OFFER, ["BI-03"], Given(AnswerState.ANSWERED, AnswerValue.YES, "theirs")),
        lambda c: c.execute("SELECT note FROM answers WHERE item_id = 'BI-03' AND deal_id = ?", (deal_number(c, OFFER),)).fetchone()[0], "theirs",
    ),
    "figure": (
        lambda db: append_threshold(db, ThresholdChange("gpu.memory_total", "low", 0.5, "share", NOW + timedelta(1), "me", "")),
        lambda db: append_threshold(db, ThresholdChange("gpu.memory_total", "low", 0.6, "share", NOW + timedelta(2), "they", "")),
        lambda c: list_moved(c)[0].value, 0.6,
    ),
}  # fmt: skip


def edit_claim(db, count):
    acting = recorder(db)
    edit.put_claim(acting, Holder.offer("o1"), Claim("gpu.count", count, ClaimState.ANSWERED, "p. 2"))
    acting.finish(Text("a", "b"))


@pytest.mark.parametrize("name", EDITS)
def test_that_two_edits_of_one_record_end_as_the_later_one_on_both_sides_and_none_is_lost(make, name):
    mine, theirs, now, value = EDITS[name]
    here, there, ours, others = pair(make, mine, theirs)
    taken, kept = merge(here, others), merge(there, ours)
    if name != "figure":
        assert [d.both for d in taken.differences if not d.new and d.record.section.name != "offers"] in ([True], []) and any(d.both for d in taken.differences)
        assert kept.kept and not any(not d.new for d in kept.differences)
    for workspace in (here, there):
        with workspace.read() as connection:
            assert now(connection) == value
    assert not look(here, others).has_work and not look(there, ours).has_work, "the same files again change nothing"
    merge(here, said_of(there))
    merge(there, said_of(here))
    assert states(said_of(here)) == states(said_of(there)), "both remember both edits"


def test_that_edits_of_different_fields_of_one_offer_are_joined_on_both_sides(make):
    mine = (lambda db: edit.save_offer(db, replace(get_offer(db.conn, "o1"), title="mine")),
            lambda db: edit.state_fields(db, OFFER, {"sla.target": Stated(Decimal("0.95"))}, CATALOGUE))  # fmt: skip
    theirs = (lambda db: edit.save_offer(db, replace(get_offer(db.conn, "o1"), note="theirs")),
              lambda db: edit.state_fields(db, OFFER, {"billing.min_billed_s": None, "billing.whole_node_only": Stated(True)}, CATALOGUE))  # fmt: skip
    here, there, ours, others = pair(make, lambda db: [work(db) for work in mine], lambda db: [work(db) for work in theirs])
    taken = merge(here, others)
    merge(there, ours)
    assert [d.changed for d in taken.differences if d.record.section.name == "offers"] == [(("note", "", "theirs"),)]
    for workspace in (here, there):
        with workspace.read() as connection:
            offer, terms = get_offer(connection, "o1"), get_terms(connection, OFFER)
        assert (offer.title, offer.note, terms.value("sla.target"), terms.value("billing.min_billed_s")) == ("mine", "theirs", Decimal("0.95"), None)
        assert len(terms.stated) == 2
    assert not look(here, others).has_work and not look(there, ours).has_work
    merge(here, said_of(there))
    assert not any(d.record.section.name in ("offers", "terms") for d in look(there, said_of(here)).differences)


def states(data):
    said = json.loads(data)
    names = ("term_versions", "price_versions", "claim_history", "thresholds")
    values = {name: {json.dumps({k: v for k, v in entry.items() if k != "place"}, sort_keys=True) for entry in said[name]} for name in names}
    earlier = {(entry["record_kind"], entry["record"], entry["document"]) for entry in said["earlier"]}
    return values, {document for *_, document in earlier if "mine" in document}


def test_that_an_edit_of_one_side_only_comes_across_and_an_older_file_takes_nothing_back(make):
    here, there = make("here", STEPS), make("there")
    old = said_of(here)
    merge(there, old)
    write(there, EDITS["title"][1])
    merge(here, said_of(there))
    for workspace in (here, there):
        found = look(workspace, old)
        assert not found.has_work, [(d.record.section.name, d.record.key, d.record.fields) for d in found.differences]
        assert [d.changed for d in found.kept if not d.new] == [(("title", "theirs", "8 cards"),)]
    with here.read() as connection:
        assert get_offer(connection, "o1").title == "theirs"
    write(here, lambda db: apply_merge(db, look(here, old).taking_all))
    with here.read() as connection:
        assert get_offer(connection, "o1").title == "8 cards"


def test_that_histories_of_both_sides_are_told_by_time_and_the_present_one_stays(make):
    mine, theirs, now, _ = EDITS["terms"]
    here, there, _, others = pair(make, mine, theirs)
    write(here, lambda db: edit.state_fields(db, OFFER, {"sla.target": Stated(Decimal("0.8"))}, CATALOGUE, "latest"))
    assert merge(here, others).kept
    with here.read() as connection:
        told = [v.terms.value("sla.target") for v in list_terms_versions(connection, OFFER)]
        assert told == [Decimal(d) for d in ("0.999", "0.99", "0.95", "0.9", "0.8")] and now(connection) == Decimal("0.8")


def test_that_what_was_thrown_away_later_stays_away_and_what_was_changed_later_comes_back(make):
    here, there, _, _ = pair(make, lambda db: edit.delete(db, "offer", "o1", "too dear"), lambda db: None)
    merge(here, said_of(there))
    with here.read() as connection:
        assert in_trash(connection, "offer", "o1")
    write(there, EDITS["title"][1])
    assert [d.back for d in merge(here, said_of(there)).differences if d.record.section.name == "offers"] == [True]
    with here.read() as connection:
        assert not in_trash(connection, "offer", "o1") and get_offer(connection, "o1").title == "theirs"


# -- files that were changed, or are of another version -----------------------------------------------------------------------


def finding_of(said, place=1):
    return json.loads(said["findings"][place]["document"])


def better(said):
    """A fail that becomes a pass, with a hash that fits it."""
    for entry in said["findings"]:
        entry["document"] = json.dumps({**json.loads(entry["document"]), "reason": {"en": "fine", "zh": "好"}})


def forged(said):
    from gpulease_gui.store.codec import finding_from

    better(said)
    for run in said["runs"]:
        found = [finding_from(entry["document"]) for entry in said["findings"] if entry["run_id"] == run["id"]][1:]
        run["run_hash"] = run_hash(run["id"], found, [o["stdout_sha256"] for o in said["outputs"] if o["run_id"] == run["id"]])


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("was changed after it was exported", better),
        ("was changed after it was exported", lambda said: said["outputs"].pop()),
        ("is missing", lambda said: said["contents"].pop(said["outputs"][0]["stdout_sha256"])),
        ("is not what its hash says", lambda said: said["contents"].update({"0" * 64: next(iter(said["contents"].values()))})),
        ("neither in it nor here", lambda said: said["runs"].clear() or said["answers"].clear() or said["marks"].clear()),
        ("findings[0].document can't be", lambda said: said["findings"][0].update(document=json.dumps({**finding_of(said, 0), "reason": {"en": 7, "zh": ""}}))),
        ("findings[0].document can't be", lambda said: said["findings"][0].update(document="{}")),
        ("runs[0].state can't be \"running\"", lambda said: said["runs"][0].update(state="running")),
        ("runs[0].clock_offset_s can't be", lambda said: said["runs"][0].update(clock_offset_s="0")),
        ("demo data and real data", lambda said: said["runs"][0].update(demo=1)),
        ("nodes[0].reach can't be \"local\"", lambda said: said["nodes"][0].update(reach="local")),
        ("a node of the bundle can't be meant", lambda said: said["nodes"][0].update(host="-oProxyCommand=sh")),
        ("a node of the bundle can't be meant", lambda said: said["nodes"][0].update(jump="-oProxyCommand=sh")),
        ("an earlier answer has a state that can't be", lambda said: said["earlier"][0].update(document="{}")),
        ("earlier[0].record_kind can't be \"node\"", lambda said: said["earlier"][0].update(record_kind="node")),
        ("nodes[0].name can't be", lambda said: said["nodes"][0].update(name="\ud800")),
    ],
)  # fmt: skip
def test_that_a_changed_file_is_refused_whole(make, words, change):
    said, there = json.loads(said_of(make("here", STEPS))), make("there")
    before = said_of(there)
    change(said)
    with pytest.raises(UserFacing) as trouble:
        merge(there, said)
    assert words in str(trouble.value)
    assert said_of(there) == before


def test_that_a_forged_run_is_no_other_truth_where_the_run_is_known_and_is_marked_where_not(make):
    here, there = make("here", STEPS), make("there")
    said = json.loads(said_of(here))
    forged(said)
    with pytest.raises(UserFacing, match="the bundle holds another run r1 than this workspace"):
        merge(here, said)
    merge(there, said)
    with there.read() as connection:
        assert imported_from(connection, "r1") is not None


def test_that_a_file_of_version_1_is_read_and_takes_no_node_or_run_from_a_record(make):
    here = make("here", STEPS)
    said = json.loads(said_of(here))
    first = ("suppliers", "sites", "offers", "contracts", "attachments", "claims", "terms", "prices", "answers", "waivers", "setups", "templates", "weights",
             "workloads", "mappings", "market", "rates")  # fmt: skip
    old = {"format": said["format"], "version": 1, "made_at": said["made_at"], "tool_version": "0.1", "demo": False, **{name: said[name] for name in first}}
    used = {entry["sha256"] for entry in said["attachments"]}
    old["contents"] = {sha: packed for sha, packed in said["contents"].items() if sha in used}
    for entry in old["claims"]:
        del entry["node_id"]
    for entry in old["answers"]:
        del entry["run_id"]
    assert [d.record.section.name for d in look(here, old).differences] == ["suppliers"], "what lies in the trash here"
    old["offers"][0]["note"] = "from an older program"
    merge(here, old)
    with here.read() as connection:
        assert claims.get_claim(connection, Holder.contract("c1"), "gpu.count").node_id == "n1"
        assert get_offer(connection, "o1").note == "from an older program"
    there = make("there")
    merge(there, old)
    assert json.loads(said_of(there))["claims"] == [{**c, "node_id": None} for c in said["claims"]]
    with pytest.raises(UserFacing, match="reads versions 1 to 2, the file says 3. update the program"):
        look(there, {**old, "version": 3})


def test_that_a_file_of_brackets_is_refused_before_it_fills_the_memory():
    with pytest.raises(UserFacing, match="more than 16,000,000 values"):
        parse_bundle(b'{"format":"gpulease-exchange","version":2,"runs":[' + b"[]," * 9_000_000)


def test_that_an_output_that_was_changed_on_the_disk_does_not_travel_as_whole(make, tmp_path):
    here = make("here", STEPS)
    here.close()
    with closing(sqlite3.connect(tmp_path / "here.db")) as raw, raw:
        raw.execute("DROP TRIGGER evidence_never_changed")
        raw.execute("UPDATE evidence SET zlib_bytes = x'00' WHERE full_size = ?", (len(OUTPUT.stdout),))
        with pytest.raises(UserFacing, match="was changed after it was saved"):
            export_bundle(raw, at=NOW, demo=False)


# -- any workspace -------------------------------------------------------------------------------------------------------------

_WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
_COUNT = st.integers(1, 64)
_ACTS = st.one_of(
    st.builds(lambda w: lambda db: edit.save_supplier(db, Supplier("s1", "Haven", note=w)), _WORDS),
    st.builds(lambda w: lambda db: edit.save_offer(db, replace(get_offer(db.conn, "o1"), title=w)), _WORDS),
    st.builds(lambda n: lambda db: edit_claim(db, n), _COUNT),
    st.builds(lambda n: lambda db: edit.state_fields(db, OFFER, {"billing.min_billed_s": Stated(n)}, CATALOGUE), _COUNT),
    st.builds(lambda n, i: lambda db: edit.save_price(db, OFFER, Price(f"p{i}", Money(Decimal(n), "CNY"))), _COUNT, st.integers(1, 3)),
    st.builds(lambda w: lambda db: checklist.answer_items(db, OFFER, ["BI-03"], Given(AnswerState.ANSWERED, AnswerValue.YES, w)), _WORDS),
    st.builds(lambda w: lambda db: nodes.save_node(db, Node("n1", w or "n", Reach.SSH, Address("h", 22, "u"), note=w)), _WORDS),
    st.builds(lambda n, w: lambda db: any_run(db, n, w), _COUNT, _WORDS),
    st.just(lambda db: edit.delete(db, "offer", "o1") if not in_trash(db.conn, "offer", "o1") else edit.restore(db, "offer", "o1")),
    st.just(undo), st.just(redo),
)  # fmt: skip


def any_run(db, number, words):
    run = f"run{number}"
    if db.conn.execute("SELECT 1 FROM runs WHERE id = ?", (run,)).fetchone() or not nodes.list_nodes(db.conn):
        return
    runs.save_run(db, Run(run, "n1", NOW, terms=(("gpu.count", number),), clock_offset_s=number / 7))
    line, blobs = collected(run, "fact", words, CommandOutput(words.encode(), b"", None, number / 3, stdout_cut=True), NOW)
    save_run_evidence(db, line, blobs)
    runs.save_finding(db, run, Finding("gpu.count", Verdict.WARN, Text(words, words), None, words, number, evidence=(line.stdout_sha256,)), saved_at=NOW)
    runs.finish_run(db, run, RunState.CANCELLED, NOW, Verdict.WARN)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """The file of a workspace that holds little."""
    path = tmp_path_factory.mktemp("begun") / "a.db"
    with closing(Workspace.open(path)) as workspace:
        for step in (*STEPS[:2], lambda db: nodes.save_node(db, Node("n1", "n", Reach.SSH, Address("h", 22, "u")))):
            write(workspace, step)
    return path


@settings(max_examples=max(6, settings().max_examples // 15))
@given(st.lists(_ACTS, max_size=12), st.lists(_ACTS, max_size=4))
def test_that_any_workspace_survives_the_journey_and_a_second_one_leaves_nothing_to_do(begun, acts, others):
    with tempfile.TemporaryDirectory() as folder:
        here, there = Workspace.open(Path(shutil.copy(begun, folder))), Workspace.open(Path(folder) / "b.db")
        try:
            for act in acts:
                write(here, act)
            data = said_of(here)
            merge(there, data)
            assert said_of(there) == data
            for act in others:
                write(there, act)
            merge(here, said_of(there))
            found = look(here, said_of(there))
            assert not found.has_work, [(d.record.section.name, d.changed) for d in found.differences]
            with here.read() as connection:
                assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        finally:
            here.close()
            there.close()


# -- the file itself -----------------------------------------------------------------------------------------------------------


def test_that_other_tools_read_the_tables_by_name(make, tmp_path):
    make("here", STEPS).close()
    with closing(sqlite3.connect(f"file:{tmp_path / 'here.db'}?mode=ro", uri=True)) as raw:
        tables = [name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '\\_%' ESCAPE '\\'")]
        for table in tables:
            columns = raw.execute(f"PRAGMA table_info({table})").fetchall()
            assert any(column[5] for column in columns), f"{table} has no key"
            assert all(column[1].replace("_", "").isalnum() and column[1].islower() for column in columns)
        # What a generic browser shows for a key: the column called name or title of the table that it points to.
        pointed = {row[2] for table in ("sites", "offers", "contracts", "runs") for row in raw.execute(f"PRAGMA foreign_key_list({table})")}
        assert pointed == {"suppliers", "offers", "contracts", "nodes", "runs"}
        for table, label in (("suppliers", "name"), ("nodes", "name"), ("offers", "title")):
            assert label in [column[1] for column in raw.execute(f"PRAGMA table_info({table})")]
