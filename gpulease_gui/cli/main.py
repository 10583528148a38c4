"""Which command was asked for?"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import re
import sys
from contextlib import suppress
from types import ModuleType, TracebackType
from typing import NoReturn

from gpulease_gui import __version__
from gpulease_gui.cli.codes import Exit
from gpulease_gui.cli.terminal_secret import DESK
from gpulease_gui.domain.errors import UsageError, UserFacing

# Command -> one line of help. The module of the same name is imported only when it is asked for.
COMMANDS = {
    "parse": "read saved tool outputs",
    "checks": "list the checks, or every command that can ever be run on a node",
    "verify": "check a node against a terms file or a contract",
    "workload": "run a task of your own on a node, follow a training log, or try a pattern on one",
    "watch": "watch nodes for hours into the workspace, and say what happens",
    "pairs": "measure the line between every two of some nodes and name the slow one",
    "profiles": "list the uses that a run can be planned for, with their checks",
    "thresholds": "list, move or take back the figures that nodes are judged by",
    "rejudge": "judge a stored run again by today's rules or another contract, without the node",
    "judge": "judge outputs that a supplier sent",
    "diff": "say what changed on a node between two runs",
    "export": "write the evaluation of a contract as PDF",
    "import": "add or change offers from a spreadsheet, pasted cells or chat lines",
    "import-market": "keep a public price list to hold offers against",
    "export-data": "write the whole workspace for another computer, or its offers as a table",
    "import-data": "merge what export-data wrote",
    "offers": "list the stored offers and contracts, or show one",
    "checklist": "show what is answered and open in the checklist of an offer",
    "letter": "write the open questions to a supplier as a letter",
    "compare": "set stored offers beside each other",
    "cost": "price offers for workloads from a file",
    "score": "score offers by their checklist answers from a file",
    "size": "say whether a model fits on GPUs, from a file",
    "demo": "list and serve the demo nodes",
    "agent": "sample this computer's GPUs as JSON lines",
}

# Commands whose name can't be that of a module.
_MODULES = {"import": "importing", "import-market": "importing_market", "export-data": "export_data", "import-data": "import_data"}


_OPTION = re.compile("--[a-z][a-z-]*|-[A-Za-z]")
_WRONG_VALUE = re.compile(
    r"""(invalid [\w ]+: |ignored explicit argument )(?!'[a-z-]+'( |\Z)).*?(?= \(choose|\Z)|(ambiguous option: [^ =]+)=.*(?= could match)""", re.DOTALL
)
_WITHOUT = r"\1\3…"


class _Parser(argparse.ArgumentParser):
    """argparse with our exit code for a wrong call. What was not understood may be a password: no word of it is repeated."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"{self.prog}: {_WRONG_VALUE.sub(_WITHOUT, message)}", file=sys.stderr)
        sys.exit(Exit.USAGE)


def _our_fault(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
    """What nobody expected is our own fault and has its own exit code; Python's would look like a failed node."""
    sys.__excepthook__(kind, fault, trace)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(Exit.OUR_FAULT)


def main(arguments: list[str] | None = None) -> int:
    """Run one command and give its exit code."""
    sys.excepthook = _our_fault
    if not _streams():
        return Exit.OUR_FAULT
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return Exit.INTERRUPTED


def _run(arguments: list[str] | None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    parser = _Parser(prog="gpulease", description="Judge rented GPU nodes: promise beside measurement.")
    parser.add_argument("--version", action="version", version=f"gpulease {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)
    asked = next((word for word in words if word in COMMANDS), None)
    for name, help_line in COMMANDS.items():
        sub = commands.add_parser(name, help=help_line, description=help_line)
        if name == asked:
            _module(name).add_arguments(sub)
    options, rest = parser.parse_known_args(words)
    if rest:
        parser.error(_not_known(rest))
    try:
        with DESK.attended():
            code = int(_module(options.command).run(options))
        sys.stdout.flush()
        return code
    except UsageError as error:
        print(f"gpulease {options.command}: {error}", file=sys.stderr)
        return Exit.USAGE
    except UserFacing as error:
        print(f"gpulease {options.command}: {error}", file=sys.stderr)
        return Exit.NOT_CONNECTED if getattr(error, "phase", None) else Exit.OUR_FAULT
    except OSError as error:
        if not _output_broke():
            raise
        print(f"gpulease {options.command}: the output could not be written: {error.strerror or error}", file=sys.stderr)
        return Exit.OUR_FAULT


def _not_known(rest: list[str]) -> str:
    """The names of the options among them; what follows these, or stands alone, is counted."""
    names = [found[0] for word in rest if (found := _OPTION.match(word))]
    count = len(rest) - len(names)
    left = f"{count} {'word' if count == 1 else 'words'}"
    return f"unrecognized arguments: {', '.join(names)}{f' and {left}' if count else ''}" if names else f"unrecognized arguments: {left}"


def _module(command: str) -> ModuleType:
    return importlib.import_module(f"gpulease_gui.cli.{_MODULES.get(command, command)}")


def _streams() -> bool:
    """Make every word writable, whatever the terminal's encoding; False where there is no standard output."""
    if sys.stderr is None:
        # Python writes to standard output what is meant for a stream that is not there.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None and os.name == "posix":
        # The next file that is opened, such as the workspace, would take its number.
        print("gpulease: there is no standard output to write to", file=sys.stderr)
        return False
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    if sys.stderr is sys.__stderr__ and isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = _Beside(sys.stderr.buffer, encoding="utf-8", errors="backslashreplace", line_buffering=True, write_through=True)
    return True


class _Beside(io.TextIOWrapper):
    """Standard error. What it does not take (its reader went, its disk is full) is dropped: the work on the nodes goes on."""

    def write(self, words: str) -> int:
        with suppress(OSError):
            return super().write(words)
        return len(words)

    def flush(self) -> None:
        with suppress(OSError):
            super().flush()


def _output_broke() -> bool:
    """Whether standard output takes no more; what it could not take is dropped, so that the end is quiet."""
    try:
        # An unbuffered stream holds nothing back: only another word shows whether it still takes any.
        print(flush=True)
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        return True
    return False


if __name__ == "__main__":
    sys.exit(main())
