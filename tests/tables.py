"""Which case shows each verdict of each check, and which test each known bug report? `python -m tests.tables`

Prints both tables; with --write it renews tests/TABLE_CHECKS.md and tests/TABLE_BUGS.md. What a check never says is declared
with its reason in table_reasons.toml; the bug reports and their tests stand in table_bugs.toml.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gpulease_gui.checks.check import rules

TESTS = Path(__file__).parent
ROOT = TESTS.parent
CASES = TESTS / "checks"
REASONS = TESTS / "table_reasons.toml"
BUGS = TESTS / "table_bugs.toml"
CHECKS_TABLE = TESTS / "TABLE_CHECKS.md"
BUGS_TABLE = TESTS / "TABLE_BUGS.md"
COLUMNS = ("pass", "warn", "fail", "inconclusive", "hostile")
_MADE = "Made by `python -m tests.tables --write`; a test compares.\n"


@dataclass(frozen=True)
class Row:
    """One check: column -> the names of the cases that show it."""

    check: str
    cells: Mapping[str, tuple[str, ...]]
    reasons: Mapping[str, str]

    def empty(self) -> tuple[str, ...]:
        """The columns with neither case nor reason."""
        return tuple(name for name in COLUMNS if not self.cells.get(name) and not self.reasons.get(name))

    def idle_reasons(self) -> tuple[str, ...]:
        """Reasons for cells that are not empty, or for no column."""
        return tuple(name for name in self.reasons if name not in COLUMNS or self.cells.get(name))


@dataclass(frozen=True)
class Bug:
    """A report about another program: `right` is what ours does, `shown` the node ids of tests and paths of cases.

    Without any, `why_none` is the reason and `waits_for` the planned checks that it is about.
    """

    report: str
    right: str
    shown: tuple[str, ...]
    why_none: str = ""
    waits_for: tuple[str, ...] = ()

    def missing(self) -> tuple[str, ...]:
        """The tests and cases that do not exist."""
        return tuple(name for name in self.shown if not _exists(name))


def rows() -> tuple[Row, ...]:
    """A row a ready check, by id."""
    reasons = tomllib.loads(REASONS.read_text("utf-8"))
    return tuple(Row(check, _cells(check), reasons.get(check, {})) for check in sorted(rules()))


def unshown() -> tuple[str, ...]:
    """Reports without a test: no reason, or what they wait for is ready."""
    return tuple(bug.report for bug in bugs() if not bug.shown and (not bug.why_none or not bug.waits_for or set(bug.waits_for) & set(rules())))


def strange_reasons() -> tuple[str, ...]:
    """Checks in table_reasons.toml that do not exist."""
    return tuple(sorted(set(tomllib.loads(REASONS.read_text("utf-8"))) - set(rules())))


def _cells(check: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted((CASES / check).glob("*.toml")):
        text = path.read_text("utf-8")
        said = [wanted.get("verdict") for wanted in tomllib.loads(text)["expect"]]
        columns = {word for word in said if word in COLUMNS}
        if "hostile" in path.stem or "hostile" in text.split("\n", 1)[0]:
            columns = {"hostile"} | (columns - {"pass"})
        for column in columns:
            found[column].append(path.stem)
    return {column: tuple(sorted(names, key=lambda name, c=column: _fitness(name, c))) for column, names in found.items()}


def _fitness(name: str, column: str) -> tuple[bool, bool, str]:
    """A case named after the column first, hostile ones last."""
    return column not in name, column != "hostile" and "hostile" in name, name


def bugs() -> tuple[Bug, ...]:
    """The reports in the order of the file."""
    return tuple(
        Bug(row["report"], row["right"], tuple(row.get("shown", ())), row.get("why_none", ""), tuple(row.get("waits_for", ())))
        for row in tomllib.loads(BUGS.read_text("utf-8"))["bug"]
    )


@cache
def _source(path: Path) -> str:
    return path.read_text("utf-8")


def _exists(name: str) -> bool:
    """A case file, or FILE::TEST with a function of that name."""
    file, _, test = name.partition("::")
    path = ROOT / file
    return path.is_file() and (not test or re.search(rf"^def {re.escape(test)}\(", _source(path), re.MULTILINE) is not None)


def checks_table() -> str:
    """The Markdown of all checks."""
    return _table("Every verdict of every check, and a case that shows it", "Cases lie in `tests/checks/CHECK/`; one of each kind is named here.",
                  ("check", *COLUMNS), ((f"`{row.check}`", *(_cell(row, column) for column in COLUMNS)) for row in rows()))  # fmt: skip


def _cell(row: Row, column: str) -> str:
    names = row.cells.get(column, ())
    if not names:
        return f"*{row.reasons.get(column, '')}*"
    return f"`{names[0]}`"


def bugs_table() -> str:
    """The Markdown of the bug reports."""
    return _table("Bug reports about other programs, and the test that ours has", "Reports are GitHub issues.", ("report", "what ours does", "shown by"),
                  ((bug.report, bug.right, "<br>".join(f"`{name}`" for name in bug.shown) or f"*{bug.why_none}*") for bug in bugs()))  # fmt: skip


def _table(title: str, words: str, head: tuple[str, ...], lines: Iterator[tuple[str, ...]]) -> str:
    body = ("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
    return f"# {title}\n\n{_MADE}{words}\n\n| {' | '.join(head)} |\n|{'---|' * len(head)}\n{''.join(body)}"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.tables")
    parser.add_argument("--write", action="store_true", help="renew the committed tables")
    options = parser.parse_args()
    for path, text in ((CHECKS_TABLE, checks_table()), (BUGS_TABLE, bugs_table())):
        if options.write:
            path.write_text(text, "utf-8")
        else:
            print(text)
    empty = {row.check: row.empty() for row in rows() if row.empty()}
    missing = {bug.report: bug.missing() for bug in bugs() if bug.missing()}
    for check, columns in empty.items():
        print(f"{check}: no case and no reason for {', '.join(columns)}", file=sys.stderr)
    for report, names in missing.items():
        print(f"{report}: {', '.join(names)} is not there", file=sys.stderr)
    return 1 if empty or missing else 0


if __name__ == "__main__":
    sys.exit(main())
