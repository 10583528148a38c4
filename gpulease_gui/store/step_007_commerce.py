"""Tables of format 7: commercial terms, prices, checklist answers, what was deleted, and what can be taken back."""

from __future__ import annotations

# One row of `deals` stands for an offer or a contract: what lists sort and filter by, kept beside the records.
# `answers` has no rowid and a covering index by item: 2,000,000 of them are sorted by one item, or read of six deals,
# without touching the others. What a change replaces goes to `earlier_versions`; terms and prices keep every version.
SCRIPT = """
CREATE TABLE deals (
  id INTEGER PRIMARY KEY,
  offer_id TEXT UNIQUE REFERENCES offers (id),
  contract_id TEXT UNIQUE REFERENCES contracts (id),
  gpu_model TEXT, gpu_count INTEGER, node_count INTEGER,
  price_amount TEXT, price_currency TEXT, price_unit TEXT, price_mode TEXT,
  price_gpu_hour TEXT, price_gpu_hour_sort REAL,
  tax_included INTEGER CHECK (tax_included IN (0, 1)),
  availability TEXT,
  stated INTEGER NOT NULL DEFAULT 0,
  answered INTEGER NOT NULL DEFAULT 0, refuted INTEGER NOT NULL DEFAULT 0,
  template_id TEXT NOT NULL DEFAULT '', scenario TEXT NOT NULL DEFAULT '',
  CHECK ((offer_id IS NULL) <> (contract_id IS NULL))
) STRICT;
CREATE INDEX deals_by_model ON deals (gpu_model, price_gpu_hour_sort);
CREATE INDEX deals_by_price ON deals (price_gpu_hour_sort);
INSERT INTO deals (offer_id, gpu_model, gpu_count, node_count, price_amount, price_currency, price_unit, stated)
  SELECT id,
    (SELECT json_extract(value, '$') FROM claims WHERE offer_id = offers.id AND term IN ('gpu.model', 'npu.model')
      AND json_type(value) = 'text' ORDER BY term LIMIT 1),
    (SELECT json_extract(value, '$') FROM claims WHERE offer_id = offers.id AND term IN ('gpu.count', 'npu.count')
      AND json_type(value) = 'integer' ORDER BY term LIMIT 1),
    (SELECT json_extract(value, '$') FROM claims WHERE offer_id = offers.id AND term = 'node.count'
      AND json_type(value) = 'integer' ORDER BY term LIMIT 1),
    price_amount, price_currency, price_unit,
    (SELECT count(*) FROM claims WHERE offer_id = offers.id AND value IS NOT NULL)
  FROM offers ORDER BY quote_no, id;
INSERT INTO deals (contract_id, gpu_model, gpu_count, node_count, price_amount, price_currency, price_unit, stated)
  SELECT id,
    (SELECT json_extract(value, '$') FROM claims WHERE contract_id = contracts.id AND term IN ('gpu.model', 'npu.model')
      AND json_type(value) = 'text' ORDER BY term LIMIT 1),
    (SELECT json_extract(value, '$') FROM claims WHERE contract_id = contracts.id AND term IN ('gpu.count', 'npu.count')
      AND json_type(value) = 'integer' ORDER BY term LIMIT 1),
    (SELECT json_extract(value, '$') FROM claims WHERE contract_id = contracts.id AND term = 'node.count'
      AND json_type(value) = 'integer' ORDER BY term LIMIT 1),
    price_amount, price_currency, price_unit,
    (SELECT count(*) FROM claims WHERE contract_id = contracts.id AND value IS NOT NULL)
  FROM contracts ORDER BY number, id;
UPDATE deals SET price_gpu_hour = price_amount, price_gpu_hour_sort = CAST(price_amount AS REAL)
  WHERE price_unit = 'gpu_hour';
CREATE TABLE sites (
  id TEXT PRIMARY KEY NOT NULL,
  supplier_id TEXT NOT NULL REFERENCES suppliers (id),
  name TEXT NOT NULL, city TEXT NOT NULL, country TEXT NOT NULL, note TEXT NOT NULL
) STRICT;
CREATE INDEX sites_by_supplier ON sites (supplier_id);
CREATE TABLE term_versions (
  entry INTEGER PRIMARY KEY,
  holder_kind TEXT NOT NULL CHECK (holder_kind IN ('supplier', 'site', 'offer', 'contract')),
  holder_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  saved_at TEXT NOT NULL, saved_by TEXT NOT NULL, why TEXT NOT NULL,
  document TEXT NOT NULL,
  UNIQUE (holder_kind, holder_id, version)
) STRICT;
CREATE TABLE price_versions (
  entry INTEGER PRIMARY KEY,
  price_id TEXT NOT NULL,
  deal_id INTEGER NOT NULL REFERENCES deals (id),
  amount TEXT NOT NULL, currency TEXT NOT NULL, unit TEXT NOT NULL, mode TEXT,
  valid_from TEXT, valid_to TEXT,
  tax_included INTEGER CHECK (tax_included IN (0, 1)), tax_rate TEXT, invoice_kind TEXT NOT NULL,
  evidence_id TEXT, note TEXT NOT NULL,
  withdrawn INTEGER NOT NULL CHECK (withdrawn IN (0, 1)),
  saved_at TEXT NOT NULL, saved_by TEXT NOT NULL, why TEXT NOT NULL
) STRICT;
CREATE INDEX price_versions_by_deal ON price_versions (deal_id, price_id);
INSERT INTO price_versions (price_id, deal_id, amount, currency, unit, invoice_kind, note, withdrawn, saved_at, saved_by, why)
  SELECT coalesce(offer_id, contract_id), id, price_amount, price_currency, price_unit, '', '', 0,
    coalesce((SELECT created_at FROM workspace), ''), '', 'as it stood in format 6'
  FROM deals WHERE price_amount IS NOT NULL ORDER BY id;
CREATE TABLE answers (
  deal_id INTEGER NOT NULL REFERENCES deals (id),
  item_id TEXT NOT NULL,
  state TEXT NOT NULL, value TEXT NOT NULL,
  basis TEXT, measured TEXT,
  note TEXT NOT NULL, evidence TEXT NOT NULL, run_id TEXT,
  answered_at TEXT NOT NULL, answered_by TEXT NOT NULL,
  PRIMARY KEY (deal_id, item_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_by_item ON answers (item_id, state, value);
CREATE TABLE waivers (
  deal_id INTEGER NOT NULL REFERENCES deals (id),
  item_id TEXT NOT NULL,
  given_by TEXT NOT NULL, reason TEXT NOT NULL, expires TEXT NOT NULL, given_at TEXT NOT NULL,
  PRIMARY KEY (deal_id, item_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE attachments (
  id TEXT PRIMARY KEY NOT NULL,
  holder_kind TEXT NOT NULL CHECK (holder_kind IN ('supplier', 'site', 'offer', 'contract')),
  holder_id TEXT NOT NULL,
  sha256 TEXT NOT NULL REFERENCES evidence (sha256),
  name TEXT NOT NULL, kind TEXT NOT NULL, note TEXT NOT NULL,
  added_at TEXT NOT NULL, added_by TEXT NOT NULL
) STRICT;
CREATE INDEX attachments_by_holder ON attachments (holder_kind, holder_id);
CREATE TABLE fx_rates (
  entry INTEGER PRIMARY KEY,
  from_currency TEXT NOT NULL, to_currency TEXT NOT NULL, rate TEXT NOT NULL, day TEXT NOT NULL, source TEXT NOT NULL,
  saved_at TEXT NOT NULL, saved_by TEXT NOT NULL
) STRICT;
CREATE INDEX fx_rates_by_pair ON fx_rates (from_currency, to_currency, day);
CREATE TABLE market_prices (
  id TEXT PRIMARY KEY NOT NULL,
  import_id TEXT NOT NULL,
  gpu_model TEXT NOT NULL, price_gpu_hour TEXT NOT NULL, currency TEXT NOT NULL, mode TEXT NOT NULL,
  source TEXT NOT NULL, day TEXT NOT NULL
) STRICT;
CREATE INDEX market_prices_by_import ON market_prices (import_id);
CREATE TABLE checklist_templates (
  id TEXT PRIMARY KEY NOT NULL,
  name TEXT NOT NULL, scenario TEXT NOT NULL, document TEXT NOT NULL
) STRICT;
CREATE TABLE scoring_weights (
  scenario TEXT NOT NULL, dimension TEXT NOT NULL, weight TEXT NOT NULL,
  PRIMARY KEY (scenario, dimension)
) STRICT, WITHOUT ROWID;
CREATE TABLE workloads (
  id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, document TEXT NOT NULL
) STRICT;
CREATE TABLE import_mappings (
  supplier_id TEXT NOT NULL, kind TEXT NOT NULL, document TEXT NOT NULL,
  PRIMARY KEY (supplier_id, kind)
) STRICT, WITHOUT ROWID;
CREATE TABLE trash (
  kind TEXT NOT NULL, record_id TEXT NOT NULL,
  deleted_at TEXT NOT NULL, deleted_by TEXT NOT NULL, why TEXT NOT NULL,
  PRIMARY KEY (kind, record_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE earlier_versions (
  entry INTEGER PRIMARY KEY,
  kind TEXT NOT NULL, record_key TEXT NOT NULL, document TEXT NOT NULL,
  replaced_at TEXT NOT NULL, replaced_by TEXT NOT NULL, why TEXT NOT NULL
) STRICT;
CREATE INDEX earlier_versions_by_record ON earlier_versions (kind, record_key);
CREATE TABLE acts (
  entry INTEGER PRIMARY KEY AUTOINCREMENT,
  done_at TEXT NOT NULL, done_by TEXT NOT NULL, words_en TEXT NOT NULL, words_zh TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('done', 'undone', 'dropped')),
  changes TEXT NOT NULL
) STRICT
"""
GUARDED = ("term_versions", "price_versions", "fx_rates", "earlier_versions")
