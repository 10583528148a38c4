"""Changes of format 8: what paying in a foreign currency costs on top of its rate; a price is found by its id."""

from __future__ import annotations

# A share, 0.03 for 3 %: what a card or a bank adds. Rates that were noted before had none.
SCRIPT = """
ALTER TABLE fx_rates ADD COLUMN surcharge TEXT NOT NULL DEFAULT '0';
CREATE INDEX price_versions_by_price ON price_versions (price_id)
"""
GUARDED: tuple[str, ...] = ()
