"""Tables of format 9: tasks that ran on nodes, their curves and logs, saved tasks, and which run is the reference."""

from __future__ import annotations

# A task's run is a row of `runs`, too, which holds its evidence and findings. While it runs, its curve and its log come in
# pieces, so that a killed program loses little. `float64_bytes` holds columns: second, step, loss, one per unit (NaN = not told).
# `run_id` NULL takes a reference back.
SCRIPT = """
CREATE TABLE task_runs (
  run_id TEXT PRIMARY KEY NOT NULL REFERENCES runs (id),
  node_id TEXT NOT NULL REFERENCES nodes (id),
  task TEXT NOT NULL,
  started_at TEXT NOT NULL, ended_at TEXT, seen_at TEXT NOT NULL,
  ending TEXT, exit_code INTEGER,
  log_sha256 TEXT REFERENCES evidence (sha256),
  document TEXT NOT NULL
) STRICT;
CREATE INDEX task_runs_by_node ON task_runs (node_id, started_at);
CREATE INDEX task_runs_by_task ON task_runs (task, started_at);
CREATE TABLE task_curves (
  run_id TEXT NOT NULL REFERENCES task_runs (run_id),
  first INTEGER NOT NULL,
  count INTEGER NOT NULL CHECK (count > 0),
  units TEXT NOT NULL,
  float64_bytes BLOB NOT NULL,
  PRIMARY KEY (run_id, first)
) STRICT, WITHOUT ROWID;
CREATE TABLE task_log_pieces (
  entry INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES task_runs (run_id),
  zlib_bytes BLOB NOT NULL,
  full_size INTEGER NOT NULL CHECK (full_size > 0)
) STRICT;
CREATE INDEX task_log_pieces_by_run ON task_log_pieces (run_id);
CREATE TABLE task_specs (
  name TEXT PRIMARY KEY NOT NULL, saved_at TEXT NOT NULL, document TEXT NOT NULL
) STRICT;
CREATE TABLE task_references (
  entry INTEGER PRIMARY KEY,
  task TEXT NOT NULL,
  run_id TEXT REFERENCES task_runs (run_id),
  marked_at TEXT NOT NULL, marked_by TEXT NOT NULL, why TEXT NOT NULL
) STRICT;
CREATE INDEX task_references_by_task ON task_references (task)
"""
GUARDED = ("task_references",)
