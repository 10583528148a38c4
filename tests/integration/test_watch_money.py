"""What do two cards cost that are lost beside each other, with the whole node, and over a cut, by a price that changes meanwhile?"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.commercial import HolderOf, Stated, Subject
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.node import Node, Reach
from gpulease_gui.domain.supplier import Contract, Price, Supplier
from gpulease_gui.services.commerce_edit import save_price, state_fields
from gpulease_gui.services.degraded import degraded_in
from gpulease_gui.store.claims import Holder, save_claim
from gpulease_gui.store.doors import Database
from gpulease_gui.store.suppliers import save_contract, save_supplier
from tests.integration.test_watch_scripted import START_S, A, B, Scripted

HELD = Node("scripted", "scripted", Reach.LOCAL, contract_id="c1")


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Scripted]:
    made = Scripted(tmp_path)
    made.services.workspace.submit(sign).result()
    yield made
    made.services.close()


def sign(db: Database) -> None:
    """One yuan a card-second, two from midnight of the contract's zone on, which is second 60 here; of two cards."""
    holder = Subject(HolderOf.CONTRACT, "c1")
    save_supplier(db, Supplier("s1", "S"))
    save_contract(db, Contract("c1", "s1", "1", price=Money(Decimal(3600), "CNY"), price_unit="gpu_hour"))
    save_price(db, holder, Price("p2", Money(Decimal(7200), "CNY"), "gpu_hour", valid_from=date(2026, 3, 1)))
    state_fields(db, holder, {"billing.time_zone": Stated("UTC-0:01")}, load_catalogue())
    save_claim(db, Holder.contract("c1"), Claim("gpu.count", 2, ClaimState.ANSWERED), by="li", at=datetime.fromtimestamp(START_S, UTC))


def test_that_each_card_second_that_somebody_saw_missing_is_paid_once_at_the_price_of_its_day(node: Scripted) -> None:
    for node.at in range(260):
        if 150 <= node.at < 200:
            continue  # the line is cut: nobody looks
        if node.at == 200:
            node.reconnect()
        node.network(100.0 + node.at, eth0=node.at * 125_000_000)
        if 100 <= node.at < 130:
            node.say("gpu", "! the NVIDIA driver does not answer")
            continue
        without = {card for card, begin, end in ((A, 20, 60), (B, 40, 80), (A, 140, 230)) if begin <= node.at < end}
        node.cards(*((n, card, "500") for n, card in enumerate((A, B)) if card not in without))
        for card in sorted(without):
            node.say("gpu", f"{(A, B).index(card)}, {card}{', [GPU is lost]' * 8}")
    node.end()
    with node.services.workspace.read() as connection:
        found = degraded_in(connection, HELD, START_S, START_S + 260)
    before, after = 40 + 20, 20 + 2 * 30 + 9 + 30  # nobody saw the second between the last reading and the cut
    assert found.card_hours == Fraction(before + after, 3600)
    assert found.money == Money(Decimal(before * 1 + after * 2).quantize(Decimal("0.01")), "CNY")
