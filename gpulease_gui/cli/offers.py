"""Which offers and contracts are stored, and what does one of them say?"""

from __future__ import annotations

import argparse
import json
from decimal import Decimal

from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.stored_deals import add_workspace, day_of, deals_named, reading
from gpulease_gui.domain.commercial import HolderOf
from gpulease_gui.domain.money import amount_text
from gpulease_gui.domain.supplier import Price
from gpulease_gui.domain.text import visible
from gpulease_gui.reports.wording import with_unit
from gpulease_gui.services.commerce import DealFacts, contracts_in, deal_in, offers_in
from gpulease_gui.services.commerce_cost import flags_in, reference_in
from gpulease_gui.services.commercial_words import PRICE_MODES, PRICE_UNITS, field_text, plain
from gpulease_gui.services.composition import Services
from gpulease_gui.store import suppliers
from gpulease_gui.store.deals import DealRow
from gpulease_gui.store.doors import Reader


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease offers`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    listing = actions.add_parser("list", help="list the stored offers")
    listing.add_argument("--contracts", action="store_true", help="the contracts instead")
    showing = actions.add_parser("show", help="show one offer or contract with all that is stated")
    showing.add_argument("offer", metavar="OFFER", help="id, number or title of an offer or contract")
    for sub in (listing, showing):
        sub.add_argument("--json", action="store_true", help="JSON on standard output")
        add_workspace(sub)


def run(options: argparse.Namespace) -> int:
    """Print the list or the one."""
    return reading(options, lambda c, services: _list(options, c) if options.action == "list" else _show(options, c, services))


def _unit(unit: str | None) -> str:
    return PRICE_UNITS[unit].en if unit in PRICE_UNITS else str(unit)


def _list(options: argparse.Namespace, connection: Reader) -> int:
    rows = contracts_in(connection) if options.contracts else offers_in(connection)
    if options.json:
        print(json.dumps([_row_json(row) for row in rows], ensure_ascii=False, indent=1))
        return Exit.OK
    for row in rows:
        price = f"{row.price_currency} {amount_text(Decimal(row.price_amount), grouped=False)} / {_unit(row.price_unit)}" if row.price_amount else "no price"
        gpus = f"{row.gpu_count or '?'} x {row.gpu_model or 'model not stated'}"
        print(visible(f"{row.number or row.title:20} {row.supplier[:32]:32} {gpus:34} {price:28} {row.stated} stated"))
    return Exit.OK


def _row_json(row: DealRow) -> dict[str, object]:
    return {
        "id": row.id, "kind": str(row.kind), "supplier": row.supplier, "number": row.number, "title": row.title,
        "gpu_model": row.gpu_model, "gpu_count": row.gpu_count, "node_count": row.node_count,
        "price": row.price_amount, "currency": row.price_currency, "unit": row.price_unit, "mode": row.price_mode,
        "price_gpu_hour": row.price_gpu_hour, "tax_included": row.tax_included, "availability": row.availability,
        "valid_until": None if row.valid_until is None else row.valid_until.isoformat(), "stated": row.stated,
        "answered": row.answered, "refuted": row.refuted,
    }  # fmt: skip


def _show(options: argparse.Namespace, connection: Reader, services: Services) -> int:
    facts = deal_in(connection, deals_named(connection, [options.offer])[0], day_of(options))
    shown = _show_json(connection, facts, services)
    if options.json:
        print(json.dumps(shown, ensure_ascii=False, indent=1))
        return Exit.OK
    print(visible(f"{facts.row.number} {facts.row.title}\n{facts.row.supplier}"))
    if shown["note"]:
        print(visible(f"note: {shown['note']}"))
    print("\nprices")
    for line in [_price_line(price) for price in facts.prices] or ["none"]:
        print(visible(f"  {line}"))
    for part in ("terms", "promises"):
        print(f"\n{part}")
        for line in _lines(shown[part]):
            print(visible(f"  {line}"))
    print("\nred flags")
    for line in _lines(shown["flags"]):
        print(visible(f"  {line}"))
    return Exit.OK


def _price_line(price: Price) -> str:
    """A price in one line, with its tax: "not stated" is said too."""
    days = f"{_day(price.valid_from) or ''} to {_day(price.valid_to) or ''}" if price.valid_from or price.valid_to else ""
    tax = "tax not stated" if price.tax_included is None else "tax included" if price.tax_included else "tax not included"
    rate = "" if price.tax_rate is None else f"{plain(price.tax_rate * 100)} %"
    mode = PRICE_MODES[price.mode].en if price.mode in PRICE_MODES else price.mode or ""
    return " ".join(part for part in (f"{price.money} /", _unit(price.unit), mode, days, tax, rate, price.invoice_kind, price.note) if part)


def _note(connection: Reader, facts: DealFacts) -> str:
    if facts.row.kind is HolderOf.CONTRACT:
        return suppliers.get_contract(connection, facts.row.id).note
    return suppliers.get_offer(connection, facts.row.id).note


def _lines(part: object) -> list[str]:
    lines = [" ".join(str(value) for value in entry.values() if value not in (None, "")) for entry in part] if isinstance(part, list) else []
    return lines or ["none"]


def _show_json(connection: Reader, facts: DealFacts, services: Services) -> dict[str, object]:
    catalogue, currency = services.catalogue, facts.row.price_currency or ""
    flags = flags_in(facts, reference_in(connection, catalogue))
    said = [(catalogue.fields[key], stated) for key, stated in facts.terms.stated.items() if key in catalogue.fields]
    return {
        **_row_json(facts.row), "note": _note(connection, facts),
        "prices": [
            {"price": str(p.money), "unit": p.unit, "mode": p.mode, "valid_from": _day(p.valid_from), "valid_to": _day(p.valid_to),
             "tax_included": p.tax_included, "tax_rate": None if p.tax_rate is None else plain(p.tax_rate), "invoice_kind": p.invoice_kind, "note": p.note}
            for p in facts.prices
        ],
        "terms": [
            {"key": f.key, "value": field_text(f, s.value, currency).en, "source": s.source, "basis": "claim" if s.is_claim else "evidence"}
            for f, s in said
        ],
        "promises": [
            {"term": key, "value": with_unit(claim.value, catalogue.terms[key].unit if key in catalogue.terms else "").en, "state": str(claim.state)}
            for key, claim in facts.claims.items() if claim.value is not None
        ],
        "flags": [{"id": f.flag.id, "state": str(f.flagged.state), "reason": f.flagged.reason.en} for f in flags],
    }  # fmt: skip


def _day(day: object) -> str | None:
    return None if day is None else str(day)
