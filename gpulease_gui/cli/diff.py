"""What changed on a node between two runs?"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from gpulease_gui.checks.machine import Change
from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.workspace_file import services_of
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Verdict, worst
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import visible
from gpulease_gui.services.composition import Services
from gpulease_gui.services.drift import Duplicate, Snapshot, changes, duplicates, snapshot
from gpulease_gui.services.identity_pin import accept_swap
from gpulease_gui.services.rejudge import Rejudgement, changed
from gpulease_gui.store.runs import find_run, list_current_findings


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
        old, new, verdicts = _read(services, options.old, options.new)
        if options.accept is not None:
            _accept(services, old, new, options.accept)
        same_node = old.run.node_id == new.run.node_id
        found = changes(old, new) if same_node else ()
        shared = duplicates((old, new))
        if options.json:
            print(json.dumps(_json(old, new, found, verdicts, shared), ensure_ascii=False, indent=1))
        else:
            _print(old, new, found, verdicts, shared)
        is_broken = bool(shared) or worst(c.verdict for c in found) is Verdict.FAIL
        return Exit.FAIL if is_broken and options.accept is None else Exit.OK
    finally:
        services.close()


def _read(services: Services, old: str, new: str) -> tuple[Snapshot, Snapshot, tuple[Rejudgement, ...]]:
    with services.workspace.read() as connection:
        pair = find_run(connection, old), find_run(connection, new)
        before, after = ([s.finding for s in list_current_findings(connection, run.id)] for run in pair)
        return snapshot(connection, pair[0]), snapshot(connection, pair[1]), changed(before, after)


def _accept(services: Services, old: Snapshot, new: Snapshot, why: str) -> None:
    if not why.strip() or old.run.node_id != new.run.node_id:
        raise UsageError("--accept needs a reason and two runs of one node")
    services.workspace.submit(lambda db: accept_swap(db, new.run, why.strip(), utc_now())).result()


def _json(
    old: Snapshot, new: Snapshot, found: tuple[Change, ...], verdicts: tuple[Rejudgement, ...], shared: tuple[Duplicate, ...]
) -> dict[str, object]:
    return {
        "old": old.run.id, "new": new.run.id, "nodes": [old.node, new.node],
        "changes": [change_json(change) for change in found],
        "findings": [
            {
                "check": c.finding.check, "term": c.finding.term, "direction": c.finding.direction,
                "before": str(c.before.verdict) if c.before else None, "after": str(c.after.verdict) if c.after else None,
                "measured_before": c.before.measured if c.before else None,
                "measured_after": c.after.measured if c.after else None,
            }
            for c in verdicts
        ],
        "duplicates": [{"nodes": [d.first, d.second], "cards": list(d.cards)} for d in shared],
    }  # fmt: skip


def change_json(change: Change) -> dict[str, object]:
    """A change with the keys of the documented JSON."""
    return {
        "kind": str(change.kind), "verdict": str(change.verdict), "subject": change.subject, "before": change.before,
        "after": change.after, "words": change.words.en,
    }  # fmt: skip


def _print(
    old: Snapshot, new: Snapshot, found: tuple[Change, ...], verdicts: tuple[Rejudgement, ...], shared: tuple[Duplicate, ...]
) -> None:
    print(visible(f"{old.node} on {old.run.started_at:%Y-%m-%d %H:%M} UTC, {new.node} on {new.run.started_at:%Y-%m-%d %H:%M} UTC"))
    for duplicate in shared:
        print(visible(f"  fail  {duplicate.words.en}"))
    for change in found:
        print(visible(f"  {change.verdict:5} {change.words.en}"))
    for c in verdicts:
        if c.before and c.after and c.before.verdict is not c.after.verdict:
            print(visible(f"  {c.after.check}: {c.before.verdict} before, {c.after.verdict} now; {c.after.reason.en}"))
    if not (found or shared or verdicts):
        print("  nothing changed")
