"""Changes of format 12: at which place a host key was decided."""

from __future__ import annotations

# "": decided by a program before this format. Nothing that is there is rewritten.
SCRIPT = """
ALTER TABLE host_keys ADD COLUMN place TEXT NOT NULL DEFAULT ''
"""
GUARDED: tuple[str, ...] = ()
