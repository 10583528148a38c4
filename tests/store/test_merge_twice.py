"""Does a merge say what it does, and does the same bundle leave nothing to do a second time?"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from sqlite_utils import Database

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import FxRate, Offer, Price, Supplier
from gpulease_gui.services import commerce_edit as edit
from gpulease_gui.services.commerce_undo import undo
from gpulease_gui.services.exchange import apply_merge, export_bundle, merge_in, valid_bundle
from gpulease_gui.store.exchange.bundle_schema import parse_bundle
from gpulease_gui.store.migrations import migrations
from gpulease_gui.store.reference import list_rates, rate_between
from gpulease_gui.store.suppliers import get_offer
from gpulease_gui.store.workspace import Workspace

OFFER = Subject(HolderOf.OFFER, "o1")
RATE = {"from_currency": "USD", "to_currency": "CNY", "day": "2026-11-30", "rate": "7.0835", "source": "bank"}


@pytest.fixture
def here(tmp_path):
    workspace = Workspace.open(tmp_path / "here.db")
    for work in (
        lambda db: edit.save_supplier(db, Supplier("s1", "Haven")),
        lambda db: edit.save_offer(db, Offer("o1", "s1", "Q-7", "8 cards")),
        lambda db: edit.save_price(db, OFFER, Price("p1", Money(Decimal(5), "CNY"), "node_month", valid_to=date(2026, 6, 30))),
    ):
        workspace.submit(work).result()
    yield workspace
    workspace.close()


def bundle_of(workspace, **more):
    with workspace.read() as connection:
        said = json.loads(export_bundle(connection, at=datetime(2026, 12, 1, tzinfo=UTC), demo=False))
    return {**said, **more}


def merge_of(workspace, said):
    bundle = valid_bundle(parse_bundle(json.dumps(said).encode()), load_catalogue())
    with workspace.read() as connection:
        return merge_in(connection, bundle, demo=False)


def merged(workspace, said):
    merge = merge_of(workspace, said)
    workspace.submit(lambda db: apply_merge(db, merge)).result()
    return {(d.record.section.name, d.new): d.changed for d in merge.differences}


def test_that_the_price_of_today_is_no_difference_of_the_offer(here):
    before = bundle_of(here)
    here.submit(lambda db: edit.save_price(db, OFFER, Price("p2", Money(Decimal(9), "CNY"), valid_from=date(2026, 7, 1)))).result()
    assert before["offers"][0]["price_amount"] == "5" and bundle_of(here)["offers"][0]["price_amount"] == "9"
    assert merged(here, before) == {}
    before["offers"][0]["note"] = "new"
    assert merged(here, before) == {("offers", False): (("note", "", "new"),)}
    with here.read() as connection:
        assert str(get_offer(connection, "o1").price) == "CNY 9"
    assert here.submit(undo).result().kept == 0
    assert bundle_of(here)["offers"][0]["note"] == ""


def test_that_a_record_without_prices_brings_the_one_that_stands_in_it(here):
    said = bundle_of(here, prices=[])
    said["offers"] = [{**said["offers"][0], "id": "o2"}]
    assert list(merged(here, said)) == [("offers", True)]
    with here.read() as connection:
        offer = get_offer(connection, "o2")
    assert (str(offer.price), offer.price_unit) == ("CNY 5", "node_month")
    assert merged(here, said) == {}


def test_that_words_in_another_spelling_leave_nothing_to_do_a_second_time(here):
    holder = {"holder_kind": "offer", "holder_id": "o1"}
    claim = {**holder, "source": "", "note": ""}
    content = bundle_of(here)["contents"]
    said = bundle_of(
        here, contents=content, setups=[{**holder, "template_id": "", "scenario": ""}], terms=[{**holder, "terms": "{ }"}],
        claims=[{**claim, "term": "gpu.count", "value": '"8 "', "state": "answered"}, {**claim, "term": "driver.min", "value": "null", "state": "not_asked"}],
        rates=[RATE, {**RATE, "surcharge": "0.03"}],
    )  # fmt: skip
    assert sorted(name for name, _ in merged(here, said)) == ["claims", "rates"]
    assert merged(here, said) == {}


def test_that_a_day_in_another_spelling_is_refused(here):
    with pytest.raises(Exception, match="valid_until") as trouble:
        merge_of(here, {**bundle_of(here), "offers": [{**bundle_of(here)["offers"][0], "valid_until": "20270101"}]})
    assert "no exchange bundle" in str(trouble.value)


def test_that_a_rate_of_an_older_bundle_has_no_surcharge(here):
    merged(here, bundle_of(here, rates=[RATE]))
    with here.read() as connection:
        assert list_rates(connection) == (FxRate("USD", "CNY", Decimal("7.0835"), date(2026, 11, 30), "bank"),)


def test_that_the_surcharge_is_kept_and_paid_one_way_only(here):
    rate = FxRate("USD", "CNY", Decimal("7.20"), date(2026, 3, 31), "card", Decimal("0.03"))
    here.submit(lambda db: edit.save_rate(db, rate)).result()
    with here.read() as connection:
        rates = list_rates(connection)
    assert rates == (rate,) and rate.paid == Decimal("7.416")
    assert rate_between(rates, "CNY", "USD").surcharge == 0
    with pytest.raises(UsageError, match="no surcharge"):
        here.submit(lambda db: edit.save_rate(db, FxRate("USD", "CNY", Decimal(7), date(2026, 3, 31), "", Decimal(3)))).result()


def test_that_rates_of_format_7_come_without_a_surcharge(tmp_path):
    path = tmp_path / "old" / "old.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        db = Database(connection)
        migrations.apply(db, stop_before=[step.name for step in migrations.pending(db)][7])
        connection.execute("INSERT INTO workspace VALUES (1, 'real', '2026-01-01T00:00:00.000000Z')")
        connection.execute("INSERT INTO fx_rates VALUES (1, 'USD', 'CNY', '7.0835', '2026-11-30', 'bank', '2026-11-30T00:00:00Z', 'me')")
    opened = Workspace.open(path)
    with opened.read() as connection:
        assert list_rates(connection) == (FxRate("USD", "CNY", Decimal("7.0835"), date(2026, 11, 30), "bank"),)
    opened.close()
