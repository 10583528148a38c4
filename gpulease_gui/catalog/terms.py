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
from gpulease_gui.domain.text import NO_TEXT, Text, foreign

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
        return UsageError(
            _no_term(key), Text(f"it has parts: {', '.join(below)}", f"它分为：{'、'.join(below)}"), Text(f"write {below[0]} = ...", f"请写 {below[0]} = ...")
        )
    near = difflib.get_close_matches(key, catalogue.terms, n=3, cutoff=0.5)
    last = key.rsplit(".", 1)[-1]
    near += [known for known in catalogue.terms if known.rsplit(".", 1)[-1] == last and known not in near]
    every = ", ".join(catalogue.terms)
    return UsageError(
        _no_term(key),
        next_step=Text(f"closest: {', '.join(near)}", f"最接近的有：{'、'.join(near)}") if near else Text(f"the terms are {every}", f"可用条款：{every}"),
    )


def _no_term(key: str) -> Text:
    return Text(f"{key}: there is no such term", f"{key}：没有这个条款")


def _model(term: Term, value: object, catalogue: Catalogue) -> str:
    if not isinstance(value, str) or not value.strip():
        raise UsageError(
            Text(f"{term.key}: a model is written as text, not {value!r}", f"{term.key}：型号须写成文字，而不是 {value!r}"),
            next_step=Text('such as "nvidia-h100-sxm5-80gb"', "例如 \"nvidia-h100-sxm5-80gb\""),
        )
    try:
        catalogue.gpus.promise(value)
    except UsageError as error:
        what = error.what_text
        named = Text(what.en.replace("gpu.model", term.key), what.zh.replace("gpu.model", term.key))
        raise UsageError(named, error.why_text, error.next_text) from error
    return value.strip()


_WITH_UNIT = re.compile(r"\s*([-+]?[0-9][0-9.,_]*)\s*(\S.*)?")


def _number(term: Term, value: object) -> int | float:
    unit = _unit(term)
    if isinstance(value, str):
        told = _WITH_UNIT.fullmatch(value)
        text = Text(f"{term.key}: {value!r} is text", f"{term.key}：{value!r} 是文字")
        with_unit = Text(f"{term.key}: {value!r} carries a unit", f"{term.key}：{value!r} 带有单位")
        said = f"{term.key} = {told[1] if told else 1}"
        raise UsageError(
            text if told is None or not told[2] else with_unit, Text(f"the unit is always {unit.en}", f"固定{unit.zh}"),
            Text(f"write {said} in {unit.en}", f"请写 {said}，{unit.zh}"),
        )  # fmt: skip
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError(Text(f"{term.key}: {value!r} is no number", f"{term.key}：{value!r} 不是数字"), next_step=Text(f"write a bare number in {unit.en}", f"请填写数字，{unit.zh}"))
    if term.kind is TermKind.COUNT and not float(min(value, 1e300)).is_integer():
        raise UsageError(Text(f"{term.key}: {value} is no whole number", f"{term.key}：{value} 不是整数"), next_step=Text(f"count in {unit.en}", f"请填写整数，{unit.zh}"))
    _within(term, value, unit)
    return int(value) if term.kind is TermKind.COUNT else value


def _unit(term: Term) -> Text:
    """The unit as the end of a sentence names it."""
    return Text(term.unit, f"单位为 {term.unit}") if term.unit else Text("a bare number", "不带单位")


def _within(term: Term, value: float, unit: Text) -> None:
    low, high = term.minimum, term.maximum
    # NaN compares as neither, so the good case is asked for.
    if not ((low is None or value >= low) and (high is None or value <= high)):
        raise UsageError(
            Text(f"{term.key}: {value} {unit.en} cannot be meant", f"{term.key}：{value} {term.unit} 不合理"),
            Text(f"it lies outside {low:g} to {high:g}", f"超出 {low:g} 至 {high:g} 的范围"), Text(f"the unit is {unit.en}", unit.zh),
        )  # fmt: skip


def _yes_no(term: Term, value: object) -> bool:
    if not isinstance(value, bool):
        raise UsageError(Text(f"{term.key}: {value!r} is neither yes nor no", f"{term.key}：{value!r} 既不是“是”也不是“否”"), next_step=Text("write true or false, without quotes", "请填写 true 或 false，不加引号"))
    return value


def _words(term: Term, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        hint = Text(' (versions too: "12.4")', '（版本也是："12.4"）') if term.kind is TermKind.VERSION else NO_TEXT
        raise UsageError(Text(f"{term.key}: {value!r} is no text", f"{term.key}：{value!r} 不是文字"), next_step=Text(f"put it in quotes{hint.en}", f"请加引号{hint.zh}"))
    words = value.strip()
    if term.choices and words not in term.choices:
        raise UsageError(
            Text(f"{term.key}: {words!r} is no choice", f"{term.key}：{words!r} 不在可选范围内"),
            next_step=Text(f"write one of: {', '.join(term.choices)}", f"请填写其中之一：{'、'.join(term.choices)}"),
        )
    if term.kind is TermKind.VERSION and not is_version(words):
        raise UsageError(
            Text(f"{term.key}: {words!r} is no version", f"{term.key}：{words!r} 不是版本号"),
            next_step=Text('write digits and dots, such as "12.4" or "8.0.RC2"', '请填写数字与点，如 "12.4" 或 "8.0.RC2"'),
        )
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
        raise UsageError(
            Text("the terms file is no TOML", "条款文件不是 TOML"), foreign(str(error)),
            Text('write lines such as gpu.count = 8 or gpu.model = "H100"', '请逐行填写，如 gpu.count = 8 或 gpu.model = "H100"'),
        ) from error  # fmt: skip
    return dict(_dotted(tables, ""))


def _dotted(table: Mapping[str, Any], before: str) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        found += _dotted(value, f"{before}{key}.") if isinstance(value, dict) else [(f"{before}{key}", value)]
    return found
