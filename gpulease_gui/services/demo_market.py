"""Which public prices does the demo hold its offers against?"""

from __future__ import annotations

import tomllib
from datetime import date
from decimal import Decimal
from importlib import resources
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from gpulease_gui.domain.span import utc_now
from gpulease_gui.economics.offer_facts import MarketPrice, PriceMode
from gpulease_gui.store.journal import Recorder
from gpulease_gui.store.reference import market_document

if TYPE_CHECKING:
    from sqlite_utils import Database

_DEMO = UUID("5d0f6c1e-3b0a-5f43-9d4e-7f6f0c2f9a11")


def demo_market() -> tuple[MarketPrice, ...]:
    """The invented price lists of resources/demo/market.toml, one line a price."""
    text = (resources.files("gpulease_gui.resources") / "demo" / "market.toml").read_text(encoding="utf-8")
    return tuple(
        MarketPrice(said["model"], Decimal(price), said["currency"], PriceMode(said["mode"]), said["source"], date.fromisoformat(said["day"]))
        for said in tomllib.loads(text)["list"]
        for price in said["prices"]
    )


def demo_id(*parts: str) -> str:
    """The id of a record of the demo: the same in every demo workspace, so that two of them merge into one.

    >>> demo_id("market") == demo_id("market") != demo_id("market", "0")
    True
    """
    return uuid5(_DEMO, "/".join(parts)).hex


def put_market(db: Database, by: str) -> None:
    """Write the price lists of the demo."""
    acting, import_id = Recorder(db, by, utc_now()), demo_id("market")
    for number, price in enumerate(demo_market()):
        acting.put("market", (demo_id("market", str(number)),), market_document(import_id, price))
    acting.settle()
