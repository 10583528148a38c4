"""Changes of format 11: which watch kept a pack of readings, and which one noted a gap."""

from __future__ import annotations

# NULL: kept by a program before this format, or by no watch. Nothing that is there is rewritten.
SCRIPT = """
ALTER TABLE sample_packs ADD COLUMN watch TEXT;
ALTER TABLE sample_gaps ADD COLUMN watch TEXT
"""
GUARDED: tuple[str, ...] = ()
