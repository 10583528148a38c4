"""How does the whole workspace, or the table of its offers, become a file?"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.workspace_file import services_of
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Language
from gpulease_gui.reports.as_xlsx import TableCell
from gpulease_gui.services.exchange import CARRIED, LEFT_OUT, export_bundle, write_private
from gpulease_gui.services.exchange_table import Table, offers_table

FORMATS = ("json", "xlsx", "csv")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease export-data`."""
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="the file to write; an earlier one is replaced by a whole one")
    parser.add_argument("--format", choices=FORMATS, help="json: the whole workspace, for import-data; xlsx, csv: the offers (default: as the file's ending says)")
    parser.add_argument("--lang", choices=[str(language) for language in Language], default="en", help="language of the headings")
    parser.add_argument("--workspace", type=Path, metavar="FILE", help="where the offers are kept")
    parser.add_argument("--demo", action="store_true", help="the workspace is the demo's")


def run(options: argparse.Namespace) -> int:
    """Write the file; prints its path."""
    kind = options.format or options.out.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise UsageError(f"{kind!r} is no kind of export", next_step=f"end the file in one of: {', '.join(FORMATS)}")
    if not options.out.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {options.out.parent}", next_step="make it first, or name another file")
    now = datetime.now(UTC)
    with closing(services_of(options.workspace, demo=options.demo, must_exist=True)) as services, services.workspace.read() as connection:
        if kind == "json":
            content = export_bundle(connection, at=now, demo=services.demo)
        else:
            table = offers_table(connection, load_catalogue(), Language(options.lang), now.date())
            content = _table_bytes(kind, table)
    write_private(options.out, content)
    print(options.out.absolute())
    if kind == "json":
        print(f"{CARRIED.en}\n{LEFT_OUT.en}", file=sys.stderr)
    return Exit.OK


def _table_bytes(kind: str, table: Table) -> bytes:
    if kind == "csv":
        from gpulease_gui.reports.table_csv import csv_table

        return csv_table(table.head, [[_plain(cell) for cell in row] for row in table.rows])
    from gpulease_gui.reports.as_xlsx import xlsx_bytes

    return xlsx_bytes("Offers", table.head, table.rows)


def _plain(cell: TableCell) -> str | int | float | None:
    return cell if isinstance(cell, str | int | float) or cell is None else str(cell)
