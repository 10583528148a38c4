"""Is what people type for a commercial term read exactly, and found again by a few letters?"""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.commercial import FieldKind, Stated, Terms
from gpulease_gui.domain.text import Text
from gpulease_gui.services.deal_list import (
    ALL,
    BY_END,
    BY_PRICE,
    BY_SUPPLIER,
    CONTRACTS,
    ENDING,
    NO_PRICE,
    OFFERS,
    deal_list_of,
)
from gpulease_gui.services.fields_view import changes_of
from gpulease_gui.services.go_to import Place, PlaceKind, places_of
from gpulease_gui.services.typed_field import BadCell, read_rows, read_typed, typed_text
from gpulease_gui.store.deal_list import DealColumns, DealLine, SupplierLine
from gpulease_gui.store.term_versions import TermsVersion

CATALOGUE = load_catalogue()
FIELDS = CATALOGUE.fields


@pytest.mark.parametrize(("key", "words", "value"), [
    ("billing.min_billed_s", "24小时", 86400), ("billing.min_billed_s", "1.5 h", 5400), ("billing.min_billed_s", "none", 0),
    ("sla.target", "99.95 %", Decimal("0.9995")), ("deposit.amount", "3.6万", Decimal(36000)), ("deposit.amount", "1,200.50", Decimal("1200.50")),
    ("deposit.amount", "¥ 80", Decimal(80)), ("storage.shared_gb", "2,048 GB", Decimal(2048)), ("billing.min_gpus", "8", 8),
    ("offer.quoted_at", "2026年3月1日", date(2026, 3, 1)), ("offer.channel", "直销", "direct"), ("billing.auto_renew", "否", False),
    ("security.residency", "  Norway ", "Norway"), ("sla.target", "  ", None),
])  # fmt: skip
def test_that_words_are_read_as_the_kind_of_the_term(key: str, words: str, value: object) -> None:
    read = read_typed(FIELDS[key], words, "CNY", CATALOGUE)
    if key == "offer.channel" and isinstance(read, Text):
        read = read_typed(FIELDS[key], FIELDS[key].choices[0].label.zh, "CNY", CATALOGUE)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(("key", "words"), [
    ("billing.min_billed_s", "90"), ("billing.min_billed_s", "1 h later"), ("billing.min_billed_s", "0.5 s"), ("sla.target", "120 %"),
    ("sla.target", "99.95"), ("deposit.amount", "$ 80"), ("deposit.amount", "10-12"), ("deposit.amount", "-3"), ("billing.min_gpus", "2.5"),
    ("storage.shared_gb", "2 TB"), ("offer.quoted_at", "1-2-2026"), ("billing.auto_renew", "maybe"), ("offer.channel", "carrier pigeon"),
])  # fmt: skip
def test_that_words_that_cannot_be_meant_are_refused_in_both_languages(key: str, words: str) -> None:
    read = read_typed(FIELDS[key], words, "CNY", CATALOGUE)
    assert isinstance(read, Text) and read.en and read.zh


def test_that_every_typed_value_is_read_back_from_its_own_words() -> None:
    for kind, key, value in (
        (FieldKind.SECONDS, "sla.replace_s", 14400), (FieldKind.RATE, "sla.credit_cap", Decimal("0.3")), (FieldKind.DAY, "offer.quoted_at", date(2026, 1, 2)),
        (FieldKind.MONEY, "deposit.amount", Decimal("0.05")), (FieldKind.YES_NO, "billing.top_up", True), (FieldKind.CHOICE, "sla.scope", "gpu"),
    ):  # fmt: skip
        assert FIELDS[key].kind is kind
        words = typed_text(FIELDS[key], value)
        assert [read_typed(FIELDS[key], said, "", CATALOGUE) for said in (words.en, words.zh)] == [value, value]


def test_that_a_list_names_its_bad_cell_and_leaves_out_empty_lines() -> None:
    field = FIELDS["billing.tiers"]
    assert read_rows(field, [["1000", "2.00"], ["", ""], ["", "1.80"]], "CNY", CATALOGUE) == (
        (("up_to", Decimal(1000)), ("price", Decimal("2.00"))), (("price", Decimal("1.80")),),
    )  # fmt: skip
    bad = read_rows(field, [["1000", "2.00"], ["many", "1"]], "CNY", CATALOGUE)
    assert isinstance(bad, BadCell) and (bad.line, bad.column) == (1, 0)


def test_that_the_history_of_a_term_has_only_the_versions_that_changed_it() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    saved = [{"a": Stated(1)}, {"a": Stated(1), "b": Stated(2)}, {"a": Stated(3)}, {}]
    versions = [TermsVersion(n, at, f"u{n}", "", Terms(terms)) for n, terms in enumerate(saved)]
    assert [(c.by, c.before, c.after) for c in changes_of("a", versions)] == [
        ("u0", None, Stated(1)), ("u2", Stated(1), Stated(3)), ("u3", Stated(3), None),
    ]  # fmt: skip


def offers(*lines: tuple[str, str, str | None, str]) -> DealColumns:
    """Offers as (id, supplier, price per GPU-hour, last day)."""
    made = [
        ("offer", id_, supplier, f"8 x H100 {id_}", f"Q-{id_}", until, price and "CNY", price, price, None, "") for id_, supplier, price, until in lines
    ]
    return DealColumns(*zip(*made, strict=True))  # type: ignore[arg-type]


def test_that_the_list_sorts_narrows_and_groups_without_losing_a_line() -> None:
    suppliers = (SupplierLine("s0", "Haven", "CN"), SupplierLine("s1", "Harbor", "SG"), SupplierLine("s2", "Empty", ""))
    columns = offers(("c", "s1", "2.0", "2026-12-30"), ("a", "s0", "19.0", "2026-12-03"), ("b", "s0", None, ""))
    found = deal_list_of(suppliers, columns, {}, {}, date(2026, 12, 1))
    assert found.sorted_by(BY_SUPPLIER) == (1, 2, 0) and found.sorted_by(BY_PRICE) == [0, 1, 2] and found.sorted_by(BY_END) == [1, 0, 2]
    assert found.holding(range(3), "H100 q-c") == [0] and found.holding(range(3), "", NO_PRICE) == [2]
    assert found.holding((1, 2, 0), "haven h100") == [1, 2], "a deal is found by the name of its supplier as well"
    assert found.holding(range(3), "", ENDING) == [1] and found.counts() == {ALL: 3, OFFERS: 3, CONTRACTS: 0, ENDING: 1, NO_PRICE: 1}
    assert found.grouped((1, 2, 0), "", empty_suppliers=True) == [-1, 1, 2, -2, 0, -3]
    assert found.grouped([0], "harbor", empty_suppliers=True) == [-2, 0]
    assert found.grouped([], "empty", empty_suppliers=True) == [-3] and found.grouped([], "empty", empty_suppliers=False) == []
    assert [found.place_of("offer", id_) for id_ in ("c", "b", "x")] == [0, 2, None] and found.place_of("contract", "c") is None
    assert found.line(1) == DealLine("offer", "a", "s0", "8 x H100 a", "Q-a", "2026-12-03", "CNY", "19.0", "19.0", None, "")


def test_that_names_with_line_breaks_are_searched_line_by_line() -> None:
    columns = offers(("a", "s0", None, ""), ("b", "s0", None, ""))._replace(name=("one\ntwo", "three"))
    found = deal_list_of((SupplierLine("s0", "Ha\nven", ""),), columns, {}, {}, date(2026, 12, 1))
    assert found.holding(range(2), "two") == [0] and found.holding(range(2), "three") == [1] and found.holding(range(2), "ven") == [0, 1]


def test_that_a_few_letters_find_a_place_and_what_begins_with_them_comes_first() -> None:
    places = places_of([
        Place(PlaceKind.PAGE, Text("Suppliers", "供应商"), "", "suppliers"), Place(PlaceKind.SUPPLIER, "Haven", "CN", "suppliers", ("supplier", "s1")),
        Place(PlaceKind.OFFER, "8 x H100", "Q-7 · Haven", "suppliers", ("offer", "o1")),
    ])  # fmt: skip
    assert [place.page for place in places.find("供应")] == ["suppliers"]
    assert [place.kind for place in places.find("haven")] == [PlaceKind.SUPPLIER, PlaceKind.OFFER]
    assert [place.kind for place in places.find("H100 q-7")] == [PlaceKind.OFFER]
    assert places.find("nowhere") == [] and len(places.find("")) == 3


