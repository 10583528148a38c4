"""How do stored offers stand beside each other?"""

from __future__ import annotations

import argparse
import json
import sys

from gpulease_gui.catalog.scenarios import load_scenarios
from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.stored_deals import add_workspace, day_of, deals_named, reading
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Language
from gpulease_gui.economics.workload import Workload, equal_sessions
from gpulease_gui.services.commerce_compare import CompareBy, comparison_in
from gpulease_gui.services.commerce_cost import workloads_in
from gpulease_gui.services.compare_sheet import csv_bytes
from gpulease_gui.services.compare_table import comparison_json, lines_of
from gpulease_gui.services.comparison import Comparison
from gpulease_gui.services.composition import Services
from gpulease_gui.services.price_period import PricePer
from gpulease_gui.store.doors import Reader


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease compare`."""
    parser.add_argument("offers", nargs="+", metavar="OFFER", help="ids, numbers or titles of offers or contracts")
    parser.add_argument("--differences", action="store_true", help="only the rows that differ (not with --json)")
    parser.add_argument("--currency", metavar="CNY", help="the currency to compare in (default: that of the first offer, else one that all prices convert to)")
    parser.add_argument("--per", choices=[str(per) for per in PricePer], default=str(PricePer.GPU_HOUR),
                        help="what prices are prices of; a month has 720 hours unless the terms count otherwise")  # fmt: skip
    parser.add_argument("--workload", metavar="NAME", help="a saved workload to price")
    parser.add_argument("--gpus", type=int, metavar="N", help="or price N GPUs ...")
    parser.add_argument("--hours", type=int, metavar="H", help="... for one run of H hours")
    parser.add_argument("--lang", choices=[str(language) for language in Language], default="en", help="language of the lines")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="one JSON object on standard output")
    how.add_argument("--csv", action="store_true", help="CSV (UTF-8 with a byte order mark) on standard output")
    add_workspace(parser, scenario=True)


def run(options: argparse.Namespace) -> int:
    """Print the matrix."""

    def look(connection: Reader, services: Services) -> Comparison:
        scenario = load_scenarios().scenarios[options.scenario] if options.scenario else None
        by = CompareBy(scenario, _workload(connection, options), _currency(options.currency), per=PricePer(options.per))
        return comparison_in(connection, deals_named(connection, options.offers), services.catalogue, day_of(options), by)

    comparison, language = reading(options, look), Language(options.lang)
    if options.json:
        print(json.dumps(comparison_json(comparison), ensure_ascii=False, indent=1))
    elif options.csv:
        sys.stdout.flush()
        sys.stdout.buffer.write(csv_bytes(comparison, language, differences_only=options.differences))
    else:
        for line in lines_of(comparison, language, differences_only=options.differences, grouped=False):
            print("\t".join(line))
    return Exit.OK


def _currency(word: str | None) -> str | None:
    code = None if word is None else word.strip().upper()
    if code is not None and not (len(code) == 3 and code.isascii() and code.isalpha()):
        raise UsageError(f"{word!r} is no currency", next_step="write its three letters, such as CNY")
    return code


def _workload(connection: Reader, options: argparse.Namespace) -> Workload | None:
    if options.workload is not None:
        known = workloads_in(connection)
        found = next((saved.workload for saved in known if options.workload in (saved.id, saved.name)), None)
        if found is None:
            names = ", ".join(saved.name for saved in known) or "none yet"
            raise UsageError(f"there is no workload {options.workload!r}", next_step=f"the workloads are: {names}")
        return found
    if (options.gpus is None) != (options.hours is None) or min(options.gpus or 1, options.hours or 1) < 1:
        raise UsageError("--gpus and --hours go together, both 1 or more", next_step="such as --gpus 8 --hours 200")
    return equal_sessions(options.gpus, 1, options.hours * 3600) if options.gpus else None
