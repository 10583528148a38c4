"""Is what fails told in both languages? A plain string in an error is English in the Chinese window."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "gpulease_gui"
PARTS = ("what", "why", "next_step")
RAISED = ("UserFacing", "UsageError", "Refused", "NoPeer", "WrongLine")
# How many errors of a file are still in English alone. A file that is not here has none; these figures only get smaller.
# What only the command line raises may stay: it speaks English.
LEFT = {"services/exchange_live.py": 1}


def plain_errors(source: str) -> int:
    """How many errors for the user have a part that is a plain string, not Text(en, zh)."""
    return sum(
        any(_is_plain(part) for part in (*call.args[:3], *(word.value for word in call.keywords if word.arg in PARTS)))
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in RAISED
    )


def _is_plain(part: ast.expr) -> bool:
    if isinstance(part, ast.IfExp):
        return _is_plain(part.body) or _is_plain(part.orelse)
    if isinstance(part, ast.BoolOp):
        return any(_is_plain(one) for one in part.values)
    if isinstance(part, ast.BinOp):
        return _is_plain(part.left) or _is_plain(part.right)
    return isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value != "")


def found() -> dict[str, int]:
    counted = {path.relative_to(ROOT).as_posix(): plain_errors(path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))}
    return {name: count for name, count in counted.items() if count and not name.startswith("cli/")}


def test_that_no_new_error_is_in_english_alone():
    more = {name: count for name, count in found().items() if count > LEFT.get(name, 0)}
    assert not more, f"give these errors Text(en, zh): {more}"


def test_that_the_list_of_those_that_are_left_is_no_longer_than_needed():
    now = found()
    fewer = {name: now.get(name, 0) for name, count in LEFT.items() if now.get(name, 0) < count}
    assert not fewer, f"these were mended, write the smaller figure or take the line out: {fewer}"


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ('raise UserFacing("no", Text("a", "b"))', 1), ('raise UsageError(Text("a", "b"), next_step=f"do {x}")', 1), ('UserFacing(Text("a", "b"), "")', 0),
        ('UserFacing(what, why or "because")', 1), ('UserFacing(what, "a" if x else "b")', 1), ('UserFacing(Text("a", "b"), why, step, "--flag")', 0),
        ('UserFacing(Text("a", "b"), at_terminal="use --flag")', 0), ('raise Refused(Text("a", "b"), "save it again")', 1),
    ],
)  # fmt: skip
def test_that_the_scan_sees_plain_strings_and_nothing_else(source, count):
    assert plain_errors(source) == count
