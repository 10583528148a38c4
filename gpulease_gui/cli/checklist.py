"""What is answered and what is open in the checklist of a stored offer?"""

from __future__ import annotations

import argparse
import json

from gpulease_gui.catalog.scenarios import load_scenarios
from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.stored_deals import add_workspace, day_of, deals_named, reading
from gpulease_gui.domain.text import visible
from gpulease_gui.services.checklist_view import ChecklistRow, ChecklistView, checklist_in
from gpulease_gui.services.commerce_score import DealScore, score_of, weights_in
from gpulease_gui.services.composition import Services
from gpulease_gui.store.doors import Reader


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease checklist`."""
    parser.add_argument("offer", metavar="OFFER", help="id, number or title of an offer or contract")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    add_workspace(parser, scenario=True)


def run(options: argparse.Namespace) -> int:
    """Print every item with its state, and the score."""
    scenario = load_scenarios().scenarios[options.scenario] if options.scenario else None

    def look(connection: Reader, services: Services) -> tuple[ChecklistView, DealScore]:
        subject = deals_named(connection, [options.offer])[0]
        view = checklist_in(connection, subject, services.catalogue, day_of(options), options.scenario or "")
        return view, score_of(view, weights_in(connection, scenario))

    view, found = reading(options, look)
    if options.json:
        print(json.dumps(_json(view, found), ensure_ascii=False, indent=1))
    else:
        _print(view, found)
    return Exit.OK


def _print(view: ChecklistView, found: DealScore) -> None:
    for row in view.rows:
        note = f"  ({row.answer.note})" if row.answer is not None and row.answer.note else ""
        print(visible(f"{row.item.id:6} {row.item.severity:6} {row.outcome:14} {row.item.text.en}{note}"))
    score = found.score
    span = "no score" if score.score_low is None else f"{score.score_low} to {score.score_high}"
    print(f"\n{score.status}, {span}, coverage {score.coverage}; open musts: {', '.join(score.open_musts) or 'none'}")


def _json(view: ChecklistView, found: DealScore) -> dict[str, object]:
    score = found.score
    return {
        "id": view.facts.row.id, "number": view.facts.row.number, "scenario": view.scenario or None,
        "status": str(score.status), "score_low": None if score.score_low is None else float(score.score_low),
        "score_high": None if score.score_high is None else float(score.score_high),
        "coverage": None if score.coverage is None else float(score.coverage),
        "failed_musts": list(score.failed_musts), "open_musts": list(score.open_musts), "waived_musts": list(score.waived_musts),
        "totals": {str(outcome): count for outcome, count in view.totals.items()},
        "items": [_row_json(row) for row in view.rows],
    }  # fmt: skip


def _row_json(row: ChecklistRow) -> dict[str, object]:
    answer, waiver = row.answer, row.waiver
    return {
        "id": row.item.id, "dimension": row.item.dimension, "severity": str(row.item.severity), "text": row.item.text.en,
        "outcome": str(row.outcome), "state": str(answer.state) if answer else "not_asked",
        "value": str(answer.value) if answer else "unknown", "derived": row.derived, "note": answer.note if answer else "",
        "evidence": list(answer.evidence) if answer else [], "run": answer.run_id if answer else None,
        "waiver": None if waiver is None else {"by": waiver.by, "reason": waiver.reason, "expires": str(waiver.expires), "counts": row.waived},
    }  # fmt: skip
