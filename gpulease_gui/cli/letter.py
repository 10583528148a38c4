"""What is still to be asked of a supplier?"""

from __future__ import annotations

import argparse
from pathlib import Path

from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.stored_deals import add_workspace, day_of, deals_named, reading
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.text import Language
from gpulease_gui.services.checklist_view import checklist_in
from gpulease_gui.services.commerce_letter import Letter, letter_document, letter_of, letter_text
from gpulease_gui.services.composition import Services
from gpulease_gui.services.evaluate import write_whole
from gpulease_gui.store.doors import Reader


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `gpulease letter`."""
    parser.add_argument("offer", metavar="OFFER", help="id, number or title of an offer or contract")
    parser.add_argument("--lang", choices=[str(language) for language in Language], default="en", help="language of the letter")
    parser.add_argument("--out", type=Path, metavar="F.txt|F.pdf", help="the file to write (default: standard output)")
    add_workspace(parser, scenario=True)


def run(options: argparse.Namespace) -> int:
    """Print the letter, or write it as text or PDF; an existing file is replaced only by a whole one."""

    def look(connection: Reader, services: Services) -> Letter:
        subject = deals_named(connection, [options.offer])[0]
        view = checklist_in(connection, subject, services.catalogue, day_of(options), options.scenario or "")
        return letter_of(view, demo=services.demo)

    letter, language = reading(options, look), Language(options.lang)
    if options.out is None:
        print(letter_text(letter, language), end="")
        return Exit.OK
    if not options.out.parent.is_dir():
        raise UsageError(f"there is no folder {options.out.parent}", next_step="make it first, or name another file")
    sha256 = write_whole(options.out, _bytes(letter, language, options.out.suffix.lower()))
    print(f"{options.out.absolute()}\nSHA-256 {sha256}")
    return Exit.OK


def _bytes(letter: Letter, language: Language, ending: str) -> bytes:
    if ending == ".pdf":
        from gpulease_gui.pdf.report import pdf_bytes

        return pdf_bytes(letter_document(letter, language))
    if ending != ".txt":
        raise UsageError(f"{ending!r} is no kind of letter", next_step="end the file in .txt or .pdf")
    return letter_text(letter, language).encode("utf-8", "replace")
