"""Which tables are there, and how did they come to be?

Steps are only ever added at the end; a step that a user's file has seen is never edited. From format 6 on the tables of
a step stand in a file of their own.
"""

from __future__ import annotations

from sqlite_utils import Database, Migrations

from gpulease_gui.store import (
    step_006_thresholds,
    step_007_commerce,
    step_008_rates,
    step_009_tasks,
    step_010_pyramids,
    step_011_watches,
    step_012_pin_places,
)

APPLICATION_ID = 0x67504C53  # "gPLS": how other programs, and we, know the file

SET = "gpulease"
migrations = Migrations(SET)

_SUPPLY = """
CREATE TABLE workspace (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  kind TEXT NOT NULL CHECK (kind IN ('real', 'demo')),
  created_at TEXT NOT NULL
) STRICT;
CREATE TABLE suppliers (
  id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, country TEXT NOT NULL, contact TEXT NOT NULL, note TEXT NOT NULL
) STRICT;
CREATE TABLE offers (
  id TEXT PRIMARY KEY NOT NULL,
  supplier_id TEXT NOT NULL REFERENCES suppliers (id),
  quote_no TEXT NOT NULL, title TEXT NOT NULL,
  price_amount TEXT, price_currency TEXT, price_unit TEXT NOT NULL,
  valid_until TEXT, note TEXT NOT NULL,
  CHECK ((price_amount IS NULL) = (price_currency IS NULL))
) STRICT;
CREATE INDEX offers_by_supplier ON offers (supplier_id);
CREATE TABLE contracts (
  id TEXT PRIMARY KEY NOT NULL,
  supplier_id TEXT NOT NULL REFERENCES suppliers (id),
  number TEXT NOT NULL,
  offer_id TEXT REFERENCES offers (id),
  start_date TEXT, end_date TEXT,
  price_amount TEXT, price_currency TEXT, price_unit TEXT NOT NULL,
  note TEXT NOT NULL,
  CHECK ((price_amount IS NULL) = (price_currency IS NULL))
) STRICT;
CREATE INDEX contracts_by_supplier ON contracts (supplier_id);
CREATE TABLE nodes (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL,
  reach TEXT NOT NULL CHECK (reach IN ('ssh', 'local', 'demo')),
  host TEXT, port INTEGER CHECK (port BETWEEN 1 AND 65535), user_name TEXT,
  contract_id TEXT REFERENCES contracts (id),
  auth TEXT NOT NULL, identity_file TEXT NOT NULL, demo_name TEXT NOT NULL,
  use_sudo INTEGER NOT NULL CHECK (use_sudo IN (0, 1)),
  note TEXT NOT NULL,
  CHECK ((host IS NULL) = (port IS NULL) AND (host IS NULL) = (user_name IS NULL))
) STRICT;
CREATE INDEX nodes_by_contract ON nodes (contract_id);
CREATE TABLE claims (
  id TEXT PRIMARY KEY NOT NULL,
  offer_id TEXT REFERENCES offers (id),
  contract_id TEXT REFERENCES contracts (id),
  term TEXT NOT NULL,
  value TEXT,
  state TEXT NOT NULL,
  source TEXT NOT NULL, note TEXT NOT NULL,
  node_id TEXT REFERENCES nodes (id),
  CHECK ((offer_id IS NULL) <> (contract_id IS NULL)),
  UNIQUE (offer_id, term), UNIQUE (contract_id, term)
) STRICT;
CREATE TABLE claim_history (
  entry INTEGER PRIMARY KEY,
  claim_id TEXT NOT NULL REFERENCES claims (id),
  at TEXT NOT NULL, changed_by TEXT NOT NULL,
  value TEXT,
  state TEXT NOT NULL, note TEXT NOT NULL
) STRICT;
CREATE INDEX claim_history_by_claim ON claim_history (claim_id);
CREATE TABLE host_keys (
  entry INTEGER PRIMARY KEY,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  key_type TEXT NOT NULL, fingerprint TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('trusted', 'replaced', 'refused')),
  decided_at TEXT NOT NULL, compared_with TEXT NOT NULL, decided_by TEXT NOT NULL, why TEXT NOT NULL
) STRICT;
CREATE INDEX host_keys_by_node ON host_keys (node_id);
"""

_RUNS = """
CREATE TABLE runs (
  id TEXT PRIMARY KEY NOT NULL,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  contract_id TEXT REFERENCES contracts (id),
  started_at TEXT NOT NULL, finished_at TEXT,
  state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'cancelled', 'interrupted')),
  overall TEXT,
  tool_version TEXT NOT NULL,
  host_key_type TEXT, host_key_fingerprint TEXT,
  demo INTEGER NOT NULL CHECK (demo IN (0, 1)),
  clock_offset_s REAL,
  terms TEXT NOT NULL,
  CHECK ((host_key_type IS NULL) = (host_key_fingerprint IS NULL))
) STRICT;
CREATE INDEX runs_by_node ON runs (node_id, started_at);
CREATE INDEX runs_by_contract ON runs (contract_id, started_at);
CREATE TABLE evidence (
  sha256 TEXT PRIMARY KEY NOT NULL CHECK (length(sha256) = 64),
  zlib_bytes BLOB NOT NULL,
  full_size INTEGER NOT NULL,
  cut INTEGER NOT NULL CHECK (cut IN (0, 1))
) STRICT;
CREATE TABLE run_evidence (
  entry INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  run_id TEXT NOT NULL REFERENCES runs (id),
  fact_id TEXT NOT NULL,
  command TEXT NOT NULL, collected_at TEXT NOT NULL,
  exit_code INTEGER, seconds REAL NOT NULL,
  stdout_sha256 TEXT NOT NULL REFERENCES evidence (sha256),
  stderr_sha256 TEXT REFERENCES evidence (sha256),
  stdout_cut INTEGER NOT NULL CHECK (stdout_cut IN (0, 1)),
  stderr_cut INTEGER NOT NULL CHECK (stderr_cut IN (0, 1))
) STRICT;
CREATE INDEX run_evidence_by_run ON run_evidence (run_id);
CREATE TABLE findings (
  entry INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  run_id TEXT NOT NULL REFERENCES runs (id),
  saved_at TEXT NOT NULL,
  document TEXT NOT NULL,
  check_id TEXT NOT NULL,
  term TEXT,
  direction TEXT NOT NULL,
  verdict TEXT NOT NULL,
  required INTEGER NOT NULL,
  promised TEXT,
  measured TEXT,
  unit TEXT NOT NULL,
  basis TEXT NOT NULL,
  reason TEXT NOT NULL,
  reason_code TEXT NOT NULL,
  rule_version INTEGER NOT NULL
) STRICT;
CREATE INDEX findings_by_run ON findings (run_id, check_id, term, direction);
CREATE TABLE finding_evidence (
  finding_id TEXT NOT NULL REFERENCES findings (id),
  position INTEGER NOT NULL,
  sha256 TEXT NOT NULL REFERENCES evidence (sha256),
  PRIMARY KEY (finding_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX finding_evidence_by_hash ON finding_evidence (sha256);
"""

# `level` 0 holds the readings; a pyramid writes level 1, 2, ... as pairs (lowest, highest) at longer steps.
_SAMPLES = """
CREATE TABLE sample_series (
  id INTEGER PRIMARY KEY,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  metric TEXT NOT NULL, subject TEXT NOT NULL, unit TEXT NOT NULL,
  UNIQUE (node_id, metric, subject, unit)
) STRICT;
CREATE TABLE sample_blocks (
  series_id INTEGER NOT NULL REFERENCES sample_series (id),
  level INTEGER NOT NULL DEFAULT 0,
  start_ns INTEGER NOT NULL,
  step_ns INTEGER NOT NULL CHECK (step_ns > 0),
  count INTEGER NOT NULL CHECK (count > 0),
  float32_bytes BLOB NOT NULL,
  PRIMARY KEY (series_id, level, start_ns)
) STRICT, WITHOUT ROWID;
CREATE TABLE sample_gaps (
  entry INTEGER PRIMARY KEY,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  metric TEXT,
  start_ns INTEGER NOT NULL, end_ns INTEGER NOT NULL CHECK (end_ns >= start_ns),
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX sample_gaps_by_node ON sample_gaps (node_id, start_ns);
CREATE TABLE marks (
  id TEXT PRIMARY KEY NOT NULL,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  run_id TEXT REFERENCES runs (id),
  at TEXT NOT NULL, kind TEXT NOT NULL, words TEXT NOT NULL
) STRICT;
CREATE INDEX marks_by_node ON marks (node_id, at);
CREATE TABLE settings (
  key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE drafts (
  kind TEXT NOT NULL, record_id TEXT NOT NULL,
  fields TEXT NOT NULL,
  saved_at TEXT NOT NULL,
  PRIMARY KEY (kind, record_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE reports (
  id TEXT PRIMARY KEY NOT NULL,
  sha256 TEXT NOT NULL, path TEXT NOT NULL, language TEXT NOT NULL, made_at TEXT NOT NULL,
  contract_id TEXT REFERENCES contracts (id)
) STRICT;
"""

# A re-judged run is linked to the run whose evidence it read. Sightings are what tells one machine from another.
# What was pasted belongs to no node, so it stands apart from the runs.
_DERIVED = """
ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'verified' CHECK (kind IN ('verified', 'rejudged'));
ALTER TABLE runs ADD COLUMN original_id TEXT REFERENCES runs (id);
CREATE INDEX runs_by_original ON runs (original_id);
CREATE TABLE sightings (
  entry INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id),
  node_id TEXT NOT NULL REFERENCES nodes (id),
  seen_at TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('uuid', 'serial', 'boot_id', 'machine_id')),
  value TEXT NOT NULL,
  faulty INTEGER NOT NULL CHECK (faulty IN (0, 1))
) STRICT;
CREATE INDEX sightings_by_value ON sightings (kind, value);
CREATE INDEX sightings_by_node ON sightings (node_id, kind, entry);
CREATE TABLE pastes (
  id TEXT PRIMARY KEY NOT NULL,
  contract_id TEXT REFERENCES contracts (id),
  pasted_at TEXT NOT NULL, terms TEXT NOT NULL, overall TEXT NOT NULL, tool_version TEXT NOT NULL
) STRICT;
CREATE TABLE paste_outputs (
  entry INTEGER PRIMARY KEY,
  paste_id TEXT NOT NULL REFERENCES pastes (id),
  fact_id TEXT, source TEXT NOT NULL, command TEXT NOT NULL,
  sha256 TEXT NOT NULL REFERENCES evidence (sha256),
  cut INTEGER NOT NULL CHECK (cut IN (0, 1))
) STRICT;
CREATE INDEX paste_outputs_by_paste ON paste_outputs (paste_id);
CREATE TABLE paste_findings (
  entry INTEGER PRIMARY KEY,
  paste_id TEXT NOT NULL REFERENCES pastes (id),
  document TEXT NOT NULL, check_id TEXT NOT NULL, term TEXT, verdict TEXT NOT NULL
) STRICT;
CREATE INDEX paste_findings_by_paste ON paste_findings (paste_id);
"""

# The way to a node, and the keys of jump hosts, which many nodes share.
_WAYS = """
ALTER TABLE nodes ADD COLUMN jump TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN proxy TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN certificate_file TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN host_key_alias TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN known_hosts TEXT NOT NULL DEFAULT '';
CREATE TABLE hop_keys (
  entry INTEGER PRIMARY KEY,
  host_port TEXT NOT NULL,
  node_id TEXT NOT NULL REFERENCES nodes (id),
  key_type TEXT NOT NULL, fingerprint TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('trusted', 'replaced', 'refused')),
  decided_at TEXT NOT NULL, compared_with TEXT NOT NULL, decided_by TEXT NOT NULL, why TEXT NOT NULL
) STRICT;
CREATE INDEX hop_keys_by_place ON hop_keys (host_port);
"""


def _append_only(table: str) -> tuple[str, str]:
    return (
        f"CREATE TRIGGER {table}_never_changed BEFORE UPDATE ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END",
        f"CREATE TRIGGER {table}_never_removed BEFORE DELETE ON {table} "
        f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END",
    )


_LATER_GUARDED = ("sightings", "pastes", "paste_outputs", "paste_findings")
_STEPS = (
    step_006_thresholds, step_007_commerce, step_008_rates, step_009_tasks, step_010_pyramids, step_011_watches, step_012_pin_places,
)  # fmt: skip
_GUARDS = {
    table: _append_only(table)
    for table in (
        "claim_history", "host_keys", "evidence", "run_evidence", "findings", "finding_evidence", *_LATER_GUARDED,
        "hop_keys", *(table for step in _STEPS for table in step.GUARDED),
    )
}  # fmt: skip
# Every trigger that a file of ours may hold, as SQLite keeps its text; one of another text was planted.
TRIGGERS = frozenset(text for pair in _GUARDS.values() for text in pair)


def _build(db: Database, script: str, guarded: tuple[str, ...], version: int) -> None:
    # Not executescript: that would commit the step before it is whole.
    for statement in (*script.split(";"), *(text for table in guarded for text in _GUARDS[table])):
        if statement.strip():
            db.execute(statement)
    db.execute(f"PRAGMA user_version = {version}")
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")


@migrations()
def m001_supply(db: Database) -> None:
    """Suppliers, what they promised, and the nodes."""
    _build(db, _SUPPLY, ("claim_history", "host_keys"), 1)


@migrations()
def m002_runs(db: Database) -> None:
    """Runs, findings and their evidence."""
    _build(db, _RUNS, ("evidence", "run_evidence", "findings", "finding_evidence"), 2)


@migrations()
def m003_samples(db: Database) -> None:
    """Samples, marks, settings, drafts, reports."""
    _build(db, _SAMPLES, (), 3)


@migrations()
def m004_derived(db: Database) -> None:
    """Runs judged again, what tells machines apart, outputs that a supplier sent."""
    _build(db, _DERIVED, _LATER_GUARDED, 4)


@migrations()
def m005_ways(db: Database) -> None:
    """Jump hosts, proxies, certificates and known hosts files of nodes."""
    _build(db, _WAYS, ("hop_keys",), 5)


@migrations()
def m006_thresholds(db: Database) -> None:
    """Marks that the user moved."""
    _build(db, step_006_thresholds.SCRIPT, step_006_thresholds.GUARDED, 6)


@migrations()
def m007_commerce(db: Database) -> None:
    """Commercial terms, prices, checklist answers, trash, undo."""
    _build(db, step_007_commerce.SCRIPT, step_007_commerce.GUARDED, 7)


@migrations()
def m008_rates(db: Database) -> None:
    """The surcharge on a rate of exchange; prices by their id."""
    _build(db, step_008_rates.SCRIPT, step_008_rates.GUARDED, 8)


@migrations()
def m009_tasks(db: Database) -> None:
    """Tasks that ran on nodes, saved tasks, reference runs."""
    _build(db, step_009_tasks.SCRIPT, step_009_tasks.GUARDED, 9)


@migrations()
def m010_pyramids(db: Database) -> None:
    """Summaries of readings, stretches kept for a run, what watch rules noticed."""
    _build(db, step_010_pyramids.SCRIPT, step_010_pyramids.GUARDED, 10)


@migrations()
def m011_watches(db: Database) -> None:
    """Packs and gaps say whose they are."""
    _build(db, step_011_watches.SCRIPT, step_011_watches.GUARDED, 11)


@migrations()
def m012_pin_places(db: Database) -> None:
    """Decisions about host keys say where they were made."""
    _build(db, step_012_pin_places.SCRIPT, step_012_pin_places.GUARDED, 12)


LATEST_VERSION = 12
