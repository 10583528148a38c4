"""Does the later of a deletion and a change count on both sides, and does nothing live hang below what was thrown away?"""

from __future__ import annotations

import json
import tempfile
from contextlib import closing
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Contract, Offer, Price, Supplier
from gpulease_gui.domain.text import Text
from gpulease_gui.services import commerce_edit as edit
from gpulease_gui.services.commerce_undo import redo, undo
from gpulease_gui.services.deal_list import deal_list_in
from gpulease_gui.services.exchange import apply_merge, export_bundle, merge_in, valid_bundle
from gpulease_gui.store.exchange.bundle_schema import parse_bundle
from gpulease_gui.store.trash import in_trash
from gpulease_gui.store.workspace import Workspace

from .conftest import pair

CATALOGUE = load_catalogue()
NOW = datetime(2026, 12, 1, tzinfo=UTC)
KINDS = ("supplier", "offer", "contract")


def named(title, id_="o1"):
    return lambda db: edit.save_offer(db, Offer(id_, "s1", "Q-7", title))


def price(amount, id_="o1"):
    return lambda db: edit.save_price(db, Subject(HolderOf.OFFER, id_), Price(f"p-{id_}", Money(Decimal(amount), "CNY"), "gpu_hour"))


def signed(id_):
    return lambda db: edit.save_contract(db, Contract(id_, "s1", "HT-1", "o1"))


def gone(kind, id_):
    return lambda db: edit.delete(db, kind, id_)


def write(workspace, act):
    return workspace.submit(act).result()


def file_of(workspace):
    with workspace.read() as connection:
        return export_bundle(connection, at=NOW, demo=False)


def merge(workspace, data):
    with workspace.read() as connection:
        found = merge_in(connection, valid_bundle(parse_bundle(data), CATALOGUE), demo=False)
    write(workspace, lambda db: apply_merge(db, found))
    return found


def exchange(here, there):
    ours, others = file_of(here), file_of(there)
    return merge(here, others), merge(there, ours)


def living(workspace):
    """Everything that is not in the trash, as it stands."""
    said = json.loads(file_of(workspace))
    away = {(entry["record_kind"], entry["record_id"]) for entry in said["trash"]}
    return {
        (kind, entry["id"]): {name: value for name, value in entry.items() if not name.startswith("price_")}
        for kind in KINDS for entry in said[f"{kind}s"] if (kind, entry["id"]) not in away
    } | {("price", entry["id"]): entry for entry in said["prices"] if (entry["holder_kind"], entry["holder_id"]) not in away}  # fmt: skip


def ids(workspace):
    return {f"{kind} {id_}" for kind, id_ in living(workspace) if kind != "price"}


def listed(workspace):
    with workspace.read() as connection:
        found = deal_list_in(connection, date(2026, 12, 1))
    return [(found.supplier(place).name, found.line(place).id) for place in range(len(found))]


@pytest.fixture(scope="module")
def begun(begun):
    """With a price."""
    with closing(Workspace.open(begun)) as workspace:
        write(workspace, price(5))
    return begun


@pytest.mark.parametrize(("thrown", "change"), [(("offer", "o1"), named("renamed")), (("supplier", "s1"), price(6))], ids=["offer", "supplier"])
def test_that_of_a_deletion_and_a_change_the_later_one_counts_on_both_sides(both, thrown, change):
    here, there = both
    write(here, gone(*thrown))
    write(there, change)
    wanted = living(there)
    found = exchange(here, there)
    assert living(here) == living(there) == wanted and ids(here) == {"supplier s1", "offer o1"}
    assert {(d.record.section.name, d.back) for d in found[0].differences} >= {("offers", True)}, "it is shown before"
    write(there, price(7))
    write(here, gone(*thrown))
    wanted = living(here)
    exchange(here, there)
    assert living(here) == living(there) == wanted and not listed(here)


def test_that_a_change_taken_in_keeps_its_time_and_does_not_outlive_a_later_deletion(both):
    here, there = both
    write(there, named("renamed"))
    write(there, price(6))
    data = file_of(there)
    write(there, gone("offer", "o1"))
    merge(here, data)
    exchange(here, there)
    assert ids(here) == ids(there) == {"supplier s1"}


@pytest.mark.parametrize("child", [named("4 cards", "o2"), signed("c1")], ids=["offer", "contract"])
def test_that_a_supplier_stays_with_what_lives_of_it_whoever_merges_first(both, child):
    here, there = both
    write(there, child)
    write(here, gone("supplier", "s1"))
    exchange(here, there)
    assert living(here) == living(there) and "supplier s1" in ids(here) and listed(here) == listed(there) and len(listed(here)) == 1


def test_that_the_list_shows_a_deal_whose_supplier_is_in_the_trash(both):
    here, _ = both
    write(here, lambda db: db.conn.execute("INSERT INTO trash VALUES ('supplier', 's1', '2026-01-01T00:00:00.000000Z', 'me', '')"))
    assert listed(here) == [("Haven", "o1")]


def test_that_a_supplier_that_a_merge_brings_back_goes_again_when_it_is_taken_back(both):
    here, there = both
    write(there, signed("c1"))
    write(here, gone("supplier", "s1"))
    merge(here, file_of(there))
    assert ids(here) == {"supplier s1", "contract c1"}
    write(here, undo)
    assert ids(here) == set() and listed(here) == []


@pytest.mark.parametrize("last", ["restored", "deleted"])
@pytest.mark.parametrize("first", [0, 1], ids=["here merges first", "there merges first"])
@pytest.mark.parametrize(("kind", "id_"), [("offer", "o1"), ("supplier", "s1")])
def test_that_of_a_restoring_and_a_deletion_that_did_not_know_of_it_the_later_one_counts(both, kind, id_, first, last):
    here, there = both
    write(here, gone(kind, id_))
    if last == "restored":
        write(there, gone(kind, id_))
    write(here, lambda db: edit.restore(db, kind, id_))
    if last == "deleted":
        write(there, gone(kind, id_))
    sides = (here, there) if first == 0 else (there, here)
    merge(sides[1], file_of(sides[0]))
    merge(sides[0], file_of(sides[1]))
    assert living(here) == living(there) and (f"{kind} {id_}" in ids(here)) == (last == "restored")
    write(there, undo)
    exchange(here, there)
    assert living(here) == living(there)


def test_that_a_restoring_by_undo_or_of_an_import_is_a_change_with_a_time(both):
    here, there = both
    write(here, lambda db: edit.import_offers(db, [Supplier("s2", "New")], [], Text("import", "导入")))
    merge(there, file_of(here))
    write(here, undo)  # the import goes
    write(there, gone("supplier", "s2"))
    write(here, redo)  # and comes back, which the other side does not know
    exchange(here, there)
    assert "supplier s2" in ids(here) and living(here) == living(there)
    write(there, gone("supplier", "s2"))
    exchange(here, there)
    assert "supplier s2" not in ids(here) and living(here) == living(there)


def test_that_what_a_merge_brings_back_is_no_newer_than_what_brought_it_back(both):
    here, there = both
    write(here, gone("offer", "o1"))
    write(there, named("renamed"))
    changed = file_of(there)
    write(there, gone("offer", "o1"))
    merge(here, changed)
    assert "offer o1" in ids(here)
    exchange(here, there)
    assert "offer o1" not in ids(here) and living(here) == living(there)


def test_that_preferring_the_file_trashes_nothing_that_was_changed_later_here(both):
    here, there = both
    write(there, gone("offer", "o1"))
    write(here, named("renamed"))
    data = file_of(there)
    with here.read() as connection:
        found = merge_in(connection, valid_bundle(parse_bundle(data), CATALOGUE), demo=False)
    write(here, lambda db: apply_merge(db, found.taking_all))
    assert living(here)["offer", "o1"]["title"] == "8 cards", "the file's words, and nothing goes"


def toggled(kind, id_):
    def act(db):
        if in_trash(db.conn, kind, id_):
            edit.restore(db, kind, id_)
        elif db.conn.execute(f"SELECT 1 FROM {kind}s WHERE id = ?", (id_,)).fetchone():
            edit.delete(db, kind, id_)

    return act


def if_living(act, *needed):
    return lambda db: None if any(in_trash(db.conn, *one) for one in needed) else act(db)


OFFER, SUPPLIER = ("offer", "o1"), ("supplier", "s1")
_ACTS = st.sampled_from([
    toggled(*OFFER), toggled(*SUPPLIER), toggled("contract", "c1"), if_living(named("one"), OFFER), if_living(named("two"), OFFER),
    if_living(price(6), OFFER), if_living(price(7), OFFER), if_living(named("4 cards", "o2"), SUPPLIER), if_living(signed("c1"), SUPPLIER),
    if_living(lambda db: edit.save_supplier(db, Supplier("s1", "Haven 2")), SUPPLIER),
])  # fmt: skip


def fate(workspace):
    """The offer o1 on one side as it lives; None where it lies in the trash."""
    with workspace.read() as connection:
        away = "SELECT record_id FROM trash WHERE kind = 'offer'"
        return connection.execute(f"SELECT title, price_amount FROM offers WHERE id = 'o1' AND id NOT IN ({away})").fetchone()


@settings(max_examples=max(6, settings().max_examples // 20), deadline=None)
@given(st.lists(st.tuples(st.booleans(), _ACTS), min_size=2, max_size=6), st.lists(st.tuples(st.booleans(), _ACTS), max_size=3))
def test_that_two_people_end_with_the_same_living_records_and_nothing_hangs_in_the_air(begun, first, then):
    with tempfile.TemporaryDirectory() as folder, pair(begun, Path(folder)) as (here, there):
        for acts in (first, then):
            last = fate(here)  # what the latest act that changed the offer, threw it away or brought it back left
            for mine, act in acts:
                side = here if mine else there
                before = fate(side)
                write(side, act)
                if fate(side) != before:
                    last = fate(side)
            exchange(here, there)
            assert (fate(here) is None) == (fate(there) is None) == (last is None)
            exchange(here, there)
            assert living(here) == living(there)
            found = living(here)
            assert all(("supplier", one["supplier_id"]) in found for (kind, _), one in found.items() if kind in ("offer", "contract"))
