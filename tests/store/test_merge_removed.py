"""Does what one person took back go at the other's, too, and does no older file bring it back, nor a removal take a later edit?"""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.answer import AnswerState, AnswerValue
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.commercial import HolderOf, Stated, Subject
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Price
from gpulease_gui.domain.text import Text
from gpulease_gui.economics.scoring import Waiver
from gpulease_gui.economics.workload import equal_sessions
from gpulease_gui.services import checklist_edit as checklist
from gpulease_gui.services import commerce_edit as edit
from gpulease_gui.services.acting import recorder
from gpulease_gui.services.checklist_edit import Given
from gpulease_gui.services.commerce_cost import SavedWorkload, remove_workload, save_workload
from gpulease_gui.services.commerce_undo import undo
from gpulease_gui.services.exchange import apply_merge, export_bundle, merge_in, valid_bundle
from gpulease_gui.store.claims import Holder
from gpulease_gui.store.deals import deal_number
from gpulease_gui.store.exchange.bundle_schema import parse_bundle

from .conftest import pair

CATALOGUE = load_catalogue()
OFFER = Subject(HolderOf.OFFER, "o1")
NOW = datetime(2026, 12, 1, tzinfo=UTC)
SECTIONS = ("claims", "terms", "prices", "answers", "waivers", "setups", "workloads", "weights", "market", "templates", "mappings")


def take_back(kind, *key):
    """An act that removes one record, as its own page does it."""

    def act(db):
        acting = recorder(db)
        acting.put(kind, (deal_number(db.conn, OFFER), *key) if kind in ("answer", "waiver") else key, None)
        acting.finish(Text("take back", "撤回"))

    return act


def claim(count):
    def act(db):
        acting = recorder(db)
        edit.put_claim(acting, Holder.offer("o1"), Claim("gpu.count", count, ClaimState.ANSWERED if count else ClaimState.NOT_ASKED))
        acting.finish(Text("promise", "承诺"))

    return act


def answer(note):
    return lambda db: checklist.answer_items(db, OFFER, ["BI-03"], Given(AnswerState.ANSWERED, AnswerValue.YES, note))


def price(amount, id_="p1"):
    return lambda db: edit.save_price(db, OFFER, Price(id_, Money(Decimal(amount), "CNY"), "gpu_hour"))


def least(seconds):
    return lambda db: edit.state_fields(db, OFFER, {"billing.min_billed_s": None if seconds is None else Stated(seconds)}, CATALOGUE)


def waiver(reason):
    return lambda db: checklist.waive_items(db, OFFER, ["BI-03"], Waiver("me", reason, date(2099, 1, 1)))


def workload(cards):
    return lambda db: save_workload(db, SavedWorkload("w1", "runs", equal_sessions(cards, 2, 3600)))


def setup(scenario):
    return lambda db: checklist.choose_template(db, OFFER, "", scenario)


# Kind -> (state it, state it otherwise, take it back, its section).
RECORDS = {
    "price": (price(5), price(6), take_back("price", "p1"), "prices"),
    "answer": (answer("first"), answer("other"), take_back("answer", "BI-03"), "answers"),
    "waiver": (waiver("first"), waiver("other"), lambda db: checklist.end_waivers(db, OFFER, ["BI-03"]), "waivers"),
    "promise": (claim(8), claim(4), claim(None), "claims"),
    "terms": (least(3600), least(60), least(None), "terms"),
    "workload": (workload(8), workload(4), lambda db: remove_workload(db, "w1"), "workloads"),
    "setup": (setup("inference"), setup("graphics"), setup(""), "setups"),
}  # fmt: skip


def states(kind, key, one, other):
    """The acts of a record that is kept as its row says."""

    def act(document):
        def put(db):
            acting = recorder(db)
            acting.put(kind, key, document)
            acting.finish(Text("state", "说明"))

        return put

    return act(one), act(other), act(None)


MARKET = {"import_id": "i1", "gpu_model": "h100_sxm", "price_gpu_hour": "9", "currency": "CNY", "mode": "on_demand", "source": "paper", "day": "2026-11-02"}
TEMPLATE = {"name": "mine", "scenario": "inference", "document": "{}"}
# Like a workload: no need to draw them as well.
ROWS = {
    "weight": (*states("weight", ("inference", "price"), {"weight": "2"}, {"weight": "3"}), "weights"),
    "market": (*states("market", ("m1",), MARKET, {**MARKET, "price_gpu_hour": "8"}), "market"),
    "template": (*states("template", ("t1",), TEMPLATE, {**TEMPLATE, "name": "ours"}), "templates"),
    "mapping": (*states("mapping", ("s1", "prices"), {"document": "{}"}, {"document": '{"a":"b"}'}), "mappings"),
}  # fmt: skip


def write(workspace, act):
    return workspace.submit(act).result()


def file_of(workspace):
    with workspace.read() as connection:
        return export_bundle(connection, at=NOW, demo=False)


def said(workspace):
    whole = json.loads(file_of(workspace))
    stamps = ("answered_at", "answered_by", "given_at")
    return {name: sorted(json.dumps({k: v for k, v in entry.items() if k not in stamps}) for entry in whole[name]) for name in SECTIONS}


def look(workspace, data):
    with workspace.read() as connection:
        return merge_in(connection, valid_bundle(parse_bundle(data), CATALOGUE), demo=False)


def merge(workspace, data):
    found = look(workspace, data)
    write(workspace, lambda db: apply_merge(db, found))
    return found


def moves(workspace, data):
    """What a file would change of the records themselves; that both sides remember what the other one did is no change."""
    found = look(workspace, data)
    return [(d.record.section.name, d.record.key) for d in found.differences if not d.record.section.history]


@pytest.mark.parametrize("name", RECORDS)
def test_that_what_was_taken_back_there_goes_here_in_one_step_and_no_older_file_brings_it_back(both, name):
    here, there = both
    state, _, back, section = RECORDS[name]
    write(here, state)
    old = file_of(here)
    merge(there, old)
    write(there, back)
    merge(there, old)
    assert said(there)[section] == [], "an older file brings nothing back"
    data = file_of(there)
    found = merge(here, data)
    assert [(d.record.section.name, d.both) for d in found.differences if d.removed_at] == [(section, False)] and found.removed() == {section: 1}
    assert said(here)[section] == []
    assert not look(here, data).has_work and not moves(there, file_of(here)), "a second time changes nothing"
    write(here, undo)
    assert len(said(here)[section]) == 1 and not look(here, data).has_work, "it was put back here since"
    merge(there, file_of(here))
    assert said(there)[section] == said(here)[section]


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("removed_last", [False, True], ids=["changed last", "removed last"])
def test_that_of_a_change_and_a_removal_the_later_one_counts_on_both_sides_and_neither_is_silent(both, name, removed_last):
    here, there = both
    state, other, back, section = RECORDS[name]
    write(here, state)
    merge(there, file_of(here))
    write(here, other if removed_last else back)
    write(there, back if removed_last else other)
    ours, others = file_of(here), file_of(there)
    for found in (merge(here, others), merge(there, ours)):
        (one,) = [d for d in (*found.differences, *found.kept) if d.record.section.name == section]
        assert one.both or one.new
        assert one.new or one.removed_at
    assert said(here)[section] == said(there)[section] and len(said(here)[section]) == (not removed_last)
    assert not moves(here, file_of(there)) and not moves(there, file_of(here))


@pytest.mark.parametrize("name", RECORDS | ROWS)
@pytest.mark.parametrize("anew", [0, 1], ids=["as it was", "otherwise"])
def test_that_what_was_removed_before_the_copies_were_made_and_is_stated_anew_by_one_stands_at_both(both, name, anew):
    here, there = both
    *acts, back, section = (RECORDS | ROWS)[name]
    write(here, acts[0])
    write(here, back)
    merge(there, file_of(here))
    write(there, acts[anew])
    ours, others = file_of(here), file_of(there)
    merge(here, others)
    merge(there, ours)
    assert said(here)[section] == said(there)[section] and len(said(here)[section]) == 1
    assert not look(here, others).has_work and not moves(there, ours)


@pytest.mark.parametrize("name", RECORDS | ROWS)
def test_that_what_one_changed_to_what_the_other_had_taken_back_by_then_stands_at_both(both, name):
    here, there = both
    state, other, back, section = (RECORDS | ROWS)[name]
    write(here, state)
    merge(there, file_of(here))
    for workspace, act in ((here, other), (here, back), (there, other)):
        write(workspace, act)
    ours, others = file_of(here), file_of(there)
    merge(here, others)
    merge(there, ours)
    assert said(here)[section] == said(there)[section] and len(said(here)[section]) == 1
    assert not moves(here, others) and not moves(there, ours)


def test_that_a_file_of_which_a_list_was_cut_takes_no_price_promise_or_term(both):
    here, _ = both
    for name in ("price", "promise", "terms"):
        write(here, RECORDS[name][0])
    cut = {**json.loads(file_of(here)), "prices": [], "claims": [], "terms": []}
    assert not look(here, json.dumps(cut).encode()).has_work


_ACTS = st.sampled_from([act for *acts, _ in RECORDS.values() for act in acts] + [price(7, "p2"), take_back("price", "p2")])


@settings(max_examples=max(8, settings().max_examples // 12))
@given(st.lists(_ACTS, max_size=6), st.lists(_ACTS, max_size=4), st.lists(_ACTS, max_size=4))
def test_that_two_people_end_with_the_same_records_whoever_took_back_what(begun, before, mine, theirs):
    with tempfile.TemporaryDirectory() as folder:
        with pair(begun, Path(folder)) as (here, there):
            for act in (*(state for state, *_ in RECORDS.values()), *before):
                write(here, act)
            merge(there, file_of(here))
            for workspace, acts in ((here, mine), (there, theirs)):
                for act in acts:
                    write(workspace, act)
            ours, others = file_of(here), file_of(there)
            merge(here, others)
            merge(there, ours)
            assert said(here) == said(there)
            assert not look(here, others).has_work and not look(there, ours).has_work
