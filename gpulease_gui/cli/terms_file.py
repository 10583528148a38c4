"""What does a TOML file of promises say?"""

from __future__ import annotations

import sys
from pathlib import Path

from gpulease_gui.catalog.terms import read_terms_file, validate_term
from gpulease_gui.checks.promise import Promise
from gpulease_gui.checks.terms_conflict import conflicts
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.term import TermValue
from gpulease_gui.domain.text import visible


def terms_from(path: Path) -> dict[str, TermValue]:
    """The promises of the file, checked; terms that exclude each other are said on standard error. Raises UsageError, naming the file."""
    from gpulease_gui.catalog.catalogue import load_catalogue

    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the terms file {path} can't be read", str(error), "it must be UTF-8 TOML") from error
    catalogue = load_catalogue()
    try:
        terms = {key: validate_term(key, value, catalogue) for key, value in read_terms_file(text).items()}
    except UsageError as error:
        raise UsageError(f"{path}: {error.what}", error.why, error.next_step) from error
    for conflict in conflicts(Promise(catalogue, terms)):
        print(visible(f"warning: {path}: {conflict.words.en}"), file=sys.stderr)
    return terms
