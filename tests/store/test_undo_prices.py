"""Does taking everything back leave what was there before, whatever unit the prices had?"""

from __future__ import annotations

import tempfile
from datetime import date
from decimal import Decimal
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gpulease_gui.domain.commercial import HolderOf, Subject
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Offer, Price, Supplier
from gpulease_gui.economics.billing_terms import PriceUnit
from gpulease_gui.services import commerce_edit as edit
from gpulease_gui.services.commerce_undo import undo
from gpulease_gui.store.prices import list_prices
from gpulease_gui.store.workspace import Workspace

OFFER = Subject(HolderOf.OFFER, "o1")
_UNIT = st.sampled_from(tuple(PriceUnit))
_STEP = st.tuples(st.sampled_from(("form", "price", "from a day", "withdraw")), _UNIT, st.integers(1, 9), st.sampled_from((date(2026, 1, 1), date(2999, 1, 1))))


def _do(db, step):
    how, unit, amount, day = step
    money = Money(Decimal(amount), "CNY")
    if how == "form":
        edit.save_offer(db, Offer("o1", "s1", "Q-7", f"title {amount}", None if amount == 1 else money, unit))
    elif how == "from a day":
        edit.change_price(db, OFFER, Price(f"p{amount}", money, unit), day)
    else:
        edit.save_price(db, OFFER, Price(f"p{amount % 3}", money, unit, withdrawn=how == "withdraw"))


def _state(workspace):
    with workspace.read() as connection:
        tables = [connection.execute(f"SELECT * FROM {name} WHERE id NOT IN (SELECT record_id FROM trash)").fetchall() for name in ("suppliers", "offers")]
        lines = connection.execute("SELECT price_amount, price_unit, price_gpu_hour FROM deals WHERE offer_id IS NOT NULL").fetchall()
        known = list_prices(connection, 1)
    return *tables, lines, sorted(known, key=lambda price: price.id)


@settings(max_examples=12)
@example(first=PriceUnit.NODE_MONTH, steps=[])
@example(first=PriceUnit.GPU_HOUR, steps=[("price", PriceUnit.NODE_HOUR, 2, date(2026, 1, 1))])
@given(first=_UNIT, steps=st.lists(_STEP, max_size=5))
def test_that_undoing_everything_leaves_what_was_there(first, steps):
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(Path(folder) / "a.db")
        try:
            workspace.submit(lambda db: edit.save_supplier(db, Supplier("s1", "Haven"))).result()
            workspace.submit(lambda db: edit.save_offer(db, Offer("o1", "s1", "Q-7", price=Money(Decimal(36000), "CNY"), price_unit=first))).result()
            states = [_state(workspace)]
            for step in steps:
                workspace.submit(lambda db, step=step: _do(db, step)).result()
                if _state(workspace) != states[-1]:
                    states.append(_state(workspace))
            for before in reversed(states[:-1]):
                assert workspace.submit(undo).result().kept == 0
                assert _state(workspace) == before
            assert [workspace.submit(undo).result().kept for _ in range(2)] == [0, 0]
            assert _state(workspace)[:2] == ([], []), "the offer and its supplier are gone, too"
            assert workspace.submit(undo).result() is None
        finally:
            workspace.close()
