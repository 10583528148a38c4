"""What did the newest runs of our other nodes measure?"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import datetime

from gpulease_gui.domain.finding import Value, Verdict
from gpulease_gui.store.codec import finding_from, utc_text

# Older runs of a node add no node to a median.
_NEWEST = 5


@dataclass(frozen=True, slots=True)
class FleetFinding:
    """One finding of another node, with who rents it out (None = no contract names a supplier)."""

    node_id: str
    supplier_id: str | None
    run_id: str
    check: str
    direction: str
    unit: str
    measured: Value
    verdict: Verdict


def list_fleet_findings(
    connection: sqlite3.Connection, before: datetime, *, checks: tuple[str, ...] = ()
) -> tuple[FleetFinding, ...]:
    """What was measured, or said of one of `checks`, in the newest runs of each node before `before`; newest first.

    Of whole runs and of runs of some checks the newest five each: many tasks do not push out what names the cards. What
    failed counts too: a median has room for it; what was measured on a busy node does not. What could not be judged counts
    only if nobody promised it, or if there was nothing to compare it with.
    """
    marks = ", ".join("?" * len(checks))
    rows = connection.execute(
        "SELECT r.node_id, c.supplier_id, r.id, f.document FROM "
        "(SELECT rowid AS place, id, node_id, contract_id, started_at, row_number() OVER "
        "(PARTITION BY node_id, original_id IS NULL ORDER BY started_at DESC, rowid DESC) AS age FROM runs "
        "WHERE kind = 'verified' AND started_at < ?) r "
        "JOIN findings f ON f.run_id = r.id LEFT JOIN contracts c ON c.id = r.contract_id "
        f"WHERE r.age <= {_NEWEST} AND (f.basis = 'measured' OR f.check_id IN ({marks})) AND f.measured IS NOT NULL "
        "AND (f.verdict IN ('pass', 'warn', 'fail') AND f.reason_code <> 'not_idle' "
        "OR f.reason_code IN ('not_promised', 'no_yardstick', 'sheet_figure')) "
        "ORDER BY r.started_at DESC, r.place DESC, f.entry DESC",
        (utc_text(before), *checks),
    )
    return tuple(_finding(*row) for row in rows)


def _finding(node_id: str, supplier_id: str | None, run_id: str, document: str) -> FleetFinding:
    found = finding_from(document)
    return FleetFinding(node_id, supplier_id, run_id, found.check, found.direction, found.unit, found.measured, found.verdict)
