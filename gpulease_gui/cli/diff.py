"""What changed on a node between two runs?"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from gpulease_gui.checks.machine import Change
from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.workspace_file import services_of
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import visible
from gpulease_gui.services.composition import Services
from gpulease_gui.services.drift import Comparison, compare
from gpulease_gui.services.identity_pin import accept_swap


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease diff`."""
    parser.add_argument("old", metavar="RUN1", help="the id of the earlier run, or its beginning")
    parser.add_argument("new", metavar="RUN2", help="the id of the later run, or its beginning")
    parser.add_argument("--accept", metavar="WHY", help="from now on the node is what RUN2 saw (an agreed swap); why is kept")
    parser.add_argument("--workspace", type=Path, metavar="FILE", help="where the runs are kept")
    parser.add_argument("--demo", action="store_true", help="the runs are in the demo workspace")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(options: argparse.Namespace) -> int:
    """Print the changes; exit 1 if one of them breaks what was accepted, or one card is in two nodes."""
    services = services_of(options.workspace, demo=options.demo, must_exist=True)
    try:
        with services.workspace.read() as connection:
            compared = compare(connection, options.old, options.new)
        if options.accept is not None:
            _accept(services, compared, options.accept)
        if options.json:
            print(json.dumps(_json(compared), ensure_ascii=False, indent=1))
        else:
            _print(compared)
        return Exit.FAIL if compared.is_broken and options.accept is None else Exit.OK
    finally:
        services.close()


def _accept(services: Services, compared: Comparison, why: str) -> None:
    old, new = compared.old.run, compared.new.run
    if not why.strip() or old.node_id != new.node_id:
        raise UsageError("--accept needs a reason and two runs of one node")
    services.workspace.submit(lambda db: accept_swap(db, new, why.strip(), utc_now())).result()


def _json(compared: Comparison) -> dict[str, object]:
    old, new = compared.old, compared.new
    return {
        "old": old.run.id, "new": new.run.id, "nodes": [old.node, new.node],
        "changes": [change_json(change) for change in compared.changes],
        "findings": [
            {
                "check": c.finding.check, "term": c.finding.term, "direction": c.finding.direction,
                "before": str(c.before.verdict) if c.before else None, "after": str(c.after.verdict) if c.after else None,
                "measured_before": c.before.measured if c.before else None,
                "measured_after": c.after.measured if c.after else None,
            }
            for c in compared.answers
        ],
        "duplicates": [{"nodes": [d.first, d.second], "cards": list(d.cards)} for d in compared.duplicates],
    }  # fmt: skip


def change_json(change: Change) -> dict[str, object]:
    """A change with the keys of the documented JSON."""
    return {
        "kind": str(change.kind), "verdict": str(change.verdict), "subject": change.subject, "before": change.before,
        "after": change.after, "words": change.words.en,
    }  # fmt: skip


def _print(compared: Comparison) -> None:
    old, new = compared.old, compared.new
    print(visible(f"{old.node} on {old.run.started_at:%Y-%m-%d %H:%M} UTC, {new.node} on {new.run.started_at:%Y-%m-%d %H:%M} UTC"))
    for duplicate in compared.duplicates:
        print(visible(f"  fail  {duplicate.words.en}"))
    for change in compared.changes:
        print(visible(f"  {change.verdict:5} {change.words.en}"))
    for c in compared.answers:
        if c.before and c.after and c.before.verdict is not c.after.verdict:
            print(visible(f"  {c.after.check}: {c.before.verdict} before, {c.after.verdict} now; {c.after.reason.en}"))
    if not (compared.changes or compared.duplicates or compared.answers):
        print("  nothing changed")
