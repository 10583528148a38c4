"""Which checks are there, and what can ever be run on a node?"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import tomllib
from importlib import resources

from gpulease_gui.checks.check import rules
from gpulease_gui.cli.codes import Exit
from gpulease_gui.facts.fact import readers


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease checks`."""
    parser.add_argument("--commands", action="store_true", help="print every command that can be run on a node")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(options: argparse.Namespace) -> int:
    """Print the list."""
    rows = commands() if options.commands else listing()
    if options.json:
        print(json.dumps(rows, ensure_ascii=False, indent=1))
    elif options.commands:
        for row in rows:
            print(f"# {row['id']} ({row['impact']}, at most {row['seconds']} s)\n{row['command']}\n")
    else:
        for row in rows:
            print(f"{row['id']:28} {row['state']:8} level {row['level']}  {row['impact']:10} {row['title']}")
    return Exit.OK


def planned() -> dict[str, tuple[int, str]]:
    """Ids of the catalogue that have no rule yet, with level and impact."""
    text = resources.files("gpulease_gui.resources").joinpath("checks/catalogue.toml").read_text(encoding="utf-8")
    return {id_: (level, impact) for id_, (level, impact) in tomllib.loads(text).items() if id_ not in rules()}


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
    for id_, (level, impact) in planned().items():
        rows.append({"id": id_, "state": "planned", "level": level, "impact": impact, "title": "", "terms": [], "facts": []})
    return rows


def commands() -> list[dict[str, object]]:
    """Every command text, with impact: facts, then what streams while a node is watched."""
    rows: list[dict[str, object]] = [
        {"id": id_, "impact": str(reader.fact.impact), "seconds": reader.fact.seconds, "command": reader.fact.command.line}
        for id_, reader in readers().items()
        if reader.fact.command is not None
    ]
    package = importlib.import_module("gpulease_gui.telemetry")
    for info in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        source = getattr(importlib.import_module(info.name), "SOURCE", None)
        if source is not None:
            rows.append({"id": f"stream {source.id}", "impact": "passive", "seconds": 0, "command": source.script})
    return rows
