"""Which public prices does the demo hold its offers against?"""

from __future__ import annotations

import tomllib
from datetime import date
from decimal import Decimal
from importlib import resources
from typing import TYPE_CHECKING

from gpulease_gui.domain.span import utc_now
from gpulease_gui.economics.offer_facts import MarketPrice, PriceMode
from gpulease_gui.store.journal import Recorder
from gpulease_gui.store.records import new_id
from gpulease_gui.store.reference import market_document

if TYPE_CHECKING:
    from sqlite_utils import Database


def demo_market() -> tuple[MarketPrice, ...]:
    """The invented price lists of resources/demo/market.toml, one line a price."""
    text = (resources.files("gpulease_gui.resources") / "demo" / "market.toml").read_text(encoding="utf-8")
    return tuple(
        MarketPrice(said["model"], Decimal(price), said["currency"], PriceMode(said["mode"]), said["source"], date.fromisoformat(said["day"]))
        for said in tomllib.loads(text)["list"]
        for price in said["prices"]
    )


def put_market(db: Database, by: str) -> None:
    """Write the price lists of the demo."""
    acting, import_id = Recorder(db, by, utc_now()), new_id()
    for price in demo_market():
        acting.put("market", (new_id(),), market_document(import_id, price))
    acting.settle()
