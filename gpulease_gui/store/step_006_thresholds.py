"""Tables of format 6: marks that the user moved, and why."""

from __future__ import annotations

# `value` NULL takes the mark back to what the program ships. `subject` is a catalogue id or '' for all cards.
SCRIPT = """
CREATE TABLE threshold_history (
  entry INTEGER PRIMARY KEY,
  check_id TEXT NOT NULL, name TEXT NOT NULL, subject TEXT NOT NULL,
  value TEXT, unit TEXT NOT NULL,
  set_at TEXT NOT NULL, set_by TEXT NOT NULL, why TEXT NOT NULL
) STRICT;
CREATE INDEX threshold_history_by_mark ON threshold_history (check_id, name, subject);
"""
GUARDED = ("threshold_history",)
