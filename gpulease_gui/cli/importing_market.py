"""How does a public price list become the reference that offers are held against?"""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from datetime import date
from pathlib import Path

from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.workspace_file import services_of, wrong_input
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Text
from gpulease_gui.services.commerce_edit import import_market
from gpulease_gui.services.importing_market import MarketReading, read_market
from gpulease_gui.services.importing_sources import sheet_of_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease import-market`."""
    parser.add_argument("file", type=Path, metavar="FILE", help="a price list: AcceleratorName, AcceleratorCount, Price, SpotPrice ...")
    parser.add_argument("--source", required=True, help="where the list is from; kept with every price")
    parser.add_argument("--date", required=True, metavar="YYYY-MM-DD", help="the day of the list")
    parser.add_argument("--currency", default="USD", help="of lists that do not name it (default USD)")
    parser.add_argument("--dry-run", action="store_true", help="say what would be kept; write nothing (without it the prices are saved)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--workspace", type=Path, metavar="FILE", help="where the prices are kept")
    parser.add_argument("--demo", action="store_true", help="the workspace is the demo's")


def run(options: argparse.Namespace) -> int:
    """Import; 0 done, 1 no line of the list could be used."""
    day = _day(options.date)
    with wrong_input():
        sheet = sheet_of_file(options.file)
    with closing(services_of(options.workspace, demo=options.demo)) as services:
        found = read_market(sheet, services.catalogue.gpus, options.source, day, options.currency)
        if found.prices and not options.dry_run:
            words = Text(f"import of {len(found.prices)} public prices", f"导入 {len(found.prices)} 条公开价格")
            services.change(lambda db: import_market(db, found.prices, words), "market").result()
    _print(found, as_json=options.json)
    return Exit.OK if found.prices else Exit.FAIL


def _day(words: str) -> date:
    try:
        return date.fromisoformat(words)
    except ValueError:
        raise UsageError(f"--date: {words!r} is no day", next_step="write it as 2026-12-31") from None


def _print(found: MarketReading, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({
            "lines": found.lines, "prices": len(found.prices), "without_gpu": found.without_gpu, "unreadable": list(found.bad),
            "unknown": dict(found.unknown), "models": sorted({price.gpu_model for price in found.prices}),
        }, ensure_ascii=False, indent=1))  # fmt: skip
        return
    for name, count in found.unknown[:20]:
        print(f"unknown: {name!r} on {count} lines")
    for address in found.bad[:20]:
        print(f"error: {address}: the price or the count can't be read")
    print(f"{len(found.prices)} prices of {found.lines} lines; {found.without_gpu} without a GPU")
