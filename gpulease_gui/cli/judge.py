"""Do the outputs that a supplier sent keep what was promised?"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from gpulease_gui.cli.codes import Exit, of_verdict
from gpulease_gui.cli.terms_file import terms_from
from gpulease_gui.cli.workspace_file import services_of
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.finding import Reason, totals
from gpulease_gui.domain.frame import MAX_STDOUT_BYTES
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import visible
from gpulease_gui.facts.fact import readers
from gpulease_gui.services.acceptance import find_contract, promises_of
from gpulease_gui.services.composition import Services
from gpulease_gui.services.outcome import Outcome, finding_line, outcome_json
from gpulease_gui.services.pasted import (
    Judged,
    PieceReading,
    Question,
    judge_pieces,
    open_questions,
    questions_for,
    save_judged,
)
from gpulease_gui.services.pasted_pieces import pieces_of
from gpulease_gui.services.thresholds import effective
from gpulease_gui.store.records import Paste

TARGET = "pasted"
SENT_BY = "supplier"
_MOST_CHARACTERS = 600


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease judge`."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="outputs as the supplier sent them; - is standard input")
    parser.add_argument("--terms", metavar="FILE", type=Path, help="TOML file of promises")
    parser.add_argument("--contract", metavar="ID", help="judge against this contract and note it on its claims")
    parser.add_argument("--kind", metavar="K", help="what the files are; found by itself when left out")
    parser.add_argument("--ask", action="store_true", help="print the command to ask the supplier for, per open claim")
    parser.add_argument("--workspace", type=Path, metavar="FILE", help="where outputs and findings are kept")
    parser.add_argument("--demo", action="store_true", help="the contract is in the demo workspace")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")


def run(options: argparse.Namespace) -> int:
    """Judge and print; the exit code follows the required findings as of `verify`."""
    _refuse_wrong_calls(options)
    terms = terms_from(options.terms) if options.terms else None
    services = services_of(options.workspace, demo=options.demo)
    try:
        contract = find_contract(services.workspace, options.contract).id if options.contract else None
        if options.ask:
            return _ask(services, terms, contract, as_json=options.json)
        promised = terms if terms is not None else promises_of(services.workspace, str(contract))
        pieces = [p for name in options.files for p in pieces_of(_bytes_of(name), name, options.kind)]
        if not pieces:
            raise UsageError("there is nothing to judge", "the files are empty")
        with services.workspace.read() as connection:
            thresholds = effective(connection)
        judged = judge_pieces(services.catalogue, pieces, promised, thresholds)
        paste = save_judged(services.workspace, judged, contract)
        _print(judged, paste, contract or ("contract" if terms else None), services, as_json=options.json)
        return of_verdict(judged.overall)
    finally:
        services.close()


def _refuse_wrong_calls(options: argparse.Namespace) -> None:
    if (options.terms is None) == (options.contract is None):
        raise UsageError("name --terms FILE or --contract ID")
    if options.kind is not None and options.kind not in readers():
        raise UsageError(f"unknown kind {options.kind!r}", next_step=f"the kinds are {', '.join(readers())}")
    if not options.files and not options.ask:
        raise UsageError("name at least one FILE", next_step="- reads standard input")


def _bytes_of(name: str) -> bytes:
    try:
        if name == "-":
            return sys.stdin.buffer.read(MAX_STDOUT_BYTES + 1)
        with Path(name).open("rb") as file:
            return file.read(MAX_STDOUT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"can't read {name}", error.strerror or str(error), "check the path") from error


def _ask(services: Services, terms: dict[str, TermValue] | None, contract: str | None, *, as_json: bool) -> int:
    if contract is not None:
        with services.workspace.read() as connection:
            questions = open_questions(connection, contract)
    else:
        questions = questions_for(terms or ())
    if as_json:
        print(json.dumps([{"term": q.term, "command": q.command, "message": q.message.en} for q in questions], indent=1))
    else:
        print("\n\n".join(f"# {', '.join(terms)}\n{command}" for command, terms in _by_command(questions).items()))
    return Exit.OK


def _by_command(questions: tuple[Question, ...]) -> dict[str, list[str]]:
    """One command may answer several terms; the supplier is asked for it once."""
    found: dict[str, list[str]] = {}
    for question in questions:
        found.setdefault(question.command, []).append(question.term)
    return found


def _print(judged: Judged, paste: Paste, contract: str | None, services: Services, *, as_json: bool) -> None:
    outcome = Outcome(TARGET, None, paste.pasted_at, None, contract, services.demo, judged.findings)
    if as_json:
        whole = {
            **outcome_json(outcome), "paste": paste.id, "sent_by": SENT_BY, "outputs": [_output(o) for o in judged.outputs],
        }  # fmt: skip
        print(json.dumps(whole, ensure_ascii=False, indent=1))
        return
    for output in judged.outputs:
        print(visible(f"{output.piece.source}: {output.piece.kind or 'unknown'}{_remark(output)}"))
    for finding in judged.findings:
        print(visible(finding_line(finding)))
        if finding.required and finding.reason_code == Reason.NOT_COLLECTED:
            print(visible(f"{'':14} {finding.next_step.en}"))
    counts = ", ".join(f"{number} {verdict}" for verdict, number in totals(judged.findings).items() if number)
    print(f"{TARGET}: {judged.overall}; {counts or 'nothing could be judged'}; as sent by the supplier, not seen on a node")


def _remark(output: PieceReading) -> str:
    """Why an output was not judged; one that was read shows at least what it says."""
    if output.problem is not None:
        return f": {output.problem.en}"
    if output.note is None:
        return ""
    values = "; ".join(f"{key} {json.dumps(value, ensure_ascii=False, default=str)}" for key, value in output.values)
    return f": {output.note.en}: {values[:_MOST_CHARACTERS]}"


def _output(output: PieceReading) -> dict[str, object]:
    piece = output.piece
    return {
        "file": piece.source, "kind": piece.kind, "command": piece.command, "sha256": output.blob.sha256,
        "bytes": output.blob.full_size, "cut": piece.cut, "problem": output.problem.en if output.problem else None,
        "note": output.note.en if output.note else None,
    }  # fmt: skip
