"""An offer that only a test knows, without a database."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal

from gpulease_gui.domain.answer import Answer, AnswerState, AnswerValue
from gpulease_gui.domain.claim import Claim, ClaimState
from gpulease_gui.domain.commercial import FieldValue, HolderOf, Stated, Terms
from gpulease_gui.domain.money import Money
from gpulease_gui.domain.supplier import Price, Supplier
from gpulease_gui.domain.term import TermValue
from gpulease_gui.economics.scoring import Waiver
from gpulease_gui.services.commerce import DealFacts
from gpulease_gui.store.deals import DealRow

DAY = date(2026, 6, 1)
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def answer(item: str, state: AnswerState = AnswerState.ANSWERED, value: AnswerValue = AnswerValue.YES, **more: object) -> Answer:
    return Answer(item, state, value, NOON, "Lin", **more)  # type: ignore[arg-type]


def deal(
    promised: Mapping[str, TermValue] | None = None, terms: Mapping[str, FieldValue] | None = None, *,
    kind: HolderOf = HolderOf.OFFER, amount: str | None = "2.00", unit: str = "gpu_hour", currency: str = "USD", mode: str | None = None,
    tax_included: bool | None = None, tax_rate: str | None = None, country: str = "", answers: tuple[Answer, ...] = (),
    waivers: Mapping[str, Waiver] | None = None, day: date = DAY, number: str = "Q-1", evidence: str | None = None,
    written: frozenset[str] = frozenset(),
) -> DealFacts:  # fmt: skip
    said = dict(promised or {})
    price = None
    if amount is not None:
        rate = None if tax_rate is None else Decimal(tax_rate)
        price = Price("p1", Money(Decimal(amount), currency), unit, mode, tax_included=tax_included, tax_rate=rate)
    count, nodes = said.get("gpu.count"), said.get("node.count")
    row = DealRow(
        1, kind, "o1", "s1", "北辰算力", country, number, "8 cards", None, count if isinstance(count, int) else None,
        nodes if isinstance(nodes, int) else None, amount, currency if amount else None, unit, mode,
        amount if unit == "gpu_hour" else None, tax_included, None, None, 0, 0, 0, "", "",
    )  # fmt: skip
    stated = Terms({key: Stated(value, evidence) for key, value in (terms or {}).items()})
    return DealFacts(
        row, Supplier("s1", "北辰算力", country), stated, Terms(), (price,) if price else (), price,
        {term: Claim(term, value, ClaimState.ANSWERED) for term, value in said.items()}, {a.item: a for a in answers},
        waivers or {}, day, written,
    )  # fmt: skip
