"""Does a promise keep its history from the first question to the measurement?"""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from gpulease_gui.domain.claim import Claim, ClaimChange, ClaimState
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Finding, Verdict
from gpulease_gui.domain.node import Node
from gpulease_gui.domain.supplier import Contract
from gpulease_gui.domain.text import Text
from gpulease_gui.store import claims, nodes, suppliers
from gpulease_gui.store.claims import Holder

CONTRACT, OFFER = Holder.contract("c1"), Holder.offer("o1")
COUNT = Claim("gpu.count", 8, ClaimState.ANSWERED, "offer sheet", "by mail")


def save(desk, holder, claim, why=""):
    desk.write(lambda db: claims.save_claim(db, holder, claim, by="li", at=desk.noon, why=why))


def judge(desk, verdict, node="n1", term="gpu.count"):
    finding = Finding("gpu.count", verdict, Text("", ""), term)
    return desk.write(lambda db: claims.apply_finding(db, "c1", node, finding, at=desk.noon))


def history(desk, holder=CONTRACT, term="gpu.count"):
    with desk.workspace.read() as connection:
        return claims.list_claim_history(connection, holder, term)


@pytest.mark.parametrize("value", [8, 8.0, True, "007", "535.104.12", None, ""])
def test_that_a_promised_value_keeps_its_kind(desk, value):
    save(desk, OFFER, replace(COUNT, value=value))
    with desk.workspace.read() as connection:
        back = claims.get_claim(connection, OFFER, "gpu.count")
    assert back == replace(COUNT, value=value)
    assert type(back.value) is type(value)


def test_that_each_true_change_adds_one_line_of_history(desk):
    save(desk, CONTRACT, replace(COUNT, state=ClaimState.ASKED, value=None, note=""))
    save(desk, CONTRACT, COUNT)
    save(desk, CONTRACT, COUNT)
    save(desk, CONTRACT, replace(COUNT, state=ClaimState.EVIDENCED), why="signed copy")
    assert history(desk) == (
        ClaimChange(desk.noon, "li", None, ClaimState.ASKED, ""),
        ClaimChange(desk.noon, "li", 8, ClaimState.ANSWERED, "by mail"),
        ClaimChange(desk.noon, "li", 8, ClaimState.EVIDENCED, "signed copy"),
    )


def test_that_claims_of_offer_and_contract_are_two(desk):
    save(desk, OFFER, COUNT)
    save(desk, CONTRACT, replace(COUNT, value=4))
    with desk.workspace.read() as connection:
        assert claims.list_claims(connection, OFFER) == (COUNT,)
        assert claims.list_claims(connection, CONTRACT) == (replace(COUNT, value=4),)
        assert claims.get_claim(connection, OFFER, "gpu.model") is None


def test_that_accepting_an_offer_copies_its_claims_with_their_history(desk):
    signed = Contract("c2", "s1", "2026-040", "o1")
    save(desk, OFFER, replace(COUNT, state=ClaimState.ASKED))
    save(desk, OFFER, COUNT)
    desk.write(lambda db: claims.accept_offer(db, "o1", signed, by="wu", at=desk.noon))
    save(desk, OFFER, replace(COUNT, value=7))
    with desk.workspace.read() as connection:
        assert suppliers.get_contract(connection, "c2") == signed
        assert claims.list_claims(connection, Holder.contract("c2")) == (COUNT,)
    assert [(line.by, line.state, line.note) for line in history(desk, Holder.contract("c2"))] == [
        ("li", ClaimState.ASKED, "by mail"),
        ("li", ClaimState.ANSWERED, "by mail"),
        ("wu", ClaimState.ANSWERED, "taken over from offer 007"),
    ]


def test_that_an_unknown_offer_makes_no_contract(desk):
    with pytest.raises(UsageError, match="no offer 'o9'"):
        desk.write(lambda db: claims.accept_offer(db, "o9", Contract("c2", "s1", "1"), by="wu", at=desk.noon))
    assert desk.rows("SELECT id FROM contracts") == [("c1",)]


def test_that_an_offer_is_not_taken_over_into_a_contract_that_has_the_term(desk):
    save(desk, OFFER, COUNT)
    save(desk, CONTRACT, replace(COUNT, value=4))
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        desk.write(lambda db: claims.accept_offer(db, "o1", replace(desk.contract, number="X"), by="wu", at=desk.noon))
    with desk.workspace.read() as connection:
        assert suppliers.get_contract(connection, "c1") == desk.contract


def test_that_a_claim_of_an_unknown_contract_is_refused(desk):
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        save(desk, Holder.contract("c9"), COUNT)


def test_that_a_pass_verifies_and_a_fail_refutes_until_the_same_node_passes(desk):
    desk.write(lambda db: nodes.save_node(db, Node("n2", "node-08", contract_id="c1")))
    save(desk, CONTRACT, COUNT)
    assert judge(desk, Verdict.PASS) == replace(COUNT, state=ClaimState.VERIFIED, node_id="n1")
    refuted = replace(COUNT, state=ClaimState.REFUTED, node_id="n1")
    assert judge(desk, Verdict.FAIL) == refuted
    assert judge(desk, Verdict.PASS, node="n2") == refuted
    assert judge(desk, Verdict.PASS) == replace(COUNT, state=ClaimState.VERIFIED, node_id="n1")
    assert [(line.by, line.state, line.note) for line in history(desk)[1:]] == [
        ("gpu.count", ClaimState.VERIFIED, "pass (reported) on node-07"),
        ("gpu.count", ClaimState.REFUTED, "fail (reported) on node-07"),
        ("gpu.count", ClaimState.VERIFIED, "pass (reported) on node-07"),
    ]


@pytest.mark.parametrize("verdict", [Verdict.WARN, Verdict.INCONCLUSIVE, Verdict.NOT_APPLICABLE])
def test_that_the_other_verdicts_change_nothing(desk, verdict):
    save(desk, CONTRACT, COUNT)
    assert judge(desk, verdict) == COUNT
    assert len(history(desk)) == 1


def test_that_what_nobody_promised_is_neither_verified_nor_refuted(desk):
    save(desk, CONTRACT, replace(COUNT, value=None, state=ClaimState.ASKED))
    assert judge(desk, Verdict.FAIL) is None
    assert judge(desk, Verdict.FAIL, term="gpu.model") is None
    assert judge(desk, Verdict.FAIL, term=None) is None
    assert len(history(desk)) == 1
