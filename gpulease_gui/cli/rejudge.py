"""What do today's rules, or another contract, say of a run that was stored before?"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from gpulease_gui.cli.codes import of_verdict
from gpulease_gui.cli.terms_file import terms_from
from gpulease_gui.cli.workspace_file import services_of
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Finding
from gpulease_gui.domain.text import visible
from gpulease_gui.services.acceptance import find_contract, promises_of
from gpulease_gui.services.composition import Services
from gpulease_gui.services.outcome import outcome_json
from gpulease_gui.services.rejudge import Against, Rejudged, Rejudgement, rejudge

TERMS_FILE = "contract"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease rejudge`."""
    parser.add_argument("run", metavar="RUN", help="the id of a run, or its beginning")
    parser.add_argument("--terms", metavar="FILE", type=Path, help="judge against this TOML file of promises")
    parser.add_argument("--contract", metavar="ID", help="judge against this contract of the workspace as it stands now")
    parser.add_argument("--workspace", type=Path, metavar="FILE", help="where the run is kept")
    parser.add_argument("--demo", action="store_true", help="the run is in the demo workspace")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(options: argparse.Namespace) -> int:
    """Judge again, save, print what changed; the exit code follows the required findings as of `verify`."""
    if options.terms and options.contract:
        raise UsageError("--terms and --contract exclude each other")
    services = services_of(options.workspace, demo=options.demo, must_exist=True)
    try:
        done = rejudge(services.workspace, services.catalogue, options.run, _against(services, options))
        print(json.dumps(_json(done), ensure_ascii=False, indent=1) if options.json else _for_people(done))
        return of_verdict(done.outcome.overall)
    finally:
        services.close()


def _against(services: Services, options: argparse.Namespace) -> Against:
    if options.terms:
        return Against(terms_from(options.terms), None, TERMS_FILE)
    if options.contract:
        contract = find_contract(services.workspace, options.contract)
        return Against(promises_of(services.workspace, contract.id), contract.id)
    return Against()


def _json(done: Rejudged) -> dict[str, object]:
    """The object of `gpulease verify --json`, with `original`, `overall_before` and `changed`."""
    return {
        **outcome_json(done.outcome), "original": done.original.id,
        "overall_before": str(done.original.overall) if done.original.overall else None,
        "changed": [_change(change) for change in done.changed],
    }  # fmt: skip


def _change(change: Rejudgement) -> dict[str, object]:
    found = change.finding
    return {
        "check": found.check, "term": found.term, "direction": found.direction, "before": _side(change.before),
        "after": _side(change.after),
    }  # fmt: skip


def _side(finding: Finding | None) -> dict[str, object] | None:
    if finding is None:
        return None
    return {
        "verdict": str(finding.verdict), "promised": finding.promised, "measured": finding.measured,
        "required": finding.required, "rule_version": finding.rule_version, "reason": finding.reason.en,
    }  # fmt: skip


def _for_people(done: Rejudged) -> str:
    was = done.original.overall or "not judged"
    lines = [f"run {done.original.id[:12]} judged again as {str(done.outcome.run)[:12]}: {was} before, {done.outcome.overall} now"]
    for change in done.changed:
        found = change.finding
        name = f"{found.check}{' ' + found.term if found.term else ''}{' ' + found.direction if found.direction else ''}"
        lines.append(visible(f"  {name}: {_said(change.before)} -> {_said(change.after)}; {found.reason.en}".replace("\n", " ")))
    return "\n".join(lines if done.changed else [*lines, "  nothing changed"])


def _said(finding: Finding | None) -> str:
    if finding is None:
        return "not asked"
    promised = "" if finding.promised is None else f", promised {finding.promised}"
    measured = "" if finding.measured is None else f" {finding.measured} {finding.unit}".rstrip()
    return f"{finding.verdict}{measured}{promised} (rule version {finding.rule_version})"
