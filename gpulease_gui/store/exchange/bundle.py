"""How does everything that was written down and measured go into one bundle?"""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from gpulease_gui.domain.errors import UserFacing
from gpulease_gui.domain.text import Text
from gpulease_gui.store.codec import json_text
from gpulease_gui.store.evidence import get_blob, get_content
from gpulease_gui.store.exchange.bundle_gaps import gap_rows
from gpulease_gui.store.exchange.bundle_schema import FORMAT, MOST_BYTES, MOST_RECORDS, VERSION, Tick
from gpulease_gui.store.exchange.bundle_sections import SECTIONS, Section, Value
from gpulease_gui.store.exchange.bundle_tasks import without_paths
from gpulease_gui.store.exchange.bundle_watch import EVENT_OVER, SHARED_SETTINGS_SQL
from gpulease_gui.store.imported import IMPORTED

if TYPE_CHECKING:
    Entry = dict[str, Value]


_DEAL = "CASE WHEN d.offer_id IS NULL THEN 'contract' ELSE 'offer' END, coalesce(d.offer_id, d.contract_id)"
_CLAIM_HOLDER = "CASE WHEN c.offer_id IS NULL THEN 'contract' ELSE 'offer' END, coalesce(c.offer_id, c.contract_id)"
_STATED = "p.amount, p.currency, p.unit, p.mode, p.valid_from, p.valid_to, p.tax_included, p.tax_rate, p.invoice_kind, p.evidence_id, p.note"
_OVER = "SELECT id FROM runs WHERE state <> 'running'"
_TASK_OVER = f"SELECT run_id FROM task_runs WHERE ending IS NOT NULL AND run_id IN ({_OVER})"
# One reading a section, columns in the order of key, then fields; `{one}` takes the place of a further condition.
_SQL = {
    # A node that was this computer is another machine elsewhere: it travels as a node without an address. Files of keys,
    # certificates and known hosts, and the proxy, are this computer's own.
    "nodes": "SELECT id, name, CASE reach WHEN 'local' THEN 'ssh' ELSE reach END, host, port, user_name, contract_id, auth, demo_name, use_sudo, "
             "note, jump, host_key_alias FROM nodes",
    "claims": f"SELECT {_CLAIM_HOLDER}, c.term, c.value, c.state, c.source, c.note, c.node_id FROM claims c "
              "WHERE NOT (c.value IS NULL AND c.state = 'not_asked')",
    "terms": "SELECT holder_kind, holder_id, document FROM term_versions t WHERE document <> '{}' AND version = "
             "(SELECT max(version) FROM term_versions WHERE holder_kind = t.holder_kind AND holder_id = t.holder_id)",
    "prices": f"SELECT p.price_id, {_DEAL}, {_STATED} FROM price_versions p JOIN deals d ON d.id = p.deal_id WHERE NOT p.withdrawn "
              "AND p.entry = (SELECT max(entry) FROM price_versions WHERE price_id = p.price_id)",
    "answers": f"SELECT {_DEAL}, a.item_id, a.state, a.value, a.basis, a.measured, a.note, a.evidence, a.answered_at, a.answered_by, "
               f"CASE WHEN a.run_id IN ({_OVER}) THEN a.run_id END FROM answers a JOIN deals d ON d.id = a.deal_id",
    "waivers": f"SELECT {_DEAL}, w.item_id, w.given_by, w.reason, w.expires, w.given_at FROM waivers w JOIN deals d ON d.id = w.deal_id",
    "setups": f"SELECT {_DEAL}, d.template_id, d.scenario FROM deals d WHERE (d.template_id <> '' OR d.scenario <> '')",
    "rates": "SELECT DISTINCT from_currency, to_currency, day, rate, source, surcharge FROM fx_rates",
    "settings": f"SELECT key, value FROM settings WHERE {SHARED_SETTINGS_SQL}",
    "runs": "SELECT id, node_id, started_at, contract_id, finished_at, state, overall, terms, tool_version, host_key_type, host_key_fingerprint, "
            "demo, clock_offset_s, kind, original_id, '' FROM runs WHERE state <> 'running'",
    "outputs": "SELECT id, run_id, fact_id, command, collected_at, exit_code, seconds, stdout_sha256, stderr_sha256, stdout_cut, stderr_cut "
               f"FROM run_evidence WHERE run_id IN ({_OVER})",
    "findings": f"SELECT id, run_id, saved_at, document FROM findings WHERE run_id IN ({_OVER})",
    "sightings": "SELECT run_id, row_number() OVER (PARTITION BY run_id ORDER BY entry), node_id, seen_at, kind, value, faulty "
                 f"FROM sightings WHERE run_id IN ({_OVER})",
    "marks": f"SELECT id, node_id, run_id, at, kind, words FROM marks WHERE kind <> '{IMPORTED}' AND (run_id IS NULL OR run_id IN ({_OVER}))",
    "pastes": "SELECT id, contract_id, pasted_at, terms, tool_version, overall FROM pastes",
    "paste_outputs": "SELECT paste_id, row_number() OVER (PARTITION BY paste_id ORDER BY entry), fact_id, source, command, sha256, cut "
                     "FROM paste_outputs",
    "paste_findings": "SELECT paste_id, row_number() OVER (PARTITION BY paste_id ORDER BY entry), document FROM paste_findings",
    "task_runs": "SELECT run_id, node_id, task, started_at, ended_at, seen_at, ending, exit_code, log_sha256, document FROM task_runs "
                 f"WHERE ending IS NOT NULL AND run_id IN ({_OVER})",
    "task_curves": "SELECT run_id, row_number() OVER (PARTITION BY run_id ORDER BY first), first, count, units, hex(float64_bytes) "
                   f"FROM task_curves WHERE run_id IN ({_TASK_OVER})",
    "task_logs": "SELECT run_id, row_number() OVER (PARTITION BY run_id ORDER BY entry), full_size, hex(zlib_bytes) "
                 f"FROM task_log_pieces WHERE run_id IN ({_TASK_OVER})",
    "watch_events": "SELECT id, node_id, rule, subject, CAST(began_ns AS TEXT), CAST(ended_ns AS TEXT), degraded, document, sha256 FROM watch_events "
                    f"WHERE {EVENT_OVER}",
    "task_references": "SELECT task, row_number() OVER (PARTITION BY task ORDER BY entry), run_id, marked_at, marked_by, why "
                       f"FROM task_references WHERE (run_id IS NULL OR run_id IN ({_TASK_OVER}))",
    "term_versions": "SELECT holder_kind, holder_id, row_number() OVER (PARTITION BY holder_kind, holder_id ORDER BY version), document, saved_at, "
                     "saved_by, why FROM term_versions",
    "price_versions": f"SELECT p.price_id, row_number() OVER (PARTITION BY p.price_id ORDER BY p.entry), {_DEAL}, {_STATED}, p.withdrawn, "
                      "p.saved_at, p.saved_by, p.why FROM price_versions p JOIN deals d ON d.id = p.deal_id",
    "claim_history": f"SELECT {_CLAIM_HOLDER}, c.term, row_number() OVER (PARTITION BY c.id ORDER BY h.entry), h.at, h.changed_by, h.value, "
                     "h.state, h.note FROM claim_history h JOIN claims c ON c.id = h.claim_id",
    "earlier": "SELECT e.kind, CASE WHEN d.id IS NULL THEN '' WHEN d.offer_id IS NULL THEN 'contract' ELSE 'offer' END, "
               "coalesce(d.offer_id, d.contract_id, ''), CASE WHEN d.id IS NULL THEN e.record_key ELSE substr(e.record_key, "
               "instr(e.record_key || ' ', ' ') + 1) END, row_number() OVER (PARTITION BY e.kind, e.record_key ORDER BY e.entry), e.document, "
               "e.replaced_at, e.replaced_by, e.why FROM earlier_versions e LEFT JOIN deals d "
               "ON e.kind IN ('answer', 'waiver', 'setup') AND d.id = CAST(e.record_key AS INTEGER) WHERE e.kind <> 'node'",
    "thresholds": "SELECT check_id, name, row_number() OVER (PARTITION BY check_id, name ORDER BY entry), value, unit, set_at, set_by, why "
                  "FROM threshold_history WHERE subject = ''",
    "trash": "SELECT kind, record_id, deleted_at, deleted_by, why FROM trash",
}  # fmt: skip
# Lists show suppliers and deals in the order in which they came, outputs and findings as they were saved; of two prices
# without days the later one counts.
_ORDER = {
    "suppliers": "rowid", "offers": "rowid", "contracts": "rowid", "runs": "rowid", "pastes": "rowid", "outputs": "run_id, entry",
    "findings": "run_id, entry", "task_runs": "rowid", "price_versions": "p.entry", "prices": "(SELECT min(entry) FROM price_versions WHERE price_id = p.price_id AND entry > 0)",
}  # fmt: skip
_TABLES = {
    "suppliers": "suppliers", "sites": "sites", "offers": "offers", "contracts": "contracts", "attachments": "attachments",
    "templates": "checklist_templates", "weights": "scoring_weights", "workloads": "workloads", "mappings": "import_mappings",
    "market": "market_prices", "task_specs": "task_specs",
}  # fmt: skip
_CONTENTS = (
    "SELECT sha256 FROM attachments UNION SELECT sha256 FROM paste_outputs UNION SELECT f.sha256 FROM finding_evidence f JOIN findings g "
    f"ON g.id = f.finding_id WHERE g.run_id IN ({_OVER}) UNION SELECT stdout_sha256 FROM run_evidence WHERE run_id IN ({_OVER}) "
    f"UNION SELECT stderr_sha256 FROM run_evidence WHERE stderr_sha256 IS NOT NULL AND run_id IN ({_OVER}) "
    f"UNION SELECT log_sha256 FROM task_runs WHERE log_sha256 IS NOT NULL AND run_id IN ({_TASK_OVER}) "
    f"UNION SELECT sha256 FROM watch_events WHERE {EVENT_OVER} ORDER BY 1"
)


def section_rows(connection: sqlite3.Connection, section: Section, only: str = "") -> Iterator[dict[str, Value]]:
    """The records of a section in a fixed order; `only` those that are part of one run or paste.

    What lies in the trash is among them.
    """
    names = (*section.key, *section.fields)
    if section.name == "watch_gaps":
        for told in gap_rows(connection):
            yield dict(zip(names, told, strict=True))
        return
    sql = _SQL.get(section.name) or f"SELECT {', '.join(names)} FROM {_TABLES[section.name]}"
    parent = next(iter(section.refers), "") if section.part_of else next(iter(section.key))
    condition = f" {'AND' if ' WHERE ' in sql else 'WHERE'} {parent} = ?" if only else ""
    order = _ORDER.get(section.name) or ", ".join(str(place) for place in range(1, len(section.key) + 1))
    for row in connection.execute(f"{sql}{condition} ORDER BY {order}", (only,) if only else ()):
        entry = dict(zip(names, row, strict=True))
        if section.name == "claims":
            entry["value"] = json_text(entry["value"])
        if section.name in ("task_runs", "task_specs"):
            entry["document"] = without_paths(str(entry["document"]))
        yield entry


def bundle_bytes(
    connection: sqlite3.Connection, run_hashes: Mapping[str, str], *, made_at: str, tool_version: str, demo: bool, tick: Tick
) -> bytes:
    """The whole workspace as one bundle: UTF-8, one record a line. Outputs and attachments go along, packed.

    `run_hashes` has the hash of every run that is over. Raises UserFacing for what is too large for a bundle, or an
    output that was changed after it was saved. `tick` is called between the parts; it may raise Cancelled.
    """
    head = {"format": FORMAT, "version": VERSION, "made_at": made_at, "tool_version": tool_version, "demo": demo}
    pieces = [json_text(head)[:-1].encode()]
    records = 0
    for section in SECTIONS:
        tick()
        lines = [json_text(entry) for entry in _entries(connection, section, run_hashes)]
        records += len(lines)
        pieces.append((f',\n"{section.name}":[' + ",\n".join(lines) + "]").encode())
    if records > MOST_RECORDS:
        raise _too_large(f"it holds {records:,} records, a bundle at most {MOST_RECORDS:,}")
    pieces.append(b',\n"contents":{')
    size = sum(map(len, pieces))
    for place, (sha,) in enumerate(connection.execute(_CONTENTS).fetchall()):
        tick()
        get_content(connection, sha)  # a changed one must not travel as if it were whole
        pieces += [b",\n" if place else b"", json.dumps(sha).encode(), b':"', base64.b64encode(get_blob(connection, sha).packed), b'"']
        size += len(pieces[-2])
        if size > MOST_BYTES:
            raise _too_large(f"with its outputs and attachments it has more than {MOST_BYTES / 1e6:,.0f} MB")
    return b"".join([*pieces, b"}}\n"])


def _entries(connection: sqlite3.Connection, section: Section, run_hashes: Mapping[str, str]) -> Iterator[dict[str, Value]]:
    for entry in section_rows(connection, section):
        if section.name == "runs":
            entry["run_hash"] = run_hashes[str(entry["id"])]
        yield entry


def _too_large(why: str) -> UserFacing:
    return UserFacing(Text("this workspace is too large for a bundle", "此工作区过大，无法导出为数据包"), why, Text("copy the workspace file itself to the other computer", "请把工作区文件本身复制到另一台电脑"))
