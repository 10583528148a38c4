"""Does a case still hold when one line of the product is another? `python -m tests.guards.without CASE [MODULE TEXT WITHOUT]`

A process of its own: the module is compiled from its changed source when it is first imported, so every part of the program
sees the change and nothing on the disk does. Prints one JSON line: what differs from the case ({} = it holds).
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


class _Changed(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Finds the one module and gives it another source."""

    def __init__(self, file: str, text: str, without: str) -> None:
        self._name, source = file.removesuffix(".py").replace("/", "."), (ROOT / file).read_text("utf-8")
        assert source.count(text) == 1, f"{text!r} stands {source.count(text)} times in {file}"
        self._source = source.replace(text, without)
        importlib.machinery.SourceFileLoader.__init__(self, self._name, str(ROOT / file))

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.util.spec_from_loader(fullname, self) if fullname == self._name else None

    def get_code(self, fullname: str) -> object:
        return compile(self._source, self.path, "exec")


def _of_check(path: Path) -> dict[str, object]:
    from tests.checks import test_cases

    found = test_cases.findings_of(path)
    wrong: dict[str, object] = {}
    for wanted in tomllib.loads(path.read_text("utf-8"))["expect"]:
        same = [f for f in found if f.term == wanted.get("term") and f.direction == wanted.get("direction", f.direction)]
        differs = test_cases.differences(same[0], wanted) if len(same) == 1 else {"findings": (1, len(same))}
        wrong |= {name: [str(value) for value in values] for name, values in differs.items()}
    return wrong


def _of_fact(path: Path) -> dict[str, object]:
    from gpulease_gui.domain.errors import Unreadable
    from gpulease_gui.facts.fact import read
    from tests.facts import test_cases

    reader, output, case = test_cases.load(path)
    try:
        reading, code = read(reader, output), None
    except Unreadable as error:
        reading, code = error.reading, str(error.code)
    got = {} if reading is None else reader.as_dict(reading)
    wrong = test_cases.differences({**case.get("reading", {}), "unreadable": case.get("unreadable")}, {**got, "unreadable": code})
    return {name: [str(value) for value in values] for name, values in wrong.items()}


def main() -> int:
    case, *change = sys.argv[1:]
    if change:
        sys.meta_path.insert(0, _Changed(*change))
    path = ROOT / case
    print(json.dumps(_of_check(path) if path.suffix == ".toml" else _of_fact(path)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
