"""How does an evaluation become a file?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from gpulease_gui.catalog.catalogue import load_catalogue
from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.workspace_file import wrong_name
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Language, visible
from gpulease_gui.reports.facts import EvaluationFacts
from gpulease_gui.services.acceptance import find_contract
from gpulease_gui.services.evaluate import evaluation_facts, make_document, remember_report, write_whole
from gpulease_gui.store.workspace import Workspace

FORMATS = ("pdf", "html", "json", "csv")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease export`."""
    parser.add_argument("--contract", required=True, metavar="ID", help="id or number of the contract")
    parser.add_argument("--lang", choices=[str(language) for language in Language], default="en", help="language of the report")
    parser.add_argument("--out", required=True, type=Path, metavar="F.pdf", help="the file to write")
    parser.add_argument("--format", choices=FORMATS, help="default: as the file's ending says")
    parser.add_argument("--workspace", type=Path, metavar="FILE", help="where the runs are kept")
    parser.add_argument("--demo", action="store_true", help="the workspace is the demo's")


def run(options: argparse.Namespace) -> int:
    """Write the report; an existing file is replaced only by a whole one. Prints its path and SHA-256, and which readings were changed."""
    write = _writer(options.format or options.out.suffix.removeprefix(".").lower())
    out: Path = options.out
    if not out.parent.is_dir():
        raise UsageError(f"there is no folder {out.parent}", next_step="make it first, or name another file")
    language = Language(options.lang)
    with closing(_open(options)) as workspace:
        contract = find_contract(workspace, options.contract)
        with workspace.read() as connection:
            facts = evaluation_facts(connection, contract.id, load_catalogue())
        sha256 = write_whole(out, write(facts, language))
        remember_report(workspace, contract.id, out, sha256, language)
    for node in facts.verified:
        for one in node.run.readings if node.run else ():
            if one.trouble:
                print(f"{visible(node.node.name)}: {one.trouble.say(language)}", file=sys.stderr)
    print(f"{out.absolute()}\nSHA-256 {sha256}")
    return Exit.OK


def _open(options: argparse.Namespace) -> Workspace:
    with wrong_name(options.workspace, must_exist=True):
        return Workspace.open(_workspace_path(options), demo=options.demo, create=False)


def _workspace_path(options: argparse.Namespace) -> Path:
    if options.workspace is not None:
        return Path(options.workspace)
    from gpulease_gui.services.composition import default_path

    return default_path(demo=options.demo)


def _writer(kind: str) -> Callable[[EvaluationFacts, Language], bytes]:
    writers = {"pdf": _pdf, "html": _html, "json": _json, "csv": _csv}
    if kind not in writers:
        raise UsageError(f"{kind!r} is no kind of report", next_step=f"end the file in one of: {', '.join(FORMATS)}")
    return writers[kind]


def _pdf(facts: EvaluationFacts, language: Language) -> bytes:
    from gpulease_gui.pdf.report import pdf_bytes

    return pdf_bytes(make_document(facts, language))


def _html(facts: EvaluationFacts, language: Language) -> bytes:
    from gpulease_gui.reports.as_html import html_text

    return html_text(make_document(facts, language)).encode("utf-8", "replace")


def _json(facts: EvaluationFacts, language: Language) -> bytes:
    from gpulease_gui.reports.as_json import json_bytes

    return json_bytes(facts)


def _csv(facts: EvaluationFacts, language: Language) -> bytes:
    from gpulease_gui.reports.as_csv import csv_bytes

    return csv_bytes(facts, language)
