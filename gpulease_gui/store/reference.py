"""What is kept beside the deals: rates of exchange, public prices, workloads, weights, templates, mappings?"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from gpulease_gui.domain.supplier import FxRate
from gpulease_gui.economics.offer_facts import MarketPrice, PriceMode
from gpulease_gui.store.codec import utc_text
from gpulease_gui.store.kept import Document

if TYPE_CHECKING:
    from sqlite_utils import Database


def save_rate(db: Database, rate: FxRate, *, by: str, at: datetime) -> None:
    """Note a rate; rates are only ever added."""
    db.table("fx_rates").insert({
        "from_currency": rate.from_currency, "to_currency": rate.to_currency, "rate": format(rate.rate, "f"),
        "day": rate.day.isoformat(), "source": rate.source, "surcharge": format(rate.surcharge, "f"), "saved_at": utc_text(at), "saved_by": by,
    })  # fmt: skip


def list_rates(connection: sqlite3.Connection) -> tuple[FxRate, ...]:
    """All rates, the newest day first."""
    rows = connection.execute("SELECT from_currency, to_currency, rate, day, source, surcharge FROM fx_rates ORDER BY day DESC, entry DESC")
    return tuple(FxRate(a, b, Decimal(rate), date.fromisoformat(day), source, Decimal(more)) for a, b, rate, day, source, more in rows)


def rate_between(rates: Iterable[FxRate], source: str, target: str) -> FxRate | None:
    """The newest rate from `source` to `target`, turned round if only the other way is known; 1 for the same currency.

    None where nobody gave one. A turned rate keeps ten significant digits, and has no surcharge: that is paid one way only.
    """
    known = tuple(rates)
    if source == target:
        return FxRate(source, target, Decimal(1), date.min)
    direct = next((r for r in known if (r.from_currency, r.to_currency) == (source, target)), None)
    turned = next((r for r in known if (r.to_currency, r.from_currency) == (source, target)), None)
    if direct is not None and (turned is None or direct.day >= turned.day):
        return direct
    if turned is None or not turned.rate:
        return None
    return FxRate(source, target, Decimal(f"{1 / turned.rate:.10g}"), turned.day, turned.source)


def list_market(connection: sqlite3.Connection) -> tuple[MarketPrice, ...]:
    """All public prices that were imported."""
    rows = connection.execute(
        "SELECT gpu_model, price_gpu_hour, currency, mode, source, day FROM market_prices ORDER BY gpu_model, day, id"
    )
    return tuple(
        MarketPrice(model, Decimal(price), currency, PriceMode(mode), source, date.fromisoformat(day))
        for model, price, currency, mode, source, day in rows
    )


def market_document(import_id: str, price: MarketPrice) -> Document:
    """How the journal keeps a public price (kind market); its key is (id,)."""
    return {
        "import_id": import_id, "gpu_model": price.gpu_model, "price_gpu_hour": format(price.price_gpu_hour, "f"),
        "currency": price.currency, "mode": price.mode, "source": price.source, "day": price.day.isoformat(),
    }  # fmt: skip


def list_weights(connection: sqlite3.Connection) -> Mapping[str, Mapping[str, Decimal]]:
    """The dimension weights that the user changed: scenario -> dimension -> weight."""
    found: dict[str, dict[str, Decimal]] = {}
    for scenario, dimension, weight in connection.execute("SELECT scenario, dimension, weight FROM scoring_weights"):
        found.setdefault(scenario, {})[dimension] = Decimal(weight)
    return found


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """A record that is one JSON document: a workload, a template (with its scenario), a mapping."""

    id: str
    name: str
    document: str
    scenario: str = ""


def list_workloads(connection: sqlite3.Connection) -> tuple[NamedDocument, ...]:
    """All saved workloads by name."""
    rows = connection.execute("SELECT id, name, document FROM workloads ORDER BY name, id")
    return tuple(NamedDocument(*row) for row in rows)


def list_templates(connection: sqlite3.Connection) -> tuple[NamedDocument, ...]:
    """All checklist templates of the user by name."""
    rows = connection.execute("SELECT id, name, document, scenario FROM checklist_templates ORDER BY name, id")
    return tuple(NamedDocument(*row) for row in rows)


def get_mapping(connection: sqlite3.Connection, supplier_id: str, kind: str) -> str | None:
    """How the columns of a supplier's sheets were mapped the last time, as the JSON that was saved; None = never."""
    row = connection.execute(
        "SELECT document FROM import_mappings WHERE supplier_id = ? AND kind = ?", (supplier_id, kind)
    ).fetchone()
    return None if row is None else str(row[0])
