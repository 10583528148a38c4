"""Which stored offer or contract does a command mean?"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import TypeVar

from gpulease_gui.catalog.scenarios import SCENARIO_IDS
from gpulease_gui.cli.workspace_file import services_of
from gpulease_gui.domain.commercial import Subject
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.span import utc_now
from gpulease_gui.services.commerce import find_deal
from gpulease_gui.services.composition import Services
from gpulease_gui.store.doors import Reader

T = TypeVar("T")


def add_workspace(parser: argparse.ArgumentParser, *, scenario: bool = False) -> None:
    """The arguments that all commands about stored offers share."""
    parser.add_argument("--workspace", type=Path, metavar="FILE", help="where the offers are kept")
    parser.add_argument("--demo", action="store_true", help="the offers are those of the demo workspace")
    parser.add_argument("--day", metavar="YYYY-MM-DD", help="as of this day (default: today)")
    if scenario:
        parser.add_argument("--scenario", choices=SCENARIO_IDS, help="the use to judge for (default: every use alike)")


def reading(options: argparse.Namespace, work: Callable[[Reader, Services], T]) -> T:
    """Do `work` with one look at the workspace that the command names. Raises UsageError for a wrong one."""
    with closing(services_of(options.workspace, demo=options.demo, must_exist=True)) as services, services.workspace.read() as connection:
        return work(connection, services)


def day_of(options: argparse.Namespace) -> date:
    """The day that is asked about. Raises UsageError."""
    if options.day is None:
        return utc_now().astimezone().date()
    try:
        return date.fromisoformat(options.day)
    except ValueError:
        raise UsageError(f"{options.day!r} is no day", next_step="write it as 2026-03-31") from None


def deals_named(connection: Reader, words: Sequence[str]) -> list[Subject]:
    """The offers or contracts with these ids, numbers or titles. Raises UsageError for an unknown, doubtful or repeated one."""
    found = [find_deal(connection, word) for word in words]
    for place, word in enumerate(words):
        if found[place] in found[:place]:
            raise UsageError(f"{word!r} is named twice", next_step="name each offer or contract once")
    return found
