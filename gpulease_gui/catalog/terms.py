"""Which promises can be written down, and is a given value one of them?"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpulease_gui.catalog.loader import CatalogueFault, build, read_toml, toml_files
from gpulease_gui.domain.errors import UsageError
from gpulease_gui.domain.term import Term, TermKind, TermValue

if TYPE_CHECKING:
    from gpulease_gui.catalog.catalogue import Catalogue


@dataclass(frozen=True, slots=True)
class _TermFile:
    term: tuple[Term, ...] = field(default=())


def load_terms() -> Mapping[str, Term]:
    """All terms of resources/terms by key, in the order of the files. Raises CatalogueFault."""
    found: dict[str, Term] = {}
    for file in toml_files("terms"):
        for term in build(_TermFile, read_toml(file), file.name).term:
            if term.key in found:
                raise CatalogueFault(file.name, term.key, "the term stands twice")
            if (term.kind is TermKind.CHOICE) != bool(term.choices):
                raise CatalogueFault(file.name, term.key, "choices belong to a choice, and to nothing else")
            found[term.key] = term
    return found


def validate_term(key: str, value: object, catalogue: Catalogue) -> TermValue:
    """`value` as the term `key` keeps it.

    Raises UsageError that says what is wrong where, and how to write it.
    """
    term = catalogue.terms.get(key)
    if term is None:
        raise _unknown_key(key, catalogue)
    if term.kind is TermKind.GPU_MODEL:
        return _model(term, value, catalogue)
    if term.kind in (TermKind.COUNT, TermKind.NUMBER):
        return _number(term, value)
    if term.kind is TermKind.YES_NO:
        return _yes_no(term, value)
    return _words(term, value)


def _unknown_key(key: str, catalogue: Catalogue) -> UsageError:
    below = [known for known in catalogue.terms if known.startswith(f"{key}.")]
    if below:
        # The part that names the thing itself is what was meant most often: gpu = "..." is the model.
        below.sort(key=lambda known: not known.endswith((".model", ".name")))
        return UsageError(f"{key}: there is no such term", f"it has parts: {', '.join(below)}", f"write {below[0]} = ...")
    near = difflib.get_close_matches(key, catalogue.terms, n=3, cutoff=0.5)
    last = key.rsplit(".", 1)[-1]
    near += [known for known in catalogue.terms if known.rsplit(".", 1)[-1] == last and known not in near]
    return UsageError(
        f"{key}: there is no such term",
        next_step=f"closest: {', '.join(near)}" if near else f"the terms are {', '.join(catalogue.terms)}",
    )


def _model(term: Term, value: object, catalogue: Catalogue) -> str:
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{term.key}: a model is written as text, not {value!r}", next_step='such as "nvidia-h100-sxm5-80gb"')
    try:
        catalogue.gpus.promise(value)
    except UsageError as error:
        raise UsageError(error.what.replace("gpu.model", term.key), error.why, error.next_step) from error
    return value.strip()


_WITH_UNIT = re.compile(r"\s*([-+]?[0-9][0-9.,_]*)\s*(\S.*)?")


def _number(term: Term, value: object) -> int | float:
    unit = term.unit or "a bare number"
    if isinstance(value, str):
        told = _WITH_UNIT.fullmatch(value)
        what = f"{term.key}: {value!r} is text" if told is None or not told[2] else f"{term.key}: {value!r} carries a unit"
        raise UsageError(what, f"the unit is always {unit}", f"write {term.key} = {told[1] if told else 1} in {unit}")
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(f"{term.key}: {value!r} is no number", next_step=f"write a bare number in {unit}")
    if term.kind is TermKind.COUNT and not float(min(value, 1e300)).is_integer():
        raise UsageError(f"{term.key}: {value} is no whole number", next_step=f"count in {unit}")
    _within(term, value, unit)
    return int(value) if term.kind is TermKind.COUNT else value


def _within(term: Term, value: float, unit: str) -> None:
    low, high = term.minimum, term.maximum
    # NaN compares as neither, so the good case is asked for.
    if not ((low is None or value >= low) and (high is None or value <= high)):
        raise UsageError(f"{term.key}: {value} {unit} cannot be meant", f"it lies outside {low:g} to {high:g}", f"the unit is {unit}")


def _yes_no(term: Term, value: object) -> bool:
    if not isinstance(value, bool):
        raise UsageError(f"{term.key}: {value!r} is neither yes nor no", next_step="write true or false, without quotes")
    return value


def _words(term: Term, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        hint = ' (versions too: "12.4")' if term.kind is TermKind.VERSION else ""
        raise UsageError(f"{term.key}: {value!r} is no text", next_step=f"put it in quotes{hint}")
    words = value.strip()
    if term.choices and words not in term.choices:
        raise UsageError(f"{term.key}: {words!r} is no choice", next_step=f"write one of: {', '.join(term.choices)}")
    if term.kind is TermKind.VERSION and not is_version(words):
        raise UsageError(f"{term.key}: {words!r} is no version", next_step='write digits and dots, such as "12.4" or "8.0.RC2"')
    return words


def is_version(words: str) -> bool:
    """Whether `words` are digits and dots, perhaps with the mark of a preliminary release.

    >>> is_version("12.4"), is_version("8.0.RC2"), is_version("newest")
    (True, True, False)
    """
    return re.fullmatch(r"\d{1,6}(\.\d{1,6}){0,5}([.-]?(?:rc|alpha|beta)[.-]?\d{1,4}){0,2}", words, re.IGNORECASE | re.ASCII) is not None


def read_terms_file(text: str) -> Mapping[str, TermValue]:
    """The dotted keys of a terms file with their raw values, not yet validated. Raises UsageError."""
    try:
        # Editors on Windows put a mark before the first character.
        tables = tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise UsageError("the terms file is no TOML", str(error), 'write lines such as gpu.count = 8 or gpu.model = "H100"') from error
    return dict(_dotted(tables, ""))


def _dotted(table: Mapping[str, Any], before: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        found += _dotted(value, f"{before}{key}.") if isinstance(value, dict) else [(f"{before}{key}", value)]
    return found
