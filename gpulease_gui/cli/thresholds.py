"""By which figures are nodes judged, and how is one moved or taken back?"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.workspace_file import services_of
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.span import utc_now
from gpulease_gui.domain.text import visible
from gpulease_gui.domain.threshold import amount
from gpulease_gui.services.composition import Services
from gpulease_gui.services.thresholds import (
    BY,
    ThresholdRow,
    find_threshold,
    list_thresholds,
    matches,
    parse_amount,
    reset_threshold,
    set_threshold,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease thresholds`."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="list|set|reset")
    listing = actions.add_parser("list", help="the figures with origin, source and who moved them")
    listing.add_argument("words", nargs="*", metavar="WORD", help="only figures that these words describe")
    setting = actions.add_parser("set", help="move a figure from now on")
    back = actions.add_parser("reset", help="take a figure back to what the program ships")
    for sub in (setting, back):
        sub.add_argument("check", metavar="CHECK", help="such as power.limit")
        sub.add_argument("name", metavar="NAME", help="such as full")
    setting.add_argument("value", metavar="VALUE", help="a number in the figure's unit; with %% for a share")
    for sub in (setting, back):
        sub.add_argument("--why", default="", help="the reason; findings show it (needed to set)")
        sub.add_argument("--by", default=BY, metavar="NAME", help="who decided it")
    for sub in (listing, setting, back):
        sub.add_argument("--workspace", type=Path, metavar="FILE", help="whose figures; your own workspace when left out")
        sub.add_argument("--demo", action="store_true", help="those of the demo workspace")
        sub.add_argument("--json", action="store_true", help="one JSON value on standard output")


def run(options: argparse.Namespace) -> int:
    """List, set or reset."""
    services = services_of(options.workspace, demo=options.demo)
    try:
        if options.action == "list":
            print_rows(rows_of(services, options.words), as_json=options.json)
            return Exit.OK
        _move(services, options)
        row = next(r for r in rows_of(services) if r.threshold.key == (options.check, options.name))
        print_rows((row,), as_json=options.json)
        return Exit.OK
    finally:
        services.close()


def _move(services: Services, options: argparse.Namespace) -> None:
    check, name, why, by, now = options.check, options.name, options.why, options.by, utc_now()
    if not by.strip():
        raise UsageError("--by needs a name")
    if options.action == "reset":
        services.workspace.submit(lambda db: reset_threshold(db, check, name, at=now, why=why, by=by)).result()
        return
    value = parse_amount(find_threshold(check, name), options.value)
    services.workspace.submit(lambda db: set_threshold(db, check, name, value, why=why, at=now, by=by)).result()


def rows_of(services: Services, words: list[str] | None = None) -> tuple[ThresholdRow, ...]:
    """The figures as they stand in the workspace."""
    with services.workspace.read() as connection:
        return tuple(row for row in list_thresholds(connection) if matches(row, words or ()))


def print_rows(rows: tuple[ThresholdRow, ...], *, as_json: bool) -> None:
    """Print figures for people, or as a JSON list."""
    if as_json:
        print(json.dumps([row_json(row) for row in rows], ensure_ascii=False, indent=1))
        return
    check = ""
    for row in rows:
        one = row.threshold
        if one.check != check:
            check = one.check
            print(f"{check}  {row.title.en}")
        moved = f" (shipped: {row.shipped})" if row.moved else ""
        print(visible(f"  {one.name:14} {row.now.words.en}{moved}"))
    if not rows:
        print("no figure fits these words")


def row_json(row: ThresholdRow) -> dict[str, object]:
    """A figure with the keys of the documented JSON; `moved` is null while the shipped value counts."""
    one, change = row.threshold, row.moved
    moved = None if change is None else {"why": change.why, "by": change.by, "at": change.at.isoformat()}
    return {
        "check": one.check, "name": one.name, "title": one.title.en, "title_zh": one.title.zh, "sign": one.sign,
        "value": row.now.value, "shipped": one.value, "unit": one.unit, "shown": amount(row.now.value, one.unit),
        "origin": str(row.now.origin), "source": row.now.source, "shipped_origin": str(one.origin), "shipped_source": one.source,
        "low": one.low, "high": None if one.high == float("inf") else one.high, "checks": list(row.checks), "moved": moved,
    }  # fmt: skip
