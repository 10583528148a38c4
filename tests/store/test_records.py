"""Does every record come back from the file as it was put in?"""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulease_gui.domain.errors import UsageError, UserFacing
from gpulease_gui.domain.finding import Verdict
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.node import HostKey, Node, Reach
from gpulease_gui.domain.supplier import Offer, Supplier
from gpulease_gui.store import hostkeys, nodes, runs, settings, suppliers
from gpulease_gui.store.codec import amount_text, currency_text, money_from, utc_from, utc_text
from gpulease_gui.store.records import Draft, KeyDecision, KeyState, Report, Run, RunState


def test_that_suppliers_offers_and_contracts_come_back_equal(desk):
    with desk.workspace.read() as connection:
        assert suppliers.list_suppliers(connection) == (desk.supplier,)
        assert suppliers.get_supplier(connection, "s1") == desk.supplier
        assert suppliers.list_offers(connection, "s1") == suppliers.list_offers(connection) == (desk.offer,)
        assert suppliers.get_offer(connection, "o1") == desk.offer
        assert suppliers.list_contracts(connection) == suppliers.list_contracts(connection, "s1") == (desk.contract,)
        assert suppliers.get_contract(connection, "c1") == desk.contract
        assert suppliers.list_offers(connection, "s2") == suppliers.list_contracts(connection, "s2") == ()


def test_that_records_with_nothing_but_the_must_come_back_equal(desk):
    offer = Offer("o2", "s1", "")
    node = Node("n2", "this computer", Reach.LOCAL, use_sudo=False)
    desk.write(lambda db: suppliers.save_offer(db, offer))
    desk.write(lambda db: nodes.save_node(db, node))
    with desk.workspace.read() as connection:
        assert suppliers.get_offer(connection, "o2") == offer
        assert nodes.get_node(connection, "n2") == node


def test_that_a_quote_number_with_zeros_and_every_decimal_of_a_price_stay(desk):
    assert desk.rows("SELECT quote_no, typeof(quote_no), price_amount FROM offers") == [("007", "text", "16.2050")]


def test_that_a_price_in_exponent_form_is_stored_as_plain_digits(desk):
    desk.write(lambda db: suppliers.save_offer(db, replace(desk.offer, price=Money(Decimal("1E+3"), "CNY"))))
    assert desk.rows("SELECT price_amount FROM offers") == [("1000",)]


def test_that_saving_again_replaces_the_record_and_keeps_what_refers_to_it(desk):
    desk.write(lambda db: suppliers.save_supplier(db, replace(desk.supplier, name="Polar")))
    with desk.workspace.read() as connection:
        assert [s.name for s in suppliers.list_suppliers(connection)] == ["Polar"]
        assert suppliers.list_offers(connection, "s1") == (desk.offer,)


def test_that_nodes_come_back_equal_with_an_ipv6_address(desk):
    with desk.workspace.read() as connection:
        assert nodes.list_nodes(connection) == nodes.list_nodes(connection, "c1") == (desk.node,)
        assert nodes.list_nodes(connection, "c9") == ()


@pytest.mark.parametrize("get", [suppliers.get_supplier, suppliers.get_offer, suppliers.get_contract, nodes.get_node,
                                 runs.get_run, runs.get_finding])  # fmt: skip
def test_that_an_unknown_id_is_a_usage_error_that_names_it(desk, get):
    with desk.workspace.read() as connection, pytest.raises(UsageError, match="'nobody'"):
        get(connection, "nobody")


def test_that_an_offer_of_an_unknown_supplier_is_refused(desk):
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        desk.write(lambda db: suppliers.save_offer(db, Offer("o3", "nobody", "1")))


def test_that_a_supplier_or_node_with_records_can_not_be_removed_and_a_bare_one_can(desk):
    desk.write(lambda db: suppliers.save_supplier(db, Supplier("s2", "Typo")))
    desk.write(lambda db: suppliers.remove_supplier(db, "s2"))
    with pytest.raises(UserFacing, match="offers or contracts belong to it"):
        desk.write(lambda db: suppliers.remove_supplier(db, "s1"))
    with pytest.raises(UserFacing, match="runs, samples or host keys belong to it"):
        desk.write(lambda db: nodes.remove_node(db, "n1"))
    with desk.workspace.read() as connection:
        assert suppliers.list_suppliers(connection) == (desk.supplier,)


def test_that_strict_tables_refuse_a_word_for_a_number(desk):
    with pytest.raises(sqlite3.IntegrityError, match="cannot store TEXT value in INTEGER column"):
        desk.write(lambda db: db.conn.execute("UPDATE nodes SET port = 'ssh'"))


def test_that_a_run_comes_back_equal_from_its_start_to_its_end(desk):
    key = HostKey("ssh-ed25519", "SHA256:abc")
    end = desk.noon + timedelta(seconds=41)
    desk.write(lambda db: runs.save_connection(db, "r1", host_key=key, clock_offset_s=-0.5))
    desk.write(lambda db: runs.finish_run(db, "r1", RunState.FINISHED, end, Verdict.WARN))
    over = replace(
        desk.run, host_key=key, clock_offset_s=-0.5, state=RunState.FINISHED, finished_at=end, overall=Verdict.WARN
    )
    with desk.workspace.read() as connection:
        assert runs.get_run(connection, "r1") == over
        assert runs.list_runs(connection) == runs.list_runs(connection, node_id="n1", contract_id="c1") == (over,)
        assert runs.list_runs(connection, node_id="n2") == runs.list_runs(connection, contract_id="c2") == ()


def test_that_a_run_ends_only_once(desk):
    desk.write(lambda db: runs.finish_run(db, "r1", RunState.CANCELLED, desk.noon, None))
    with pytest.raises(UsageError, match="not running"):
        desk.write(lambda db: runs.finish_run(db, "r1", RunState.FINISHED, desk.noon, Verdict.PASS))


def test_that_the_newest_run_of_a_node_is_found(desk):
    later = Run("r0", "n1", desk.noon + timedelta(days=1))
    desk.write(lambda db: runs.save_run(db, later))
    with desk.workspace.read() as connection:
        assert runs.get_latest_run(connection, "n1") == later
        assert runs.get_latest_run(connection, "n2") is None
        assert runs.list_runs(connection) == (later, desk.run)


def test_that_the_newest_run_of_each_node_is_listed(desk):
    other = replace(desk.node, id="n2", name="node-08")
    made = (
        Run("r2", "n1", desk.noon + timedelta(days=1), "c1"),
        Run("r3", "n2", desk.noon + timedelta(days=2)),
        Run("r4", "n2", desk.noon + timedelta(hours=1), "c1"),
    )
    desk.write(lambda db: nodes.save_node(db, other))
    for run in made:
        desk.write(lambda db, run=run: runs.save_run(db, run))
    with desk.workspace.read() as connection:
        assert runs.list_latest_runs(connection) == (made[1], made[0])
        assert runs.list_latest_runs(connection, "c1") == (made[0], made[2])


def test_that_a_time_without_a_zone_is_refused(desk):
    with pytest.raises(ValueError, match="without a zone"):
        desk.write(lambda db: runs.save_run(db, Run("r2", "n1", datetime(2026, 3, 1))))


def test_that_host_keys_keep_their_history_and_the_last_decision_counts(desk):
    old, new = HostKey("ssh-ed25519", "SHA256:old"), HostKey("ssh-ed25519", "SHA256:new")
    lines = (
        KeyDecision("n1", old, KeyState.TRUSTED, desk.noon, "fingerprint from the supplier", "li"),
        KeyDecision("n1", new, KeyState.REFUSED, desk.noon, "", "li", "nobody announced a change"),
        KeyDecision("n1", old, KeyState.REPLACED, desk.noon, "", "li"),
        KeyDecision("n1", new, KeyState.TRUSTED, desk.noon, "by phone", "li", "the board was changed"),
    )
    for line in lines:
        desk.write(lambda db, line=line: hostkeys.save_key_decision(db, line))
    with desk.workspace.read() as connection:
        assert hostkeys.list_key_decisions(connection, "n1") == lines
        assert hostkeys.list_trusted_keys(connection, "n1") == (new,)
        assert hostkeys.list_trusted_keys(connection, "n2") == ()


@pytest.mark.parametrize(("saved", "default", "got"), [
    ("zh", "en", "zh"), (3, 5, 3), (2.0, 1.0, 2.0), (True, False, True), ("3", 5, 5), (1, True, True), (1, 1.5, 1.5),
])  # fmt: skip
def test_that_a_setting_of_another_type_gives_the_default(desk, saved, default, got):
    desk.write(lambda db: settings.save_setting(db, "key", saved))
    with desk.workspace.read() as connection:
        value = settings.get_setting(connection, "key", default)
        assert (value, type(value)) == (got, type(got))
        assert settings.get_setting(connection, "other", default) == default


def test_that_a_draft_is_replaced_by_its_next_and_can_be_thrown_away(desk):
    first = Draft("offer", "o1", (("quote_no", "00"), ("price", None)), desk.noon)
    second = Draft("offer", "o1", (("quote_no", "007"), ("price", 1.5)), desk.noon + timedelta(seconds=1))
    desk.write(lambda db: settings.save_draft(db, first))
    desk.write(lambda db: settings.save_draft(db, second))
    with desk.workspace.read() as connection:
        assert settings.list_drafts(connection) == (second,)
    desk.write(lambda db: settings.remove_draft(db, "offer", "o1"))
    with desk.workspace.read() as connection:
        assert settings.list_drafts(connection) == ()


def test_that_a_written_report_is_remembered(desk):
    report = Report("p1", "ab" * 32, "/tmp/evaluation.pdf", "zh", desk.noon, "c1")
    desk.write(lambda db: settings.save_report(db, report))
    with desk.workspace.read() as connection:
        assert settings.list_reports(connection) == (report,)


@given(st.decimals(allow_nan=False, allow_infinity=False), st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=st.timezones()))
def test_that_amounts_and_moments_come_back_equal(amount, moment):
    money = Money(amount, "CNY")
    assert money_from(amount_text(money), currency_text(money)) == money
    assert utc_from(utc_text(moment)) == moment.astimezone(UTC)
