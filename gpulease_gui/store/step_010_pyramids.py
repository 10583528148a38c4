"""Tables of format 10: readings in packs with their summaries, stretches kept for a run, what watch rules noticed."""

from __future__ import annotations

# `sample_packs`: all series of a node together, so that ten seconds of a node are one row and not a hundred pages. Level 0
# holds readings, 1 to 4 their summaries. `sample_blocks` of older programs stay readable and are moved here in steps.
# `sample_covered`: up to where the summaries of a node are made. `ended_ns` NULL: it lasts.
SCRIPT = """
CREATE TABLE sample_packs (
  entry INTEGER PRIMARY KEY,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  level INTEGER NOT NULL CHECK (level BETWEEN 0 AND 9),
  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL CHECK (end_ns > start_ns),
  content BLOB NOT NULL
) STRICT;
CREATE INDEX sample_packs_by_time ON sample_packs (node_id, level, end_ns, start_ns);
CREATE TABLE sample_covered (
  node_id TEXT PRIMARY KEY NOT NULL REFERENCES nodes (id),
  until_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE kept_stretches (
  entry INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id),
  node_id TEXT NOT NULL REFERENCES nodes (id),
  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL CHECK (end_ns > start_ns),
  sha256 TEXT NOT NULL REFERENCES evidence (sha256)
) STRICT;
CREATE INDEX kept_stretches_by_node ON kept_stretches (node_id, start_ns);
CREATE INDEX kept_stretches_by_run ON kept_stretches (run_id);
CREATE TABLE watch_events (
  id TEXT PRIMARY KEY NOT NULL,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  rule TEXT NOT NULL, subject TEXT NOT NULL,
  began_ns INTEGER NOT NULL, ended_ns INTEGER CHECK (ended_ns >= began_ns),
  degraded INTEGER NOT NULL CHECK (degraded IN (0, 1)),
  document TEXT NOT NULL,
  sha256 TEXT NOT NULL REFERENCES evidence (sha256)
) STRICT;
CREATE INDEX watch_events_by_node ON watch_events (node_id, began_ns);
"""
GUARDED = ("kept_stretches",)
