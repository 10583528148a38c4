"""Is every deal in the columns of the list, beside its own price, whatever its words are?"""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Offer
from gpulease_gui.services.deal_list import deal_list_in
from gpulease_gui.store import deals
from gpulease_gui.store.deal_list import DealLine, SupplierLine, deal_columns, supplier_lines
from gpulease_gui.store.suppliers import save_offer

ODD = 'a"b\\c","d\n\t\x01\u2028 [é𝔾卡]'


def test_that_a_line_is_what_was_written_whatever_its_words(desk):
    desk.write(lambda db: save_offer(db, Offer("odd", desk.supplier.id, ODD, ODD, Money(Decimal("1.10"), "CNY"))))
    with desk.workspace.read() as connection:
        columns = deal_columns(connection, HolderOf.OFFER)
        place = columns.id.index("odd")
        assert columns.line(place) == DealLine("offer", "odd", desk.supplier.id, ODD, ODD, "", "CNY", "1.10", "1.10", None, "")
        assert supplier_lines(connection) == (SupplierLine(desk.supplier.id, desk.supplier.name, desk.supplier.country),)


def test_that_each_deal_keeps_its_own_price_in_whatever_order_the_prices_lie(desk):
    def work(db):
        for n in (3, 1, 2):
            save_offer(db, Offer(f"q{n}", desk.supplier.id, f"Q-{n}", valid_until=date(2026, 1, n)))
        db.conn.execute("DELETE FROM deals WHERE offer_id LIKE 'q%'")
        for n in (1, 3):
            deals.follow_price(db, Subject(HolderOf.OFFER, f"q{n}"), Money(Decimal(n), "EUR"), "gpu_hour")
        db.conn.execute("INSERT INTO trash VALUES ('offer', ?, '', '', '')", (desk.offer.id,))

    desk.write(work)
    with desk.workspace.read() as connection:
        columns = deal_columns(connection, HolderOf.OFFER)
    assert columns.id == ("q3", "q1", "q2") and columns.amount == ("3", "1", None) and columns.currency == ("EUR", "EUR", None)
    assert columns.until == ("2026-01-03", "2026-01-01", "2026-01-02")


def test_that_an_offer_says_which_contract_it_became(desk):
    with desk.workspace.read() as connection:
        found = deal_list_in(connection, date(2026, 3, 1))
        assert found.deals.kind == ("offer", "contract") and found.deals.signed == (desk.contract.number, desk.offer.id)
        assert deal_list_in(connection, date(2026, 3, 1)) == found and deal_list_in(connection, date(2026, 3, 2)) != found
        assert [found.supplier(place).name for place in range(len(found))] == [desk.supplier.name] * 2
