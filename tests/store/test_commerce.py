"""Are terms, prices, answers and what was deleted kept version by version, and is an act taken back whole?"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlite_utils import Database

from gpulease_gui.domain.answer import Answer, AnswerState, AnswerValue
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.commercial import HolderOf, Stated, Subject, Terms
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Attachment, FxRate, Offer, Price, Site, Supplier
from gpulease_gui.domain.text import Text
from gpulease_gui.store import (
    answers,
    attachments,
    bulk,
    claims,
    deals,
    evidence,
    journal,
    prices,
    reference,
    suppliers,
    trash,
)
from gpulease_gui.store.journal import Recorder
from gpulease_gui.store.migrations import LATEST_VERSION, migrations
from gpulease_gui.store.records import EvidenceBlob
from gpulease_gui.store.term_versions import document_of, get_terms, list_terms_versions, terms_from, terms_text
from gpulease_gui.store.workspace import Workspace

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = date(2026, 3, 1)
OFFER = Subject(HolderOf.OFFER, "o1")
WORDS = Text("do it", "执行")

decimals = st.decimals(min_value=0, max_value=10**9, allow_nan=False, allow_infinity=False, places=4)
# Columns take no half surrogates; the documents are JSON and do.
scalars = st.one_of(st.text(max_size=20), st.integers(0, 2**53), st.booleans(), decimals, st.dates())
rows = st.lists(st.dictionaries(st.sampled_from("abc"), scalars, min_size=1).map(lambda d: tuple(d.items())), max_size=3).map(tuple)
stated = st.builds(Stated, st.one_of(st.none(), scalars, rows), st.one_of(st.none(), st.text(min_size=1, max_size=8)), st.text(max_size=8), st.text(max_size=8), st.booleans())  # fmt: skip


def act(desk, *puts, by="Lin", at=NOON, words=WORDS):
    """One act of the user: (kind, key, document) each."""

    def work(db):
        acting = Recorder(db, by, at)
        for kind, key, document in puts:
            acting.put(kind, key, document)
        return acting.finish(words)

    return desk.write(work)


def said(desk, read):
    with desk.workspace.read() as connection:
        return read(connection)


def answer(item, state=AnswerState.ANSWERED, value=AnswerValue.YES, at=NOON, **more):
    return Answer(item, state, value, at, "Lin", **more)


def put_answer(item, deal=1, **how):
    return "answer", (deal, item), answers.answer_document(answer(item, **how))


def put_terms(**values):
    terms = Terms({key.replace("__", "."): Stated(value) for key, value in values.items()})
    return "terms", ("offer", "o1"), document_of(terms)


def put_price(id_, amount, since=None, until=None, **more):
    price = Price(id_, Money(Decimal(amount), "CNY"), valid_from=since, valid_to=until, **more)
    return "price", (id_,), prices.document_of(1, price)


def undo(desk):
    return desk.write(lambda db: journal.undo(db, by="Lin", at=NOON))


def redo(desk):
    return desk.write(lambda db: journal.redo(db, by="Lin", at=NOON))


@given(st.dictionaries(st.text(max_size=12), stated, max_size=4))
def test_that_terms_come_back_exactly_decimals_days_and_unknowns_too(values):
    terms = Terms(values)
    again = terms_from(terms_text(terms))
    assert again == terms
    kinds = {key: type(value.value) for key, value in terms.stated.items()}
    assert {key: type(value.value) for key, value in again.stated.items()} == kinds


def test_that_each_save_of_terms_is_a_version_that_says_who_and_when(desk):
    act(desk, put_terms(billing__min_billed_s=3600))
    act(desk, put_terms(billing__min_billed_s=86400), by="Wang", at=NOON + timedelta(days=1))
    versions = said(desk, lambda c: list_terms_versions(c, OFFER))
    assert [(v.version, v.by, v.terms.whole("billing.min_billed_s")) for v in versions] == [(1, "Lin", 3600), (2, "Wang", 86400)]
    assert said(desk, lambda c: get_terms(c, OFFER)) == versions[-1].terms


def test_that_saving_the_same_terms_again_is_no_version_and_no_act(desk):
    act(desk, put_terms(billing__min_billed_s=3600))
    assert act(desk, put_terms(billing__min_billed_s=3600)) == 0
    assert len(said(desk, lambda c: list_terms_versions(c, OFFER))) == len(said(desk, journal.list_acts)) == 1


@pytest.mark.parametrize("table", ["term_versions", "price_versions", "fx_rates", "earlier_versions"])
def test_that_what_was_replaced_can_neither_be_changed_nor_removed(desk, table):
    act(desk, put_terms(billing__min_gpus=8), put_answer("BI-03"), put_price("p1", "15.00"))
    act(desk, put_answer("BI-03", value=AnswerValue.NO))
    desk.write(lambda db: reference.save_rate(db, FxRate("USD", "CNY", Decimal("7.0835"), DAY), by="Lin", at=NOON))
    assert desk.rows(f"SELECT count(*) > 0 FROM {table}") == [(1,)]
    for sql in (f"UPDATE {table} SET entry = entry + 1000", f"DELETE FROM {table}"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            desk.write(lambda db, sql=sql: db.conn.execute(sql))


def test_that_the_price_of_a_day_is_the_latest_that_has_begun(desk):
    june, july = date(2026, 6, 1), date(2026, 7, 1)
    act(desk, put_price("o1", "16.2050", until=date(2026, 6, 30)), put_price("p2", "15.00", since=july, tax_included=True, tax_rate=Decimal("0.06")))
    known = said(desk, lambda c: prices.list_prices(c, 1))
    assert [prices.price_on(known, day).money.amount for day in (june, july)] == [Decimal("16.2050"), Decimal("15.00")]
    assert known[1].tax_included is True and known[1].tax_rate == Decimal("0.06")
    assert desk.rows("SELECT price_amount FROM offers") == [("16.2050",)]


def test_that_a_price_that_is_taken_back_stays_on_record(desk):
    act(desk, put_price("p9", "9.99", since=date(2026, 2, 1)))
    assert desk.rows("SELECT price_amount, price_gpu_hour FROM deals WHERE id = 1") == [("9.99", "9.99")]
    undo(desk)
    assert desk.rows("SELECT price_amount, price_gpu_hour FROM deals WHERE id = 1") == [("16.2050", "16.2050")]
    versions = said(desk, lambda c: prices.list_price_versions(c, 1))
    assert [(str(v.price.money), v.price.withdrawn) for v in versions][-2:] == [("CNY 9.99", False), ("CNY 9.99", True)]


@pytest.mark.parametrize(("unit", "gpus", "month", "expected"), [
    ("gpu_hour", None, None, "19.20"), ("node_hour", 8, None, "2.400000"), ("node_hour", None, None, None),
    ("gpu_day", None, None, "0.800000"), ("gpu_month", None, None, None), ("gpu_month", None, "720", "0.026667"),
    ("per_moon", 8, "720", None),
])  # fmt: skip
def test_that_a_price_is_told_per_gpu_hour_only_when_all_figures_are_stated(desk, unit, gpus, month, expected):
    if gpus:
        desk.write(lambda db: claims.save_claim(db, claims.Holder.offer("o1"), Claim("gpu.count", gpus, ClaimState.ANSWERED), by="Lin", at=NOON))
    if month:
        act(desk, put_terms(billing__month_hours=Decimal(month)))
    act(desk, put_price("o1", "19.20", unit=unit))
    assert desk.rows("SELECT price_gpu_hour FROM deals WHERE id = 1") == [(expected,)]


def test_that_twenty_items_are_one_act_and_one_step_back(desk):
    act(desk, put_answer("BI-01", state=AnswerState.EVIDENCED, note="page 3"))
    items = [f"BI-{n:02}" for n in range(1, 21)]
    assert act(desk, *(put_answer(item, state=AnswerState.NOT_APPLICABLE, value=AnswerValue.UNKNOWN) for item in items)) == 20
    assert undo(desk).applied == 20
    left = said(desk, lambda c: answers.list_answers(c, 1))
    assert {item: (a.state, a.note) for item, a in left.items()} == {"BI-01": (AnswerState.EVIDENCED, "page 3")}
    assert redo(desk).applied == 20
    assert {a.state for a in said(desk, lambda c: answers.list_answers(c, 1)).values()} == {AnswerState.NOT_APPLICABLE}


def test_that_an_act_is_taken_back_after_the_program_was_closed(desk, path):
    act(desk, put_answer("SL-04"), put_terms(sla__replace_s=7200))
    desk.workspace.close()
    again = Workspace.open(path)
    replay = again.submit(lambda db: journal.undo(db, by="Wang", at=NOON)).result(10)
    with again.read() as connection:
        assert (replay.applied, get_terms(connection, OFFER), answers.list_answers(connection, 1)) == (2, Terms(), {})
        assert journal.next_undo(connection) is None and journal.next_redo(connection).words == WORDS
    again.close()


def test_that_what_a_run_changed_since_is_not_taken_back(desk):
    act(desk, put_answer("IC-01"), put_answer("IC-02"))

    def run(db):
        acting = Recorder(db, "node-07", NOON)
        acting.put(*put_answer("IC-01", state=AnswerState.VERIFIED))
        acting.settle()

    desk.write(run)
    replay = undo(desk)
    assert (replay.applied, replay.kept) == (1, 1)
    assert {item: a.state for item, a in said(desk, lambda c: answers.list_answers(c, 1)).items()} == {"IC-01": AnswerState.VERIFIED}


def test_that_a_new_act_ends_what_could_be_done_again(desk):
    act(desk, put_answer("IC-01"))
    undo(desk)
    act(desk, put_answer("IC-02"))
    assert redo(desk) is None
    assert [a.undone for a in said(desk, journal.list_acts)] == [False]


def test_that_an_answer_that_was_replaced_is_in_its_history(desk):
    act(desk, put_answer("IC-01", note="said on the phone", evidence=("a1",), measured=Decimal("0.6889")))
    act(desk, put_answer("IC-01", value=AnswerValue.NO, at=NOON + timedelta(hours=1)), by="Wang", at=NOON + timedelta(hours=1))
    (line,) = said(desk, lambda c: answers.list_answer_history(c, 1, "IC-01"))
    assert line.answer == answer("IC-01", note="said on the phone", evidence=("a1",), measured=Decimal("0.6889"))
    assert (line.replaced_by, line.replaced_at) == ("Wang", NOON + timedelta(hours=1))


def test_that_what_was_deleted_is_out_of_the_lists_and_comes_back_whole(desk):
    act(desk, ("offer", ("o1",), None), words=Text("delete offer", "删除报价"))
    assert said(desk, suppliers.list_offers) == () == said(desk, lambda c: deals.list_deals(c, HolderOf.OFFER))
    assert said(desk, lambda c: [(t.kind, t.name) for t in trash.list_trash(c, NOON)]) == [("offer", "007 8 cards")]
    assert said(desk, lambda c: trash.list_trash(c, NOON + timedelta(days=31))) == ()
    undo(desk)
    assert said(desk, suppliers.list_offers) == (desk.offer,)
    assert said(desk, lambda c: trash.list_trash(c, NOON)) == ()


def test_that_sites_rates_waivers_and_files_come_back_as_they_were_saved(desk):
    site, waiver = Site("x1", "s1", "B4", "贵阳", "CN"), answers.Waiver("Wang", "trial only", date(2026, 6, 30))
    blob = EvidenceBlob.of(b"%PDF-1.7 quote")
    file = Attachment("a1", "offer", "o1", blob.sha256, "../../quote\u202e 7.pdf", "quote", NOON, "Lin")
    act(desk, ("site", ("x1",), suppliers.site_document(site)), ("waiver", (1, "SL-04"), answers.waiver_document(waiver, NOON)))

    def attach(db):
        acting = Recorder(db, "Lin", NOON)
        attachments.add_attachment(acting, file, blob)
        acting.finish(WORDS)

    desk.write(attach)
    assert said(desk, lambda c: suppliers.list_sites(c, "s1")) == (site,)
    assert said(desk, lambda c: answers.list_waivers(c, 1)) == {"SL-04": waiver}
    assert said(desk, lambda c: attachments.list_attachments(c, OFFER)) == (replace(file, name="quote 7.pdf"),)
    assert said(desk, lambda c: evidence.get_content(c, blob.sha256)) == b"%PDF-1.7 quote"


def test_that_a_rate_is_used_in_both_directions_and_the_newest_one_counts():
    rates = (FxRate("CNY", "USD", Decimal("0.125"), date(2026, 5, 2)), FxRate("USD", "CNY", Decimal("7.1"), date(2026, 5, 1)))
    assert reference.rate_between(rates, "USD", "CNY").rate == Decimal("8")
    assert reference.rate_between(rates[1:], "USD", "CNY").rate == Decimal("7.1")
    assert reference.rate_between(rates, "EUR", "CNY") is None
    assert reference.rate_between((), "CNY", "CNY").rate == 1


def new_offer(number):
    said_of = (Claim("gpu.model", "nvidia-h100-sxm5-80gb", ClaimState.ANSWERED), Claim("gpu.count", 8, ClaimState.EVIDENCED, "p. 1"))
    price = Price(f"p{number}", Money(Decimal(f"{number}.80"), "USD"), "node_hour", "on_demand", tax_included=False)
    terms = Terms({"billing.min_billed_s": Stated(3600), "offer.availability": Stated("waitlist"), "offer.region": Stated(None, asked=True)})
    offer = Offer(f"n{number}", "s9", f"Q-{number}", price=price.money, price_unit="node_hour")
    return bulk.NewOffer(offer, price, terms, said_of, (answer("BI-03"),))


def add(desk, count):
    def work(db):
        acting = Recorder(db, "Lin", NOON, "import")
        bulk.add_offers(acting, [Supplier("s9", "新供应商")], [new_offer(n) for n in range(1, count + 1)])
        return acting.finish(Text("import", "导入"))

    return desk.write(work)


def test_that_offers_in_bulk_are_what_saving_each_makes_and_go_in_one_step(desk):
    assert add(desk, 3) == 4
    bulked = said(desk, lambda c: deals.list_deals(c, HolderOf.OFFER, "s9"))
    assert [(row.number, row.price_gpu_hour, row.gpu_count, row.availability, row.stated, row.answered) for row in bulked] == [
        ("Q-1", "0.225000", 8, "waitlist", 4, 1), ("Q-2", "0.350000", 8, "waitlist", 4, 1), ("Q-3", "0.475000", 8, "waitlist", 4, 1),
    ]  # fmt: skip
    for row in bulked:
        desk.write(lambda db, deal=row.deal: deals.refresh(db, deal, DAY))
    assert said(desk, lambda c: deals.list_deals(c, HolderOf.OFFER, "s9")) == bulked
    assert undo(desk).applied == 4
    assert said(desk, lambda c: [s.id for s in suppliers.list_suppliers(c)]) == ["s1"]
    assert redo(desk).applied == 4
    assert len(said(desk, suppliers.list_offers)) == 4


def test_that_lists_are_ordered_and_filtered_by_an_answer(desk):
    add(desk, 3)
    first = said(desk, lambda c: deals.deal_ids(c, HolderOf.OFFER))
    act(desk, put_answer("IC-07", deal=first[1], state=AnswerState.VERIFIED), put_answer("IC-07", deal=first[3], state=AnswerState.REFUTED))
    assert said(desk, lambda c: deals.deals_by_answer(c, HolderOf.OFFER, "IC-07")) == [first[3], first[0], first[2], first[1]]
    assert said(desk, lambda c: deals.deals_with(c, HolderOf.OFFER, {"IC-07": ("verified", "refuted"), "BI-03": ("answered",)})) == [first[1], first[3]]
    assert said(desk, lambda c: deals.deal_ids(c, HolderOf.OFFER, "price"))[-1] == first[0]
    window = said(desk, lambda c: deals.deal_rows(c, HolderOf.OFFER, [first[2], first[0]]))
    assert [row.deal for row in window] == [first[2], first[0]]


def test_that_a_file_of_format_6_keeps_everything_and_gets_its_prices_as_versions(path):
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        db = Database(connection)
        migrations.apply(db, stop_before=[step.name for step in migrations.pending(db)][6])
        for sql in (
            "INSERT INTO workspace VALUES (1, 'real', '2026-01-01T00:00:00.000000Z')",
            "INSERT INTO suppliers VALUES ('s1', '北辰算力', 'CN', '', '')",
            "INSERT INTO offers VALUES ('o1', 's1', '007', '', '16.2050', 'CNY', 'gpu_hour', '2026-04-01', 'x')",
            "INSERT INTO offers VALUES ('o2', 's1', '008', '', NULL, NULL, 'gpu_hour', NULL, '')",
            "INSERT INTO contracts VALUES ('c1', 's1', 'HT-1', 'o1', NULL, NULL, '120', 'CNY', 'node_hour', '')",
            """INSERT INTO claims VALUES ('k1', 'o1', NULL, 'gpu.model', '"nvidia-h100-sxm5-80gb"', 'answered', '', '', NULL)""",
            """INSERT INTO claims VALUES ('k2', NULL, 'c1', 'gpu.count', '{"number":"nan"}', 'answered', '', '', NULL)""",
        ):
            connection.execute(sql)
    opened = Workspace.open(path)
    with opened.read() as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (LATEST_VERSION,)
        rows = [*deals.list_deals(connection, HolderOf.OFFER), *deals.list_deals(connection, HolderOf.CONTRACT)]
        assert [(r.number, r.gpu_model, r.gpu_count, r.price_amount, r.price_gpu_hour, r.stated) for r in rows] == [
            ("007", "nvidia-h100-sxm5-80gb", None, "16.2050", "16.2050", 1), ("008", None, None, None, None, 0),
            ("HT-1", None, None, "120", None, 1),
        ]  # fmt: skip
        known = [prices.list_prices(connection, row.deal) for row in rows]
        assert [[(p.id, str(p.money), p.unit) for p in part] for part in known] == [[("o1", "CNY 16.205", "gpu_hour")], [], [("c1", "CNY 120", "node_hour")]]
        assert suppliers.get_offer(connection, "o1") == Offer("o1", "s1", "007", "", Money(Decimal("16.2050"), "CNY"), valid_until=date(2026, 4, 1), note="x")
    opened.close()
