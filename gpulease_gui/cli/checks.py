"""Which checks are there, and what can ever be run on a node?"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from gpulease_gui.checks.check import rules
from gpulease_gui.cli.codes import Exit
from gpulease_gui.domain.frame import AGENT
from gpulease_gui.domain.text import Text
from gpulease_gui.facts.fact import readers


@dataclass(frozen=True, slots=True)
class Planned:
    """A check of the catalogue without a rule; `because` says what it waits for."""

    level: int
    impact: str
    because: Text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease checks`."""
    parser.add_argument("--commands", action="store_true", help="print every command that can be run on a node")
    parser.add_argument("--thresholds", action="store_true", help="print every figure that the checks compare with, and its origin")
    parser.add_argument("--workspace", type=Path, metavar="FILE", help="with --thresholds: as they were moved in this workspace")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(options: argparse.Namespace) -> int:
    """Print the list."""
    if options.thresholds:
        return _thresholds(options.workspace, as_json=options.json)
    rows = commands() if options.commands else listing()
    if options.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
    elif options.commands:
        for row in rows:
            print(f"# {row['id']} ({row['impact']}, at most {row['seconds']} s)\n{row['command']}\n")
    else:
        for row in rows:
            print(f"{row['id']:28} {row['state']:8} level {row['level']}  {row['impact']:10} {row['title'] or row['because']}")
    return Exit.OK


def _thresholds(path: Path | None, *, as_json: bool) -> int:
    """The figures as shipped, or as they stand in a named workspace."""
    from gpulease_gui.cli.thresholds import print_rows, rows_of
    from gpulease_gui.services.thresholds import shipped_thresholds

    if path is None:
        print_rows(shipped_thresholds(), as_json=as_json)
        return Exit.OK
    from gpulease_gui.cli.workspace_file import services_of

    services = services_of(path, demo=False, must_exist=True)
    try:
        print_rows(rows_of(services), as_json=as_json)
        return Exit.OK
    finally:
        services.close()


def planned() -> dict[str, Planned]:
    """What of the catalogue has no rule yet."""
    text = resources.files("gpulease_gui.resources").joinpath("checks/catalogue.toml").read_text(encoding="utf-8")
    return {
        id_: Planned(row["level"], row["impact"], Text(row["because"]["en"], row["because"]["zh"]))
        for id_, row in tomllib.loads(text).items()
        if id_ not in rules()
    }


def listing() -> list[dict[str, object]]:
    """One row per check: those that run, then those that are planned."""
    rows: list[dict[str, object]] = [
        {
            "id": id_, "state": "ready", "level": rule.check.level, "impact": str(rule.check.impact),
            "title": rule.check.title.en, "title_zh": rule.check.title.zh, "terms": list(rule.check.terms),
            "facts": [*rule.check.facts, *rule.check.optional], "rule_version": rule.check.rule_version,
        }
        for id_, rule in rules().items()
    ]  # fmt: skip
    for id_, row in planned().items():
        rows.append({
            "id": id_, "state": "planned", "level": row.level, "impact": row.impact, "title": "", "terms": [], "facts": [],
            "because": row.because.en, "because_zh": row.because.zh,
        })  # fmt: skip
    return rows


def commands() -> list[dict[str, object]]:
    """Every command text, with impact: facts, then what streams while a node is watched: the agent, or the scripts."""
    rows: list[dict[str, object]] = [
        {"id": id_, "impact": str(reader.fact.impact), "seconds": reader.fact.seconds, "command": reader.fact.command.line}
        for id_, reader in readers().items()
        if reader.fact.command is not None
    ]
    package = importlib.import_module("gpulease_gui.telemetry")
    for info in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        source = getattr(importlib.import_module(info.name), "SOURCE", None)
        if source is not None and source.script:
            rows.append({"id": f"stream {source.id}", "impact": "passive", "seconds": 0, "command": source.script})
    program = (resources.files("gpulease_gui") / "agent" / "node_agent.py").read_text("utf-8")
    rows.append({"id": "agent", "impact": "passive", "seconds": 0, "command": f"{AGENT}\n{program}"})
    return rows
