"""How fast is the program beside its peers? `python -m tests.bench [--full] [--soak-minutes N] [names]`

One module an area, with `bars(size)`; a JSON line a bar, then a table. All peers run in the same rounds on the same
machine; they are installed into .venv-bench and are never dependencies of the program.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.bench.bar import Bar, table

FOLDER = Path(__file__).parent
PARTS = ("__main__", "bar", "peers", "farm", "delay")


def areas() -> list[str]:
    """The areas: every module here that measures one."""
    return sorted(
        path.stem for path in FOLDER.glob("*.py")
        if path.stem not in PARTS and not path.stem.startswith("test_") and "\ndef bars(" in path.read_text()
    )  # fmt: skip


def run(names: Sequence[str], size: str, soak_minutes: float | None = None) -> list[Bar]:
    """Run areas at `size` (smallest, usual, full) and print a line a bar as it comes."""
    found: list[Bar] = []
    for name in names:
        words = (size, soak_minutes) if name == "soak" else (size,)
        for bar in importlib.import_module(f"tests.bench.{name}").bars(*words):
            print(bar.line(), flush=True)
            found.append(bar)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    parser.add_argument("--full", action="store_true", help="all sizes")
    parser.add_argument("--smallest", action="store_true", help="one round, without peers: does it run?")
    parser.add_argument("--soak-minutes", type=float, metavar="N", help="minutes of the real soak (default: 60 with --full, else 3)")
    parser.add_argument("names", nargs="*", choices=[*areas(), []], help="areas (default: all)")
    options = parser.parse_args()
    size = "smallest" if options.smallest else "full" if options.full else "usual"
    found = run(options.names or areas(), size, options.soak_minutes)
    print("\n" + table(found))
    return 0 if all(bar.met is not False for bar in found) else 1


if __name__ == "__main__":
    sys.exit(main())
